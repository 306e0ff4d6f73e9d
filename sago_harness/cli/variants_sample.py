"""`sago variants sample`: draw variants to be read blind, and count what two readings say."""

from __future__ import annotations

import argparse
import csv
import json
import math
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path

from sago_harness.cli.variants import table, writing
from sago_harness.data import Document
from sago_harness.documents.identity import content_id
from sago_harness.documents.read import parse_json
from sago_harness.errors import SagoError


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the two steps to a parser.

    Examples
    --------
    >>> parser = argparse.ArgumentParser()
    >>> configure(parser)
    >>> parser.parse_args(["draw", "--texts", "en:questions.txt", "--out", "sample"]).step
    'draw'
    """
    steps = parser.add_subparsers(dest="step", required=True, metavar="STEP")
    draw = steps.add_parser("draw", help="write a blind sheet and its key")
    draw.add_argument(
        "--texts",
        action="append",
        required=True,
        metavar="LANGUAGE:FILE",
        help="texts to vary, one a line (a line that is a JSON string may hold line breaks)",
    )
    draw.add_argument("--recipe", default="default", help="its operators are drawn more often")
    draw.add_argument("--operators", default="", help="only these, with commas between")
    draw.add_argument("--of-recipe", type=int, default=60, help="variants of each operator of the recipe")
    draw.add_argument("--of-others", type=int, default=20, help="variants of each other operator")
    draw.add_argument("--seed", type=int, default=0)
    draw.add_argument("--prefix", default="", help="before every item's number, to tell sheets apart")
    draw.add_argument("--out", required=True, help="folder for sheet.jsonl and key.csv")
    collect = steps.add_parser("collect", help="put a key and two readings into one table")
    collect.add_argument("--key", required=True, action="append", help="key.csv of a draw; of several, all")
    collect.add_argument(
        "--reading",
        action="append",
        required=True,
        metavar="NAME=FILE",
        help="who or what read, and its lines: item, same (y or n), natural (y or n), with tabs between",
    )
    collect.add_argument("--out", required=True, help="CSV with all items and judgements")
    collect.add_argument("--docs", metavar="FILE", help="a Markdown file whose generated section is replaced")


def run(args: argparse.Namespace) -> int:
    """Draw or collect.

    Returns
    -------
    int
        0.

    Raises
    ------
    SagoError
        For texts, a key or a reading that cannot be read, in one line.
    """
    return _draw(args) if args.step == "draw" else _collect(args)


def _draw(args: argparse.Namespace) -> int:
    from sago_harness.variants.audit.reading import digest, draw, write_items
    from sago_harness.variants.recipe import load_recipe

    documents: dict[str, list[Document]] = {}
    for given in args.texts:
        language, colon, name = given.partition(":")
        if not colon:
            raise SagoError(f"--texts {given}: write the language first, for example en:{given}")
        documents.setdefault(language, []).extend(_texts(Path(name), language))
    operators = tuple(name for name in args.operators.split(",") if name)
    items = draw(
        documents, load_recipe(args.recipe), args.seed, args.of_recipe, args.of_others, operators=operators
    )
    if not items:
        raise SagoError("no operator made a variant of these texts")
    items = [replace(item, item=args.prefix + item.item) for item in items]
    folder = Path(args.out)
    with writing(folder):
        folder.mkdir(parents=True, exist_ok=True)
        with (folder / "sheet.jsonl").open("w", encoding="utf-8") as file:
            for item in items:
                file.write(json.dumps([item.item, item.canonical, item.text], ensure_ascii=False) + "\n")
        write_items(folder / "key.csv", items)
    planted = sum(bool(item.planted) for item in items)
    print(f"{len(items)} pairs, {planted} of them with the meaning changed, texts {digest(items)}: {folder}")
    return 0


def _texts(path: Path, language: str) -> list[Document]:
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise SagoError(f"--texts {path} cannot be read: {error}") from error
    texts = [
        str(parse_json(line, f"--texts {path} line {number}")) if line.startswith('"') else line
        for number, line in enumerate(lines, 1)
        if line.strip()
    ]
    return [Document(content_id([text]), {"text": text}, language) for text in dict.fromkeys(texts)]


def _collect(args: argparse.Namespace) -> int:
    from sago_harness.variants.audit.judged import judge
    from sago_harness.variants.audit.reading import read_items, read_judgements

    if len(args.reading) != 2:
        raise SagoError(f"two readings are compared, {len(args.reading)} were given")
    names, readings = [], []
    for given in args.reading:
        name, equals, path = given.rpartition("=")
        if not equals:
            raise SagoError(f"--reading {given}: write who read first, for example 'reader A={given}'")
        names.append(name)
        readings.append(read_judgements(Path(path)))
    items = [item for key in args.key for item in read_items(Path(key))]
    result = judge(items, *readings)
    rows: list[Sequence[str]] = [("operator", "n", "same", "natural", "same, lower 95 %")]
    rows += [
        (verdict.operator, str(verdict.n), str(verdict.same), str(verdict.natural), f"{verdict.lower:.3f}")
        for verdict in result.operators
    ]
    print(table(rows, numbers=[1, 2, 3, 4]))
    kappa = "not defined" if math.isnan(result.kappa) else f"{result.kappa:.3f}"
    summary = (
        f"The readings ({' and '.join(names)}) agree on {result.agreement:.1%} of the meanings"
        + (", the planted changes among them," if result.planted else "")
        + f" (Cohen's kappa {kappa}); "
        + (
            f"of {result.planted} planted changes they found {result.found[0]:.1%} and {result.found[1]:.1%}."
            if result.planted
            else "no change was planted."
        )
    )
    print(f"\n{summary}")
    if args.docs:
        from sago_harness.variants.audit.report import markdown, replace_section

        with writing(Path(args.docs)):
            replace_section(Path(args.docs), f"{markdown(rows, 4)}\n\n{summary}\n", "sample")
    with writing(Path(args.out)), Path(args.out).open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        head = [f"{name}: {what}" for name in names for what in ("same", "natural")]
        writer.writerow([*asdict(items[0]), *head])
        for item in items:
            marks = [
                "" if item.item not in reading else "y" if reading[item.item][part] else "n"
                for reading in readings
                for part in (0, 1)
            ]
            writer.writerow([*asdict(item).values(), *marks])
    return 0
