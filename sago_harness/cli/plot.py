"""``sago plot``: one of the report's figures as a file, for a paper."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sago_harness.cli.study import add_study_flags, place, study_of
from sago_harness.errors import SagoError, unknown

if TYPE_CHECKING:
    from sago_harness.figures import Figure, NotDrawn

_EPILOG = """\
examples:
  sago plot --list                                kinds of figures
  sago plot standing runs/ --out standing.pdf     a file a figure: standing-sago.pdf and so on
  sago plot bump runs/ --which sago --out bump.svg   this figure alone, in this file
  sago plot operators runs/ --names               which figures of a kind the runs have
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the command's flags.

    Examples
    --------
    >>> parser = argparse.ArgumentParser()
    >>> configure(parser)
    >>> parser.parse_args(["bump", "runs", "--out", "bump.svg"]).kind
    'bump'
    """
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.epilog = _EPILOG
    parser.add_argument("kind", metavar="KIND", help="kind of figure (--list shows them)")
    add_study_flags(parser)
    parser.add_argument("--out", type=place, metavar="FILE", help="f.svg, f.pdf or f.png")
    parser.add_argument("--which", default="", metavar="NAME", help="one figure of the kind, by its name")
    parser.add_argument("--names", action="store_true", help="print the names of the kind's figures alone")
    size = parser.add_mutually_exclusive_group()
    size.add_argument("--scale", type=_positive, metavar="X", help="size, 1 = as on screen (png: 2)")
    size.add_argument("--width", type=_positive, metavar="PX", help="width in pixels (pdf: points)")
    parser.add_argument("--no-title", action="store_true", help="leave the title out")
    parser.add_argument("--list", action=_List, help="print the kinds of figures")


def run(args: argparse.Namespace) -> int:
    """Draw the figures of a kind and say what was written, and what could not be drawn and why.

    Raises
    ------
    SagoError
        For an unknown kind or name, bad runs, or a study that has no such figure.
    """
    from sago_harness.figures import FIGURES, NotDrawn, figures
    from sago_harness.figures.draw import ENDINGS, draw

    if args.kind not in FIGURES:
        raise unknown("kind of figure", args.kind, FIGURES)
    if args.out is None and not args.names:
        raise SagoError("--out is missing: name a file that ends in .svg, .pdf or .png")
    if args.out is not None and args.out.suffix.lower() not in ENDINGS:
        raise unknown("ending", args.out.suffix or "(none)", ENDINGS, f"--out {args.out}")
    if args.out is not None and not args.out.parent.is_dir():
        raise SagoError(f"--out {args.out}: there is no folder {args.out.parent}")
    made = figures(study_of(args, with_texts=False), [args.kind])
    if args.names:
        for one in made:
            print(f"{one.name}: {one.title if not isinstance(one, NotDrawn) else one}")
        return 0
    chosen = _chosen(made, args.which, args.kind)
    drawn = [one for one in chosen if not isinstance(one, NotDrawn)]
    lost = [one for one in chosen if isinstance(one, NotDrawn)]
    if not drawn:
        raise SagoError(f"{lost[0].name} cannot be drawn: {lost[0].reason}")
    for gone in lost:
        print(f"note: {gone}", file=sys.stderr)
    told: dict[str, None] = {}
    for one in drawn:
        path = args.out if len(drawn) == 1 else _named(args.out, one.name, args.kind)
        warned = draw(one, path, scale=args.scale, width=args.width, title=not args.no_title)
        told |= dict.fromkeys(warned)
        print(path)
    for line in told:
        print(f"warning: {line}", file=sys.stderr)
    return 0


def _chosen(made: Sequence[Figure | NotDrawn], which: str, kind: str) -> list[Figure | NotDrawn]:
    """Return the figure of a name, with or without its kind before it; all without a name."""
    if not which:
        return list(made)
    found = [one for one in made if which in (one.name, _short(one.name, kind))]
    if not found:
        raise unknown(f"figure of {kind}", which, [_short(one.name, kind) for one in made], "--which")
    return found


def _short(name: str, kind: str) -> str:
    return name.removeprefix(f"{kind}-")


def _named(out: Path, name: str, kind: str) -> Path:
    """Return the file of one of several figures: bump.svg -> bump-sago.svg."""
    rest = _short(name, kind)
    return out if rest == kind else out.with_name(f"{out.stem}-{rest}{out.suffix}")


def _positive(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = float("nan")
    if not 0.0 < value < 1e5:
        raise argparse.ArgumentTypeError(f"{text!r} is no number above 0")
    return value


class _List(argparse.Action):
    """Prints the kinds and leaves, as ``--help`` does: no runs are needed for it."""

    def __init__(self, option_strings: Sequence[str], dest: str, **more: Any) -> None:
        super().__init__(option_strings, argparse.SUPPRESS, nargs=0, **more)

    def __call__(self, parser: argparse.ArgumentParser, *args: Any) -> None:
        from sago_harness.figures import FIGURES, KINDS

        widest = max(map(len, FIGURES))
        print("\n".join(f"{kind:<{widest}}  {KINDS.get(kind, '')}".rstrip() for kind in FIGURES))
        parser.exit()
