"""How small a level can be: every test of a policy has its share of it, and draws are finite."""

from __future__ import annotations

import math
from decimal import Decimal

from sago_harness.errors import SagoError

#: Smaller levels are refused: what lies so far out rests on a handful of draws.
LEAST_LEVEL = 0.0001

#: Random draws of one bound, at most: ten of them must lie beyond it at the smallest level of the policy.
MOST_DRAWS = 1_000_000
_BEYOND = 10


def check_level(level: float, tests: int, where: str = "policy") -> None:
    """Refuse a level that would take more draws than a machine makes in a reasonable time.

    Parameters
    ----------
    level : float
    tests : int
        Rules, each counted once a data set: they share the level.
    where : str
        Names the policy in messages.

    Raises
    ------
    SagoError

    Examples
    --------
    >>> check_level(0.05, 200)
    >>> check_level(0.0001, 20)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    sago_harness.errors.SagoError: policy: ... write 0.0002 or more, or ask for at most 10
    """
    if level < LEAST_LEVEL:
        raise SagoError(f"{where}: 'level': {level:g} is too small: {plain_number(LEAST_LEVEL)} is the least")
    most = math.floor(level * MOST_DRAWS / _BEYOND + 1e-9)
    if tests > most:
        # More than .5 is no level; so many tests are too many at any.
        least = math.ceil(tests * _BEYOND / MOST_DRAWS * 1e6 - 1e-6) / 1e6
        write = f"write {plain_number(least)} or more, or " if least < 0.5 else ""
        raise SagoError(
            f"{where}: 'level': {level:g} shared by {tests} tests (rules x data sets) takes over "
            f"{MOST_DRAWS:,} draws each: {write}ask for at most {most}"
        )


def plain_number(number: float | Decimal) -> str:
    """Return a number without an exponent, which YAML would take for text.

    Examples
    --------
    >>> plain_number(1e-9), plain_number(0.5)
    ('0.000000001', '0.5')
    """
    return f"{Decimal(str(number)).normalize():f}"
