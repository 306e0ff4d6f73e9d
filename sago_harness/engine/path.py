"""The fast path: which rows a bundle's prompts come down to, and their results put together.

Equal requests are computed once. A prompt whose request another row answers (a chance
control is mostly another document's canonical prompt) is only forced; a variant that equals
its canonical prompt needs nothing at all.
"""

from __future__ import annotations

import logging
import random
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
import torch
from lm_eval.models.huggingface import HFLM

from sago_harness.axes.confidence import FORCED_TOKENS
from sago_harness.backends.base import Progress, Prompt, Spent, Wanted
from sago_harness.backends.batches import out_of_memory, without_gradients
from sago_harness.backends.encode import Encoded, PromptEncoder, request_key
from sago_harness.backends.generate import Generated, Generator
from sago_harness.engine.ragged import RaggedPass
from sago_harness.engine.room import Room, room_for
from sago_harness.engine.rows import Draft, Row
from sago_harness.engine.schedule import Schedule, order
from sago_harness.engine.slots import Slots
from sago_harness.engine.stops import Stops

log = logging.getLogger(__name__)

#: Bytes of canonical distributions that are held at a time, for the divergences.
HELD_BUDGET = {"cpu": 256 * 2**20, "other": 2 * 2**30}


@dataclass(frozen=True, slots=True)
class Found:
    """What the engine found for one prompt of a document; None where there is nothing to force."""

    generated: Generated
    states: npt.NDArray[np.float32] | None
    states_reason: str
    logprob: npt.NDArray[np.float32]
    entropy: npt.NDArray[np.float32]
    jsd: npt.NDArray[np.float64]


class FastPath:
    """Runs bundles of documents of one of the host's models.

    Parameters
    ----------
    lm : HFLM
    passes : RaggedPass
    encoder : PromptEncoder
    generator : Generator
        Puts a response together from its tokens, as on the plain path.
    spent : Spent
    """

    def __init__(
        self, lm: HFLM, passes: RaggedPass, encoder: PromptEncoder, generator: Generator, spent: Spent
    ) -> None:
        self._lm, self._encoder, self._generator, self._spent = lm, encoder, generator, spent
        self._passes = passes
        self._halvings = 0

    def run(
        self,
        documents: Sequence[Sequence[Prompt]],
        encoded: Sequence[Sequence[Encoded]],
        wanted: Wanted,
        vocabulary: int,
        progress: Progress,
    ) -> dict[tuple[int, int], Found]:
        """Answer every prompt of the documents.

        Parameters
        ----------
        documents : sequence of sequence of Prompt
            The canonical one first; all with the same generation arguments.
        encoded : sequence of sequence of Encoded
        wanted : Wanted
        vocabulary : int
        progress : callable

        Returns
        -------
        dict of (int, int) to Found
            (document, prompt) -> what was found.
        """
        found: dict[tuple[int, int], Found] = {}
        budget = HELD_BUDGET["cpu" if self._lm.device.type == "cpu" else "other"]
        at_a_time = max(1, budget // (4 * FORCED_TOKENS * vocabulary))
        for first in range(0, len(documents), at_a_time):
            part = range(first, min(first + at_a_time, len(documents)))
            window = _Window(part, documents, encoded, wanted, self._encoder, self._generator, progress)
            room = room_for(self._lm, vocabulary, window.columns)
            # Memory that was not there once is not asked for again.
            for _ in range(self._halvings):
                room = room.halved()
            # Repeats by themselves and in another order: other neighbours than the first time.
            for rows in window.phases():
                self._phase(rows, window, room, wanted)
            found.update(window.found())
        return found

    def _phase(self, rows: Sequence[Row], window: _Window, room: Room, wanted: Wanted) -> None:
        while rows:
            slots = Slots(min(room.rows, len(rows)), window.columns)
            room = replace(room, rows=slots.count)
            schedule = Schedule(
                self._passes, slots, rows, window.drafts, window.stops, room, wanted.layers,
                self._spent, window.ended, window.keep, window.penalty,
            )  # fmt: skip
            try:
                with without_gradients(self._lm.device.type, self._lm.mixed_precision_dtype):
                    schedule.run()
                return
            except Exception as error:
                if room.rows == 1 or not out_of_memory(error):
                    raise
            # Out here the error is gone, and with it the tensors that its traceback held.
            rows = schedule.unfinished()
            del schedule, slots
            if torch.cuda.is_available():
                torch.cuda.empty_cache()
            room = room.halved()
            self._halvings += 1
            log.warning("out of memory: going on with %d rows at a time", room.rows)


class _Window:
    """Documents that are worked on at a time: their rows, and what came of them."""

    def __init__(
        self,
        part: Sequence[int],
        documents: Sequence[Sequence[Prompt]],
        encoded: Sequence[Sequence[Encoded]],
        wanted: Wanted,
        encoder: PromptEncoder,
        generator: Generator,
        progress: Progress,
    ) -> None:
        self._documents, self._encoded, self._part = documents, encoded, part
        self._generator, self._progress, self._wanted = generator, progress, wanted
        gen_kwargs, self.limit, self._stop_strings = encoder.limits(documents[part[0]][0])
        self.penalty = generator.repetition_penalty(gen_kwargs)
        self.stops = Stops(generator.tokenizer, generator.ends(), self._stop_strings)
        self.drafts: dict[int, Draft] = {}
        self.keys = {(d, p): self._key(d, p) for d in part for p in range(len(documents[d]))}
        # A request is answered by its first row, canonical ones before all others.
        self._answers: dict[str, tuple[int, int]] = {}
        for place in sorted(self.keys, key=lambda place: (place[1] > 0, place)):
            self._answers.setdefault(self.keys[place], place)
        # Documents with one canonical prompt have one canonical response: the first one's.
        self._home = {d: self._answers[self.keys[d, 0]][0] for d in part}
        self.rows: dict[tuple[int, str], Row] = {}
        for place, key in self.keys.items():
            if (self._home[place[0]], key) not in self.rows:
                self.rows[self._home[place[0]], key] = self._row(place, key)
        self.generated: dict[str, Generated] = {}
        longest = max(len(code.ids) for d in part for code in encoded[d])
        self.columns = longest + self.limit

    def _key(self, d: int, p: int) -> str:
        """Request, and the columns that are pooled over: equal texts may have other spans."""
        code = self._encoded[d][p]
        span = str(code.span) if self._wanted.pooling == "span" else ""
        return request_key(self._documents[d][p], code) + span

    def _row(self, place: tuple[int, int], key: str) -> Row:
        d, p = place
        code, prompt = self._encoded[d][p], self._documents[d][p]
        answers = self._answers[key]
        pooled = code.span if self._wanted.pooling == "span" else (len(code.ids) - 1,)
        canonical = key == self.keys[d, 0]
        if canonical or prompt.repeat:
            donor = ""  # a repeat that copied would not be computed again
        elif answers[1] == 0:
            donor = key
        else:
            donor = self.keys[d, 0]
        generates = answers == place
        pooled = pooled if generates else ()
        return Row(key, self._home[d], code.ids, self.limit, canonical, generates, donor, pooled)

    def phases(self) -> list[list[Row]]:
        """Return the rows to run, repeats apart."""
        number = {key: p for (_, p), key in reversed(self.keys.items())}
        repeats = {key for (d, p), key in self.keys.items() if self._documents[d][p].repeat}
        first = [row for row in self.rows.values() if row.key not in repeats]
        again = [row for row in self.rows.values() if row.key in repeats]
        random.Random(self._wanted.seed + 1).shuffle(again)
        return [order(first, number), again]

    def keep(self, row: Row) -> int:
        """Return how many of a response's tokens count."""
        return len(self._generated(row).kept_ids)

    def _generated(self, row: Row) -> Generated:
        if row.key not in self.generated:
            self.generated[row.key] = self._generator.finish(
                row.out,
                np.array(row.own_logprob, dtype=np.float32),
                np.array(row.own_entropy, dtype=np.float32),
                self.limit,
                self._stop_strings,
            )
        return self.generated[row.key]

    def ended(self, row: Row) -> None:
        """Take what a row gives."""
        if row.generates:
            self._generated(row)
        self._progress(1, "generate")
        self._progress(1, "force")

    def found(self) -> dict[tuple[int, int], Found]:
        """Return every prompt's results, those of equal requests shared."""
        found = {}
        if shared := len(self.keys) - len(self.rows):
            self._progress(shared, "generate")
            self._progress(shared, "force")
        for place, key in self.keys.items():
            answer = self.rows[self._home[self._answers[key][0]], key]
            canonical = self.generated[self.keys[place[0], 0]]
            row = self.rows[self._home[place[0]], key]
            if row.canonical:
                # Its own values are those of the canonical response after the canonical prompt.
                logprob, entropy = canonical.own_logprob, canonical.own_entropy
                assert logprob is not None
                assert entropy is not None
                jsd = np.zeros(min(len(logprob), FORCED_TOKENS))
            else:
                assert row.forced_logprob is not None
                assert row.forced_entropy is not None
                logprob, entropy = row.forced_logprob, row.forced_entropy
                jsd = row.forced_jsd if row.forced_jsd is not None else np.zeros(0)
            found[place] = Found(
                self.generated[key], answer.states, "no_hidden_states", logprob, entropy, jsd
            )
        return found
