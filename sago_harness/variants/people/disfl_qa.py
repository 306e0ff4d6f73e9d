"""Disfl-QA: questions of SQuAD, rewritten by people as somebody says them who corrects himself."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from sago_harness.documents.read import read_json
from sago_harness.variants.people.base import People, Row

_FILE = "dev.json"

#: Digits of an id that say in which second its question was stored: a paragraph's were stored
#: together. In XQuAD, which names the paragraphs, no two paragraphs share these digits.
_SECOND = 8

#: Cells of the published file that hold no rewrite: errors of a spreadsheet, and two texts in one.
_SPOILT = re.compile(r'#VALUE!|Question n/a|.*" *," *.*', re.S)


class DisflQA(People):
    """Each question with one disfluent rewrite. The cluster is a paragraph, read off the ids."""

    name = "disfl_qa"
    family = "human"
    operators = ("disfluent",)
    source = "https://github.com/google-research-datasets/Disfl-QA"
    licence = "CC BY 4.0"
    attribution = "Disfl-QA, Gupta et al. 2021; SQuAD 2.0, Rajpurkar et al. 2018"
    files = (_FILE,)

    def published(self, folder: Path) -> Iterator[Row]:
        """Yield the questions in the order of the file."""
        content = read_json(folder / _FILE)
        for name, pair in content.items():
            # Some originals end in a blank, which is no part of the question.
            text = pair["original"].strip()
            disfluent = rewrite(pair["disfluent"])
            yield {
                "id": name,
                "cluster": name[:_SECOND],
                "question": text,
                "variants": self.variants(text, [("disfluent", "disfluent", disfluent)]),
            }


def rewrite(cell: str) -> str:
    r"""Return a rewrite as it was written, "" for a cell that holds none.

    Some cells were escaped twice.

    Examples
    --------
    >>> rewrite('Who no what is \\"only\\"?'), rewrite("#VALUE!")
    ('Who no what is "only"?', '')
    """
    text = re.sub(r"\\u([0-9a-f]{4})", lambda match: chr(int(match[1], 16)), cell).replace('\\"', '"')
    # A delete character stands where a comma was typed over.
    text = text.replace("\x7f", "").strip()
    return "" if "\\" in text or _SPOILT.fullmatch(text) else text
