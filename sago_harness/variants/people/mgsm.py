"""MGSM: problems of GSM8K in English, each with translations made by people."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from sago_harness.variants.people.base import People, Row

#: Languages of the translations that are read.
LANGUAGES = ("de", "es", "fr")


class MGSM(People):
    """Each English problem with its German, Spanish and French translation.

    The files have no ids: line k of every file is the same problem, which is the cluster.
    """

    name = "mgsm"
    family = "language"
    operators = ("translation",)
    source = "https://github.com/google-research/url-nlp"
    licence = "CC BY 4.0"
    attribution = "MGSM, Shi et al. 2022; GSM8K, Cobbe et al. 2021"
    files = ("mgsm_en.tsv", *(f"mgsm_{language}.tsv" for language in LANGUAGES))

    def published(self, folder: Path) -> Iterator[Row]:
        """Yield the problems in the order of the files."""
        problems = {language: _pairs(folder / f"mgsm_{language}.tsv") for language in ("en", *LANGUAGES)}
        for number, (question, answer) in enumerate(problems["en"]):
            translated = []
            for language in LANGUAGES:
                text, same = problems[language][number]
                if same != answer:
                    raise ValueError(f"line {number + 1} of mgsm_{language}.tsv is another problem's")
                translated.append((f"translation_{language}", "translation", text))
            name = f"{number + 1:03d}"
            yield {
                "id": name,
                "cluster": name,
                "question": question,
                "answers": [answer],
                "variants": self.variants(question, translated),
            }


def _pairs(path: Path) -> list[tuple[str, str]]:
    """Return question and answer of every line; quotation marks are part of the text."""
    pairs = []
    # Not `splitlines`, which ends lines at characters that a text may hold.
    for number, line in enumerate(path.read_text(encoding="utf-8").rstrip("\n").split("\n"), start=1):
        cells = line.rstrip("\r").split("\t")
        if len(cells) != 2:
            raise ValueError(f"line {number} of {path.name} is not a question, a tab and an answer")
        pairs.append((cells[0], cells[1]))
    return pairs
