"""Which data sets there must be: none that the baseline has, or that a results file lists, may be gone."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from pathlib import Path

from sago_harness.errors import SagoError
from sago_harness.gate.policy import Policy
from sago_harness.runs.find import find_runs
from sago_harness.stats.overall import OVERALL


def check_both(
    policy: Policy, run: Sequence[str], baseline: Sequence[str], names: tuple[str, str] = ("", "")
) -> None:
    """Refuse a run without a data set that its baseline has, and the other way round.

    A policy whose rules name data sets that both have says by that what it is about. A data set that is
    new in the run is refused where a rule compares all of them with the baseline.

    Parameters
    ----------
    policy : Policy
    run, baseline : sequence of str
        Data sets of both.
    names : tuple of str
        Models of both.

    Raises
    ------
    SagoError
        Names the data set and both sides.

    Examples
    --------
    >>> policy = Policy.of("rules: [{metric: flip, max: 0.2}]")
    >>> check_both(policy, ["a"], ["a"])
    >>> check_both(policy, ["a"], ["a", "b"], ("new", "old"))
    Traceback (most recent call last):
    sago_harness.errors.SagoError: data set b: the baseline (old) has it and the run (new) lacks it: run it, \
or let every rule name data sets that both have ('task')
    """
    named = {task for rule in policy.rules for task in rule.tasks}
    if all(rule.tasks for rule in policy.rules) and named <= {*run} & {*baseline}:
        return
    open_ = any(rule.compares and (not rule.tasks or OVERALL in rule.tasks) for rule in policy.rules)
    sides = [f"{what} ({name})" for what, name in zip(("the run", "the baseline"), names, strict=True)]
    for has, lacks, those in (
        (sides[1], sides[0], [task for task in baseline if task not in run]),
        (sides[0], sides[1], [task for task in run if task not in baseline] if open_ else []),
    ):
        if those:
            raise SagoError(
                f"data set {', '.join(those)}: {has} has it and {lacks} lacks it: run it, or let every rule "
                "name data sets that both have ('task')"
            )


def check_listed(sources: Iterable[str], what: str) -> None:
    """Refuse records beside a results file that lists a data set of which there are none.

    Parameters
    ----------
    sources : iterable of str
        Files that the records came from; what is no file is of a table made in memory.
    what : str
        Names the run in messages.

    Raises
    ------
    SagoError
        Names the data set and the results file.
    """
    seen: set[Path] = set()
    for source in map(Path, sources):
        for one in find_runs([source]) if _is_file(source) else ():
            if one.results is None or one.results in seen:
                continue
            seen.add(one.results)
            listed = _listed(one.results)
            gone = [
                task
                for task in listed
                if task not in {other.plain_task for other in find_runs([one.results])}
            ]
            if gone:
                raise SagoError(
                    f"data set {', '.join(gone)}: {what} has it in its results file {one.results}, and no "
                    "records of it beside that: put them back, or run it again"
                )


def _is_file(path: Path) -> bool:
    """Say whether there is a file; a table made in memory may be called anything."""
    try:
        return path.is_file()
    except (OSError, ValueError):
        return False


def _listed(results: Path) -> list[str]:
    """Return the data sets of a results file that are measured here."""
    configs = json.loads(results.read_text(encoding="utf-8"))["configs"]
    return [task for task, config in configs.items() if (config.get("metadata") or {}).get("sago")]
