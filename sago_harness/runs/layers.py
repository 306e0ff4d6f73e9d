"""The layer profiles that a results file holds, or that records give."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sago_harness.errors import SagoError, flaw
from sago_harness.runs.find import RunFile
from sago_harness.scores.profile import LayerLevel, LayerProfile, profiles_of
from sago_harness.scores.table import read_parquet, read_samples

#: Name of a file of records: its task, and when it was written.
FILE = re.compile(r"(?:samples|records)_(?P<task>.+)_(?P<time>\d{4}-\d\d-\d\dT[\d.-]+)\.(?:jsonl|parquet)$")

_NUMBERS = ("r", "stderr", "variants", "controls", "noise")


@dataclass(frozen=True, slots=True)
class LayersOfRun:
    """One profile of one task of a run.

    Attributes
    ----------
    task : str
    family : str
        "" for the score's own families.
    profile : LayerProfile
    cka : dict of int to dict
        Layer -> value, standard error and reason of ``x_cka``; empty where there is none.
    """

    task: str
    family: str
    profile: LayerProfile
    cka: Mapping[int, Mapping[str, Any]]


def layers_of_runs(runs: Iterable[RunFile]) -> list[LayerProfile | None]:
    """Return for each run the profile of the score's own families; None where it has none.

    Parameters
    ----------
    runs : iterable of RunFile
        A results file that several of them share is read once.

    Raises
    ------
    SagoError
        If a results file cannot be read.
    """
    read: dict[Path, dict[str, LayerProfile]] = {}
    found: list[LayerProfile | None] = []
    for run in runs:
        if run.results is None:
            found.append(None)
            continue
        if run.results not in read:
            read[run.results] = _own(run.results)
        found.append(read[run.results].get(run.plain_task))
    return found


def _own(path: Path) -> dict[str, LayerProfile]:
    """Return task -> profile of the score's own families, where it has layers."""
    own: dict[str, LayerProfile] = {}
    for one in layers_of_results(path):
        if not one.family and one.profile.layers:
            own.setdefault(one.task, one.profile)
    return own


def layers_of_results(path: Path) -> Iterator[LayersOfRun]:
    """Yield all profiles of a results file.

    Raises
    ------
    SagoError
        If the file cannot be read, or is none of lm-eval's.
    """
    try:
        read = json.loads(path.read_text(encoding="utf-8"))
        configs = read["configs"]
        for task, config in configs.items():
            own = (config.get("metadata") or {}).get("sago") or {}
            beside = own.get("layers_beside") or {}
            families = {**({"": own["layers"]} if "layers" in own else {}), **beside}
            cka = (own.get("representation") or {}).get("x_cka") or {}
            for family, profile in families.items():
                yield LayersOfRun(str(task), family, _profile(profile), _cka(cka, family))
    except OSError as error:
        raise SagoError(f"{path} cannot be read: {error.strerror}") from error
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise SagoError(f"{path} is no results file of lm-eval: {flaw(error)}") from error


def layers_of_records(path: Path) -> Iterator[LayersOfRun]:
    """Compute the profiles from records; ``x_cka`` needs the states themselves, which they do not hold."""
    rows = read_parquet(path) if path.suffix == ".parquet" else read_samples(path)
    match = FILE.search(path.name)
    task = match["task"] if match else path.stem
    for family, profile in (profiles_of(rows) if rows else {}).items():
        yield LayersOfRun(task, family, profile, {})


def _profile(read: Mapping[str, Any]) -> LayerProfile:
    levels = [
        LayerLevel(
            layer=int(row["layer"]),
            n=int(row["n"]),
            reason=str(row["reason"]),
            **{name: float("nan") if row[name] is None else float(row[name]) for name in _NUMBERS},
        )
        for row in read["profile"]
    ]
    return LayerProfile(levels, {str(reason): int(count) for reason, count in read["unscored"].items()})


def _cka(read: Mapping[str, Any], family: str) -> dict[int, dict[str, Any]]:
    """Return layer -> value, standard error and reason of ``x_cka``; of one family where it is named."""
    found = {}
    for row in read.get("layers") or ():
        one = row["families"].get(family) if family else row
        if one:
            numbers = {key: None if one[key] is None else float(one[key]) for key in ("value", "stderr")}
            found[int(row["layer"])] = {**numbers, "reason": str(row["reason"]) if not family else ""}
    return found
