"""One process of a job: runs ``sago`` commands one after another and notes how each ended.

Started by a launcher, with one argument: the path of a JSON file with ``commands`` (lists of
words), ``notes`` (the folder for the notes) and ``fails`` (the rank that fails in the last
command, or null).
"""

from __future__ import annotations

import contextlib
import io
import json
import sys
from pathlib import Path
from typing import Any


def main() -> int:
    """Run the commands; the last one's status is the job's."""
    from lm_eval.tasks import TaskManager

    from sago_harness.backends.ranks import place
    from sago_harness.cli.main import main as sago

    # The project's folder alone, which saves seconds.
    build: Any = TaskManager.__init__
    TaskManager.__init__ = lambda self, *a, **k: build(self, *a, **{**k, "include_defaults": False})  # type: ignore
    job = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    rank = place().rank
    status = 0
    for number, words in enumerate(job["commands"]):
        if number == len(job["commands"]) - 1 and job["fails"] == rank:
            fail_at_the_second_document()
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            status = sago(words)
        note = {"status": status, "out": out.getvalue(), "err": err.getvalue()}
        (Path(job["notes"]) / f"{number}-{rank}.json").write_text(json.dumps(note), encoding="utf-8")
    return status


def fail_at_the_second_document() -> None:
    """Let this process meet an error of its own while the others compute."""
    from sago_harness import pipeline
    from sago_harness.errors import SagoError

    condense, calls = pipeline.condense, iter(range(1, 100))

    def fail(*args: Any, **kwargs: Any) -> Any:
        if next(calls) == 2:
            raise SagoError("only this process knows why")
        return condense(*args, **kwargs)

    pipeline.condense = fail


if __name__ == "__main__":
    sys.exit(main())
