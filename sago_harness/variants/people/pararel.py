"""ParaRel: patterns of one relation, written by experts, filled with facts."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from sago_harness.data import Document
from sago_harness.documents.read import read_file
from sago_harness.variants.people.base import People, Row, document_of

#: The object ends the pattern; after a comma it would be one of many ways to go on.
_OPEN = re.compile(r"(?P<start>[^\[\]]*\[X\][^\[\]]*[^,\s])\s+\[Y\]\s*[.,]?\s*")


class ParaRel(People):
    """Each fact as the beginnings of sentences that its object completes.

    The canonical text is the relation's first pattern that ends in the object, up to it
    ("Anna Miller was born in"); the variants are the other such patterns. Facts with the same
    subject and relation are one document with several answers, which is the cluster too.
    :meth:`read` gives whole statements instead, with every pattern of the relation.
    """

    name = "pararel"
    family = "human"
    operators = ("pattern",)
    source = "https://github.com/yanaiela/pararel"
    licence = "MIT"
    attribution = "ParaRel, Elazar et al. 2021; facts from T-REx, Elsahar et al. 2018 (Wikidata)"
    files = ("patterns/*.jsonl", "tuples/*.jsonl")

    def published(self, folder: Path) -> Iterator[Row]:
        """Yield the facts of every relation that has two patterns to complete."""
        for relation, patterns in _relations(folder):
            starts = [start for pattern in patterns if (start := opening(pattern))]
            if len(starts) < 2:
                continue
            for subject, facts in _facts(folder, relation).items():
                yield {
                    **self._row(relation, subject, [start.replace("[X]", subject) for start in starts]),
                    "answers": list(dict.fromkeys(fact["obj_label"] for fact in facts)),
                }

    def read(self, folder: Path) -> Iterator[Document]:
        """Yield every fact as a statement, with the same fact in the relation's other patterns."""
        self.rows(folder)  # says what is wrong with the files
        for relation, patterns in _relations(folder):
            for subject, facts in _facts(folder, relation).items():
                for fact in facts:
                    texts = [
                        pattern.replace("[X]", subject).replace("[Y]", fact["obj_label"])
                        for pattern in patterns
                    ]
                    row = self._row(relation, subject, texts)
                    row["id"] = f"{relation}:{fact['uuid']}"
                    yield document_of(row, self.language)

    def _row(self, relation: str, subject: str, texts: list[str]) -> Row:
        first, *others = dict.fromkeys(text.strip() for text in texts)
        numbered = [(f"pattern{number}", "pattern", text) for number, text in enumerate(others, start=2)]
        name = f"{relation}:{subject}"
        return {"id": name, "cluster": name, "question": first, "variants": self.variants(first, numbered)}


def opening(pattern: str) -> str:
    """Return what stands before the object of a pattern that ends in it, "" for another.

    Examples
    --------
    >>> opening("[X] was born in [Y]."), opening("[X]'s capital, [Y]."), opening("[Y] is in [X].")
    ('[X] was born in', '', '')
    """
    match = _OPEN.fullmatch(pattern)
    return match["start"] if match else ""


def _relations(folder: Path) -> Iterator[tuple[str, list[str]]]:
    for path in sorted((folder / "patterns").glob("*.jsonl")):
        yield path.stem, [row["pattern"] for row in read_file(path)]


def _facts(folder: Path, relation: str) -> dict[str, list[dict[str, str]]]:
    """Return the facts of a relation by subject, in the order of the file."""
    found: dict[str, list[dict[str, str]]] = {}
    for fact in read_file(folder / "tuples" / f"{relation}.jsonl"):
        found.setdefault(fact["sub_label"], []).append(fact)
    return found
