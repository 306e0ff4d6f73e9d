"""`sago variants show`: prints variants with their changes marked."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path

from sago_harness.cli.variants_task import add_task_arguments, open_task
from sago_harness.data import CANONICAL, Document, Variant, VariantSet
from sago_harness.errors import SagoError, nearest, unknown
from sago_harness.jsonsafe import clean_text
from sago_harness.report.changes import escape, show_changes, wants_colour
from sago_harness.variants.build import build
from sago_harness.variants.packs.packfile import open_pack
from sago_harness.variants.recipe import base_language, load_recipe
from sago_harness.variants.rewriter.session import use_rewriter
from sago_harness.variants.rewriter.settings import add_rewriter_arguments, settings_from


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the action's flags."""
    parser.add_argument("source", nargs="?", metavar="PACK_OR_TASK", help="a pack, or a task of `sago tasks`")
    parser.add_argument("ids", nargs="*", metavar="DOCUMENT_ID", help="documents (the first ones)")
    parser.add_argument("--limit", type=int, default=3, metavar="N", help="documents where none is named (3)")
    parser.add_argument("--text", metavar="TEXT", help="any text, to try a recipe on")
    parser.add_argument("--language", default="en", metavar="CODE", help="language of --text (en)")
    parser.add_argument("--no-color", action="store_true", help="mark changes as [-gone-]{+new+}")
    add_task_arguments(parser)
    add_rewriter_arguments(parser)


def run(args: argparse.Namespace) -> int:
    """Print the documents and their variants.

    Raises
    ------
    SagoError
        For bad input.
    """
    if (args.text is None) == (args.source is None):
        raise SagoError('name a pack or a task, or give a text: sago variants show --text "Who wrote it?"')
    if args.limit < 1:
        raise SagoError(f"--limit {args.limit}: it is a number of documents above 0")
    colour = wants_colour(sys.stdout, args.no_color)
    with use_rewriter(settings_from(args)):
        for number, made in enumerate(_sets(args)):
            print(("\n" if number else "") + describe_set(made, colour))
    return 0


def _sets(args: argparse.Namespace) -> Iterator[VariantSet]:
    if args.text is not None:
        yield _of_text(args)
    elif Path(args.source).suffix == ".jsonl" or Path(args.source).is_file():
        if args.recipe or args.negatives:
            raise SagoError("--recipe and --negatives are for tasks and texts: a pack's variants are made")
        pack = open_pack(args.source)
        for name in args.ids or pack.ids[: args.limit]:
            yield pack.get(name)
    else:
        yield from _of_task(args)


def _of_text(args: argparse.Namespace) -> VariantSet:
    recipe = load_recipe(args.recipe or "default")
    if args.negatives:
        recipe = recipe.with_negatives()
    language = base_language(args.language)
    if language not in recipe.languages:
        raise unknown("language", args.language, recipe.languages, f"recipe {recipe.name!r}")
    if not args.text.strip():
        raise SagoError("--text is empty: give a question or an instruction")
    return build(Document("text", {"text": clean_text(args.text)}, language), recipe, args.seed)


def _of_task(args: argparse.Namespace) -> Iterator[VariantSet]:
    task = open_task(args.source, args)
    documents = {document.id: document for document in task.documents}
    for name in args.ids or list(documents)[: args.limit]:
        if name not in documents:
            close = nearest(name, documents)
            some = ", ".join(list(documents)[:3])
            hint = f"did you mean {' or '.join(close)}?" if close else f"it has {some} ..."
            raise SagoError(f"task {args.source!r} has no document {name!r}: {hint}")
        yield build(documents[name], task.recipe, task.spec.seed)


def describe_set(made: VariantSet, colour: bool = False) -> str:
    r"""Return a document and its variants as text, one paragraph a variant.

    Parameters
    ----------
    made : VariantSet
    colour : bool
        As for :func:`show_changes`.

    Examples
    --------
    >>> document = Document("7", {"q": "Who wrote it?"})
    >>> variants = (
    ...     Variant("canonical", "canonical", "", document.fields),
    ...     Variant("label", "structure", "label", {"q": "Q: Who wrote it?"}, checks={"length": 1.2}),
    ... )
    >>> print(describe_set(VariantSet(document, variants)))
    7 (en)
      Who wrote it?
    <BLANKLINE>
      label  structure  length 1.2
        {+Q:␣+}Who wrote it?
    """
    document = made.document
    head = f"{document.id} ({document.language})"
    lines = [f"\x1b[1m{escape(head)}\x1b[0m" if colour else escape(head)]
    for name, text in document.fields.items():
        lines.append(_indented(_named(document, name) + escape(text), 2))
    if document.reason:
        lines.append(f"  not varied: {escape(document.reason)}")
    for variant in made.variants:
        if variant.id == CANONICAL:
            continue
        facts = [variant.id, variant.family, _checks(variant)]
        lines += ["", "  " + escape("  ".join(filter(None, facts)))]
        for name, text in variant.fields.items():
            if text != document.fields[name]:
                changes = show_changes(document.fields[name], text, colour)
                lines.append(_indented(_named(document, name) + changes, 4))
    if made.rejects:
        lines += ["", "  not made:"]
        width = max(len(reject.id) for reject in made.rejects)
        lines += [f"    {escape(reject.id.ljust(width))}  {escape(reject.reason)}" for reject in made.rejects]
    return "\n".join(lines)


def _named(document: Document, name: str) -> str:
    return f"{escape(name)}: " if len(document.fields) > 1 else ""


def _checks(variant: Variant) -> str:
    return ", ".join(f"{name} {value:.3g}" for name, value in variant.checks.items() if value is not None)


def _indented(text: str, by: int) -> str:
    return "\n".join(" " * by + line for line in text.split("\n"))
