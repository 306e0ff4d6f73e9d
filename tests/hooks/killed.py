"""Runs of ``sago run`` in processes of their own, to be killed.

A fork server imports the host once: each run then starts at once.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import sqlite3
from collections.abc import Sequence
from multiprocessing.process import BaseProcess
from pathlib import Path

#: What a run imports late; a tiny model's class among it.
_IMPORTS = [
    "tests.hooks.killed",
    "lm_eval.evaluator",
    "lm_eval.models.huggingface",
    "transformers.models.llama.modeling_llama",
    "sacrebleu",
    "datasets",
    "sago_harness.cli.run",
    "sago_harness.hooks.plugin",
    "sago_harness.hooks.task",
    "sago_harness.backends.hf",
]


def start(words: Sequence[str], log: Path, *, suicide: int = 0) -> BaseProcess:
    """Start ``sago WORDS``; with ``suicide``, it kills itself at that entry written to a cache."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(_IMPORTS)
    process = context.Process(target=_run, args=(list(words), str(log), suicide))
    process.start()
    return process


def _run(words: list[str], log: str, suicide: int) -> None:
    handle = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644)
    os.dup2(handle, 1)
    os.dup2(handle, 2)
    import torch
    from lm_eval.tasks import TaskManager

    from sago_harness.cli.main import main

    torch.set_num_threads(1)
    build = TaskManager.__init__
    TaskManager.__init__ = lambda self, *a, **k: build(self, *a, **{**k, "include_defaults": False})
    if suicide:
        _die_while_writing(suicide)
    raise SystemExit(main(words))


def _die_while_writing(entry: int) -> None:
    from sago_harness.backends import store

    row, written = store._row, [0]

    def counted(item: store.Entry) -> tuple[bytes, bytes | None, bytes]:
        written[0] += 1
        if written[0] == entry:
            os.kill(os.getpid(), signal.SIGKILL)
        return row(item)

    store._row = counted


def entries(path: Path) -> int:
    """Count the entries of a cache, 0 where there is none yet."""
    if not path.exists():
        return 0
    with sqlite3.connect(path) as link:
        try:
            return int(link.execute("SELECT count(*) FROM entries").fetchone()[0])
        except sqlite3.OperationalError:
            return 0
