"""``sago summary``: a run folder in words."""

from __future__ import annotations

import argparse
import re
import sys
from pathlib import Path

from sago_harness.errors import SagoError
from sago_harness.report.changes import escape_line
from sago_harness.report.files import UNFINISHED
from sago_harness.report.words import describe_task
from sago_harness.scores.table import read_parquet, read_samples

_FILES = re.compile(
    r"(?P<kind>samples|records)_(?P<task>.+)_(?P<time>\d{4}-\d\d-\d\dT[\d.-]+)\.(jsonl|parquet)$"
)


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the command's flags."""
    parser.add_argument("run", type=Path, help="folder that --output_path named")


def run(args: argparse.Namespace) -> int:
    """Print a paragraph for the newest samples, or records, of each model and task.

    Raises
    ------
    SagoError
        If the folder holds no samples of sago tasks.
    """
    if not args.run.is_dir():
        raise SagoError(f"there is no folder {args.run}")
    newest: dict[tuple[Path, str], list[tuple[str, str, Path]]] = {}
    for path in (path for name in ("samples_*.jsonl", "records_*.parquet") for path in args.run.rglob(name)):
        match = _FILES.search(path.name)
        if match and not any(part.startswith(UNFINISHED) for part in path.parts):
            of = newest.setdefault((path.parent, match["task"]), [])
            of.append((match["time"], match["kind"], path))
    told = 0
    left: list[SagoError] = []
    for (folder, task), files in sorted(newest.items()):
        # The time in the name sorts as text; of one time the samples go first.
        last = max(time for time, *_ in files)
        for _, kind, path in sorted((one for one in files if one[0] == last), reverse=True):
            try:
                rows = read_samples(path) if kind == "samples" else read_parquet(path)
            except SagoError as error:
                left.append(error)
                continue
            if rows:
                print(describe_task(rows, f"{folder.name} on {task}"))
                told += 1
                break
    for said in left if told else ():
        print(f"note: left out: {escape_line(str(said))}", file=sys.stderr)
    if left and not told:
        raise left[0]
    if not told:
        raise SagoError(
            f"{args.run} holds no samples of sago tasks (run with --output_path, and not --predict_only)"
        )
    return 0
