"""`sago variants build`: freezes a task's variants into a pack."""

from __future__ import annotations

import argparse
import importlib.metadata
import re
import signal
import threading
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import Any

from sago_harness.cli.variants import table
from sago_harness.cli.variants_task import OpenTask, add_task_arguments, open_task
from sago_harness.errors import SagoError
from sago_harness.variants.packs.freeze import freeze, manifest_of
from sago_harness.variants.packs.packfile import write_lines
from sago_harness.variants.packs.packline import PackLine
from sago_harness.variants.rewriter.session import use_rewriter
from sago_harness.variants.rewriter.settings import add_rewriter_arguments, settings_from

#: Reasons shown for each operator.
_REASONS = 3


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the action's flags."""
    parser.add_argument("task", metavar="TASK", help="a task of `sago tasks`, or its YAML file")
    add_task_arguments(parser)
    parser.add_argument(
        "--documents",
        type=_documents,
        default="all",
        metavar="N|all",
        help="draw N documents as a run does (all)",
    )
    parser.add_argument("--limit", type=_positive, metavar="N", help="only the first N documents")
    parser.add_argument("--workers", type=_positive, default=1, metavar="N", help="processes (1)")
    parser.add_argument("--out", type=Path, required=True, metavar="PACK", help="file to write, .jsonl")
    parser.add_argument("--force", action="store_true", help="replace an existing file")
    add_rewriter_arguments(parser)


def _positive(text: str) -> int:
    if not text.isdigit() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is no number above 0")
    return int(text)


def _documents(text: str) -> int | str:
    return "all" if text == "all" else _positive(text)


@dataclass(slots=True)
class Tally:
    """What was made and refused, counted while it passes by."""

    families: dict[str, str] = field(default_factory=dict)
    made: Counter[str] = field(default_factory=Counter)
    refused: dict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))

    def count(self, line: PackLine) -> None:
        """Add a document."""
        for family, operator in line.made:
            self.families[operator] = family
            self.made[operator] += 1
        for family, operator, reason in line.refused:
            self.families[operator] = family
            self.refused[operator][reason] += 1


def run(args: argparse.Namespace) -> int:
    """Build the pack, and print what was made and refused.

    Raises
    ------
    SagoError
        For bad input, or an existing file without ``--force``.
    """
    out: Path = args.out.expanduser()
    if out.is_dir() or not out.parent.is_dir():
        raise SagoError(f"--out {out}: {'it is a folder' if out.is_dir() else 'its folder does not exist'}")
    if out.exists() and not args.force:
        raise SagoError(f"--out {out} exists: name another file, or replace it with --force")
    settings = settings_from(args)
    if settings is not None and args.workers > 1:
        raise SagoError("a rewriter and its cache belong to one process: leave out --workers")
    task = open_task(args.task, args, args.documents, args.limit)
    tally = Tally()
    before = _take_stop_as_interrupt()
    try:
        with use_rewriter(settings):
            manifest = manifest_of(
                task.recipe,
                task=task.spec.task,
                task_version=task.version,
                seed=task.spec.seed,
                negatives=args.negatives,
            )
            manifest = write_lines(out, manifest, _lines(task, args.workers, tally))
    finally:
        if before is not None:
            signal.signal(signal.SIGTERM, before)
    if not manifest.variants:
        out.unlink()
        raise SagoError(
            f"recipe {task.recipe.name!r} makes no variant of the {manifest.documents} documents of "
            f"{task.spec.task}, and they bring none: name another --recipe"
        )
    print(_summary(tally, task))
    for remedy in _remedies(tally):
        print(remedy)
    print(
        f"\n{out}: {manifest.documents} documents, {manifest.variants} variants, {manifest.rejects} rejects, "
        f"sha256 {manifest.sha256}"
    )
    return 0


def _take_stop_as_interrupt() -> Any:
    """Let a request to stop end like Ctrl-C, so that files and processes are cleared away."""
    if threading.current_thread() is not threading.main_thread():
        return None

    def stop(_signal: int, _frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    return signal.signal(signal.SIGTERM, stop)


def _lines(task: OpenTask, workers: int, tally: Tally) -> Iterator[PackLine]:
    from tqdm import tqdm

    lines = freeze(task.documents, task.recipe, task.spec.seed, workers)
    # None: shown on a terminal only.
    with tqdm(total=len(task.documents), unit="documents", disable=None) as bar:
        variants = 0
        for line in lines:
            tally.count(line)
            variants += len(line.made)
            bar.update()
            if elapsed := bar.format_dict["elapsed"]:
                bar.set_postfix_str(f"{variants / elapsed:.0f} variants/s", refresh=False)
            yield line


def _summary(tally: Tally, task: OpenTask) -> str:
    rows = [("operator", "family", "made", "refused", "why")]
    order = dict.fromkeys(entry.operator for entry in task.recipe.entries)
    for operator in [name for name in (*order, *tally.families) if name in tally.families]:
        if operator in [row[0] for row in rows]:
            continue
        refused = tally.refused[operator]
        top = [f"{reason} {count}" for reason, count in _most(refused)[:_REASONS]]
        more = len(refused) - len(top)
        rows.append(
            (
                operator,
                tally.families[operator],
                str(tally.made[operator]),
                str(refused.total()),
                ", ".join(top) + (f", {more} more" if more else ""),
            )
        )
    return table(rows, numbers=(2, 3)) if len(rows) > 1 else "no variants"


def _most(refused: Counter[str]) -> list[tuple[str, int]]:
    return sorted(refused.items(), key=lambda item: (-item[1], item[0]))


def _remedies(tally: Tally) -> Iterator[str]:
    """Say once for each missing thing how to get it."""
    reasons = {reason for refused in tally.refused.values() for reason in refused}
    for reason in sorted(reason for reason in reasons if reason.startswith("missing ")):
        kind, _, name = reason.removeprefix("missing ").partition(" ")
        if kind == "model":
            yield f"{reason}: sago models get {name}"
        elif kind == "library":
            yield f"{reason}: pip install {_requirement(name)}"
    if "no rewriter" in reasons:
        yield "no rewriter: name a model with --rewriter, or its answers with --rewriter-cache"


def _requirement(library: str) -> str:
    """Return what to install: the extra of this project that holds the library, else itself."""
    try:
        needs = importlib.metadata.requires("sago-harness") or []
    except importlib.metadata.PackageNotFoundError:
        needs = []
    for need in needs:
        match = re.match(r"([\w.\-]+).*extra == ['\"]([\w\-]+)['\"]", need)
        if match and match[1].lower().replace("_", "-") == library.lower().replace("_", "-"):
            return f"'sago-harness[{match[2]}]'"
    return library
