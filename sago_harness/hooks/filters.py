"""The ``sago`` filter: the host's hook at which all responses of a task are there at once.

It turns each response into the variant's record, one line of strict JSON, which is what
the samples file keeps.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from lm_eval.api.filter import Filter
from lm_eval.api.instance import Instance
from lm_eval.filters import build_filter_ensemble

from sago_harness import pipeline
from sago_harness.axes import MEASURES
from sago_harness.axes.answers import gold_answers
from sago_harness.axes.record import Reading, unscored
from sago_harness.axes.script import is_empty
from sago_harness.axes.vectors import VectorRef
from sago_harness.hooks.requests import numbers_of, record_line

log = logging.getLogger(__name__)

#: What the host's regex filter gives where nothing matches.
_NO_ANSWER = "[invalid]"


class RecordLine(str):
    """A record, with the hidden states of its prompt where they are kept.

    Attributes
    ----------
    vectors : VectorRef or None
    """

    vectors: VectorRef | None

    def __new__(cls, line: str, vectors: VectorRef | None) -> RecordLine:
        """Make the line and attach the states."""
        made = super().__new__(cls, line)
        made.vectors = vectors
        return made

    def __reduce__(self) -> tuple[type[str], tuple[str]]:
        """Travel between processes as the line alone."""
        return (str, (str(self),))


class DistanceFilter(Filter):  # type: ignore[misc]
    """Measures text distances, mirroring and answers; returns records.

    Parameters
    ----------
    task : str
        For the log.
    measures : sequence of str
        Measures of the task.
    language : str
    encoder : str or None
        Encoder spec; None = the language's default.
    answers : str or None
        Field of a document with gold answers.
    match : str
        How a response is compared with them.
    extract : sequence of mapping
        The host's own filters that take the answer out of a response.
    """

    def __init__(
        self,
        task: str = "?",
        measures: Sequence[str] = (),
        language: str = "en",
        encoder: str | None = None,
        answers: str | None = None,
        match: str = "contains",
        extract: Sequence[Mapping[str, Any]] = (),
    ) -> None:
        super().__init__()
        self.task = task
        self.answers = answers
        self.extract = extract
        self.reading = Reading(
            tuple(MEASURES.load(name)() for name in measures),
            language,
            encoder,
            match,
            self._extracted if extract else None,
        )

    def apply(self, resps: Iterable[Sequence[Any]], docs: Sequence[Mapping[str, Any]]) -> list[str]:
        """Return one record a response, in order.

        Parameters
        ----------
        resps : iterable of sequence
            Each request's responses; the first one counts.
        docs : sequence of mapping
            Each request's document.
        """
        start = time.perf_counter()
        responses = [next(iter(resp)) for resp in resps]
        numbers = [numbers_of(response) for response in responses]
        golds = [gold_answers(doc.get(self.answers or "")) for doc in docs]
        records: list[dict[str, Any]] = [{}] * len(responses)
        # Bundle by bundle: what shares a batch of the encoder moves the last digit.
        for places in _bundles([payload for _, payload in numbers]):
            made = pipeline.measure(
                [str(responses[i]) for i in places],
                [numbers[i][0] for i in places],
                [numbers[i][1] for i in places],
                [golds[i] for i in places],
                self.reading,
            )
            for i, record in zip(places, made, strict=True):
                records[i] = record
        self._log_unscored(records)
        seconds = time.perf_counter() - start
        log.info("[%s] %d responses measured in %.1f s", self.task, len(records), seconds)
        return [
            RecordLine(record_line(record), getattr(response, "vectors", None))
            for record, response in zip(records, responses, strict=True)
        ]

    def _extracted(self, texts: Sequence[str]) -> list[str | None]:
        """Run the task's own chain of host filters over the texts."""
        steps = [
            (step["function"], {k: v for k, v in step.items() if k != "function"}) for step in self.extract
        ]
        chain = build_filter_ensemble("answer", steps)
        instances = [
            Instance("generate_until", doc={}, arguments=("",), idx=i, resps=[text])
            for i, text in enumerate(texts)
        ]
        chain.apply(instances)
        found = [instance.filtered_resps["answer"] for instance in instances]
        return [None if is_empty(str(f)) or str(f) == _NO_ANSWER else str(f) for f in found]

    def _log_unscored(self, records: Sequence[Mapping[str, Any]]) -> None:
        """Say once a task how many responses each measure could not score, and why."""
        for name, reasons in unscored(records, self.reading.measures).items():
            parts = ", ".join(f"{reason} {count}" for reason, count in reasons.most_common())
            log.warning("[%s] %s: %d responses unscored: %s", self.task, name, reasons.total(), parts)


def _bundles(payloads: Sequence[Mapping[str, Any]]) -> list[list[int]]:
    """Return the positions of each bundle's responses."""
    found: dict[int, list[int]] = {}
    for position, payload in enumerate(payloads):
        found.setdefault(payload.get("bundle", 0), []).append(position)
    return list(found.values())
