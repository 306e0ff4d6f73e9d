"""What two readings of a sample say: per operator, of the readers, and of the planted changes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sago_harness.errors import SagoError
from sago_harness.variants.audit.figures import clopper_pearson
from sago_harness.variants.audit.reading import Item

Judgements = Mapping[str, tuple[bool, bool]]


@dataclass(frozen=True, slots=True)
class OperatorVerdict:
    """What the readings say of one operator.

    Attributes
    ----------
    operator : str
    n : int
        Variants read in both readings.
    same : int
        Judged to say the same in both readings.
    natural : int
        Judged natural in both readings.
    lower : float
        Exact lower 95 % bound (Clopper and Pearson 1934, two-sided) of the share with the same meaning.
    """

    operator: str
    n: int
    same: int
    natural: int
    lower: float


@dataclass(frozen=True, slots=True)
class Readings:
    """What two readings say in all.

    Attributes
    ----------
    operators : tuple of OperatorVerdict
        In the order of their names.
    agreement, kappa : float
        Share of items on whose meaning both readings agree, and Cohen's kappa. The planted
        changes are among the items: most of them are easy to agree on, and without them nearly
        every item says the same, which leaves kappa little to tell.
    found : tuple of float
        Share of the planted changes that each reading found.
    planted : int
    """

    operators: tuple[OperatorVerdict, ...]
    agreement: float
    kappa: float
    found: tuple[float, float]
    planted: int


def judge(items: Sequence[Item], first: Judgements, second: Judgements) -> Readings:
    """Count what two readings say.

    Parameters
    ----------
    items : sequence of Item
    first, second : mapping of str to (bool, bool)
        Item -> same meaning, natural. An item that one reading lacks is left out.

    Raises
    ------
    SagoError
        If no item is in both readings.
    """
    read = [item for item in items if item.item in first and item.item in second]
    if not read:
        raise SagoError("no item of the key is in both readings: do they belong to this sheet?")
    operators = []
    for name in sorted({item.operator for item in read}):
        honest = [item.item for item in read if item.operator == name and not item.planted]
        if honest:
            same = sum(first[item][0] and second[item][0] for item in honest)
            natural = sum(first[item][1] and second[item][1] for item in honest)
            operators.append(
                OperatorVerdict(name, len(honest), same, natural, clopper_pearson(same, len(honest))[0])
            )
    planted = [item.item for item in read if item.planted]
    shares = tuple(
        sum(not reading[item][0] for item in planted) / len(planted) if planted else float("nan")
        for reading in (first, second)
    )
    agreement = sum(first[item.item][0] == second[item.item][0] for item in read) / len(read)
    return Readings(
        tuple(operators),
        agreement,
        _kappa(read, first, second, agreement),
        (shares[0], shares[1]),
        len(planted),
    )


def _kappa(items: Sequence[Item], first: Judgements, second: Judgements, agreement: float) -> float:
    """Return Cohen's kappa (1960) of the judgements on meaning; NaN where chance explains all."""
    yes = [sum(reading[item.item][0] for item in items) / len(items) for reading in (first, second)]
    chance = yes[0] * yes[1] + (1 - yes[0]) * (1 - yes[1])
    return (agreement - chance) / (1 - chance) if chance < 1 else float("nan")
