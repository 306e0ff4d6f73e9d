"""Every kind of figure on every shape of study: valid, complete, safe."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
import vl_convert

from sago_harness.figures import FIGURES, KINDS, Figure, NotDrawn, figures
from sago_harness.figures.theme import VEGA_LITE, dark, light
from sago_harness.report.tables import as_csv, as_html, as_text
from tests.figures.studies import SHAPES, rows_in, study

#: What a study of one model on one data set cannot show.
ALONE = {"bump"}


def compiled(spec: dict[str, Any]) -> dict[str, Any]:
    text = json.dumps(spec, allow_nan=False)
    made: dict[str, Any] = vl_convert.vegalite_to_vega(text, vl_version=VEGA_LITE, show_warnings=True)
    return made


@pytest.mark.parametrize("shape", [*SHAPES, "hostile"])
@pytest.mark.parametrize("kind", list(FIGURES))
def test_every_kind_is_valid_on_every_shape(kind: str, shape: str, capfd: pytest.CaptureFixture[str]) -> None:
    made = figures(study(shape), [kind])
    assert made
    for one in made:
        assert one.kind == kind
        assert one.name.split("-")[0] == kind
        assert re.fullmatch(r"[A-Za-z0-9._-]{1,150}", one.name), one.name
        if isinstance(one, NotDrawn):
            assert one.reason
            continue
        capfd.readouterr()
        compiled(one.spec)
        streams = capfd.readouterr()
        assert (streams.out + streams.err).strip() == ""
        assert len(one.description) > 20
        assert one.table.rows
        assert all(len(row) == len(one.table.columns) for row in one.table.rows)
        for write in (as_csv, as_html, as_text):
            write(one.table).encode()
    names = [one.name.lower() for one in made]
    assert len(names) == len(set(names))
    drawn = [one for one in made if isinstance(one, Figure)]
    assert bool(drawn) != (shape == "one" and kind in ALONE)


def test_kinds_are_told() -> None:
    assert list(KINDS) == list(FIGURES)


def test_a_lone_model_is_told_what_it_cannot_show() -> None:
    reasons = [one.reason for one in figures(study("one"), ["bump"]) if isinstance(one, NotDrawn)]
    assert len(reasons) == 6
    assert all("one data set" in reason for reason in reasons)


def strings(value: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], str]]:
    if isinstance(value, dict):
        for key, inner in value.items():
            yield (*path, "KEY"), key
            yield from strings(inner, (*path, key))
    elif isinstance(value, list):
        for inner in value:
            yield from strings(inner, (*path, "*"))
    elif isinstance(value, str):
        yield path, value


#: Where a compiled specification may hold texts from outside: data, domains of scales, titles.
_ALLOWED = re.compile(r"(values/\*/\w+|domain/\*|title/text|title/text/\*)$")


@pytest.mark.parametrize("kind", list(FIGURES))
def test_names_from_outside_are_data_and_nothing_else(kind: str) -> None:
    seen = 0
    for one in figures(study("hostile"), [kind]):
        if isinstance(one, NotDrawn):
            continue
        for path, text in strings(compiled(one.spec)):
            if "EVIL" in text:
                seen += 1
                assert _ALLOWED.search("/".join(path)), (one.name, path, text)
        raw = json.dumps(one.spec, ensure_ascii=False)
        for bad in ("\u202e", "\u2066", "\ud800", "\\u0000", "\x1b"):
            assert bad not in raw
        assert len(raw) < 3_000_000
        assert "\u202e" not in one.description + one.title
    assert seen or kind == "bump"


def test_fields_and_expressions_are_ours() -> None:
    """The same constants whatever the study: they are part of the program."""
    allowed = re.compile(r"^[a-z_0-9]+$")

    def fields(spec: Any) -> Iterator[str]:
        for path, text in strings(spec):
            if path[-1] in ("field",) and "values" not in path:
                yield text

    for shape in ("two", "hostile"):
        for one in figures(study(shape)):
            if isinstance(one, Figure):
                found = list(fields(one.spec))
                assert found
                assert all(allowed.match(name) for name in found), found
                assert not any("Expr" in key for path, key in strings(one.spec) if path[-1] == "KEY")


def test_the_same_study_gives_the_same_specification() -> None:
    texts = [
        json.dumps([one.spec for one in figures(study("two")) if isinstance(one, Figure)]) for _ in range(2)
    ]
    assert texts[0] == texts[1]


def test_a_specification_names_no_colour_of_text_or_page() -> None:
    """On a dark page nothing is dark on dark: colours stand in the theme, or on cells of their own."""
    for one in figures(study("two")):
        if isinstance(one, Figure):
            text = json.dumps(one.spec)
            assert '"background"' not in text
            for key in ("labelColor", "titleColor", "gridColor"):
                assert key not in text


@pytest.mark.parametrize("config", [light(), dark()], ids=["light", "dark"])
def test_themes_are_valid(config: dict[str, Any], capfd: pytest.CaptureFixture[str]) -> None:
    (one, *_) = figures(study("two"), ["standing"])
    assert isinstance(one, Figure)
    vl_convert.vegalite_to_vega(one.spec, vl_version=VEGA_LITE, config=config, show_warnings=True)
    streams = capfd.readouterr()
    assert (streams.out + streams.err).strip() == ""


def test_a_model_can_be_picked_in_every_figure_of_models() -> None:
    """One selection by model; from a legend where there is one."""
    for shape in ("two", "many"):
        for one in figures(study(shape)):
            if isinstance(one, NotDrawn) or one.kind in ("operators", "independence", "variance", "health"):
                continue
            if one.name.startswith("bump-reversals"):
                continue
            text = json.dumps(one.spec)
            assert text.count('"name": "pick"') == 1, one.name
            if one.kind in ("bump", "dose", "layers", "accuracy") and shape == "two":
                assert '"legend": "click"' in text
                (legend,) = compiled(one.spec)["legends"]
                assert legend["encode"]["symbols"]["interactive"], one.name
                assert "pick" in json.dumps(legend["encode"]["symbols"]["update"])


def test_every_row_of_data_has_numbers_that_json_has() -> None:
    for shape in SHAPES:
        for one in figures(study(shape)):
            if isinstance(one, Figure):
                for row in rows_in(one.spec):
                    assert all(isinstance(v, (str, int, float, bool, type(None))) for v in row.values())
                json.dumps(one.spec, allow_nan=False)


def test_heights_grow_with_models() -> None:
    (few, *_), (many, *_) = (figures(study(shape), ["standing"]) for shape in ("two", "many"))
    assert isinstance(few, Figure)
    assert isinstance(many, Figure)
    heights = [
        float(re.search(r'height="([\d.]+)"', vl_convert.vegalite_to_svg(one.spec, vl_version=VEGA_LITE))[1])  # type: ignore[index]
        for one in (few, many)
    ]
    assert heights[1] > heights[0] + 18 * 12
