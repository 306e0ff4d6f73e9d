"""A run and its baseline must be alike in everything but what is being changed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sago_harness.errors import SagoError
from sago_harness.jsonsafe import dumps
from sago_harness.runs.comparable import FIELDS, Mismatch, mismatches
from sago_harness.runs.find import RunFile
from sago_harness.runs.signatures import Signature, precision

#: Treatment -> fields of the signature that may differ. What is not in any of them is the yardstick:
#: recipe, pack, variants, seed, chance controls, gold answers, encoder, states, versions of measures.
ALLOWED: dict[str, tuple[str, ...]] = {
    "model": ("model", "backend", "class", "revision", "adapter", "quantised", "dtype"),
    # Another prompt is another task version, and may need other stop strings.
    "template": ("version", "prompts", "template", "shots", "until"),
    # The hash of the prompts holds generation arguments and repeats.
    "settings": ("generation", "until", "prompts", "canonical_repeats", "dtype", "quantised"),
}

#: What identifies the model in its signature, beside its precision.
_OF_MODEL = {
    "backend": "backend",
    "class": "class of the model",
    "revision": "revision of the model",
    "adapter": "adapter",
    "quantised": "quantisation",
}

_NAMES = {**FIELDS, **_OF_MODEL, "model": "model", "until": "stop strings"}

#: What a field is that a side does not state.
_NOT_STATED = "not stated"

#: Without these nobody knows whether two runs measured the same: they must be stated.
_STATED = ("variants", "pack", "measures")


@dataclass(frozen=True, slots=True)
class Change:
    """A field in which the run differs from its baseline.

    Attributes
    ----------
    task, field, baseline, run : str
    """

    task: str
    field: str
    baseline: str
    run: str

    @property
    def what(self) -> str:
        """Return the field with both values."""
        return f"{_NAMES[self.field]}: {self.baseline} -> {self.run}"

    def __str__(self) -> str:
        return f"{self.task}: {self.what}"


@dataclass(frozen=True, slots=True)
class Side:
    """One run of a data set, as far as it is identified.

    Attributes
    ----------
    model : str
    signature : mapping
    """

    model: str
    signature: Signature


def changes(task: str, baseline: Side, run: Side) -> list[Change]:
    """Return every field in which a run differs from its baseline.

    What only one of them states differs: nobody knows whether it is the same.

    Examples
    --------
    >>> a, b = Side("m", {"shots": 0}), Side("m", {"shots": 5})
    >>> [str(one) for one in changes("gsm8k", a, b)]
    ['gsm8k: shots: 0 -> 5']
    """
    found = []
    if baseline.model != run.model:
        found.append(Change(task, "model", baseline.model, run.model))
    was, now = (dict(side.signature.get("model") or {}) for side in (baseline, run))
    for key in _OF_MODEL:
        before, after = was.get(key), now.get(key)
        if before != after:
            found.append(Change(task, key, _word(before), _word(after)))
    files = [RunFile(name, task, Path(), "", signature=side.signature)
             for name, side in (("baseline", baseline), ("run", run))]  # fmt: skip
    for one in mismatches(files):
        found += _parted(one, baseline, run)
    return found + _one_sided(task, baseline.signature, run.signature)


def check_treatment(task: str, baseline: Side, run: Side, treatment: str) -> list[Change]:
    """Return what differs between a run and its baseline, all of it part of the treatment.

    Parameters
    ----------
    task : str
    baseline, run : Side
    treatment : str
        A key of :data:`ALLOWED`.

    Raises
    ------
    SagoError
        If they differ in anything else, with both values; or do not state what they must agree in.
    """
    for field in _STATED:
        for name, side in (("the baseline", baseline), ("the run", run)):
            if side.signature.get(field) is None:
                raise SagoError(
                    f"{task}: {name} ({side.model}) does not state its {_NAMES[field]}, so it cannot be "
                    "compared: keep the results file beside its records"
                )
    found = changes(task, baseline, run)
    for one in found:
        if one.field not in ALLOWED[treatment]:
            others = [name for name, fields in ALLOWED.items() if one.field in fields]
            advice = (
                f"if that is what you change, say treatment: {' or '.join(others)}"
                if others
                else "no treatment changes that: run one of them again"
            )
            raise SagoError(
                f"{task}: {_NAMES[one.field]} differs, which treatment {treatment} does not change: the "
                f"baseline {_has(one.baseline)}, the run {_has(one.run)} ({advice})"
            )
    return found


def likely_treatment(found: list[Change]) -> str:
    """Return the treatment that allows all of the changes; "" for none.

    Examples
    --------
    >>> likely_treatment([Change("t", "prompts", "a", "b")])
    'template'
    """
    order = ("template", "model", "settings")
    return next((name for name in order if all(one.field in ALLOWED[name] for one in found)), "")


def _parted(one: Mismatch, baseline: Side, run: Side) -> list[Change]:
    """Return a difference; of generation arguments the stop strings for themselves."""
    before, after = (dict(side.signature.get("generation") or {}) for side in (baseline, run))
    if one.field != "generation" or before.get("until") == after.get("until"):
        return [Change(one.task, one.field, one.usual, one.value)]
    stops = Change(one.task, "until", *(dumps(side.pop("until", None)) for side in (before, after)))
    if before == after:
        return [stops]
    keys = [key for key in sorted({*before, *after}) if before.get(key) != after.get(key)]
    rest = Change(one.task, "generation", *(_some(side, keys) for side in (before, after)))
    return [stops, rest]


def _one_sided(task: str, baseline: Signature, run: Signature) -> list[Change]:
    """Return the fields that one side states and the other does not."""
    found = []
    for field in FIELDS:
        before, after = _stated(baseline, field), _stated(run, field)
        if (before is None) != (after is None):
            found.append(Change(task, field, _word(before), _word(after)))
    return found


def _stated(signature: Signature, field: str) -> object:
    """Return a field's value; None where it is not stated."""
    value = precision(signature) if field == "dtype" else signature.get(field)
    # No pack is a statement, no text anywhere else is none.
    if value is None or (value == "" and field != "pack"):
        return None
    return dumps(value) if isinstance(value, Mapping) else value


def _some(values: Mapping[str, Any], keys: list[str]) -> str:
    return ", ".join(f"{key} {dumps(values[key]) if key in values else 'none'}" for key in keys)


def _has(value: str) -> str:
    return "does not state it" if value == _NOT_STATED else f"has {value}"


def _word(value: object) -> str:
    if value is None:
        return _NOT_STATED
    return (
        {True: "yes", False: "no", "": "none"}.get(value, str(value))
        if isinstance(value, bool | str)
        else str(value)
    )
