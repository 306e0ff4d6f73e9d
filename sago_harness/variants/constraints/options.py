"""Checks a constraint's options where it is made, so that a recipe with a wrong one is not run."""

from __future__ import annotations

import math

from sago_harness.errors import SagoError


def check_number(constraint: str, option: str, value: object, least: float, most: float = math.inf) -> None:
    """Refuse an option that is no number between two bounds, both included.

    Parameters
    ----------
    constraint, option : str
        Named in the message.
    value : object
        As a recipe or a pack states it.
    least, most : float

    Raises
    ------
    SagoError
        For another type, NaN, infinity or a number out of range.

    Examples
    --------
    >>> check_number("edits", "maximum", 0.5, 0, 1)
    >>> check_number("edits", "maximum", 7, 0, 1)
    Traceback (most recent call last):
        ...
    sago_harness.errors.SagoError: constraint 'edits': maximum must be a number from 0 to 1
    """
    known = isinstance(value, int | float) and not isinstance(value, bool)
    # Compared first: a whole number may be too large for a float.
    if not known or not least <= value <= min(most, 1e9):  # type: ignore[operator]
        upwards = f"from {least:g} to {most:g}" if math.isfinite(most) else f"of at least {least:g}"
        raise SagoError(f"constraint {constraint!r}: {option} must be a number {upwards}")


def check_text(constraint: str, option: str, value: object) -> None:
    """Refuse an option that is no text.

    Raises
    ------
    SagoError
        For another type, or an empty text.

    Examples
    --------
    >>> check_text("similarity", "encoder", "sentence:minilm")
    """
    if not isinstance(value, str) or not value:
        raise SagoError(f"constraint {constraint!r}: {option} must be a text")
