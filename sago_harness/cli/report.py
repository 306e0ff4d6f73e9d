"""``sago report``: everything about some runs in one HTML file that opens from the disk."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from sago_harness.cli.study import add_study_flags, count, place, study_of
from sago_harness.errors import SagoError
from sago_harness.whole import what_is

_EPILOG = """\
examples:
  sago report runs/                                  of the newest run of each model, task and seed
  sago report a=runs/smollm2 b=runs/gemma --out study.html
  sago report runs/ --without-documents              no prompt and no response is in the file

The file needs no network and nothing beside it. docs/report.md tells what is in it.
"""

_ENDINGS = (".html", ".htm")


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the command's flags."""
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.epilog = _EPILOG
    add_study_flags(parser)
    parser.add_argument(
        "--out", type=place, default=Path("report.html"), metavar="FILE", help="default: report.html"
    )
    parser.add_argument(
        "--without-documents", action="store_true", help="leave out the texts and their browser"
    )
    parser.add_argument(
        "--worst", type=count, default=5, metavar="K", help="documents of each model that are listed"
    )


def run(args: argparse.Namespace) -> int:
    """Read the runs, make the report, write it.

    Raises
    ------
    SagoError
        For bad flags, runs that cannot be read or must not be compared, or a file that cannot be written.
    """
    out: Path = args.out
    if what_is(out) == "folder":
        raise SagoError(f"--out {out} is a folder: name a file, {out / 'report.html'} for example")
    if out.suffix.lower() not in _ENDINGS:
        raise SagoError(f"--out {out} does not end in .html, so no browser would open it")
    from sago_harness.report.page.page import build, save

    study = study_of(args, worst=args.worst, with_texts=False)
    browse = None
    if not args.without_documents:
        from sago_harness.report.browse.data import browse_data

        browse = browse_data(study, progress=sys.stderr.isatty())
    text = build(study, browse=browse)
    save(text, out)
    print(f"{out}: {_size(out)}; open it in a browser")
    return 0


def _size(path: Path) -> str:
    size = path.stat().st_size
    return f"{size / 1e6:.1f} MB" if size >= 1e5 else f"{size / 1e3:.0f} kB"
