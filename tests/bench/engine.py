"""Time and memory of the fast path against stock text-only generation, and against three plain passes.

``python -m tests.bench.engine`` (``make bench``) does everything with one command: sides take
turns inside each repetition, a ratio is that of one repetition's pair, and the table has the
medians with their quartiles. A row whose quartiles lie more than a fifth of the median apart
is ``inconclusive``. Both sides get the same list of prompts, equal ones included. Stock runs
at the batch size of 8, 16, 32 and 64 at which it is fastest (found in a first round); ours
at ``--batch``. What is found is written after every repetition; ``--resume`` goes on with it.
"""

from __future__ import annotations

import argparse
import gc
import random
import sys
import time
from collections.abc import Callable
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import torch

from sago_harness.data import Prompt
from sago_harness.models import names, resolve
from tests.bench import engine_memory
from tests.bench import engine_sides as sides
from tests.bench.engine_store import Store, code_hash, machine
from tests.bench.engine_table import render, rows

#: Sizes among which stock's best one is looked for.
BATCHES = (8, 16, 32, 64)

#: Variants beside the canonical prompt, and documents, over which the time is followed.
VARIANTS, DOCUMENTS = (1, 4, 12, 40), (8, 32)

PARTS = ("main", "counts", "memory", "growth", "second")

#: Has sliding windows: takes the fast path on short prompts; timed on both.
SECOND = "gemma3-270m"

Times = dict[str, list[float]]
Steps = dict[str, Callable[[], object]]


def main(argv: list[str] | None = None) -> None:
    """Run what is not yet there, and print the tables."""
    args = arguments(argv)
    torch.set_num_threads(args.threads)
    store = Store(args.out, settings(args), machine(), resume=args.resume)
    bench = Bench(args, store)
    for part in args.parts:
        getattr(bench, part)()
    print(render(store.found, markdown=args.markdown))


def arguments(argv: list[str] | None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--model", default="smollm2", help="a name of `sago models` or a model folder")
    parser.add_argument("--second", default=SECOND, help="the second model, or none")
    parser.add_argument(
        "--task", default="sago_demo_facts,sago_demo_reasoning", help="the second where the first ends"
    )
    parser.add_argument("--recipe", default="default")
    parser.add_argument("--growth-recipe", default="full", help="has the 40 variants")
    parser.add_argument(
        "--kinds", type=lambda text: text.split(","), default=list(sides.KINDS), help="kinds of prompt"
    )
    parser.add_argument(
        "--stock-batches",
        type=lambda text: [int(size) for size in text.split(",")],
        default=list(BATCHES),
        help="sizes among which stock's best one is looked for",
    )
    parser.add_argument(
        "--sides", type=lambda text: text.split(","), default=None, help="time only these (default: all)"
    )
    parser.add_argument("--documents", type=int, default=8)
    parser.add_argument("--variants", type=int, default=12)
    parser.add_argument("--tokens", type=int, default=32)
    parser.add_argument("--batch", type=int, default=32)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--repetitions", type=int, default=5)
    parser.add_argument("--growth-repetitions", type=int, default=3)
    parser.add_argument("--parts", type=lambda text: text.split(","), default=list(PARTS))
    parser.add_argument("--out", type=Path, default=Path("runs/bench/engine.json"))
    parser.add_argument("--resume", action="store_true", help="go on with what --out holds")
    parser.add_argument("--markdown", action="store_true", help="print the tables as Markdown")
    parser.add_argument("--quick", action="store_true", help="only see that it runs: 2 documents, 4 tokens")
    args = parser.parse_args(argv)
    if unknown := set(args.parts) - set(PARTS):
        parser.error(f"--parts {', '.join(sorted(unknown))}: parts are {', '.join(PARTS)}")
    if args.model in names() and resolve(args.model) is None:
        parser.error(f"model {args.model} is not here yet: run `sago models get {args.model}` once")
    if unknown := set(args.kinds) - set(sides.KINDS):
        parser.error(f"--kinds {', '.join(sorted(unknown))}: kinds are {', '.join(sides.KINDS)}")
    args.growth_variants, args.growth_documents = VARIANTS, DOCUMENTS
    if args.quick:
        args.documents, args.variants, args.tokens = 2, 2, 4
        args.repetitions = args.growth_repetitions = 1
        args.growth_recipe = args.recipe
        args.stock_batches, args.growth_variants, args.growth_documents = (8, args.batch), (1, 2), (1, 2)
    return args


def settings(args: argparse.Namespace) -> dict[str, Any]:
    """What the figures depend on: a run goes on only with the same."""
    same = ("task", "recipe", "growth_recipe", "documents", "variants", "tokens", "batch", "threads")
    found = {name: getattr(args, name) for name in same}
    found |= {
        name: list(getattr(args, name)) for name in ("stock_batches", "growth_variants", "growth_documents")
    }
    return {
        "model": Path(args.model).name,
        **found,
        "dtype": "float32",
        "quick": args.quick,
        "code": code_hash(),
    }


def say(message: str) -> None:
    """Show progress."""
    print(f"[{time.strftime('%H:%M:%S')}] {message}", file=sys.stderr, flush=True)


class Bench:
    """Measures the parts, each only as far as the store lacks it."""

    def __init__(self, args: argparse.Namespace, store: Store) -> None:
        self.args, self.store = args, store
        self.folder = str((resolve(args.model) or Path(args.model)).resolve())
        self._prompts: dict[tuple[str, str, int], sides.Documents] = {}

    @cached_property
    def lm(self) -> Any:
        """The model, loaded when something is left to measure."""
        return sides.load(self.folder, self.args.batch)

    # ------------------------------------------------------------------ parts

    def main(self) -> None:
        """All signals against text only, against three passes, canonical prompts alone, controls."""
        for kind in self.args.kinds:
            name = f"main/{kind}"
            if self._left(name, self.args.repetitions):
                best = self._best_batch(kind)
                self._repeat(name, self._main_steps(kind, best), self.args.repetitions)

    def counts(self) -> None:
        """What is fed and saved, and whether the numbers are the plain path's: once, not timed."""
        for kind in self.args.kinds:
            if kind in self.store.found["counts"]:
                continue
            say(f"counts, {kind}: ours, stock, plain path")
            documents = self._documents(kind)
            found, backend = sides.ours(self.lm, documents)
            texts = sides.stock(self.lm, sides.flat(documents))
            with sides.plain_engine(self.lm):
                plain, _ = sides.ours(self.lm, documents)
            mine = [response.text for responses in found for response in responses]
            ids = [self.lm.tok_encode(prompt.text) for prompt in sides.flat(documents)]
            spent = backend.spent
            self.store.found["counts"][kind] = {
                "path": sides.reason_for_plain(self.lm, documents) or "fast",
                "prompts": len(mine),
                "distinct_prompts": len({prompt.text for prompt in sides.flat(documents)}),
                "prompt_tokens": sum(map(len, ids)),
                "response_tokens": sum(len(r.kept_ids) for responses in found for r in responses),
                "passes": spent.passes,
                "tokens": spent.tokens,
                "shared": spent.shared,
                "verified": spent.verified,
                "same_texts": sum(a == b for a, b in zip(mine, texts, strict=True)),
                "differences": sides.differences(found, plain),
            }
            self._save()

    def memory(self) -> None:
        """Peaks, each of a process of its own; stock at our batch size, a larger one takes more."""
        for kind in self.args.kinds:
            found = self.store.found["memory"].setdefault(kind, {})
            for side in ("stock", "ours"):
                if side not in found:
                    say(f"memory, {kind}: {side}")
                    found[side] = engine_memory.measure(
                        side,
                        self.folder,
                        self._documents(kind),
                        batch=self.args.batch,
                        threads=self.args.threads,
                    )
                    self._save()

    def growth(self) -> None:
        """Time against variants and documents; stock in the first repetition only."""
        args = self.args
        for kind in self.args.kinds:
            name = f"variants/{kind}"
            if self._left(name, args.growth_repetitions):
                many = self._rendered(kind, args.growth_recipe, args.documents)
                # A fixed sample over the whole recipe; a smaller number is part of a larger one.
                rows = {count: [_first(prompts, count) for prompts in many] for count in args.growth_variants}
                self._grow(name, rows)
            name = f"documents/{kind}"
            if self._left(name, args.growth_repetitions):
                many = self._documents(kind, max(args.growth_documents))
                self._grow(name, {count: many[:count] for count in args.growth_documents})

    def second(self) -> None:
        """Time a second model, with examples (it has no chat template): its plain path, and what it takes."""
        name = self.args.second
        if name == "none":
            return
        folder = resolve(name) if name in names() else Path(name)
        if folder is None or not folder.is_dir():
            self.store.found["second"] = {"model": Path(name).name, "missing": True}
            say(f"second model: {name} is not here")
            self._save()
            return
        if not self._left("second", self.args.growth_repetitions):
            return
        kind = next(iter(sides.KINDS))
        documents = self._documents(kind)
        lm = sides.load(str(folder), self.args.batch)
        reason = sides.reason_for_plain(lm, documents)
        self.store.found["second"] = {"model": Path(name).name, "missing": False, "reason": reason}
        steps: Steps = {
            "plain": partial(sides.ours_plain, lm, documents),
            "stock": partial(sides.stock, lm, sides.flat(documents)),
            "ours": partial(sides.ours, lm, documents),
        }
        self._repeat("second", steps, self.args.growth_repetitions)

    # ------------------------------------------------------------------ prompts

    def _rendered(self, kind: str, recipe: str, documents: int) -> sides.Documents:
        key = (kind, recipe, documents)
        if key not in self._prompts:
            say(f"making prompts: {kind}, recipe {recipe}, {documents} documents")
            self._prompts[key] = sides.render(
                self.lm,
                kind,
                task=self.args.task,
                recipe=recipe,
                documents=documents,
                tokens=self.args.tokens,
            )
        return self._prompts[key]

    def _with_controls(self, kind: str, documents: int = 0) -> sides.Documents:
        made = self._rendered(kind, self.args.recipe, documents or self.args.documents)
        least = min(sum(prompt.role == "variant" for prompt in prompts) for prompts in made)
        if least < self.args.variants:
            raise SystemExit(f"a document has {least} variants, {self.args.variants} were asked for")
        return [
            [*(p for p in prompts if p.role != "control")][: self.args.variants + 1]
            + [p for p in prompts if p.role == "control"]
            for prompts in made
        ]

    def _documents(self, kind: str, documents: int = 0) -> sides.Documents:
        return sides.without_controls(self._with_controls(kind, documents))

    # ------------------------------------------------------------------ steps

    def _best_batch(self, kind: str) -> int:
        """Return the size at which stock is fastest, tried once each."""
        found = self.store.found["batches"].setdefault(kind, {})
        prompts = sides.flat(self._documents(kind))
        self._warm(kind)
        for size in self.args.stock_batches:
            if str(size) not in found:
                found[str(size)] = _timed(partial(self._stock, prompts, size))
                say(f"first round, {kind}: stock at {size}: {found[str(size)][0]:.1f} s")
                self._save()
        return int(min(found, key=lambda size: found[size][0]))

    def _stock(self, prompts: list[Prompt], size: int) -> list[str]:
        with sides.batch_size(self.lm, size):
            return sides.stock(self.lm, prompts)

    def _three(self, documents: sides.Documents, size: int) -> None:
        with sides.batch_size(self.lm, size):
            sides.three_passes(self.lm, documents)

    def _main_steps(self, kind: str, best: int) -> Steps:
        controlled = self._with_controls(kind)
        documents = sides.without_controls(controlled)
        canonical = [prompts[:1] for prompts in documents]
        controls = [prompt for prompt in sides.flat(controlled) if prompt.role == "control"]
        prompts = sides.flat(documents)
        steps: Steps = {
            "ours": partial(sides.ours, self.lm, documents),
            "stock": partial(self._stock, prompts, best),
            "ours with controls": partial(sides.ours, self.lm, controlled),
            "stock on controls": partial(self._stock, controls, best),
            "ours canonical": partial(sides.ours, self.lm, canonical),
            "stock canonical": partial(self._stock, sides.flat(canonical), best),
            "three passes": partial(self._three, documents, best),
        }
        if best != self.args.batch:
            steps["stock at our size"] = partial(self._stock, prompts, self.args.batch)
        return steps

    def _grow(self, name: str, sizes: dict[int, sides.Documents]) -> None:
        steps: Steps = {
            str(size): partial(sides.ours, self.lm, documents) for size, documents in sizes.items()
        }
        best = self._known_best(name.split("/")[1])
        first: Steps = {
            f"stock {size}": partial(self._stock, sides.flat(documents), best)
            for size, documents in sizes.items()
        }
        self.store.found["growth_prompts"][name] = {
            str(size): sum(map(len, documents)) for size, documents in sizes.items()
        }
        self._repeat(name, steps, self.args.growth_repetitions, first)

    def _known_best(self, kind: str) -> int:
        tried = self.store.found["batches"].get(kind)
        return int(min(tried, key=lambda size: tried[size][0])) if tried else self.args.batch

    def _warm(self, kind: str) -> None:
        """Threads, tables and the probe of the fast path: none of them is timed."""
        few = [prompts[:2] for prompts in self._documents(kind)[:2]]
        sides.ours(self.lm, few)
        sides.three_passes(self.lm, few)

    # ------------------------------------------------------------------ repetitions

    def _left(self, name: str, repetitions: int) -> int:
        return max(0, repetitions - len(self.store.found["samples"].get(name, [])))

    def _repeat(self, name: str, steps: Steps, repetitions: int, first: Steps | None = None) -> None:
        samples: list[Times] = self.store.found["samples"].setdefault(name, [])
        if name != "second":
            self._warm(name.split("/")[1])
        while len(samples) < repetitions:
            turn = len(samples)
            order = [*steps.items(), *(first or {}).items()] if turn == 0 else list(steps.items())
            times: Times = {}
            # There and back, so that a machine that grows slower favours neither side.
            for side, step in order if turn % 2 == 0 else order[::-1]:
                if self.args.sides and side not in self.args.sides:
                    continue
                times[side] = _timed(step)
                say(f"{name}, repetition {turn + 1} of {repetitions}: {side}: {times[side][0]:.1f} s")
            samples.append(times)
            self._save()

    def _save(self) -> None:
        self.store.found["rows"] = rows(self.store.found)
        self.store.save()


def _first(prompts: list[Prompt], count: int) -> list[Prompt]:
    """The canonical prompt and the first variants of a fixed order.

    Raises
    ------
    SystemExit
        If there are fewer.
    """
    variants = [prompt for prompt in prompts if prompt.role == "variant"]
    if len(variants) < count:
        raise SystemExit(f"a document has {len(variants)} variants, {count} were asked for")
    return [prompts[0], *random.Random(0).sample(variants, len(variants))[:count]]


def _timed(step: Callable[[], object]) -> list[float]:
    """Seconds by the clock and of the processors."""
    gc.collect()
    wall, cpu = time.perf_counter(), time.process_time()
    step()
    return [time.perf_counter() - wall, time.process_time() - cpu]


if __name__ == "__main__":
    main()
