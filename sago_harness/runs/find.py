"""Which records there are: run folders -> one file a model, task and filter."""

from __future__ import annotations

import contextlib
import json
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from sago_harness.errors import SagoError, flaw
from sago_harness.report.files import UNFINISHED
from sago_harness.runs.signatures import first_sample, of_records, of_results, precision, quantised

_TIME = r"(?P<time>\d{4}-\d\d-\d\dT[\d.-]+)"
_RECORDS = re.compile(rf"(?:samples_(?P<samples>.+)|records_(?P<records>.+))_{_TIME}\.(?:jsonl|parquet)$")
_RESULTS = re.compile(rf".+_{_TIME}\.json$")

_HINT = "run with --output_path, and not --predict_only"


@dataclass(frozen=True, slots=True)
class RunFile:
    """Records of one model on one task.

    Attributes
    ----------
    model : str
        Label, unique for the model.
    task : str
        Task; ``task[filter]`` where it has several filters.
    path : Path
        Records as Parquet, or samples.
    time : str
        When it was written, as in the file's name; sorts as text. "" for a name without it.
    results : Path or None
        Results file of the same run.
    filter : str
        Filter of a samples file that holds several; "" where there is only one.
    signature : dict
        What identifies the numbers (:mod:`sago_harness.runs.signatures`).
    older : int
        Earlier runs of the same model on the same task, which this one stands for.
    copies : int
        Others of the same time, as a folder that was copied has: it stands for them, too.
    """

    model: str
    task: str
    path: Path
    time: str
    results: Path | None = None
    filter: str = ""
    signature: Mapping[str, Any] = field(default_factory=dict, repr=False)
    older: int = 0
    copies: int = 0

    @property
    def plain_task(self) -> str:
        """Return the task without its filter."""
        return self.task.removesuffix(f"[{self.filter}]") if self.filter else self.task


#: How a record begins inside of a line of samples.
_RECORD = rb'"{\"record\":'


@dataclass(frozen=True, slots=True)
class _Results:
    """What matters here of a results file."""

    path: Path
    model: str
    base: str
    own: Mapping[str, Mapping[str, Any]]
    filters: Mapping[str, tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class _Found:
    """A run before its model has a label."""

    name: str
    facts: tuple[tuple[str, str], ...]
    run: RunFile


@dataclass(slots=True)
class _Moment:
    """The files of one folder and one time."""

    records: dict[str, Path] = field(default_factory=dict)
    samples: dict[str, Path] = field(default_factory=dict)
    results: list[Path] = field(default_factory=list)


def find_runs(paths: Sequence[str | Path], *, every: bool = False) -> list[RunFile]:
    """Return the newest records of each model, task and filter, and of each seed of the variants.

    Folders are searched with their sub-folders, those of unfinished runs left out. Parquet is
    preferred over samples of the same time. A model goes by the ``model_name`` of its results
    file, else by its folder; models of one name that differ in adapter, revision, precision or
    quantisation get it with what tells them apart.

    Parameters
    ----------
    paths : sequence of str or Path
        Folders, records, samples or results files; ``NAME=PATH`` names the model.
    every : bool
        Keep older runs too; labels carry the time then.

    Returns
    -------
    list of RunFile
        Sorted by task, model and time.

    Raises
    ------
    SagoError
        If a path is not there, or holds nothing to compare; says what was looked for.
    """
    found = [one for word in paths for one in _named(word)]
    runs = [replace(one.run, model=label) for one, label in zip(found, _labels(found), strict=True)]
    if every:
        # Without a time in its name a file stands for itself.
        runs = [replace(run, model=f"{run.model} {run.time}".rstrip()) for run in runs]
    of: dict[tuple[str, str], dict[Path, RunFile]] = {}
    for run in runs:
        # A folder may be named twice, or inside another.
        of.setdefault((run.model, run.task), {})[run.path.resolve()] = run
    newest = [_newest(these) for all_seeds in of.values() for these in _by_seed(list(all_seeds.values()))]
    return sorted(newest, key=lambda run: (run.task, run.model, run.time))


def seed_of(run: RunFile) -> int | None:
    """Return the seed that the variants were made with; None where it is not stated."""
    try:
        return int(run.signature["seed"])
    except (KeyError, TypeError, ValueError):
        return None


def _by_seed(runs: Sequence[RunFile]) -> list[list[RunFile]]:
    """Part one model's runs on one task by their seed, where each of them states it."""
    found: dict[int | None, list[RunFile]] = {}
    for run in runs:
        found.setdefault(seed_of(run), []).append(run)
    return [list(runs)] if None in found else list(found.values())


def _newest(runs: Sequence[RunFile]) -> RunFile:
    """Return the newest of one model's runs on one task; of equally new ones the last."""
    *older, newest = sorted(runs, key=lambda run: run.time)
    if older and newest.time == "":
        raise SagoError(
            f"{older[-1].path} and {newest.path} are both of model {newest.model} on {newest.task}, and "
            "their names do not say which is newer: tell them apart as NAME=PATH"
        )
    copies = sum(run.time == newest.time for run in older)
    return replace(newest, older=len(older) - copies, copies=copies)


def _named(word: str | Path) -> list[_Found]:
    """Return what one path of the command line holds; never nothing."""
    name, path = "", Path(word)
    if not path.exists() and "=" in str(word):
        name, _, rest = str(word).partition("=")
        if not name or not rest:
            raise SagoError(f"{word}: a named run is NAME=PATH, with both")
        path = Path(rest)
    others: list[str] = []
    if path.is_dir():
        moments = _search(path)
    elif path.is_file():
        moments = _around(path)
    else:
        raise SagoError(f"there is no folder or file {path}")
    found = [one for moment in moments for one in _read(*moment, name, others)]
    if found:
        return found
    if others:
        tasks = ", ".join(sorted(set(others))[:5])
        raise SagoError(f"{path} holds samples of other tasks only ({tasks}): none of sago tasks ({_HINT})")
    raise SagoError(
        f"{path} holds no records of sago tasks: there is no records_<task>_<time>.parquet and no "
        f"samples_<task>_<time>.jsonl ({_HINT})"
    )


def _search(folder: Path) -> list[tuple[Path, str, _Moment]]:
    """Return all files of a folder that matter, by sub-folder and time."""
    found: dict[tuple[Path, str], _Moment] = {}
    for place, folders, files in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith(UNFINISHED))
        for name in sorted(files):
            _sort_in(found, Path(place) / name)
    return [(place, time, moment) for (place, time), moment in found.items()]


def _sort_in(found: dict[tuple[Path, str], _Moment], path: Path) -> None:
    if match := _RECORDS.match(path.name):
        moment = found.setdefault((path.parent, match["time"]), _Moment())
        if match["records"] and path.suffix == ".parquet":
            moment.records[match["records"]] = path
        elif match["samples"] and path.suffix == ".jsonl":
            moment.samples[match["samples"]] = path
    elif match := _RESULTS.match(path.name):
        found.setdefault((path.parent, match["time"]), _Moment()).results.append(path)


def _around(path: Path) -> list[tuple[Path, str, _Moment]]:
    """Return a file that was named, with its results file; all tasks of a results file."""
    beside: dict[tuple[Path, str], _Moment] = {}
    named: dict[tuple[Path, str], _Moment] = {}
    _sort_in(named, path)
    time = next((time for _, time in named), "")
    for other in sorted(path.parent.glob(f"*_{time}.*")) if time else ():
        _sort_in(beside, other)
    together = beside.get((path.parent, time), _Moment())
    if path.suffix == ".json":
        return [(path.parent, time, replace(together, results=[path]))]
    moment = named.get((path.parent, time), _Moment())
    if not moment.records and not moment.samples:
        # The name says nothing: the records know their task.
        task = str(of_records(path).get("task") or path.stem)
        (moment.records if path.suffix == ".parquet" else moment.samples)[task] = path
    return [(path.parent, time, replace(moment, results=together.results))]


def _read(folder: Path, time: str, moment: _Moment, name: str, others: list[str]) -> Iterator[_Found]:
    """Yield the runs of one folder and time; tasks of other projects go to ``others``."""
    tasks = sorted({*moment.records, *moment.samples})
    # The host's own name first, where two runs end in one folder at one time.
    paths = sorted(moment.results, key=lambda path: (not path.name.startswith("results_"), path.name))
    results = _results(paths[0]) if paths and tasks else None
    for task in tasks:
        own = results.own.get(task, {}) if results else {}
        records, samples = moment.records.get(task), moment.samples.get(task)
        if records is None and samples is not None and not _ours(samples, own):
            if own and results:
                raise SagoError(
                    f"{samples} holds no records of sago-harness, though {results.path.name} beside it says "
                    f"that {task} was measured ({_HINT}): name the other runs alone, or take it away"
                )
            others.append(task)
            continue
        filters: tuple[str, ...] = ("",)
        if samples is not None:
            known = (results.filters.get(task) if results else None) or _filters(samples)
            filters = known if len(known) > 1 else ("",)
        # Records as Parquet are those of one filter.
        path = samples if samples is not None and (records is None or len(filters) > 1) else records
        assert path is not None
        signature = of_results(own) or of_records(path)
        for one in filters:
            label = f"{task}[{one}]" if one else task
            run = RunFile("", label, path, time, results.path if results else None, one, signature)
            model = (results.model if results else "") or folder.resolve().name
            yield _Found(name or model, _facts(model, results.base if results else "", signature), run)


def _results(path: Path) -> _Results:
    try:
        read = json.loads(path.read_text(encoding="utf-8"))
        own = {
            str(task): _own((config.get("metadata") or {}).get("sago") or {})
            for task, config in read["configs"].items()
        }
        filters = {
            str(task): tuple(dict.fromkeys(key.partition(",")[2] for key in row if "," in key))
            for task, row in read["results"].items()
        }
        arguments = (read.get("config") or {}).get("model_args")
        base = str(arguments.get("pretrained") or "") if isinstance(arguments, Mapping) else ""
        return _Results(path, str(read.get("model_name") or ""), base, own, filters)
    except OSError as error:
        raise SagoError(f"{path} cannot be read: {error.strerror}") from error
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise SagoError(f"{path} is no results file of lm-eval: {flaw(error)}") from error


def _own(said: Any) -> Mapping[str, Any]:
    """Return what a results file says of one of our tasks.

    Raises
    ------
    TypeError
        If it is no mapping, or its signature or model is none.
    """
    if not isinstance(said, Mapping):
        raise TypeError("it is no mapping")
    for name in ("signature", "model"):
        if not isinstance(said.get(name) or {}, Mapping):
            raise TypeError(f"its {name} is no mapping")
    return said


def _ours(samples: Path, own: Mapping[str, Any]) -> bool:
    """Say whether samples are records; by the results file where no line can be read."""
    first = first_sample(samples)
    if first is None:
        return bool(own)
    if first and any(isinstance(text, str) and text.startswith('{"record":') for text in first):
        return True
    # A first line that lost its record is told of where the file is read; nothing must vanish with it.
    with samples.open("rb") as lines:
        return any(_RECORD in line for line in lines)


def _filters(samples: Path) -> tuple[str, ...]:
    """Return the filters of a samples file, in the order in which they stand there."""
    found: dict[str, None] = {}
    with samples.open("rb") as lines:
        for line in lines:
            # What is wrong with a line is said where it is read.
            with contextlib.suppress(ValueError, AttributeError, RecursionError):
                found[str(json.loads(line.decode("utf-8-sig")).get("filter", "none"))] = None
    return tuple(found)


def _facts(model: str, base: str, signature: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
    """Return what makes two models of one name two."""
    said = signature.get("model") or {}
    return (
        ("model", model),
        # What an adapter's own name does not say.
        ("pretrained", base if base != model else ""),
        ("adapter", str(said.get("adapter") or "")),
        ("revision", str(said.get("revision") or "")),
        ("dtype", precision(signature)),
        ("quantised", quantised(signature)),
    )


def _labels(found: Sequence[_Found]) -> list[str]:
    """Return a label for each, with what differs among models of one name."""
    groups: dict[str, dict[tuple[tuple[str, str], ...], None]] = {}
    for one in found:
        groups.setdefault(one.name, {})[one.facts] = None
    labels = []
    for one in found:
        identities = list(groups[one.name])
        differing = [
            f"{key}={value or 'none'}"
            for place, (key, value) in enumerate(one.facts)
            if len({identity[place] for identity in identities}) > 1
        ]
        labels.append(f"{one.name} ({', '.join(differing)})" if differing else one.name)
    return labels
