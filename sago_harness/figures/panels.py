"""Panels beside each other, with a key above them that says how the marks are read."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import Any

from sago_harness.figures.theme import SCHEMA

Spec = dict[str, Any]

#: Pixels that a character of the key takes.
_PER_LINE = 6.6

#: The key takes so many pixels of a narrow figure all the same.
_LEAST = 560


def arranged(
    panels: Sequence[Spec], key: str, *, columns: int, width: int, spacing: int | dict[str, int] = 18
) -> Spec:
    """Return a whole specification.

    Parameters
    ----------
    panels : sequence of dict
        One or more, each with its data.
    key : str
        How to read the marks.
    columns : int
        Panels in a row.
    width : int
        Pixels that the key may take.
    spacing : int or dict
        Pixels between panels.
    """
    spec: Spec = {"$schema": SCHEMA, "title": {"text": lines(key, max(width, _LEAST)), "fontSize": 11}}
    return {**spec, "concat": list(panels), "columns": columns, "spacing": spacing}


def across(count: int, most: int) -> int:
    """Return how many panels stand in a row, so that rows are about equally long.

    Examples
    --------
    >>> across(5, 4), across(6, 4), across(3, 4)
    (3, 3, 3)
    """
    rows = -(-count // most)
    return -(-count // rows) if rows else 1


def lines(text: str, width: int) -> list[str]:
    """Return a text in lines that fit into so many pixels.

    Examples
    --------
    >>> lines("one two three", 60)
    ['one two', 'three']
    """
    return textwrap.wrap(text, max(8, int(width / _PER_LINE)), break_long_words=True)


def values(rows: Sequence[dict[str, Any]]) -> Spec:
    """Return rows as inline data."""
    return {"values": list(rows)}


def tips(**fields: str) -> list[Spec]:
    """Return a tooltip: field = heading. Fields hold texts that are made already.

    Examples
    --------
    >>> tips(model="model")
    [{'field': 'model', 'type': 'nominal', 'title': 'model'}]
    """
    return [{"field": name, "type": "nominal", "title": title} for name, title in fields.items()]


def counted(**fields: tuple[str, str]) -> list[Spec]:
    """Return the part of a tooltip that holds numbers: field = (heading, format of d3).

    Examples
    --------
    >>> counted(value=("value", ".3f"))
    [{'field': 'value', 'type': 'quantitative', 'title': 'value', 'format': '.3f'}]
    """
    return [
        {"field": name, "type": "quantitative", "title": title, "format": form}
        for name, (title, form) in fields.items()
    ]


def only(*given: str, **equal: Any) -> Spec:
    """Return the rows of a layer: those that have some fields, and others with these values.

    Examples
    --------
    >>> only("low", sure=True)["transform"]
    [{'filter': 'isValid(datum.low)'}, {'filter': {'field': 'sure', 'equal': True}}]
    """
    # Vega-Lite's own test for validity holds texts for invalid; the fields are names of ours.
    tests: list[str | Spec] = [f"isValid(datum.{name})" for name in given]
    tests += [{"field": name, "equal": value} for name, value in equal.items()]
    return {"transform": [{"filter": test} for test in tests]}


def lean(row: dict[str, Any]) -> dict[str, Any]:
    """Return a row without what is missing; it is missing to Vega-Lite too."""
    return {key: value for key, value in row.items() if value is not None and value != ""}


def heading(text: str) -> Spec:
    """Return a panel's title."""
    return {"text": text, "fontSize": 11.5, "anchor": "middle", "offset": 6}


def quantity(field: str, domain: tuple[float, float] | None = None, **more: Any) -> Spec:
    """Return an encoding of a number; more of it as Vega-Lite has it."""
    scale: Spec = {"zero": False, "nice": True} if domain is None else {"domain": list(domain), "nice": False}
    return {"field": field, "type": "quantitative", "scale": scale, **more}


def axis(title: str | None, count: int = 4, **more: Any) -> Spec:
    """Return an axis of numbers, with few ticks and their lines."""
    return {"title": title, "tickCount": count, "grid": True, "labelFlush": False, **more}
