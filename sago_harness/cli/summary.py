"""``sago summary``: a run folder in words."""

from __future__ import annotations

import argparse
import re
from pathlib import Path

from sago_harness.errors import SagoError
from sago_harness.report.files import UNFINISHED
from sago_harness.report.words import describe_task
from sago_harness.scores.table import read_samples

_SAMPLES = re.compile(r"samples_(?P<task>.+)_(?P<time>\d{4}-\d\d-\d\dT[\d.-]+)\.jsonl$")


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the command's flags."""
    parser.add_argument("run", type=Path, help="folder that --output_path named")


def run(args: argparse.Namespace) -> int:
    """Print a paragraph for the newest samples of each model and task.

    Raises
    ------
    SagoError
        If the folder holds no samples of sago tasks.
    """
    if not args.run.is_dir():
        raise SagoError(f"there is no folder {args.run}")
    newest: dict[tuple[Path, str], Path] = {}
    for path in sorted(args.run.rglob("samples_*.jsonl")):
        match = _SAMPLES.search(path.name)
        if match and not any(part.startswith(UNFINISHED) for part in path.parts):
            key = (path.parent, match["task"])
            # The time in the name sorts as text.
            if key not in newest or newest[key].name < path.name:
                newest[key] = path
    told = 0
    for (folder, task), path in newest.items():
        rows = read_samples(path)
        if rows:
            print(describe_task(rows, f"{folder.name} on {task}"))
            told += 1
    if not told:
        raise SagoError(
            f"{args.run} holds no samples of sago tasks (run with --output_path, and not --predict_only)"
        )
    return 0
