"""All texts of a study for the document browser: prompts and responses, distances, reasons."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import numpy as np

from sago_harness.jsonsafe import clean_text
from sago_harness.report.browse.block import DataBlock, packed
from sago_harness.report.browse.dataset import DataSet, data_set
from sago_harness.stats.means import known_mean

if TYPE_CHECKING:
    from sago_harness.report.study import Study

#: Id of the block that the browser reads first.
FIRST = "browse-index"


@dataclass(frozen=True)
class BrowseData:
    """What the browser shows.

    Attributes
    ----------
    blocks : tuple of DataBlock
        :data:`FIRST`; of each data set responses, prompts and an index.
    notes : tuple of str
        What is not shown, and why; the browser tells them.
    """

    blocks: tuple[DataBlock, ...]
    notes: tuple[str, ...] = ()

    def __str__(self) -> str:
        size = sum(len(block.text) for block in self.blocks)
        return f"{len(self.blocks)} blocks, {size:,} characters"


def browse_data(study: Study, *, progress: bool = False) -> BrowseData:
    """Pack the texts of a study's runs, model by model.

    Parameters
    ----------
    study : Study
        Its ``runs`` are read; its ``found`` says which documents there are and how unstable they are.
    progress : bool
        Show a bar over models and data sets.

    Returns
    -------
    BrowseData
        The same for the same runs. Numbers are rounded to thousandths.

    Raises
    ------
    SagoError
        If a file cannot be read, or was changed since the study was computed.
    """
    found = study.found
    count = sum(len(scored.models) for scored in found.scored.values())
    with _bar(count, progress) as bar:
        sets = [_whole(study, number, task, bar) for number, task in enumerate(found.scored)]
    notes = tuple(note for one in sets for note in one.notes)
    content = {
        "tasks": [{"task": one.task, "index": one.index} for one in sets],
        "start": _start(sets),
        "notes": list(notes),
    }
    blocks = (packed(FIRST, content), *(block for one in sets for block in one.blocks))
    return BrowseData(blocks, notes)


def document_link(task: str, model: str, document: str) -> str:
    """Return where a link must lead that opens a document in the browser of the same page.

    Examples
    --------
    >>> document_link("sago_gsm8k", "org/model", "a b")
    '#doc=sago_gsm8k/org%2Fmodel/a%20b'
    """
    return "#doc=" + "/".join(quote(clean_text(name), safe="") for name in (task, model, document))


def _bar(count: int, shown: bool) -> Any:
    from tqdm import tqdm

    return tqdm(total=count, desc="packing texts", unit="run", disable=not shown)


def _whole(study: Study, number: int, task: str, bar: Any) -> DataSet:
    steps: Iterator[DataSet] = data_set(number, study.found.scored[task], study.found.worst, study.runs)
    made = next(steps)
    for _ in steps:
        bar.update()
    return made


def _start(sets: list[DataSet]) -> list[int] | None:
    """Return data set, model and document with which the browser opens, None where there is nothing.

    The least stable model, by the mean over its data sets of its documents' mean instability, on its
    least stable document.
    """
    means: dict[str, list[float]] = {}
    tops: dict[str, list[tuple[float, int, int, int]]] = {}
    for number, one in enumerate(sets):
        for place, name in enumerate(one.models):
            row = one.unrest.models.index(name)
            values = one.unrest.values[row]
            if np.isfinite(values).any():
                first = one.unrest.orders[row][0]
                means.setdefault(name, []).append(float(known_mean(values)))
                tops.setdefault(name, []).append((float(values[first]), number, place, first))
    if not means:
        some = next((number for number, one in enumerate(sets) if one.models and one.documents), None)
        return None if some is None else [some, 0, 0]
    worst = max(sorted(means), key=lambda name: sum(means[name]) / len(means[name]))
    _, number, place, first = max(tops[worst], key=lambda top: top[0])
    return [number, place, first]
