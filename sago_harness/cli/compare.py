"""``sago compare``: which model is more stable, how sure is that, does the ranking turn round elsewhere?"""

from __future__ import annotations

import argparse
from shutil import get_terminal_size
from typing import TYPE_CHECKING

from sago_harness.cli.study import add_study_flags, count, listed, place, study_of
from sago_harness.errors import SagoError, unknown

if TYPE_CHECKING:
    from sago_harness.report.tables import Table

_EPILOG = """\
examples:
  sago compare runs/                              the newest run of each model, task and seed below
  sago compare a=runs/smollm2 b=runs/gemma        models named by you
  sago compare runs/ --out study --control base   all models against one; tables as JSON, CSV, Markdown, LaTeX

tables: answers (all in short), leaderboard, weighted, ranking, measures, apart, unstable, pairs, reversals,
where-reversed, agreement, tau, independence, variance, dose, worst, firmness, seeds, schemes
(docs/statistics.md explains each)
"""

#: Rows of a table that are printed; files have all of them.
MOST_ROWS = 40

#: Characters of a line that no terminal is taken to fall below.
LEAST_WIDTH = 80


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the command's flags."""
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.epilog = _EPILOG
    add_study_flags(parser)
    parser.add_argument("--out", type=place, metavar="FOLDER", help="write all tables there")
    parser.add_argument(
        "--format", default="json,csv,md,tex", metavar="LIST", help="of the files (default: all four)"
    )
    parser.add_argument("--show", default="", metavar="LIST", help="print these tables alone (see below)")
    parser.add_argument("--rows", type=count, default=MOST_ROWS, metavar="N", help="rows printed of a table")
    parser.add_argument(
        "--worst", type=count, default=5, metavar="K", help="documents of each model that are shown"
    )


def run(args: argparse.Namespace) -> int:
    """Compare the runs, print the tables, write the files.

    Raises
    ------
    SagoError
        For bad flags, runs that cannot be read, or that must not be compared.
    """
    from sago_harness.report.compared import RARE, TABLES, sections
    from sago_harness.report.tables import FORMATS, WIDTH, as_text

    formats = listed(args.format)
    for name in formats:
        if name not in (*FORMATS, "json"):
            raise unknown("format", name, (*FORMATS, "json"), "--format")
    if args.out and not formats:
        raise SagoError(f"--format names none of {', '.join((*FORMATS, 'json'))}: --out would write nothing")
    if args.out and args.out.exists() and not args.out.is_dir():
        raise SagoError(f"--out {args.out} is a file: name a folder")
    wanted = listed(args.show)
    for name in wanted:
        if name not in TABLES:
            raise unknown("table", name, TABLES, "--show")
    study = study_of(args, worst=args.worst, with_texts=False)
    if args.out or not wanted or "worst" in wanted:
        # Files have all texts; for the terminal alone those that are printed are read.
        study = study.told(None if args.out else args.rows)
    found = study.found
    # Files have all tables; for the terminal alone those that are printed are made.
    made = sections(found, wanted if wanted and not args.out else None)
    failed: SagoError | None = None
    if args.out:
        from sago_harness.report.save import left_over, save_tables

        # Files first: a reader who has seen enough (`| head`) must not cost them, nor a full disk the output.
        try:
            save_tables(made, found.about(), args.out, formats)
        except SagoError as error:
            failed = error
    width = max(LEAST_WIDTH, get_terminal_size((WIDTH, 0)).columns)
    if wanted and "leaderboard" not in wanted:
        # What was left out or marked on reading stands under the leaderboard otherwise.
        print("".join(f"note: {line}\n" for line in found.notes), end="")
    for section in made:
        unasked = not wanted and (section.rows or section.name not in RARE)
        if unasked or section.name in wanted:
            print(as_text(_cut(section, args.rows), width) + "\n")
    print(found.signature)
    if failed:
        raise failed
    if args.out:
        print(f"all tables are in {args.out}")
        if old := left_over(made, args.out, formats):
            more = f" and {len(old) - 1} more" if len(old) > 1 else ""
            print(f"note: {old[0]}{more} from an earlier call, in formats not asked for now, are still there")
    return 0


def _cut(table: Table, rows: int) -> Table:
    from dataclasses import replace

    if table.wrapped:
        return table
    if table.matrices is not None:
        made = table.matrices(table)
        kept = made.fitting(rows)
        left, what = len(made.each) - len(kept.each), "matrices"
        table = replace(table, matrices=lambda _: kept)
    else:
        left, what = len(table.rows) - rows, "rows"
        table = replace(table, rows=table.rows[:rows]) if left > 0 else table
    if left <= 0:
        return table
    return replace(table, notes=(*table.notes, f"... and {left:,} more {what}: --rows, or --out"))
