"""`sago models`: fetch, list and find the models that come from the package index."""

from __future__ import annotations

import argparse

from ..errors import SagoError
from ..models import fetch


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the sub-commands of ``sago models`` to a parser.

    Examples
    --------
    >>> parser = argparse.ArgumentParser()
    >>> configure(parser)
    >>> parser.parse_args(["get", "smollm2"]).name
    'smollm2'
    """
    actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
    get = actions.add_parser(
        "get",
        help="fetch a model once and print its folder",
        description="Fetch a model and print its folder.",
    )
    get.add_argument(
        "name", metavar="NAME", help="smollm2, minilm, use-multilingual, gemma3-270m or en-core-web-sm"
    )
    get.add_argument(
        "--accept-gemma-terms", action="store_true", help="you have read and accept the Gemma Terms of Use"
    )
    actions.add_parser("list", help="show all models", description="Show all models.")
    path = actions.add_parser(
        "path", help="print the folder of a fetched model", description="Print the folder of a fetched model."
    )
    path.add_argument("name", metavar="NAME", help="as for get")


def run(args: argparse.Namespace) -> int:
    """Run ``sago models``.

    Standard output carries the path alone (``get``, ``path``) or the table (``list``).

    Parameters
    ----------
    args : argparse.Namespace
        As parsed with `configure`.

    Returns
    -------
    int
        0.

    Raises
    ------
    SagoError
        Unknown name, terms not accepted, the model cannot be fetched, or
        (``path``) is not here yet.
    """
    if args.action == "get":
        print(fetch.get(args.name, accept_gemma_terms=args.accept_gemma_terms))
    elif args.action == "path":
        fetch.lookup(args.name)
        folder = fetch.resolve(args.name)
        if folder is None:
            raise SagoError(f"{args.name} is not here yet: run `sago models get {args.name}`")
        print(folder)
    else:
        print(_table())
    return 0


def _table() -> str:
    rows = [("NAME", "KIND", "SIZE", "LICENCE", "HERE", "PATH")]
    for name in fetch.names():
        entry = fetch.lookup(name)
        here = "yes" if fetch.resolve(name) is not None else "no"
        rows.append(
            (name, entry.kind, f"{entry.megabytes} MB", entry.licence, here, str(fetch.folder_of(name)))
        )
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]) - 1)]
    sources = [f"{name}: {fetch.lookup(name).source}" for name in fetch.names()]
    table = "\n".join(
        "  ".join([*(cell.ljust(width) for cell, width in zip(row, widths, strict=False)), row[-1]])
        for row in rows
    )
    return f"{table}\n\n" + "\n".join(sources)
