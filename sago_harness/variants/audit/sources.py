"""Pairs that people wrote: the same thing typed, spoken, corrected, patterned, translated."""

from __future__ import annotations

import json
import random
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sago_harness.errors import SagoError
from sago_harness.variants.audit.pairs import Pair

TRANSLATED = ("de", "es", "fr")


@dataclass(frozen=True, slots=True)
class Question:
    """A question of a paragraph in its versions; a version that was not written is None."""

    id: str
    cluster: str
    published: str
    answers: frozenset[str] = frozenset()
    typed: str | None = None
    spoken: str | None = None
    disfluent: str | None = None


def read_questions(folder: Path) -> list[Question]:
    """Return the questions of NoiseQA and Disfl-QA, with the paragraph as cluster.

    Disfl-QA names no paragraph. Ids of SQuAD begin with the second in which a worker handed
    in the questions of one paragraph, so equal first eight digits are taken for one paragraph,
    the NoiseQA paragraph where its questions share them.

    Raises
    ------
    SagoError
        If a file is not there or not as published.
    """
    published = _squad(folder / "noiseqa" / "xquad-context-en-question-en.json")
    typed = _squad(folder / "noiseqa" / "xquad-keyboard-natural.json")
    spoken = _squad(folder / "noiseqa" / "xquad-asr-natural.json")
    rewritten = _json(folder / "disfl_qa" / "dev.json")
    batch = {key[:8]: paragraph for key, (paragraph, _, _) in published.items()}
    questions = []
    for key, (paragraph, text, answers) in published.items():
        said = rewritten.pop(key, {}).get("disfluent")
        questions.append(Question(key, paragraph, text, answers, typed[key][1], spoken[key][1], _clean(said)))
    for key, row in sorted(rewritten.items()):
        cluster = batch.get(key[:8], f"squad {key[:8]}")
        questions.append(
            Question(key, cluster, _clean(row["original"]) or "", disfluent=_clean(row["disfluent"]))
        )
    return questions


def human_pairs(questions: Iterable[Question]) -> list[Pair]:
    """Return each question beside what people typed, said and corrected, where that differs."""
    pairs = []
    for question in questions:
        for source in ("typed", "spoken", "disfluent"):
            other = getattr(question, source)
            # A spreadsheet's error stands in two rows as published.
            if other and other not in (question.published, "#VALUE!"):
                pairs.append(Pair(question.published, other, True, source, "human", "", question.cluster))
    return pairs


def other_questions(questions: Iterable[Question], seed: int) -> list[Pair]:
    """Return each question beside another one of its paragraph, published and as people wrote it.

    Left out are questions that share an answer, which may ask the same.
    """
    by_cluster: dict[str, list[Question]] = defaultdict(list)
    for question in questions:
        by_cluster[question.cluster].append(question)
    pairs = []
    for cluster, members in sorted(by_cluster.items()):
        for question in members:
            others = [
                other
                for other in members
                if _fold(other.published) != _fold(question.published)
                and not (other.answers & question.answers)
            ]
            if not others:
                continue
            other = random.Random(f"{seed} {question.id}").choice(others)
            pairs.append(
                Pair(question.published, other.published, False, "published", "other-question", "", cluster)
            )
            for source in ("typed", "spoken", "disfluent"):
                text = getattr(other, source)
                if text and text != other.published:
                    pairs.append(Pair(question.published, text, False, source, "other-question", "", cluster))
    return pairs


def pattern_pairs(folder: Path, seed: int, per_fact: int = 3) -> list[Pair]:
    """Return ParaRel's patterns filled with one fact, and with another fact of the relation."""
    pairs = []
    for path in sorted((folder / "pararel" / "patterns").glob("*.jsonl")):
        patterns = [row["pattern"] for row in _lines(path)]
        facts = [
            (row["sub_label"], row["obj_label"]) for row in _lines(folder / "pararel" / "tuples" / path.name)
        ]
        for subject, value in facts:
            rng = random.Random(f"{seed} {path.stem} {subject} {value}")
            cluster = f"{path.stem} {subject}"
            others = [other for _, other in facts if other != value]
            if len(patterns) < 2 or not others:
                continue
            for _ in range(per_fact):
                one, two = rng.sample(patterns, 2)
                text = _fill(one, subject, value)
                pairs.append(Pair(text, _fill(two, subject, value), True, "pattern", "human", "", cluster))
            one, two = rng.sample(patterns, 2)
            text, wrong = _fill(one, subject, value), rng.choice(others)
            pairs.append(Pair(text, _fill(one, subject, wrong), False, "pattern", "other-fact", "", cluster))
            pairs.append(Pair(text, _fill(two, subject, wrong), False, "pattern", "other-fact", "", cluster))
    return pairs


def translation_pairs(folder: Path, seed: int) -> list[Pair]:
    """Return MGSM's problems beside their translations, and beside another problem's."""
    english = _tsv(folder / "mgsm" / "mgsm_en.tsv")
    pairs = []
    for language in TRANSLATED:
        translated = _tsv(folder / "mgsm" / f"mgsm_{language}.tsv")
        if len(translated) != len(english):
            raise SagoError(f"{folder}/mgsm: mgsm_{language}.tsv and mgsm_en.tsv differ in length")
        for at, (text, other) in enumerate(zip(english, translated, strict=True)):
            wrong = random.Random(f"{seed} {language} {at}").choice(
                [n for n in range(len(english)) if n != at]
            )
            cluster = f"mgsm {at}"
            pairs.append(Pair(text, other, True, "translation", "human", "", cluster, language))
            pairs.append(
                Pair(text, translated[wrong], False, "translation", "other-question", "", cluster, language)
            )
    return pairs


def read_problems(folder: Path) -> list[tuple[str, str]]:
    """Return (cluster, text) of MGSM's English problems."""
    return [(f"mgsm {at}", text) for at, text in enumerate(_tsv(folder / "mgsm" / "mgsm_en.tsv"))]


def _fill(pattern: str, subject: str, value: str) -> str:
    return pattern.replace("[X]", subject).replace("[Y]", value)


def _clean(text: str | None) -> str | None:
    return None if text is None else text.strip()


def _fold(text: str) -> str:
    return "".join(char for char in text.casefold() if char.isalnum())


def _squad(path: Path) -> dict[str, tuple[str, str, frozenset[str]]]:
    found = {}
    for article in _json(path)["data"]:
        for at, paragraph in enumerate(article["paragraphs"]):
            for row in paragraph["qas"]:
                answers = frozenset(_fold(answer["text"]) for answer in row["answers"])
                found[row["id"]] = (f"{article['title']} {at}", row["question"].strip(), answers)
    return found


def _json(path: Path) -> Any:
    return json.loads(_read(path))


def _lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in _read(path).splitlines() if line.strip()]


def _tsv(path: Path) -> list[str]:
    return [line.split("\t")[0] for line in _read(path).splitlines() if line.strip()]


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except OSError as error:
        raise SagoError(
            f"{path} cannot be read ({type(error).__name__}): "
            "name the folder of the public data sets with --data-dir"
        ) from error
