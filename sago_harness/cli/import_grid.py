"""``sago import``: published scores of models under many prompts, and how well the rankings agree."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from sago_harness.cli.variants import table
from sago_harness.errors import SagoError
from sago_harness.report.changes import escape_line

if TYPE_CHECKING:
    from sago_harness.stats.agreement import AgreementResult


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the command's flags.

    Examples
    --------
    >>> parser = argparse.ArgumentParser()
    >>> configure(parser)
    >>> parser.parse_args(["homophones.json"]).out is None
    True
    """
    parser.add_argument(
        "file",
        nargs="+",
        type=Path,
        metavar="FILE",
        help="JSON with 'paraphrases', each with the accuracy of every model ('accs'); or what --out wrote",
    )
    parser.add_argument("--out", type=Path, metavar="FILE", help="write all grids to this JSON file")


def run(args: argparse.Namespace) -> int:
    """Print how well the rankings of each file agree, and write the grids where ``--out`` names a file.

    Returns
    -------
    int
        0.

    Raises
    ------
    SagoError
        If a file is not such a grid, or the output cannot be written.
    """
    from sago_harness.stats.agreement import agreement, told_p
    from sago_harness.stats.grid import load_grids, save_grids

    if args.out and any(_same(args.out, path) for path in args.file):
        raise SagoError(f"--out {args.out} is one of the files to read: name another")
    grids = [grid for path in args.file for grid in load_grids(path)]
    if args.out:
        save_grids(args.out, grids)
    results = [agreement(grid) for grid in grids]
    rows: list[tuple[str, ...]] = [
        ("grid", "rows", "models", "Kendall W", "Friedman", "p", "mean tau", "lowest", "pairs that change")
    ]
    for result in results:
        numbers = (
            f"{result.kendall_w:.3f}", f"{result.statistic:.2f}", told_p(result.pvalue),
            f"{result.mean_tau:.2f}", f"{result.lowest_tau:.2f}", f"{result.changed} of {result.pairs}",
        )  # fmt: skip
        shown = ("-",) * len(numbers) if result.reason else numbers
        rows.append((result.name, str(len(result.rows)), str(len(result.models)), *shown))
    print(table(rows, numbers=range(1, len(rows[0]))))
    for note in (note for result in results for note in _notes(result)):
        print(escape_line(note))
    if args.out:
        print(f"written: {args.out}")
    return 0


def _notes(result: AgreementResult) -> Iterator[str]:
    """Yield what the table does not say: why numbers are missing, and who was left out."""
    if result.reason:
        yield f"{result.name}: {result.reason}"
    if result.left_out:
        yield f"{result.name}: left out, no value in some {result.unit}: {', '.join(result.left_out)}"
    if result.empty_rows:
        yield f"{result.name}: left out, no value for any model: {', '.join(result.empty_rows)}"


def _same(one: Path, other: Path) -> bool:
    try:
        return one.samefile(other)
    except OSError:
        return False
