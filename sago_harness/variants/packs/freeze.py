"""Makes the content of a pack: every document's line, in one process or several."""

from __future__ import annotations

import importlib.metadata
import multiprocessing
import os
import signal
import threading
import unicodedata
from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from itertools import islice
from typing import Any

from sago_harness.data import Document
from sago_harness.errors import SagoError
from sago_harness.variants.build import build
from sago_harness.variants.constraints import CONSTRAINTS
from sago_harness.variants.features import FEATURES
from sago_harness.variants.needs import missing
from sago_harness.variants.operators import OPERATORS
from sago_harness.variants.packs.pack import Manifest
from sago_harness.variants.packs.packline import PackLine, encode_set
from sago_harness.variants.recipe import Recipe, Rule
from sago_harness.variants.rewriter.session import describe

#: Documents that one process takes at a time.
_CHUNK = 16
_MODEL = "model:"


def manifest_of(
    recipe: Recipe, *, task: str, task_version: str, seed: int, negatives: bool = False
) -> Manifest:
    """Return what a pack of a recipe says of itself, counts and hash apart.

    Parameters
    ----------
    recipe : Recipe
        With its negative controls where they are asked for.
    task, task_version : str
    seed : int
    negatives : bool
        The recipe has been given negative controls.

    Raises
    ------
    SagoError
        If a constraint of the recipe cannot be checked on this machine.

    Examples
    --------
    >>> from sago_harness.variants.recipe import load_recipe
    >>> manifest = manifest_of(load_recipe("quick"), task="t", task_version="1.0", seed=42)
    >>> manifest.families["en"], "length" in [rule["name"] for rule in manifest.constraints]
    ({'register': 2, 'noise': 2, 'structure': 2}, True)
    """
    rules = [*recipe.rules, *(rule for entry in recipe.entries for rule in entry.rules)]
    for rule in rules:
        if lacking := missing(CONSTRAINTS.load(rule.name).requires):
            raise SagoError(f"recipe {recipe.name!r}: constraint {rule.name!r} cannot be checked: {lacking}")
    names = sorted({entry.operator for entry in recipe.entries})
    operators = {name: OPERATORS.load(name) for name in names}
    features = sorted({operator.feature for operator in operators.values() if operator.feature})
    needed = {need for operator in operators.values() for need in operator.requires}
    needed |= {need for rule in rules for need in CONSTRAINTS.load(rule.name).requires}
    return Manifest(
        task=task,
        task_version=task_version,
        recipe=f"{recipe.name}.{recipe.version}",
        recipe_digest=recipe.digest,
        seed=seed,
        negatives=negatives,
        levels=recipe.levels,
        constraints=_facts(recipe.rules),
        extra_constraints=tuple(
            {
                "variant": entry.make().variant_id,
                "languages": list(entry.languages),
                "constraints": list(_facts(entry.rules)),
            }
            for entry in recipe.entries
            if entry.rules
        ),
        families={language: recipe.count(language) for language in recipe.languages},
        operators={name: operator.version for name, operator in operators.items()},
        features={name: FEATURES.load(name).version for name in features},
        versions=_versions(need for need in needed if not need.startswith(_MODEL)),
        rewriter=describe() or None,
        models=_models(need.removeprefix(_MODEL) for need in needed if need.startswith(_MODEL)),
    )


def _facts(rules: Iterable[Rule]) -> tuple[dict[str, Any], ...]:
    return tuple(
        {"name": rule.name, "version": CONSTRAINTS.load(rule.name).version, "options": dict(rule.options)}
        for rule in rules
    )


def _versions(modules: Iterable[str]) -> dict[str, str]:
    packages = {name.partition(".")[0] for name in modules}
    versions = {"sago-harness": _version("sago-harness"), "unicode": unicodedata.unidata_version}
    return versions | {name: _version(name) for name in sorted(packages)}


def _version(package: str) -> str:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return "not installed"


def _models(names: Iterable[str]) -> dict[str, str]:
    from sago_harness.models import fetch

    return {
        name: fetch.lookup(name).weights_sha256 if fetch.resolve(name) else "not here"
        for name in sorted(set(names))
    }


def freeze(documents: Iterable[Document], recipe: Recipe, seed: int, workers: int = 1) -> Iterator[PackLine]:
    """Yield every document's line, in the order of the documents.

    Parameters
    ----------
    documents : iterable of Document
        Read as they are needed; sorted by id for a pack.
    recipe : Recipe
    seed : int
    workers : int
        Processes; the lines are the same for any number.

    Raises
    ------
    SagoError
        If a process dies.

    Examples
    --------
    >>> from sago_harness.variants.recipe import load_recipe
    >>> [line.id for line in freeze([Document("1", {"q": "Who wrote it?"})], load_recipe("quick"), 42)]
    ['1']
    """
    if workers < 2:
        yield from (encode_set(build(document, recipe, seed)) for document in documents)
        return
    waiting = iter(documents)
    running: deque[Future[list[PackLine]]] = deque()
    # A fresh interpreter a process: a fork would copy the threads of whatever is loaded here.
    pool = ProcessPoolExecutor(workers, multiprocessing.get_context("spawn"), _start, (recipe, seed))
    try:
        # No more in flight than keeps everyone busy: a pack need not fit into memory.
        while True:
            while len(running) < 2 * workers and (chunk := list(islice(waiting, _CHUNK))):
                running.append(pool.submit(_build_chunk, chunk))
            if not running:
                break
            yield from running.popleft().result()
    except BrokenProcessPool as error:
        raise SagoError("a process that makes variants died (out of memory?): try fewer --workers") from error
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


class _Work:
    """What a process of the pool works with, set once."""

    recipe: Recipe
    seed: int


def _start(recipe: Recipe, seed: int) -> None:
    _Work.recipe, _Work.seed = recipe, seed
    # Ctrl-C goes to all: the parent stops the others.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_leave_with_parent, daemon=True).start()


def _leave_with_parent() -> None:
    """End when the parent is killed: it cannot tell its processes then."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _build_chunk(documents: list[Document]) -> list[PackLine]:
    return [encode_set(build(document, _Work.recipe, _Work.seed)) for document in documents]
