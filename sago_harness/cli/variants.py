"""`sago variants`: makes, shows and checks packs of variants, one file an action."""

from __future__ import annotations

import argparse
import importlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sago_harness.errors import SagoError
from sago_harness.report.changes import escape_line

#: Action -> what it does; each has a module with ``configure(parser)`` and ``run(args) -> int``.
ACTIONS = {
    "build": "make the variants of a task's documents and write them into a pack",
    "show": "print variants with their changes marked: of a pack, a task, or any text",
    "verify": "check a pack's hash and its variants' constraints",
    "audit": "print and plot figures of quality for a pack",
    "sample": "draw variants to be read blind, and count what two readings say",
}


class _LazyParser(argparse.ArgumentParser):
    """A parser that imports its action's module when it is the one that was named."""

    action = ""

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Add the action's flags first."""
        action, self.action = self.action, ""
        if action:
            _module(action).configure(self)
        return super().parse_known_args(args, namespace)


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the actions of ``sago variants`` to a parser.

    Examples
    --------
    >>> parser = argparse.ArgumentParser()
    >>> configure(parser)
    >>> parser.parse_args(["verify", "pack.jsonl"]).action
    'verify'
    """
    actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION", parser_class=_LazyParser)
    for name, text in ACTIONS.items():
        actions.add_parser(name, help=text, description=f"{text[0].upper()}{text[1:]}.").action = name


def run(args: argparse.Namespace) -> int:
    """Run the action.

    Parameters
    ----------
    args : argparse.Namespace
        As parsed with `configure`.

    Returns
    -------
    int
        0, or 1 where differences were found.

    Raises
    ------
    SagoError
        For bad input; what it quotes is escaped.
    """
    try:
        return int(_module(args.action).run(args))
    except SagoError as error:
        # It may name what a file or a recipe from elsewhere holds.
        raise SagoError(escape_line(str(error))) from error


def _module(action: str) -> Any:
    return importlib.import_module(f"sago_harness.cli.variants_{action}")


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Tell in one line that a file or folder cannot be written within the block.

    Examples
    --------
    >>> with writing(Path("/nowhere/a.csv")):
    ...     Path("/nowhere/a.csv").write_text("")
    Traceback (most recent call last):
        ...
    sago_harness.errors.SagoError: /nowhere/a.csv cannot be written: No such file or directory
    """
    try:
        yield
    except OSError as error:
        raise SagoError(f"{path} cannot be written: {error.strerror or error}") from error


def table(rows: Sequence[Sequence[str]], numbers: Sequence[int] = ()) -> str:
    """Return rows as text in columns, those of ``numbers`` to the right; no cell can drive the terminal.

    Examples
    --------
    >>> print(table([("name", "n"), ("hens", "12")], numbers=[1]))
    name   n
    hens  12
    """
    rows = [[escape_line(cell) for cell in row] for row in rows]
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    return "\n".join(
        "  ".join(
            cell.rjust(width) if column in numbers else cell.ljust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    )
