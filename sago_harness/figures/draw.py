"""Draws figures to files: SVG, PDF or PNG, without a network, the same bytes for the same figure.

vl-convert lays the figure out and writes it as SVG with its texts as text; from that SVG come PDF, which
holds the glyphs of every font it uses, and PNG. The SVG itself gets the glyphs that it needs
as a font inside it, since a browser elsewhere may have no such font.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from sago_harness.errors import SagoError, unknown
from sago_harness.figures.figure import Figure
from sago_harness.figures.fonts import FOLDER, Faces, embedded, faces_for
from sago_harness.figures.panels import lines
from sago_harness.figures.theme import VEGA_LITE, light
from sago_harness.report.changes import escape_line
from sago_harness.whole import whole

#: Endings of file names that can be drawn.
ENDINGS = (".svg", ".pdf", ".png")

#: Pixels of a PNG for each pixel of the drawing, where nothing else is asked for.
PNG_SCALE = 2.0

_SIZE = re.compile(r'<svg\b[^>]*?\bwidth="(?P<width>[\d.]+)"[^>]*?\bheight="(?P<height>[\d.]+)"[^>]*>')

_STREAM = re.compile(rb"(\nstream\r?\n.*?\nendstream)", re.S)

#: Lines of a dictionary that name an object each.
_REFERENCES = re.compile(rb"(?:^ *\/\w+ \d+ 0 R\n){2,}", re.M)


@dataclass(frozen=True)
class Drawing:
    """A figure as SVG.

    Attributes
    ----------
    svg : str
        Texts are text, in the families of ``faces``.
    faces : Faces
    characters : str
        What is written in it.
    """

    svg: str
    faces: Faces
    characters: str


def draw(
    figure: Figure, path: Path, *, scale: float | None = None, width: float | None = None, title: bool = True
) -> tuple[str, ...]:
    """Draw a figure to a file, whole or not at all.

    Parameters
    ----------
    figure : Figure
    path : Path
        Its ending says how: ``.svg``, ``.pdf`` or ``.png``.
    scale : float, optional
        Size, 1 = as on screen; a PNG has twice as many pixels by default.
    width : float, optional
        Width in pixels in place of ``scale``; a PDF has 72 of them to an inch.
    title : bool
        Write the figure's title above it.

    Returns
    -------
    tuple of str
        What a user must know: characters that no font of this system has.

    Raises
    ------
    SagoError
        For another ending or a size out of range, without vl-convert, or if the file cannot be written.
    """
    ending = path.suffix.lower()
    if ending not in ENDINGS:
        raise unknown("ending", ending or "(none)", ENDINGS, str(path))
    drawing = as_svg(figure, title=title)
    factor = PNG_SCALE if scale is None and ending == ".png" else 1.0 if scale is None else scale
    if width is not None:
        factor = width / _size(drawing.svg)[0]
    if not 0.05 <= factor <= 20.0:
        raise SagoError(f"{path}: {factor:g} times its size on screen: between .05 and 20 can be drawn")
    sized = _scaled(drawing.svg, factor)
    converter = _converter()
    if ending == ".svg":
        data = _with_fonts(sized, drawing).encode("utf-8")
    elif ending == ".pdf":
        data = _ordered(converter.svg_to_pdf(sized))
    else:
        data = converter.svg_to_png(sized)
    with whole(path) as partial:
        partial.write_bytes(data)
    return _warnings(drawing)


def as_svg(figure: Figure, *, title: bool = True) -> Drawing:
    """Return a figure as SVG, laid out in the fonts that its texts need.

    Parameters
    ----------
    figure : Figure
    title : bool
        Write the figure's title above it.
    """
    spec = titled(figure) if title else figure.spec
    text = json.dumps(spec, ensure_ascii=False, allow_nan=False)
    faces = faces_for(text)
    svg = _converter().vegalite_to_svg(
        text, vl_version=VEGA_LITE, config=light(faces.families, "#ffffff"), allowed_base_urls=[]
    )
    written = "".join(ElementTree.fromstring(svg).itertext())
    return Drawing(svg, faces, "".join(sorted(set(written))))


def titled(figure: Figure) -> dict[str, Any]:
    """Return the specification with the figure's title above the key of its marks."""
    key = figure.spec["title"]["text"]
    widest = max((len(line) for line in key), default=0)
    head = lines(escape_line(figure.title), max(360, round(6.0 * widest)))
    return {**figure.spec, "title": {"text": head, "subtitle": key, "fontSize": 14}}


@lru_cache(maxsize=1)
def _converter() -> Any:
    try:
        import vl_convert
    except ImportError as error:
        raise SagoError("figures need vl-convert-python: pip install vl-convert-python") from error
    vl_convert.register_font_directory(str(FOLDER))
    return vl_convert


def _size(svg: str) -> tuple[float, float]:
    match = _SIZE.search(svg)
    assert match is not None
    return float(match["width"]), float(match["height"])


def _scaled(svg: str, factor: float) -> str:
    """Return the SVG larger or smaller; what is drawn stays as it is."""
    match = _SIZE.search(svg)
    assert match is not None
    head = match[0]
    for name in ("width", "height"):
        # As many digits as matter, so that no machine rounds otherwise.
        head = head.replace(f' {name}="{match[name]}"', f' {name}="{float(match[name]) * factor:.6g}"', 1)
    return svg.replace(match[0], head, 1)


def _with_fonts(svg: str, drawing: Drawing) -> str:
    rules = embedded(drawing.faces.faces, drawing.characters)
    match = _SIZE.search(svg)
    assert match is not None
    return f"{svg[: match.end()]}<style>{rules}</style>{svg[match.end() :]}"


def _ordered(pdf: bytes) -> bytes:
    r"""Return a PDF whose dictionaries name their resources in order; they come in any order otherwise.

    Examples
    --------
    >>> _ordered(b"<<\n  /gs1 9 0 R\n  /gs0 7 0 R\n>>")
    b'<<\n  /gs0 7 0 R\n  /gs1 9 0 R\n>>'
    """
    # Nothing gets longer or shorter, so the places that its table names stay right; streams stay as they are.
    parts = _STREAM.split(pdf)
    return b"".join(
        part if k % 2 else _REFERENCES.sub(lambda found: b"".join(sorted(found[0].splitlines(True))), part)
        for k, part in enumerate(parts)
    )


def _warnings(drawing: Drawing) -> tuple[str, ...]:
    missing = sorted(set(drawing.faces.missing) & set(drawing.characters))
    if not missing:
        return ()
    shown = "".join(missing[:12]) + (f" and {len(missing) - 12} more" if len(missing) > 12 else "")
    return (
        f"no font on this system has {shown}: drawn as boxes; install one that has (for Chinese, "
        f"fonts-noto-cjk)",
    )
