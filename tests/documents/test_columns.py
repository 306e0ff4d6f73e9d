"""Columns of published files, mapped to a task's fields."""

from __future__ import annotations

from typing import Any

import pytest

from sago_harness.documents.columns import check_columns, map_row
from sago_harness.errors import SagoError

ROW: dict[str, Any] = {
    "Question": "Who?",
    "Answers": "me; you ;; ",
    "answer": {"value": "x", "aliases": ["x", "y"]},
    "solution": "a #### b\n#### 1,200 ",
    "a.b": "dotted",
    "none": None,
}


@pytest.mark.parametrize(
    ("rule", "expected"),
    [
        ("Question", "Who?"),
        (["question", "Question"], "Who?"),
        (["answer.value"], "x"),
        ({"from": "answer.aliases"}, ["x", "y"]),
        ({"from": "Answers", "split": ";"}, ["me", "you"]),
        ({"from": ["solution"], "after": "####"}, "1,200"),
        ({"from": "Question", "after": "####"}, "Who?"),
        ("a.b", "dotted"),
        ("none", None),
        (["missing", "gone"], None),
        ("answer.gone.deeper", None),
    ],
)
def test_rules(rule: Any, expected: Any) -> None:
    assert map_row(ROW, {"field": rule}) == {"field": expected}


def test_without_rules_a_row_stays_as_it_is() -> None:
    made = map_row(ROW, {})
    assert made == ROW
    assert made is not ROW


def test_a_column_that_is_there_may_be_empty() -> None:
    """The first candidate present wins, also where it is null."""
    assert map_row({"a": None, "b": 1}, {"f": ["a", "b"]}) == {"f": None}


def test_columns_that_some_rows_lack_are_fine() -> None:
    check_columns([{"q": 1}, {"q": 2, "a": 3}], {"question": "q", "answer": "a"}, "t", "file")


def test_a_missing_column_names_task_source_field_and_the_nearest() -> None:
    with pytest.raises(SagoError) as caught:
        check_columns([{"questions": 1, "x": 2}], {"question": ["question", "Q"]}, "t", "rows.csv")
    message = str(caught.value)
    for part in (
        "'t'",
        "rows.csv",
        "'question' or 'Q'",
        "for 'question'",
        "questions, x",
        "nearest: questions",
    ):
        assert part in message


def test_no_rows_are_told() -> None:
    with pytest.raises(SagoError, match=r"'t': file holds no documents"):
        check_columns([], {}, "t", "file")
