"""A sample of variants for reading: drawn blind, judged twice, counted per operator.

What a reader gets are pairs of texts, one in five of them with a meaning-changing edit put in
first. What comes back is, for every pair, whether it says the same and whether somebody would
write it so. From two such readings follow a bound per operator, how far the readers agree, and
how many of the planted changes they found.
"""

from __future__ import annotations

import csv
import hashlib
import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path

from sago_harness.data import Document
from sago_harness.errors import SagoError
from sago_harness.variants.base import SCORED_FAMILIES, Operator, Refused
from sago_harness.variants.build import make_passage
from sago_harness.variants.constraints import CONSTRAINTS
from sago_harness.variants.needs import missing
from sago_harness.variants.operators import OPERATORS
from sago_harness.variants.recipe import DEFAULT_CONSTRAINTS, Recipe


@dataclass(frozen=True, slots=True)
class Item:
    """One pair of texts to be read.

    Attributes
    ----------
    item : str
        Its number on the sheet; says nothing about what it is.
    operator, variant, language, document : str
    canonical, text : str
    planted : str
        The operator that changed the meaning first; "" for an honest variant.
    """

    item: str
    operator: str
    variant: str
    language: str
    document: str
    canonical: str
    text: str
    planted: str = ""


def draw(
    documents: Mapping[str, Sequence[Document]],
    recipe: Recipe,
    seed: int,
    of_recipe: int = 60,
    of_others: int = 20,
    planted: float = 0.2,
    operators: Sequence[str] = (),
) -> list[Item]:
    """Draw variants of every operator, and plant changed ones among them.

    Parameters
    ----------
    documents : mapping of str to sequence of Document
        By language.
    recipe : Recipe
        Its operators are drawn at its strengths and positions, all others at any.
    seed : int
    of_recipe, of_others : int
        Variants of each operator of the recipe, and of each other one; shared between the
        languages that an operator serves, two thirds for the first.
    planted : float
        Share of the sheet with the meaning changed.
    operators : sequence of str
        Only these; empty = every operator of a scored family that can run here.

    Returns
    -------
    list of Item
        In blind order. Fewer than asked for where an operator refuses most texts.
    """
    rng = random.Random(seed)
    used = {entry.operator for entry in recipe.entries}
    items: list[Item] = []
    for name in operators or list(OPERATORS):
        kind = OPERATORS.load(name)
        if kind.family not in SCORED_FAMILIES or missing(kind.requires) or name.startswith("rewrite_"):
            continue
        count = of_recipe if name in used else of_others
        languages = [code for code in kind.languages if documents.get(code)]
        for index, language in enumerate(languages):
            share = count if len(languages) == 1 else round(count * (2, 1)[index > 0] / 3)
            choices = _choices(kind, recipe, language) if name in used else _choices(kind, None, language)
            if choices:
                items += _variants(choices, documents[language], share, rng)
    wanted = round(len(items) * planted / (1 - planted))
    items += _planted(items, documents, wanted, rng)
    rng.shuffle(items)
    return [replace(item, item=f"{number:04d}") for number, item in enumerate(items, 1)]


def _choices(kind: type[Operator], recipe: Recipe | None, language: str) -> list[Operator]:
    """Return the operator at the recipe's strengths and positions, or at all of its own."""
    if recipe is not None:
        return [
            operator
            for entry in recipe.entries
            if entry.operator == kind.name and language in entry.languages
            for operator in (entry.make(),)
        ]
    return [kind(strength, position) for strength in kind.strengths or (None,) for position in kind.positions]


def _variants(
    choices: Sequence[Operator], documents: Sequence[Document], count: int, rng: random.Random
) -> list[Item]:
    items: list[Item] = []
    for document in rng.sample(list(documents), len(documents)):
        if len(items) == count:
            break
        operator = rng.choice(choices)
        text = _apply(operator, document.text, document.language, rng)
        if text is not None:
            items.append(
                Item(
                    "",
                    operator.name,
                    operator.variant_id,
                    document.language,
                    document.id,
                    document.text,
                    text,
                )
            )
    return items


def _apply(operator: Operator, text: str, language: str, rng: random.Random) -> str | None:
    """Return a variant that the constraints let through, None if there is none."""
    passage = make_passage(text, language)
    try:
        made = operator.apply(passage, rng)
    except Refused:
        return None
    passed = all(CONSTRAINTS.load(name)().check(passage, made).passed for name in DEFAULT_CONSTRAINTS)
    return made if passed else None


def _planted(
    items: Sequence[Item], documents: Mapping[str, Sequence[Document]], count: int, rng: random.Random
) -> list[Item]:
    """Change a document's meaning, then vary it as one of the drawn variants was varied."""
    changes = {
        language: [
            OPERATORS.load(name)()
            for name in OPERATORS
            if OPERATORS.load(name).family == "control" and language in OPERATORS.load(name).languages
        ]
        for language in documents
    }
    made: list[Item] = []
    for _ in range(50 * count):
        if len(made) == count:
            break
        like = rng.choice(items)
        document = rng.choice(documents[like.language])
        if not changes[like.language]:
            continue
        change = rng.choice(changes[like.language])
        kind = OPERATORS.load(like.operator)
        operator = next(
            operator
            for operator in _choices(kind, None, like.language)
            if operator.variant_id == like.variant
        )
        try:
            turned = change.apply(make_passage(document.text, document.language), rng)
        except Refused:
            continue
        text = _apply(operator, turned, document.language, rng)
        if text is not None:
            made.append(
                replace(like, document=document.id, canonical=document.text, text=text, planted=change.name)
            )
    return made


def digest(items: Iterable[Item]) -> str:
    """Return the first 16 hex digits of the sha256 over the pairs of texts, in order."""
    content = "\x1e".join(f"{item.canonical}\x1f{item.text}" for item in items)
    return hashlib.sha256(content.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def write_items(path: Path, items: Sequence[Item]) -> None:
    """Write the key: what every item is."""
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, [field.name for field in fields(Item)])
        writer.writeheader()
        writer.writerows(asdict(item) for item in items)


def read_items(path: Path) -> list[Item]:
    """Read the key back.

    Raises
    ------
    SagoError
        If the file cannot be read, or lacks a column or a cell.
    """
    rows = read_rows(path)
    names = [field.name for field in fields(Item)]
    for row in rows:
        for name in names:
            if row.get(name) is None:
                raise SagoError(f"{path} has no column {name!r}: it is no key of a sample")
    return [Item(**{name: row[name] for name in names}) for row in rows]


def read_rows(path: Path) -> list[dict[str, str]]:
    """Return the rows of a CSV file.

    Raises
    ------
    SagoError
        If it cannot be read.
    """
    try:
        with path.open(encoding="utf-8", newline="") as file:
            return list(csv.DictReader(file))
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise SagoError(f"{path} cannot be read: {error}") from error


def read_judgements(path: Path) -> dict[str, tuple[bool, bool]]:
    """Read one reading: a line an item, ``item<TAB>same<TAB>natural``, each y or n.

    Raises
    ------
    SagoError
        If the file cannot be read, or for a line of another form; it is named.

    Returns
    -------
    dict of str to (bool, bool)
        Item -> same meaning, natural.
    """
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise SagoError(f"{path} cannot be read: {error}") from error
    found: dict[str, tuple[bool, bool]] = {}
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        parts = line.split("\t")
        if len(parts) != 3 or not set(parts[1:]) <= {"y", "n"}:
            raise SagoError(f"{path} line {number}: expected item, y or n, y or n, with tabs between")
        found[parts[0]] = (parts[1] == "y", parts[2] == "y")
    return found
