"""Files: vector, with their fonts inside, whole, the same every time, without a script or a network."""

from __future__ import annotations

import base64
import gc
import io
import json
import re
import warnings
import zlib
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree

import pytest
import vl_convert
from fontTools.fontBuilder import FontBuilder
from fontTools.pens.ttGlyphPen import TTGlyphPen
from fontTools.ttLib import TTFont

from sago_harness.errors import SagoError
from sago_harness.figures import Figure, figures, fonts
from sago_harness.figures.draw import draw
from sago_harness.figures.theme import FONT, VEGA_LITE
from tests.figures.studies import SHAPES, study

SVG = "{http://www.w3.org/2000/svg}"


def one_of(kind: str, shape: str = "two") -> Figure:
    return next(one for one in figures(study(shape), [kind]) if isinstance(one, Figure))


def streams(pdf: bytes) -> bytes:
    """A PDF with its compressed streams unpacked behind it."""
    found = [pdf]
    for match in re.finditer(rb"stream\r?\n(.*?)\r?\nendstream", pdf, re.S):
        try:
            found.append(zlib.decompress(match[1]))
        except zlib.error:
            found.append(match[1])
    return b"\n".join(found)


def test_the_version_is_one_that_is_there() -> None:
    assert VEGA_LITE in vl_convert.get_vegalite_versions()


@pytest.mark.parametrize("ending", ["svg", "pdf", "png"])
@pytest.mark.parametrize("kind", ["standing", "dose"])
def test_the_same_bytes_every_time(tmp_path: Path, kind: str, ending: str) -> None:
    figure = one_of(kind)
    written = []
    # A PDF's dictionaries come in one of several orders: two of four would differ almost surely.
    for name in "abcd":
        path = tmp_path / f"{name}.{ending}"
        assert draw(figure, path) == ()
        written.append(path.read_bytes())
    assert len(set(written)) == 1
    assert len(written[0]) > 2000
    assert {path.name for path in tmp_path.iterdir()} == {f"{name}.{ending}" for name in "abcd"}


def test_the_table_of_a_pdf_stays_right(tmp_path: Path) -> None:
    """Every offset in its cross-reference table is where an object begins."""
    draw(one_of("dose"), tmp_path / "f.pdf")
    pdf = (tmp_path / "f.pdf").read_bytes()
    start = int(pdf.rsplit(b"startxref", 1)[1].split()[0])
    table = pdf[start:].split(b"trailer")[0].split(b"\n")
    offsets = [int(line[:10]) for line in table[2:] if line[17:18] == b"n"]
    assert len(offsets) > 5
    assert all(re.match(rb"\d+ 0 obj", pdf[at : at + 20]) for at in offsets)


def test_svg_is_vector_with_text_and_its_font(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    draw(one_of("standing"), tmp_path / "f.svg")
    assert capfd.readouterr() == ("", "")
    text = (tmp_path / "f.svg").read_text(encoding="utf-8")
    root = ElementTree.fromstring(text)
    words = " ".join("".join(node.itertext()) for node in root.iter(f"{SVG}text"))
    assert "first" in words
    assert "Leaderboard" in words
    assert not list(root.iter(f"{SVG}image"))
    families = {node.get("font-family", "") for node in root.iter(f"{SVG}text")}
    assert all(FONT in family for family in families)
    (style,) = root.iter(f"{SVG}style")
    data = re.search(r"base64,([A-Za-z0-9+/=]+)", style.text or "")
    assert data is not None
    font = TTFont(io.BytesIO(base64.b64decode(data[1])))
    assert font.flavor == "woff"
    assert set(map(ord, words)) - {10} <= set(font.getBestCmap())
    assert "DejaVu" in str(font["name"].getDebugName(13)) + str(font["name"].getDebugName(0)) + str(
        font["name"].getDebugName(1)
    ), "its names, and so its licence, stay with it"


def test_pdf_holds_its_font(tmp_path: Path) -> None:
    draw(one_of("standing"), tmp_path / "f.pdf")
    pdf = (tmp_path / "f.pdf").read_bytes()
    assert pdf.startswith(b"%PDF")
    inside = streams(pdf)
    assert re.search(rb"/FontFile[23]?\b", inside)
    assert b"DejaVuSans" in inside
    assert b"/Subtype /Image" not in inside.replace(b"/Subtype/Image", b"/Subtype /Image")


@pytest.mark.parametrize("kind", ["standing", "bump", "operators", "dose"])
def test_hostile_names_are_text(tmp_path: Path, kind: str) -> None:
    draw(one_of(kind, "hostile"), tmp_path / "f.svg")
    root = ElementTree.parse(tmp_path / "f.svg").getroot()
    for node in root.iter():
        assert node.tag not in (f"{SVG}script", f"{SVG}foreignObject", f"{SVG}img")
        for name, value in node.attrib.items():
            assert not name.lower().startswith("on")
            assert "javascript:" not in value
            if name.endswith("href"):
                assert value.startswith("#")
    assert "EVIL" in "".join(root.itertext())


@pytest.mark.parametrize("shape", SHAPES)
def test_every_figure_can_be_drawn(tmp_path: Path, shape: str) -> None:
    """Every kind as PNG: what lays out without an error here draws everywhere."""
    for kind in ("standing", "profile", "datasets", "bump", "operators", "dose", "layers", "independence",
                 "accuracy", "unstable", "variance", "health"):  # fmt: skip
        drawn = [one for one in figures(study(shape), [kind]) if isinstance(one, Figure)]
        for one in drawn[:1]:
            draw(one, tmp_path / f"{one.name}.png", scale=1.0)
            assert (tmp_path / f"{one.name}.png").read_bytes().startswith(b"\x89PNG")


def png_size(path: Path) -> tuple[int, int]:
    data = path.read_bytes()
    return int.from_bytes(data[16:20], "big"), int.from_bytes(data[20:24], "big")


def test_sizes(tmp_path: Path) -> None:
    figure = one_of("health")
    draw(figure, tmp_path / "f.svg")
    head = ElementTree.parse(tmp_path / "f.svg").getroot()
    width, height = float(head.get("width", "")), float(head.get("height", ""))
    draw(figure, tmp_path / "one.png", scale=1.0)
    draw(figure, tmp_path / "two.png")
    assert png_size(tmp_path / "one.png") == pytest.approx((width, height), abs=1)
    assert png_size(tmp_path / "two.png") == pytest.approx((2 * width, 2 * height), abs=1)
    draw(figure, tmp_path / "wide.svg", width=300.0)
    small = ElementTree.parse(tmp_path / "wide.svg").getroot()
    assert float(small.get("width", "")) == pytest.approx(300.0)
    assert float(small.get("height", "")) == pytest.approx(300.0 * height / width, rel=1e-4)
    assert small.get("viewBox") == head.get("viewBox")
    with pytest.raises(SagoError, match=r"between \.05 and 20"):
        draw(figure, tmp_path / "huge.png", scale=500.0)


def test_titles_can_be_left_out(tmp_path: Path) -> None:
    figure = one_of("standing")
    draw(figure, tmp_path / "f.svg", title=False)
    text = "".join(ElementTree.parse(tmp_path / "f.svg").getroot().itertext())
    assert "Leaderboard" not in text
    assert "interval" in text, "the key stays"


def test_other_endings_and_folders_are_told(tmp_path: Path) -> None:
    with pytest.raises(SagoError, match=r"unknown ending '\.gif'"):
        draw(one_of("health"), tmp_path / "f.gif")
    with pytest.raises(SagoError, match="cannot be written"):
        draw(one_of("health"), tmp_path / "none" / "f.svg")
    assert list(tmp_path.iterdir()) == []


def test_a_specification_names_no_address_but_its_schema() -> None:
    for kind in ("standing", "dose", "bump"):
        text = json.dumps(one_of(kind).spec)
        assert re.findall(r'https?://[^"]+', text) == ["https://vega.github.io/schema/vega-lite/v6.json"]
        assert '"url"' not in text


def font_with(text: str, path: Path) -> None:
    """A font file made here that has some characters."""
    names = {ord(char): f"g{k}" for k, char in enumerate(text)}
    pen = TTGlyphPen(None)
    pen.moveTo((0, 0))
    pen.lineTo((0, 500))
    pen.lineTo((500, 500))
    pen.closePath()
    glyph = pen.glyph()
    builder = FontBuilder(1000, isTTF=True)
    builder.setupGlyphOrder([".notdef", *names.values()])
    builder.setupCharacterMap(names)
    builder.setupGlyf(dict.fromkeys((".notdef", *names.values()), glyph))
    builder.setupHorizontalMetrics(dict.fromkeys((".notdef", *names.values()), (600, 0)))
    builder.setupHorizontalHeader(ascent=800, descent=-200)
    builder.setupNameTable({"familyName": "Made Han", "styleName": "Regular"})
    builder.setupOS2()
    builder.setupPost()
    builder.save(path)


@pytest.fixture
def system_fonts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    folder = tmp_path / "fonts"
    folder.mkdir()
    monkeypatch.setattr(fonts, "_folders", lambda: iter([folder]))
    fonts._system.cache_clear()
    gc.collect()
    with warnings.catch_warnings(record=True) as left:
        warnings.simplefilter("always", ResourceWarning)
        yield folder
        gc.collect()
    assert not [one for one in left if issubclass(one.category, ResourceWarning)], "a file was left open"
    fonts._system.cache_clear()


def chinese() -> Figure:
    from tests.figures.studies import made, study_of

    (one, *_) = figures(study_of([made("p", 0, ["模型", "b"])]), ["standing"])
    assert isinstance(one, Figure)
    return one


def test_chinese_without_a_font_is_warned_of(system_fonts: Path, tmp_path: Path) -> None:
    (line,) = draw(chinese(), tmp_path / "f.svg")
    assert "no font on this system has 型模" in line or "no font on this system has 模型" in line
    assert "模型" in (tmp_path / "f.svg").read_text(encoding="utf-8")


def test_chinese_is_set_in_a_font_of_the_system(system_fonts: Path, tmp_path: Path) -> None:
    (system_fonts / "broken.ttf").write_bytes(b"no font at all")
    font_with("模型", system_fonts / "made.ttf")
    assert draw(chinese(), tmp_path / "f.svg") == ()
    text = (tmp_path / "f.svg").read_text(encoding="utf-8")
    (style,) = ElementTree.fromstring(text).iter(f"{SVG}style")
    assert 'font-family:"Made Han"' in (style.text or "")
    found = re.findall(r"base64,([A-Za-z0-9+/=]+)", style.text or "")
    assert len(found) == 2
    assert set(TTFont(io.BytesIO(base64.b64decode(found[1]))).getBestCmap()) == {ord("模"), ord("型")}
