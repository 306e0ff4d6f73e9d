"""Pairs that people wrote: the same thing typed, spoken, corrected, patterned, translated."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sago_harness.documents.read import parse_json
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
    with _as_published(folder / "noiseqa"):
        versions = {key: (typed[key][1], spoken[key][1]) for key in published}
    with _as_published(folder / "disfl_qa" / "dev.json"):
        for key, (paragraph, text, answers) in published.items():
            said = rewritten.pop(key)["disfluent"].strip() if key in rewritten else None
            questions.append(Question(key, paragraph, text, answers, *versions[key], said))
        for key, row in sorted(rewritten.items()):
            cluster = batch.get(key[:8], f"squad {key[:8]}")
            questions.append(
                Question(key, cluster, row["original"].strip(), disfluent=row["disfluent"].strip())
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
        with _as_published(path):
            patterns = [_text(row["pattern"]) for row in _lines(path)]
        source = folder / "pararel" / "tuples" / path.name
        with _as_published(source):
            facts = [(_text(row["sub_label"]), _text(row["obj_label"])) for row in _lines(source)]
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
        if len(translated) != len(english) or len(english) < 2:
            raise SagoError(
                f"{folder}/mgsm: mgsm_{language}.tsv and mgsm_en.tsv differ in length, or have one line"
            )
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


def _fold(text: str) -> str:
    return "".join(char for char in text.casefold() if char.isalnum())


def _squad(path: Path) -> dict[str, tuple[str, str, frozenset[str]]]:
    found = {}
    content = _json(path)
    with _as_published(path):
        for article in content["data"]:
            for at, paragraph in enumerate(article["paragraphs"]):
                for row in paragraph["qas"]:
                    answers = frozenset(_fold(answer["text"]) for answer in row["answers"])
                    found[_text(row["id"])] = (f"{article['title']} {at}", row["question"].strip(), answers)
    return found


@contextmanager
def _as_published(path: Path) -> Iterator[None]:
    """Tell in one line what a file lacks whose content is taken for granted within the block."""
    try:
        yield
    except (LookupError, TypeError, AttributeError) as error:
        what = f"lacks {error}" if isinstance(error, KeyError) else str(error)
        raise SagoError(f"{path} is not as published: {what}") from error


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{type(value).__name__} where a text should be")
    return value


def _json(path: Path) -> Any:
    return parse_json(_read(path), str(path))


def _lines(path: Path) -> list[dict[str, Any]]:
    return [
        parse_json(line, f"{path} line {number}")
        for number, line in enumerate(_read(path).splitlines(), start=1)
        if line.strip()
    ]


def _tsv(path: Path) -> list[str]:
    return [line.split("\t")[0] for line in _read(path).splitlines() if line.strip()]


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise SagoError(
            f"{path} cannot be read ({type(error).__name__}): "
            "name the folder of the public data sets with --data-dir"
        ) from error
