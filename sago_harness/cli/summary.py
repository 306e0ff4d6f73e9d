"""``sago summary``: a run folder in words."""

from __future__ import annotations

import argparse
import re
from pathlib import Path

from sago_harness.errors import SagoError
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
    newest: dict[tuple[Path, str], tuple[str, str, Path]] = {}
    paths = (path for name in ("samples_*.jsonl", "records_*.parquet") for path in args.run.rglob(name))
    for path in sorted(paths):
        match = _FILES.search(path.name)
        if match and not any(part.startswith(UNFINISHED) for part in path.parts):
            key = (path.parent, match["task"])
            # The time in the name sorts as text; of one time "samples" are after "records".
            newest[key] = max(newest.get(key, ("", "", path)), (match["time"], match["kind"], path))
    told = 0
    for (folder, task), (_, kind, path) in sorted(newest.items()):
        rows = read_samples(path) if kind == "samples" else read_parquet(path)
        if rows:
            print(describe_task(rows, f"{folder.name} on {task}"))
            told += 1
    if not told:
        raise SagoError(
            f"{args.run} holds no samples of sago tasks (run with --output_path, and not --predict_only)"
        )
    return 0
