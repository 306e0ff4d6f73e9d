"""Time, processor time and memory of ``sago compare`` on run folders made at random, part by part.

``python -m tests.bench.compare`` (``make bench-compare``) writes the runs of 10 models x 6 data sets x
200 documents and of 100 models x 20 data sets x 500 documents, 20 variants each, once, and compares
each set in a process of its own: everything that the command prints, at the default number of resamples,
and then all of its files.
On a machine that does other things too, processor time is what to look at.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

SIZES = {"small": (10, 6, 200, 20), "large": (100, 20, 500, 20)}

#: Rows of a table that the command prints unless told otherwise.
ROWS = 12

#: Seconds and gigabytes that are aimed at on two cores.
AIMS = {"small": (5.0, None), "large": (120.0, 4.0)}


def main(argv: list[str] | None = None) -> None:
    """Make runs, compare them, print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--sizes", type=lambda text: text.split(","), default=list(SIZES))
    parser.add_argument("--folder", type=Path, help="keep the runs there (default: a temporary folder)")
    parser.add_argument("--repetitions", type=int, default=1)
    parser.add_argument("--workers", type=int, help="data sets at once (default: one a processor)")
    parser.add_argument("--json", type=Path, help="write the figures there")
    parser.add_argument("--one", type=Path, help=argparse.SUPPRESS)
    args = parser.parse_args(argv)
    if args.one:
        print(json.dumps(_one(args.one, args.workers)))
        return
    found: dict[str, list[dict[str, Any]]] = {}
    with tempfile.TemporaryDirectory() as temporary:
        for size in args.sizes:
            runs = (args.folder or Path(temporary)) / size
            _make(runs, *SIZES[size])
            found[size] = [_measured(runs, args.workers) for _ in range(args.repetitions)]
            print(_told(size, found[size]))
    if args.json:
        args.json.write_text(json.dumps(found, indent=1), encoding="utf-8")


def _make(folder: Path, models: int, tasks: int, documents: int, variants: int) -> None:
    from tests.runs.made_runs import write_runs

    if not folder.exists():
        start = time.perf_counter()
        write_runs(folder, models=models, tasks=tasks, documents=documents, variants=variants)
        size = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
        print(f"{folder.name}: runs of {size / 1e6:.0f} MB written in {time.perf_counter() - start:.0f} s")


def _measured(folder: Path, workers: int | None) -> dict[str, Any]:
    """Compare in a process of its own, whose memory is its own; start to end, imports included."""
    command = [sys.executable, "-m", "tests.bench.compare", "--one", str(folder)]
    command += ["--workers", str(workers)] if workers else []
    start = time.time()
    done = subprocess.run(command, capture_output=True, check=True)
    read: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return {**read, "seconds": read.pop("printed") - start, "with_files": time.time() - start}


class _Parts:
    """Time of parts that follow each other, by the clock and of the processor."""

    def __init__(self) -> None:
        self.found: dict[str, tuple[float, float]] = {}

    @contextmanager
    def __call__(self, name: str) -> Iterator[None]:
        start, busy = time.perf_counter(), time.process_time()
        yield
        self.found[name] = time.perf_counter() - start, time.process_time() - busy


def _one(folder: Path, workers: int | None) -> dict[str, Any]:
    """Do what the command does: print, then write all files."""
    part = _Parts()
    with part("imports"):
        from sago_harness.report.compared import sections
        from sago_harness.report.save import save_tables
        from sago_harness.report.study import Study
        from sago_harness.report.tables import as_text
        from sago_harness.runs.find import find_runs
        from sago_harness.runs.layers import layers_of_runs
        from sago_harness.runs.read import read_table
        from sago_harness.stats.compare import compare
    with part("finding runs"):
        runs = find_runs([folder])
        table = read_table(runs)
    found = compare(table, workers=workers)
    part.found |= {name: (passed, found.processor[name]) for name, passed in found.seconds.items()}
    with part("layers"):
        of = {(run.task, run.model): run for run in runs}
        list(layers_of_runs(of.values()))
    with part("texts"):
        study = Study(found, of).told(ROWS)
    with part("tables"):
        made = sections(study.found)
        shown = [as_text(replace(one, rows=one.rows[:ROWS])) for one in made]
    print("\n".join(shown))
    busy, printed = time.process_time(), time.time()
    with part("files: texts"):
        study = study.told()
    with part("files: writing"), tempfile.TemporaryDirectory() as place:
        save_tables(sections(study.found), study.found.about(), Path(place), ("json", "csv", "md", "tex"))
        size = sum(path.stat().st_size for path in Path(place).iterdir()) / 1e6
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e9
    return {
        "parts": part.found,
        "processor": busy,
        "printed": printed,
        "gigabytes": peak,
        "files_megabytes": size,
    }


def _told(size: str, runs: list[dict[str, Any]]) -> str:
    models, tasks, documents, variants = SIZES[size]
    best = min(runs, key=lambda run: run["seconds"])
    seconds, gigabytes = AIMS[size]
    aims = f"aim {seconds:g} s" + (f", {gigabytes:g} GB" if gigabytes else "")
    shape = f"{models} models x {tasks} data sets x {documents} documents x {variants} variants"
    lines = [
        f"{size}: {shape}: printed after {best['seconds']:.1f} s, {best['processor']:.1f} s of processor; "
        f"{best['files_megabytes']:.0f} MB of files after {best['with_files']:.1f} s; "
        f"{best['gigabytes']:.2f} GB ({aims})",
        f"  {'':<14}{'clock':>9}{'processor':>11}",
    ]
    lines += [f"  {name:<14}{passed:8.2f} s{busy:9.2f} s" for name, (passed, busy) in best["parts"].items()]
    return "\n".join(lines)


if __name__ == "__main__":
    main()
