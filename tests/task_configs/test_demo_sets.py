"""The demo sets: complete, without duplicates, in the right script, and right."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Callable
from functools import reduce
from pathlib import Path
from typing import Any

import pytest

FOLDER = Path(__file__).resolve().parents[2] / "task_configs" / "demo"
FIELDS = {
    "facts": {"id", "question", "answers"},
    "facts_zh": {"id", "question", "answers"},
    "instructions": {"id", "instruction", "reference"},
    "reasoning": {"id", "question", "solution", "answer"},
}
# The 24 problems worked again from their questions, by hand.
VALUES: dict[str, float] = {
    "reasoning-01": 4 * 12 - 19,
    "reasoning-02": 15 * len(["Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]),
    "reasoning-03": 86 - 27 + 14,
    "reasoning-04": 9 + 7 + 9 + 7,
    "reasoning-05": 42 / 3,
    "reasoning-06": 50 - 3 * 8,
    "reasoning-07": 240 / 16,
    "reasoning-08": 11 + 5 + 4,
    "reasoning-09": (11 - 2) * 1000 / 6,
    "reasoning-10": 18 * 25 - 37,
    "reasoning-11": 64 * 0.5 * 0.25,
    "reasoning-12": 5 + 2 * 9,
    "reasoning-13": 350 * 2 * 5,
    "reasoning-14": 300 * 10 / 4,
    "reasoning-15": 7 + 2 * 7 + 6,
    "reasoning-16": 40 * (1 - 0.25),
    "reasoning-17": 3 * 60 / 15,
    "reasoning-18": 75 - 18 + 9,
    "reasoning-19": 36 / 9 * 4,
    "reasoning-20": 23 * 2 + 9 * 4,
    "reasoning-21": 5 * 4 + 2 * 7,
    "reasoning-22": 3 * 400 + 250,
    "reasoning-23": 128 / 8 * 3,
    "reasoning-24": 21 - 3 * 5,
}
OPERATIONS: dict[str, Callable[[float, float], float]] = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "x": lambda a, b: a * b,
    "/": lambda a, b: a / b,
}


def rows(name: str) -> list[dict[str, Any]]:
    text = (FOLDER / f"{name}.jsonl").read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines()]


def span(row: dict[str, Any]) -> str:
    text: str = row.get("question") or row["instruction"]
    return text


def chain(expression: str) -> float:
    """Work an expression of one kind of operation, or of two numbers, from left to right."""
    first, *rest = expression.split()
    pairs = zip(rest[::2], rest[1::2], strict=True)
    return reduce(lambda value, pair: OPERATIONS[pair[0]](value, float(pair[1])), pairs, float(first))


by_set = pytest.mark.parametrize("name", sorted(FIELDS))


@by_set
def test_24_documents_with_every_field_filled(name: str) -> None:
    found = rows(name)
    assert len(found) == 24
    for row in found:
        assert set(row) == FIELDS[name]
        for value in row.values():
            texts = value if isinstance(value, list) else [value]
            assert texts
            assert all(isinstance(text, str) and text and text == text.strip() for text in texts)
            assert all(unicodedata.normalize("NFC", text) == text for text in texts)


def test_no_id_and_no_text_occurs_twice() -> None:
    everything = [row for name in FIELDS for row in rows(name)]
    assert len({row["id"] for row in everything}) == 96
    assert len({re.sub(r"\W", "", span(row)).casefold() for row in everything}) == 96


@pytest.mark.parametrize("name", ["facts", "facts_zh"])
def test_gold_answers_differ_from_each_other_and_are_not_given_away(name: str) -> None:
    found = rows(name)
    for row in found:
        folded = [answer.casefold() for answer in row["answers"]]
        assert len(set(folded)) == len(folded)
        assert not [answer for answer in folded if answer in row["question"].casefold()]
    firsts = [row["answers"][0] for row in found]
    assert len(set(firsts)) == 24


@pytest.mark.parametrize("name", ["facts", "instructions", "reasoning"])
def test_english_sets_are_plain_english_of_moderate_length(name: str) -> None:
    for row in rows(name):
        assert span(row).isascii()
        assert 8 <= len(span(row).split()) <= 27
    openings = {span(row).split()[0] for row in rows(name)}
    assert len(openings) >= 10


def test_chinese_set_is_simplified_chinese() -> None:
    for row in rows("facts_zh"):
        for text in [row["question"], *row["answers"]]:
            # GB 2312 has the simplified characters only.
            text.encode("gb2312")
        letters = [ch for ch in row["question"] if ch.isalnum()]
        han = [ch for ch in letters if "\u4e00" <= ch <= "\u9fff"]
        assert len(han) / len(letters) == 1.0
        assert any("\u4e00" <= ch <= "\u9fff" for answer in row["answers"] for ch in answer)


@pytest.mark.parametrize("row", rows("reasoning"), ids=lambda row: row["id"])
def test_reasoning_answer_is_right(row: dict[str, Any]) -> None:
    assert float(row["answer"]) == pytest.approx(VALUES[row["id"]], abs=1e-9)
    assert row["answer"].isdigit()


@pytest.mark.parametrize("row", rows("reasoning"), ids=lambda row: row["id"])
def test_reasoning_solution_leads_to_the_answer(row: dict[str, Any]) -> None:
    solution = row["solution"]
    assert re.findall(r"\d+", solution)[-1] == row["answer"]
    equations = re.findall(r"(\d+(?: [-+x/] \d+)+) = (\d+)", solution)
    assert len(equations) == solution.count("=") > 0
    for left, right in equations:
        assert chain(left) == float(right), f"{left} = {right}"


def test_chain_works_from_left_to_right() -> None:
    assert chain("7 + 14 + 6") == 27
    assert chain("9000 / 6") == 1500
    assert chain("50 - 24") == 26
