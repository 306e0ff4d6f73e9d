"""Which rows share the next pass, and what a pass says of each of them.

Rows that run bring their last token and a draft; rows that wait take free slots and bring
what is left of their prompt with the canonical response behind it, of which one pass gives
the forced values and, up to the first token that the model would have chosen otherwise, the
row's own response.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence

import torch

from sago_harness.axes.confidence import FORCED_TOKENS
from sago_harness.backends.base import Spent
from sago_harness.backends.forced import divergence_of
from sago_harness.engine.draft import MOST, Odds, Phrases
from sago_harness.engine.penalty import Context, penalised_best
from sago_harness.engine.prompts import WORTH_WAITING, Prompts, shared_length
from sago_harness.engine.ragged import Passed, Piece, RaggedPass
from sago_harness.engine.room import Room
from sago_harness.engine.rows import Draft, Row
from sago_harness.engine.signals import Choose, Read, read
from sago_harness.engine.slots import Slots
from sago_harness.engine.stops import Stops

log = logging.getLogger(__name__)


class Schedule:
    """Runs rows until all are done.

    Parameters
    ----------
    passes : RaggedPass
    slots : Slots
    rows : sequence of Row
        In the order in which they should begin; canonical ones before those that need them.
    drafts : dict of int to Draft
        Document -> its canonical response; filled as canonical rows end.
    stops : Stops
    room : Room
    layers : str
    spent : Spent
    ended : callable
        Called with each row that is done.
    keep : callable
        Row that ended -> how many of its tokens count.
    penalty : float
        Repetition penalty.
    """

    def __init__(
        self,
        passes: RaggedPass,
        slots: Slots,
        rows: Sequence[Row],
        drafts: dict[int, Draft],
        stops: Stops,
        room: Room,
        layers: str,
        spent: Spent,
        ended: Callable[[Row], None],
        keep: Callable[[Row], int],
        penalty: float = 1.0,
    ) -> None:
        self._penalty = penalty
        self._passes, self._slots, self._stops, self._room = passes, slots, stops, room
        self._layers, self._spent, self._ended, self._keep = layers, spent, ended, keep
        self._drafts = drafts
        self._rows = rows
        self._waiting = list(rows)
        self._active: list[Row] = []
        self._free = list(range(room.rows))
        self._prompts = Prompts(slots, rows)
        self._phrases: dict[int, Phrases] = {}
        self._odds = Odds(room.pass_tokens)

    def run(self) -> None:
        """Run passes until no row is left."""
        while self._waiting or self._active:
            self._step()

    def unfinished(self) -> list[Row]:
        """Return the rows that are not done, to begin anew."""
        rows = [row for row in self._rows if not row.done]
        for row in rows:
            row.reset()
        return rows

    # ------------------------------------------------------------------ one pass

    def _step(self) -> None:
        self._close_gaps()
        running = sorted(self._active, key=lambda row: row.slot)
        pieces = [self._going_on(row, len(running)) for row in running]
        tokens = sum(len(piece.tokens) for piece in pieces)
        begun = self._admit(tokens, tokens)
        pieces += [piece for _, piece in begun]
        passed = self._passes.run(self._slots, pieces, self._layers, together=len(running))
        found = read(passed.logits, self._choice(running, begun, pieces))
        self._spent.passes += 1
        self._spent.tokens += sum(len(piece.tokens) for piece in pieces)
        for row, piece, span in zip(running, pieces, passed.spans, strict=False):
            self._went_on(row, piece, found, span)
        for number, (row, piece) in enumerate(begun, start=len(running)):
            self._began(row, piece, passed, number, found)
        for row in [row for row in self._active if row.slot < 0]:
            self._active.remove(row)

    def _choice(
        self, running: Sequence[Row], begun: Sequence[tuple[Row, Piece]], pieces: Sequence[Piece]
    ) -> Choose | None:
        """Return how tokens are taken where the most likely ones are not: what each position has read."""
        if self._penalty == 1.0:
            return None
        contexts = []
        for row, piece in zip([*running, *(row for row, _ in begun)], pieces, strict=True):
            behind = piece.tokens[piece.logits_from + 1 :]
            contexts += [Context((row.ids, row.out), behind[:k]) for k in range(len(behind) + 1)]

        def choose(logits: torch.Tensor, best: list[int], first: int) -> list[int]:
            return penalised_best(logits, best, contexts[first : first + len(best)], self._penalty)

        return choose

    def _going_on(self, row: Row, rows: int) -> Piece:
        """Bring a running row's last token and a draft."""
        if row.alone:
            return Piece(row.slot, row.held, [row.out[-1]])
        guess, row.fit = self._phrases[row.document].after(row.text)
        room = min(MOST, row.limit - len(row.out) - 1, self._room.positions // max(1, rows) - 1)
        length = self._odds.length(row.fit, min(len(guess), max(0, room)), rows)
        return Piece(row.slot, row.held, [row.out[-1], *guess[:length]])

    def _went_on(self, row: Row, piece: Piece, found: Read, span: slice) -> None:
        draft = list(piece.tokens[1:])
        if not found.finite(span):
            row.finite = False
            if draft and not row.alone:
                # A NaN behind a draft reaches the token before it: once more, without.
                row.alone = True
                self._slots.clear(row.slot, row.held)
                return
        best = found.best[span]
        right = 0
        while right < len(draft) and draft[right] == best[right]:
            right += 1
        self._odds.learn(row.fit, len(draft), right)
        self._write(row, best[: right + 1], found, span.start)

    # ------------------------------------------------------------------ rows begin

    def _admit(self, tokens: int, positions: int) -> list[tuple[Row, Piece]]:
        """Give free slots to waiting rows, as many as a pass holds."""
        begun: list[tuple[Row, Piece]] = []
        left: list[Row] = []
        for place, row in enumerate(self._waiting):
            if not self._free:
                left += self._waiting[place:]
                break
            if not row.canonical and row.document not in self._drafts:
                left.append(row)
                continue
            key, length = self._prompts.best(row)
            if row.canonical and self._better_waits(row, length, [other for other, _ in begun]):
                left.append(row)
                continue
            draft = self._drafts.get(row.document)
            bare = row.canonical or row.alone or draft is None
            behind = () if bare or draft is None else draft.tokens[: max(draft.kept, row.limit)]
            if not row.generates and draft:
                behind = behind[: draft.kept]
            more, logits = len(row.ids) - length + max(0, len(behind) - 1), max(1, len(behind))
            full = tokens + more > self._room.tokens or positions + logits > self._room.positions
            if full and (begun or self._active):
                left += self._waiting[place:]
                break
            row.slot = self._free.pop(0)
            self._prompts.fill(row, key, length)
            self._spent.shared += length
            tokens, positions = tokens + more, positions + logits
            pooled = [column - length for column in row.pooled]
            piece = Piece(
                row.slot, length, [*row.ids[length:], *behind[:-1]], len(row.ids) - 1 - length, pooled
            )
            begun.append((row, piece))
        self._waiting = left
        # Neighbouring slots are attended to in one call.
        begun.sort(key=lambda pair: pair[0].slot)
        return begun

    def _better_waits(self, row: Row, length: int, beginning: Sequence[Row]) -> bool:
        """Is a prompt that begins in this very pass worth waiting for?"""
        most = self._prompts.most(row)
        return any(
            min(most, shared_length(row.ids, other.ids)) >= length + WORTH_WAITING for other in beginning
        )

    def _began(self, row: Row, piece: Piece, passed: Passed, number: int, found: Read) -> None:
        span = passed.spans[number]
        row.finite = found.finite(span)
        draft = None if row.canonical or row.alone else self._drafts.get(row.document)
        if draft is not None:
            self._force(row, draft, found, span)
            if row.generates and not row.finite:
                self._begin_alone(row)
                return
        row.states = passed.states.get(number)
        row.text = self._phrases.setdefault(row.document, Phrases()).open()
        self._active.append(row)
        self._prompts.begun(row)
        if draft is None:
            self._write(row, found.best[span][:1], found, span.start)
            return
        if not row.generates:
            self._end(row)
            return
        tokens, best = draft.tokens[: row.limit], found.best[span]
        right = 0
        while right < len(tokens) and tokens[right] == best[right]:
            right += 1
        self._write(row, best[: min(right + 1, len(tokens))], found, span.start)

    def _begin_alone(self, row: Row) -> None:
        """Let a row begin once more: a NaN behind its prompt reached the prompt, or it has its own."""
        self._slots.clear(row.slot)
        self._give_back(row)
        row.alone = True
        self._waiting.insert(0, row)

    def _force(self, row: Row, draft: Draft, found: Read, span: slice) -> None:
        """Read the canonical response's values off the pass that verifies it."""
        kept = draft.tokens[: draft.kept]
        places = slice(span.start, span.start + len(kept))
        row.forced_logprob = found.logprob(places, kept)
        row.forced_entropy = found.entropy[places]
        if kept:
            head = slice(span.start, span.start + len(draft.p))
            row.forced_jsd = divergence_of(zip(found.p(head), draft.p, strict=True), len(draft.p))

    # ------------------------------------------------------------------ rows go on and end

    def _write(self, row: Row, tokens: Sequence[int], found: Read, first: int) -> None:
        """Add tokens to a row until something ends it."""
        before = len(row.out)
        over = False
        for k, token in enumerate(tokens):
            row.out.append(token)
            row.own_logprob.append(float(found.best_logprob[first + k]))
            row.own_entropy.append(float(found.entropy[first + k]))
            if row.canonical and len(row.p) < FORCED_TOKENS:
                row.p.append(found.p(slice(first + k, first + k + 1))[0])
            over = len(row.out) >= row.limit or self._stops.over(row.out)
            if over:
                break
        # Each pass gives one token anyhow.
        self._spent.verified += len(row.out) - before - 1
        self._phrases[row.document].add(row.text, row.out[before:])
        if over:
            self._end(row)

    def _end(self, row: Row) -> None:
        if row.canonical:
            kept = self._keep(row)
            none = row.p[0][:0].reshape(0, len(row.p[0]))
            p = torch.stack(row.p[: min(kept, FORCED_TOKENS)]) if kept else none
            # What does not count may be what a NaN made of it.
            tokens = row.out if row.finite else row.out[: max(1, kept)]
            self._drafts[row.document] = Draft(tuple(tokens), kept, p)
            row.p = []
        self._prompts.ended(row)
        if not row.finite or (
            row.states is not None and not bool(torch.isfinite(torch.from_numpy(row.states)).all())
        ):
            self._slots.clear(row.slot)
        self._give_back(row)
        row.done = True
        self._ended(row)

    def _give_back(self, row: Row) -> None:
        self._free.append(row.slot)
        self._free.sort()
        row.slot = -1

    def _close_gaps(self) -> None:
        """Move rows together where slots between them are empty and nobody waits for those."""
        while self._active and self._free:
            last = max(self._active, key=lambda row: row.slot)
            ready = any(row.canonical or row.document in self._drafts for row in self._waiting)
            if ready or last.slot + 1 <= 1.3 * len(self._active) or self._free[0] > last.slot:
                return
            target = self._free.pop(0)
            self._slots.copy(last.slot, target, last.held)
            self._free.append(last.slot)
            self._free.sort()
            last.slot = target


def order(rows: Sequence[Row], number: Mapping[str, int]) -> list[Row]:
    """Return rows in the order in which they begin.

    Canonical ones first; then one of each document after the other, so that rows of one
    document follow each other in time and later ones find what earlier ones wrote.

    Parameters
    ----------
    rows : sequence of Row
    number : mapping of str to int
        Request -> its place in its document.
    """
    first = [row for row in rows if row.canonical]
    rest = sorted((row for row in rows if not row.canonical), key=lambda row: (number[row.key], row.document))
    return [*first, *rest]
