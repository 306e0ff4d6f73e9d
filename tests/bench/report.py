"""Time, processor time, memory and size of ``sago report`` on run folders made at random, part by part.

``python -m tests.bench.report`` (``make bench-report``) writes the runs of 10 models x 6 data sets x 200
documents x 12 variants once, and makes their report in a process of its own, with the document browser,
at the default number of resamples. On a machine that does other things too, look at processor time.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

T = TypeVar("T")

#: Models, data sets, documents, variants.
SIZES = {"one": (1, 1, 200, 12), "small": (10, 6, 200, 12)}

#: Seconds and gigabytes that are aimed at on two cores, and megabytes of the file without its texts.
AIMS = {"one": (20.0, 1.5, 6.0), "small": (20.0, 1.5, 6.0)}


def main(argv: list[str] | None = None) -> None:
    """Make runs and their report, print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--sizes", type=lambda text: text.split(","), default=["small"])
    parser.add_argument("--folder", type=Path, help="keep the runs and reports there (default: temporary)")
    parser.add_argument("--repetitions", type=int, default=1)
    parser.add_argument("--json", type=Path, help="write the figures there")
    parser.add_argument("--one", type=Path, help=argparse.SUPPRESS)
    args = parser.parse_args(argv)
    if args.one:
        print(json.dumps(_one(args.one)))
        return
    found: dict[str, list[dict[str, Any]]] = {}
    with tempfile.TemporaryDirectory() as temporary:
        for size in args.sizes:
            runs = (args.folder or Path(temporary)) / size
            _make(runs, *SIZES[size])
            found[size] = [_measured(runs) for _ in range(args.repetitions)]
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


def _measured(folder: Path) -> dict[str, Any]:
    """Make the report in a process of its own, whose memory is its own; start to end, imports included."""
    command = [sys.executable, "-m", "tests.bench.report", "--one", str(folder)]
    start = time.perf_counter()
    done = subprocess.run(command, capture_output=True, check=True)
    read: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return {**read, "seconds": time.perf_counter() - start}


def _one(folder: Path) -> dict[str, Any]:
    parts: dict[str, tuple[float, float]] = {}

    def timed(name: str, work: Callable[[], T]) -> T:
        start, busy = time.perf_counter(), time.process_time()
        made = work()
        parts[name] = time.perf_counter() - start, time.process_time() - busy
        return made

    def imported() -> None:
        import sago_harness.report.browse.data
        import sago_harness.report.page.page
        import sago_harness.report.study  # noqa: F401

    timed("imports", imported)
    from sago_harness.figures import figures
    from sago_harness.report.browse.data import browse_data
    from sago_harness.report.page.bundle import plotting_library
    from sago_harness.report.page.page import build, save
    from sago_harness.report.study import read_study

    study = timed("statistics", lambda: read_study([folder], with_texts=False))
    browse = timed("documents", lambda: browse_data(study))
    drawn = timed("figures", lambda: figures(study))
    timed("library", plotting_library)
    text = timed("page", lambda: build(study, browse=browse, drawn=drawn))
    out = folder.with_name(f"{folder.name}-report.html")
    timed("writing", lambda: save(text, out))
    data = sum(len(block.text) for block in browse.blocks)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e9
    size = out.stat().st_size
    return {
        "parts": parts, "processor": time.process_time(), "gigabytes": peak,
        "megabytes": size / 1e6, "without_texts": (size - data) / 1e6, "figures": len(drawn),
    }  # fmt: skip


def _told(size: str, runs: list[dict[str, Any]]) -> str:
    models, tasks, documents, variants = SIZES[size]
    best = min(runs, key=lambda run: run["seconds"])
    seconds, gigabytes, megabytes = AIMS[size]
    shape = f"{models} models x {tasks} data sets x {documents} documents x {variants} variants"
    lines = [
        f"{size}: {shape}: {best['seconds']:.1f} s, {best['processor']:.1f} s of processor, "
        f"{best['gigabytes']:.2f} GB (aim {seconds:g} s, {gigabytes:g} GB)",
        f"  {best['figures']} figures; {best['megabytes']:.1f} MB, {best['without_texts']:.1f} MB of it "
        f"without the documents' texts (aim {megabytes:g} MB)",
        f"  {'':<14}{'clock':>9}{'processor':>11}",
    ]
    lines += [f"  {name:<14}{passed:8.2f} s{busy:9.2f} s" for name, (passed, busy) in best["parts"].items()]
    return "\n".join(lines)


if __name__ == "__main__":
    main()
