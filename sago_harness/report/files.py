"""Result files: whole or not there.

The host writes its files line by line and goes on when it cannot. Its output is therefore
made in a folder of its own, checked, joined by the records as Parquet, and then renamed
into place.
"""

from __future__ import annotations

import json
import os
import platform
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from sago_harness.errors import SagoError
from sago_harness.scores.table import read_samples, write_parquet

#: Begins the name of a folder whose run has not ended; machine and process id follow.
UNFINISHED = ".sago-unfinished-"


def unfinished(target: Path) -> Path:
    """Return the folder in ``target`` that this process's run is made in."""
    return target / f"{UNFINISHED}{_machine()}-{os.getpid()}"


def sweep(target: Path) -> None:
    """Remove the folders of runs that were killed on this machine: their process is gone.

    A process of another machine that shares the file system cannot be asked, and may be
    at work: its folder stays.
    """
    for folder in target.glob(f"{UNFINISHED}*"):
        machine, _, pid = folder.name.removeprefix(UNFINISHED).rpartition("-")
        if machine == _machine() and pid.isdigit() and not _alive(int(pid)):
            shutil.rmtree(folder, ignore_errors=True)


def _machine() -> str:
    return "".join(c if c.isalnum() else "-" for c in platform.node()) or "machine"


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True


def publish(staging: Path, target: Path) -> list[Path]:
    """Check what the host wrote and move it into place.

    Parameters
    ----------
    staging : Path
        Folder that the host wrote into.
    target : Path
        Folder that the user named; the host's sub-folder for the model is kept.

    Returns
    -------
    list of Path
        Where the files are now.

    Raises
    ------
    SagoError
        If the results are missing, a file is not whole (a full disk, for example), or one
        cannot be written or moved; nothing is left in ``target`` then.
    """
    results = sorted(staging.rglob("*.json"))
    if not results:
        raise SagoError(f"no results were written to {target}: is the disk full? (the log above says why)")
    for path in results:
        expected = _expected_samples(path)
        samples = {
            p.name.removeprefix("samples_").rsplit("_", 1)[0]: p for p in path.parent.glob("samples_*.jsonl")
        }
        for task, count in expected.items():
            found = _count_lines(samples[task]) if task in samples else 0
            if found < count:
                raise SagoError(
                    f"{found} of {count} samples of task {task!r} were written to {target}: "
                    "is the disk full? (the log above says why)"
                )
    try:
        for path in sorted(staging.rglob("samples_*.jsonl")):
            rows = read_samples(path)
            if rows:
                records = path.name.replace("samples_", "records_", 1)
                write_parquet(rows, path.with_name(records).with_suffix(".parquet"))
        return _move(sorted(p for p in staging.rglob("*") if p.is_file()), staging, target)
    except OSError as error:
        raise SagoError(f"the results could not be written to {target}: {error.strerror or error}") from error


def _move(files: Sequence[Path], staging: Path, target: Path) -> list[Path]:
    """Rename all files into place, or none."""
    places = [target / path.relative_to(staging) for path in files]
    for folder in {place.parent for place in places}:
        folder.mkdir(parents=True, exist_ok=True)
    moved: list[Path] = []
    try:
        for path, place in zip(files, places, strict=True):
            path.replace(place)
            moved.append(place)
    except OSError:
        for place in moved:
            place.unlink(missing_ok=True)
        raise
    return moved


def _expected_samples(path: Path) -> dict[str, int]:
    """Return how many samples each task of a results file must have."""
    try:
        results: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    except (json.JSONDecodeError, UnicodeDecodeError) as error:
        raise SagoError(f"the results file {path.name} is not whole: {error}; is the disk full?") from error
    counts = results.get("n-samples") or {}
    return {task: int(counts[task]["effective"]) for task in results.get("configs", {}) if task in counts}


def _count_lines(path: Path) -> int:
    """Count lines that are JSON; a broken one is an error."""
    count = 0
    with path.open(encoding="utf-8") as lines:
        for number, line in enumerate(lines, start=1):
            try:
                json.loads(line)
            except json.JSONDecodeError as error:
                raise SagoError(f"{path.name} line {number} is not whole; is the disk full?") from error
            count += 1
    return count
