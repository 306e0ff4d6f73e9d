"""NoiseQA: XQuAD's English questions, as people typed them and as a recogniser heard them spoken."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from sago_harness.documents.read import read_file
from sago_harness.variants.people.base import People, Row

_ORIGINAL = "xquad-context-en-question-en.json"
_TYPED = "xquad-keyboard-natural.json"
_SPOKEN = "xquad-asr-natural.json"


class NoiseQA(People):
    """Each question with what a person typed for it and what a recogniser made of a voice.

    A document is a question, its cluster the paragraph that it asks about; ``context`` is the
    paragraph. The three files share ids. Nearly half of the typed questions came out
    without a change: those bring the spoken variant only.
    """

    name = "noiseqa"
    family = "human"
    operators = ("typed", "spoken")
    source = "https://github.com/noiseQA/NoiseQA"
    licence = "MIT; text CC BY-SA 4.0"
    attribution = "NoiseQA, Ravichander et al. 2021; XQuAD, Artetxe et al. 2020; SQuAD, Rajpurkar et al. 2016"
    files = (_ORIGINAL, _TYPED, _SPOKEN)

    def published(self, folder: Path) -> Iterator[Row]:
        """Yield the questions in the order of XQuAD."""
        typed, spoken = (
            {question["id"]: question["question"].strip() for _, _, question in _questions(folder / name)}
            for name in (_TYPED, _SPOKEN)
        )
        for cluster, context, question in _questions(folder / _ORIGINAL):
            name, text = question["id"], question["question"].strip()
            yield {
                "id": name,
                "cluster": cluster,
                "context": context,
                "question": text,
                "answers": list(dict.fromkeys(answer["text"] for answer in question["answers"])),
                "variants": self.variants(
                    text, [("typed", "typed", typed[name]), ("spoken", "spoken", spoken[name])]
                ),
            }


def _questions(path: Path) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Yield the name of the paragraph, its text, and each of its questions."""
    for article in read_file(path):
        for number, paragraph in enumerate(article["paragraphs"], start=1):
            for question in paragraph["qas"]:
                yield f"{article['title']}#{number}", paragraph["context"], question
