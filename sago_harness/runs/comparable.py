"""Only like is compared with like: what must be equal over the models of a data set."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from sago_harness.errors import SagoError
from sago_harness.jsonsafe import dumps
from sago_harness.runs.find import RunFile
from sago_harness.runs.signatures import PACK_DIGITS, Signature, precision, quantised

#: Field -> its name in messages, what explains the most first. Versions of packages are none of them.
FIELDS: dict[str, str] = {
    "version": "task version",
    "recipe": "recipe",
    "recipe_digest": "content of the recipe",
    "pack": "pack",
    "seed": "seed",
    "shots": "shots",
    "template": "chat template",
    "variants": "variants",
    "controls": "chance controls",
    "canonical_repeats": "canonical repeats",
    "generation": "generation arguments",
    "prompts": "prompts",
    "scoring": "gold answers or how they are compared",
    "encoder": "encoder",
    "pooling": "pooling",
    "layers": "layers",
    "measures": "versions of measures",
    "dtype": "precision of the model",
    "quantised": "quantised weights",
}

#: What stands in the results file alone.
_OF_RESULTS = ("generation", "prompts", "scoring", "measures")

#: What follows from another seed: other variants, chance controls, and documents with their gold answers.
_FOLLOWS = ("pack", "seed", "variants", "prompts", "scoring")

#: What must be equal over seeds: as many documents, though not the same ones.
ACROSS: dict[str, str] = {
    **{field: name for field, name in FIELDS.items() if field not in _FOLLOWS},
    "documents": "number of documents",
}


@dataclass(frozen=True, slots=True)
class Mismatch:
    """A field in which a model differs from most others on a task.

    Attributes
    ----------
    task, field : str
    model, value : str
        The one that differs.
    reference, usual : str
        A model with the most common value, and that value.
    """

    task: str
    field: str
    model: str
    value: str
    reference: str
    usual: str

    def __str__(self) -> str:
        differ = f"{self.reference} has {self.usual}, {self.model} has {self.value}"
        return f"{self.task}: {_NAMES[self.field]}: {differ}"


_NAMES = {**FIELDS, **ACROSS}


def check(
    runs: Sequence[RunFile], *, allow_mixed: bool = False
) -> tuple[frozenset[tuple[str, str]], tuple[str, ...]]:
    """Refuse runs that differ in more than the model, or mark them.

    A field that a run does not state (no results file, or a model that is only known as an
    interface) is not compared.

    Parameters
    ----------
    runs : sequence of RunFile
    allow_mixed : bool
        Mark in place of refusing.

    Returns
    -------
    mixed : frozenset of (str, str)
        (task, model) of the runs that differ from the most common value of a field.
    notes : tuple of str
        One line for each of them.

    Raises
    ------
    SagoError
        Names task, field, two models and their values.
    """
    tasks: dict[str, list[RunFile]] = {}
    for run in sorted(runs, key=lambda run: (run.task, run.model)):
        tasks.setdefault(run.task, []).append(run)
    found: dict[tuple[str, str], list[Mismatch]] = {}
    for of_task in tasks.values():
        for one in mismatches(of_task):
            found.setdefault((one.task, one.model), []).append(one)
    return frozenset(found), _told(found, allow_mixed)


def unstated(runs: Sequence[RunFile]) -> list[str]:
    """Return a note on each run without a results file: what it does not state cannot be compared.

    Parameters
    ----------
    runs : sequence of RunFile

    Returns
    -------
    list of str
    """
    notes = []
    for run in runs:
        if run.results is None:
            lacking = [FIELDS[field] for field in _OF_RESULTS if not _value(run.signature, field)]
            if lacking:
                notes.append(
                    f"{run.task}: {run.model} has no results file beside its records, and it is not checked "
                    f"whether it is like the others in {', '.join(lacking)}"
                )
    return notes


def check_pack(
    seed: int, runs: Sequence[RunFile], ranked: Sequence[RunFile], *, allow_mixed: bool = False
) -> tuple[str, ...]:
    """Refuse runs of another seed that differ in more than what follows from it, or say so.

    Parameters
    ----------
    seed : int
    runs : sequence of RunFile
        Of this seed.
    ranked : sequence of RunFile
        Of the seed that ranks.
    allow_mixed : bool
        Say so in place of refusing.

    Returns
    -------
    tuple of str
        One line for each model and task that differs.

    Raises
    ------
    SagoError
        As :func:`check` does.
    """
    named = [replace(run, model=f"{run.model} with pack seed {seed}") for run in runs]
    notes = check(named, allow_mixed=allow_mixed)[1]
    of_task = {run.task: run for run in reversed(ranked)}
    of_model = {(run.task, run.model): run for run in ranked}
    found: dict[tuple[str, str], list[Mismatch]] = {}
    for run, one in zip(runs, named, strict=True):
        reference = of_model.get((run.task, run.model), of_task[run.task])
        found[one.task, one.model] = mismatches([reference, one], ACROSS)
    return (*notes, *_told({key: differing for key, differing in found.items() if differing}, allow_mixed))


def _told(found: Mapping[tuple[str, str], Sequence[Mismatch]], allow_mixed: bool) -> tuple[str, ...]:
    """Return a line for each model that differs, or refuse the first one."""
    for differing in found.values():
        if not allow_mixed:
            raise SagoError(
                f"only like is compared with like, and these differ: {differing[0]} "
                "(--allow-mixed reads them and marks them)"
            )
    return tuple(
        f"{task}: {model} is marked as mixed: "
        + "; ".join(f"{_NAMES[one.field]} {one.value}, not {one.usual}" for one in differing)
        for (task, model), differing in found.items()
    )


def mismatches(runs: Sequence[RunFile], fields: Iterable[str] = tuple(FIELDS)) -> list[Mismatch]:
    """Return where runs of one task differ from the most common value, field by field.

    Of values that are equally common, the one of the first run counts.
    """
    found = []
    for field in fields:
        stated = [(run, _value(run.signature, field)) for run in runs]
        known = [(run, value) for run, value in stated if value]
        counts = Counter(value for _, value in known)
        if len(counts) < 2:
            continue
        usual = counts.most_common(1)[0][0]
        reference = next(run for run, value in known if value == usual)
        for run, value in known:
            if value != usual:
                shown, as_usual = _shown(field, run.signature, reference.signature)
                found.append(Mismatch(run.task, field, run.model, shown, reference.model, as_usual))
    return found


def _value(signature: Signature, field: str) -> str:
    """Return a field as text that is equal where the field is; "" where it is not stated."""
    if field == "dtype":
        return precision(signature)
    if field == "quantised":
        return quantised(signature)
    value = signature.get(field)
    if value is None:
        return ""
    if field == "pack":
        # None at all is a statement: variants that were made are not those of a pack.
        return str(value)[:PACK_DIGITS] or "none"
    return dumps(_sorted(value)) if isinstance(value, Mapping) else str(value)


def _shown(field: str, one: Signature, other: Signature) -> tuple[str, str]:
    """Return both values for a message; of mappings only what differs."""
    a, b = one.get(field), other.get(field)
    if isinstance(a, Mapping) and isinstance(b, Mapping):
        keys = [key for key in sorted({*a, *b}) if a.get(key) != b.get(key)]
        return _part(a, keys), _part(b, keys)
    if field == "template":
        return ("on" if a else "off"), ("on" if b else "off")
    values = _value(one, field), _value(other, field)
    if field == "variants":
        counts = [f" ({s['documents']} documents)" if "documents" in s else "" for s in (one, other)]
        return values[0] + counts[0], values[1] + counts[1]
    return values


def _part(values: Mapping[str, Any], keys: Sequence[str]) -> str:
    return ", ".join(f"{key} {dumps(values[key]) if key in values else 'none'}" for key in keys)


def _sorted(value: Mapping[str, Any]) -> dict[str, Any]:
    return {key: _sorted(v) if isinstance(v, Mapping) else v for key, v in sorted(value.items())}
