"""``sago compare``: which model is more stable, how sure is that, does the ranking turn round elsewhere?"""

from __future__ import annotations

import argparse
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from sago_harness.errors import SagoError, unknown

if TYPE_CHECKING:
    from sago_harness.report.tables import Table

_EPILOG = """\
examples:
  sago compare runs/                              the newest run of each model, task and seed below
  sago compare a=runs/smollm2 b=runs/gemma        models named by you
  sago compare runs/ --out study --control base   all models against one; tables as JSON, CSV, Markdown, LaTeX

tables: leaderboard, weighted, ranking, measures, apart, unstable, pairs, reversals, where-reversed,
agreement, tau, independence, variance, dose, worst, firmness, schemes (docs/statistics.md explains each)
"""

#: Rows of a table that are printed; files have all of them.
MOST_ROWS = 40


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the command's flags."""
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.epilog = _EPILOG
    parser.add_argument("run", nargs="+", metavar="RUN", help="run folder or file, or NAME=PATH")
    parser.add_argument("--out", type=Path, metavar="FOLDER", help="write all tables there")
    parser.add_argument(
        "--format", default="json,csv,md,tex", metavar="LIST", help="of the files (default: all four)"
    )
    parser.add_argument("--show", default="", metavar="LIST", help="print these tables alone (see below)")
    parser.add_argument("--rows", type=_count, default=MOST_ROWS, metavar="N", help="rows printed of a table")
    parser.add_argument("--tasks", default="", metavar="LIST", help="these data sets alone")
    parser.add_argument("--models", default="", metavar="LIST", help="these models alone")
    parser.add_argument("--scheme", default="sago", metavar="NAME", help="sago, or a published scheme")
    parser.add_argument(
        "--control", default="", metavar="MODEL", help="compare with this model, not all pairs"
    )
    parser.add_argument("--epsilon", type=_share, default=0.05, metavar="SHARE",
                        help="instability, as a share of chance, that is no finding")  # fmt: skip
    parser.add_argument("--correction", default="holm", choices=("holm", "bh"), help="for many tests")
    parser.add_argument("--level", type=_level, default=0.05, help="error rate of tests (default .05)")
    parser.add_argument("--resamples", type=_resamples, default=9999, metavar="N", help="default 9999")
    parser.add_argument("--seed", type=int, default=0, help="of the random draws")
    parser.add_argument(
        "--worst", type=_count, default=5, metavar="K", help="documents of each model that are shown"
    )
    parser.add_argument(
        "--every", action="store_true", help="all runs of a model and task, not the newest alone"
    )
    parser.add_argument("--allow-mixed", action="store_true", help="compare runs that differ, marked")
    parser.add_argument(
        "--skip-damaged", action="store_true", help="leave out lines that cannot be read, counted"
    )


def run(args: argparse.Namespace) -> int:
    """Compare the runs, print the tables, write the files.

    Raises
    ------
    SagoError
        For bad flags, runs that cannot be read, or that must not be compared.
    """
    from sago_harness.report.compared import RARE, TABLES, sections
    from sago_harness.report.tables import FORMATS, as_text
    from sago_harness.stats.compare import compare
    from sago_harness.stats.resampling import Settings
    from sago_harness.stats.schemes import scheme_names

    formats = _list(args.format)
    for name in formats:
        if name not in (*FORMATS, "json"):
            raise unknown("format", name, (*FORMATS, "json"), "--format")
    if args.out and not formats:
        raise SagoError(f"--format names none of {', '.join((*FORMATS, 'json'))}: --out would write nothing")
    if args.out and args.out.exists() and not args.out.is_dir():
        raise SagoError(f"--out {args.out} is a file: name a folder")
    wanted = _list(args.show)
    for name in wanted:
        if name not in TABLES:
            raise unknown("table", name, TABLES, "--show")
    if args.scheme not in scheme_names():
        raise unknown("scheme", args.scheme, scheme_names(), "--scheme")
    from sago_harness.runs.find import find_runs
    from sago_harness.runs.read import read_table, texts

    runs = find_runs(args.run, every=args.every)
    table = read_table(
        runs,
        allow_mixed=args.allow_mixed,
        skip_damaged=args.skip_damaged,
        models=_list(args.models) or None,
        tasks=_list(args.tasks) or None,
    )
    if args.control and args.control not in table.models:
        raise unknown("model", args.control, table.models, "--control")
    settings = Settings(
        level=args.level,
        correction=args.correction,
        resamples=args.resamples,
        seed=args.seed,
        epsilon=args.epsilon,
        control=args.control,
        scheme=args.scheme,
    )
    found = compare(table, settings, worst=args.worst, progress=sys.stderr.isatty())
    # Of several seeds, the run that its numbers come from.
    of = {
        (one.task, one.model): one
        for one in runs
        if found.sources.get(one.task, {}).get(one.model) == str(one.path)
    }
    found = found.with_texts(lambda task, model, document, variant: texts(of[task, model], document, variant))
    made = sections(found)
    if wanted and "leaderboard" not in wanted:
        # What was left out or marked on reading stands under the leaderboard otherwise.
        print("".join(f"note: {line}\n" for line in table.notes), end="")
    for section in made:
        unasked = not wanted and (section.rows or section.name not in RARE)
        if unasked or section.name in wanted:
            print(as_text(_cut(section, args.rows)) + "\n")
    print(found.signature)
    if args.out:
        from sago_harness.report.save import save_tables

        save_tables(made, found.about(), args.out, formats)
        print(f"all tables are in {args.out}")
    return 0


def _cut(table: Table, rows: int) -> Table:
    from dataclasses import replace

    if len(table.rows) <= rows:
        return table
    left = len(table.rows) - rows
    return replace(
        table, rows=table.rows[:rows], notes=(*table.notes, f"... and {left:,} more rows: --rows, or --out")
    )


def _list(words: str) -> list[str]:
    """Return the words of a list; a comma inside brackets is part of a name."""
    return [word.strip() for word in re.split(r",(?![^()]*\))", words) if word.strip()]


def _count(text: str) -> int:
    if not text.isascii() or not text.isdigit():
        raise argparse.ArgumentTypeError(f"{text!r} is no whole number from 0 on")
    return int(text)


def _share(text: str) -> float:
    return _number(text, 0.0, 1.0, low_in=True)


def _level(text: str) -> float:
    return _number(text, 0.0, 0.5)


def _number(text: str, low: float, high: float, *, low_in: bool = False) -> float:
    try:
        value = float(text)
    except ValueError:
        value = float("nan")
    if not (low < value < high or (low_in and value == low)):
        raise argparse.ArgumentTypeError(f"{text!r} is no number between {low:g} and {high:g}")
    return value


def _resamples(text: str) -> int:
    if not text.isascii() or not text.isdigit() or not 99 <= int(text) <= 1_000_000:
        raise argparse.ArgumentTypeError(f"{text!r} is no whole number from 99 to 1000000")
    return int(text)
