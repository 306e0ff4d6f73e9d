"""Fonts of drawn files: ours, and for characters that it lacks one of the system's."""

from __future__ import annotations

import base64
import io
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from sago_harness.figures.theme import FONT

#: Folder of the font that is part of this package, with its licence.
FOLDER = Path(__file__).parent / "fonts"

_OWN = FOLDER / "DejaVuSans.ttf"

#: Tried first for Chinese: families that set it well, as their file names begin.
_LIKED = (
    "NotoSansCJK",
    "NotoSansSC",
    "SourceHanSans",
    "wqy-microhei",
    "wqy-zenhei",
    "PingFang",
    "msyh",
    "Hiragino",
)


@dataclass(frozen=True)
class Face:
    """One face of a font file.

    Attributes
    ----------
    family : str
    path : Path
    number : int
        Its place in a collection; -1 for a file of one face.
    """

    family: str
    path: Path
    number: int = -1


@dataclass(frozen=True)
class Faces:
    """Faces that have the characters of a drawing.

    Attributes
    ----------
    faces : tuple of Face
        In the order in which they are tried.
    missing : str
        Characters that no face has.
    """

    faces: tuple[Face, ...]
    missing: str = ""

    @property
    def families(self) -> str:
        """Return the families as CSS has them."""
        return ", ".join(f'"{face.family}"' if " " in face.family else face.family for face in self.faces)


def faces_for(text: str) -> Faces:
    """Return the faces that a text needs; the system's fonts are looked through only where ours does not do.

    Examples
    --------
    >>> faces_for("score").families, faces_for("score").missing
    ('"DejaVu Sans"', '')
    """
    wanted = {char for char in text if char.isprintable() and not char.isspace()}
    own = Face(FONT, _OWN)
    left = wanted - _characters(own)
    faces = [own]
    while left:
        best = _best(left)
        if best is None:
            break
        # A text is laid out in one family: the one with all of its characters goes first.
        faces.insert(0 if wanted <= _characters(best) else len(faces), best)
        left -= _characters(best)
    return Faces(tuple(faces), "".join(sorted(left)))


def _best(wanted: set[str]) -> Face | None:
    """Return the face of the system that has most of the characters."""
    found, most = None, 0
    for face in _system():
        count = len(wanted & _characters(face))
        if count > most:
            found, most = face, count
        if most == len(wanted):
            break
    return found


@lru_cache(maxsize=1)
def _system() -> tuple[Face, ...]:
    """Return the regular faces of the system, those liked for Chinese first, then by path."""
    paths = {
        path
        for folder in _folders()
        if folder.is_dir()
        for path in folder.rglob("*")
        if path.suffix.lower() in (".ttf", ".otf", ".ttc", ".otc")
    }

    def key(path: Path) -> tuple[bool, bool, str]:
        regular = not any(
            word in path.stem for word in ("Bold", "Italic", "Oblique", "Black", "Thin", "Light")
        )
        return not path.name.startswith(_LIKED), not regular, str(path)

    return tuple(face for path in sorted(paths, key=key) for face in _faces_in(path))


def _folders() -> Iterator[Path]:
    home = Path.home()
    if sys.platform == "darwin":
        yield from (Path("/System/Library/Fonts"), Path("/Library/Fonts"), home / "Library/Fonts")
    elif sys.platform == "win32":
        yield Path(os.environ.get("WINDIR", "C:/Windows")) / "Fonts"
        yield home / "AppData/Local/Microsoft/Windows/Fonts"
    else:
        yield from (Path("/usr/share/fonts"), Path("/usr/local/share/fonts"))
        yield from (home / ".local/share/fonts", home / ".fonts")


def _faces_in(path: Path) -> Iterator[Face]:
    """Yield the first face of a file, or the simplified Chinese one of a collection that has one."""
    names: list[str] = []
    try:
        for number in range(_count(path)):
            with _open(path, number if path.suffix.lower() in (".ttc", ".otc") else -1) as font:
                names.append(str(font["name"].getBestFamilyName() or ""))
    except Exception:
        # A file that is no font is none of ours to complain of.
        return
    chosen = next((k for k, name in enumerate(names) if name.endswith(" SC")), 0)
    if names and names[chosen]:
        yield Face(names[chosen], path, chosen if len(names) > 1 else -1)


def _count(path: Path) -> int:
    if path.suffix.lower() not in (".ttc", ".otc"):
        return 1
    from fontTools.ttLib import TTCollection

    with path.open("rb") as file, TTCollection(file, lazy=True) as collection:
        return len(collection.fonts)


@contextmanager
def _open(path: Path, number: int) -> Iterator[Any]:
    """Open a face of a file, of which only what is asked for is read."""
    from fontTools.ttLib import TTFont

    # The library leaves open what it opened itself and then found to be no font.
    with (
        path.open("rb") as file,
        TTFont(file, fontNumber=number, lazy=True, recalcTimestamp=False) as font,
    ):
        yield font


@lru_cache(maxsize=64)
def _characters(face: Face) -> frozenset[str]:
    try:
        with _open(face.path, face.number) as font:
            return frozenset(map(chr, font.getBestCmap() or ()))
    except Exception:
        return frozenset()


def embedded(faces: Sequence[Face], text: str) -> str:
    """Return CSS that holds the glyphs of a text, so that it looks the same everywhere.

    Parameters
    ----------
    faces : sequence of Face
    text : str

    Returns
    -------
    str
        One ``@font-face`` for each face, as WOFF.
    """
    rules = []
    left = set(text)
    for face in faces:
        own = left & _characters(face)
        left -= own
        if own:
            data = base64.b64encode(_subset(face, "".join(sorted(own)))).decode("ascii")
            family = face.family.replace('"', "")
            rules.append(
                f'@font-face{{font-family:"{family}";src:url(data:font/woff;base64,{data}) format("woff")}}'
            )
    return "".join(rules)


def _subset(face: Face, text: str) -> bytes:
    """Return a face with the glyphs of a text alone; the same bytes for the same text."""
    from fontTools import subset

    options = subset.Options()
    options.flavor = "woff"
    options.layout_features = ["kern", "mark", "mkmk", "ccmp", "locl"]
    options.name_IDs = [0, 1, 2, 13, 14]
    options.notdef_outline = True
    options.hinting = False
    options.recalc_timestamp = False
    # Of the editor that the font was made with.
    options.drop_tables += ["FFTM"]
    out = io.BytesIO()
    with _open(face.path, face.number) as font:
        cutter = subset.Subsetter(options)
        cutter.populate(text=text)
        cutter.subset(font)
        subset.save_font(font, out, options)
    return out.getvalue()
