"""Lays two texts beside each other, word by word, forgiving misspellings and repairs."""

from __future__ import annotations

import functools
from collections import defaultdict, deque
from dataclasses import dataclass

from rapidfuzz.distance import OSA, LCSseq

from sago_harness.variants.audit.words import Word
from sago_harness.variants.phrases import read_table

#: Kinds on which meaning hangs: one edit per four letters is forgiven, and no number changes.
CRITICAL = ("number", "negation", "quantifier", "comparison", "unit", "wh")
# Whole numbers, so that two ways of the same cost are equal.
_WEIGHT = {"stop": 25, "content": 100, "name": 120}
#: Those of them that say what is meant of a thing.
PROTECTED = ("negation", "quantifier", "comparison", "unit")
_FAR = 99
# The full search looks at every pair of words; above this number of pairs (250 words beside 250)
# words that both texts have are laid beside each other first, and only what stands between them is
# searched, if it is no more than this.
_FULL = 62_500
_BETWEEN = 1_600


@dataclass(frozen=True, slots=True)
class Alignment:
    """Which words of two texts stand for each other.

    Attributes
    ----------
    missing : tuple of Word
        Words of the canonical text without a partner.
    extra : tuple of Word
        Words of the variant without a partner, a corrected slip of the tongue left out.
    moved : tuple of Word
        Words that stand elsewhere.
    repaired : int
        Words of the variant that the speaker took back.
    edits : int
        Character edits inside the pairs.
    """

    missing: tuple[Word, ...]
    extra: tuple[Word, ...]
    moved: tuple[Word, ...]
    repaired: int
    edits: int


def align(canonical: list[Word], variant: list[Word]) -> Alignment:
    """Return the cheapest monotone alignment, with the later partner where two cost the same.

    Later partners are what a repair leaves standing: in "in 2014 no wait 2015" the last
    words count.

    Examples
    --------
    >>> from sago_harness.variants.audit.words import read_words
    >>> found = align(read_words("Who wrote Emma?"), read_words("Who sold, no wait, who wrte Emma?"))
    >>> found.missing, found.extra, found.edits
    ((), (), 1)
    """
    head, tail = _same_ends(canonical, variant)
    own, other = canonical[head : len(canonical) - tail], variant[head : len(variant) - tail]
    pairs: list[tuple[tuple[int, ...], tuple[int, ...], int]] = [((at,), (at,), 0) for at in range(head)]
    pairs += [
        (tuple(at + head for at in left), tuple(at + head for at in right), edits)
        for left, right, edits in _pairs(own, other)
    ]
    pairs += [((len(canonical) - at,), (len(variant) - at,), 0) for at in range(tail, 0, -1)]
    taken_canonical = {at for left, _, _ in pairs for at in left}
    taken_variant = {at for _, right, _ in pairs for at in right}
    missing = [word for at, word in enumerate(canonical) if at not in taken_canonical]
    gaps: list[list[int]] = []
    for at in range(len(variant)):
        if at in taken_variant:
            continue
        if gaps and gaps[-1][-1] == at - 1:
            gaps[-1].append(at)
        else:
            gaps.append([at])
    extra: list[Word] = []
    back: list[Word] = []
    whole = bool(canonical) and all(word.kind == "stop" for word in missing)
    corrected = False
    for gap in reversed(gaps):
        words = [variant[at] for at in gap]
        kept = _unrepaired(words, gap[-1] == len(variant) - 1)
        if whole and corrected:
            # What stands before a correction is taken back, also where it shares words with the rest.
            kept = []
        elif whole and kept:
            kept = _unframed(kept, gap, canonical, variant)
        corrected = corrected or _marked(words)
        extra = kept + extra
        standing = set(kept)
        back += [word for word in words if word not in standing]
    kinds = [word.kind for word in canonical]
    lone = [kind for kind in ("number", "name") if kinds.count(kind) == 1]
    if sum(kind in PROTECTED for kind in kinds) == 1:
        lone += PROTECTED
    moved = _take_moved(missing, extra, lone)
    if corrected:
        # After a correction people leave out what they said before it, or say "it" for a name.
        named = any(word.form in read_table("equivalence_words")["pronoun"] for word in extra)
        moved += _take_moved(missing, back, ["name"] if named else [])
    return Alignment(tuple(missing), tuple(extra), moved, len(back), sum(edits for _, _, edits in pairs))


def _unframed(kept: list[Word], gap: list[int], canonical: list[Word], variant: list[Word]) -> list[Word]:
    """Return what counts of words before or after a text that stands there as a whole.

    A greeting or a thank-you asks nothing else; a number or a name may, and so may a negation
    or a quantifier in the same sentence. A question that begins anew takes back whatever stood
    before.
    """
    if gap[0] == 0 and len(gap) > 1 and canonical[0].kind == "wh":
        return []
    leads, trails = gap[0] == 0, gap[-1] == len(variant) - 1
    apart = (leads and not trails and variant[gap[-1] + 1].opens) or (trails and variant[gap[0]].opens)
    if not leads and not apart:
        return kept
    telling = ("number", "name") if apart else ("number", "name", *PROTECTED)
    return [word for word in kept if word.kind in telling]


def _same_ends(canonical: list[Word], variant: list[Word]) -> tuple[int, int]:
    """Return how many words are the same at both ends; they need no search."""
    shorter = min(len(canonical), len(variant))
    tail = 0
    while tail < shorter and canonical[-1 - tail].text == variant[-1 - tail].text:
        tail += 1
    head = 0
    # In a longer text the first words may be those that the speaker took back.
    if len(canonical) == len(variant):
        while head < shorter - tail and canonical[head].text == variant[head].text:
            head += 1
    return head, tail


def _take_moved(missing: list[Word], extra: list[Word], lone: list[str]) -> tuple[Word, ...]:
    """Take words out of both lists that only changed places.

    A number or a name may have changed places with another one, so only a lone one counts.
    """
    kinds = ("content", "stop", "wh", *lone)
    if len(missing) * len(extra) > _FULL:
        return _take_same(missing, extra, kinds)
    moved = []
    for word in list(missing):
        if word.kind not in kinds:
            continue
        partner = next((other for other in extra if _edits(word, other) < _FAR), None)
        if partner is not None:
            missing.remove(word)
            extra.remove(partner)
            moved.append(word)
    return tuple(moved)


def _take_same(missing: list[Word], extra: list[Word], kinds: tuple[str, ...]) -> tuple[Word, ...]:
    """Do so in long lists, for words that are the same in both."""
    there: defaultdict[str, deque[int]] = defaultdict(deque)
    for at, word in enumerate(extra):
        there[word.text].append(at)
    moved, partners = [], set()
    left = []
    for word in missing:
        if word.kind in kinds and there[word.text]:
            moved.append(word)
            partners.add(there[word.text].popleft())
        else:
            left.append(word)
    missing[:] = left
    extra[:] = [word for at, word in enumerate(extra) if at not in partners]
    return tuple(moved)


def distance(a: str, b: str, limit: int = _FAR) -> int:
    """Return the number of edits (adjacent letters swapped count once), or more than ``limit``.

    Examples
    --------
    >>> distance("which", "whihc"), distance("team", "am"), distance("a", "abcdef", 2)
    (1, 2, 3)
    """
    if a == b:
        return 0
    if abs(len(a) - len(b)) > limit:
        return limit + 1
    return _distance(a, b) if a < b else _distance(b, a)


@functools.lru_cache(maxsize=200_000)
def _distance(a: str, b: str) -> int:
    return int(OSA.distance(a, b))


@functools.lru_cache(maxsize=200_000)
def _edits(one: Word, other: Word) -> int:
    """Return the edits between two words that may stand for each other, else ``_FAR``."""
    if one.text == other.text or {one.text, other.text} in _SAME:
        return 0
    kinds = (one.kind, other.kind)
    a, b = one.form, other.form
    if abs(len(a) - len(b)) > 4:
        return _FAR
    # A digit never stands for another; beside a letter it is a slip of the finger.
    digits = [char for char in a if char.isdigit()], [char for char in b if char.isdigit()]
    if digits[0] != digits[1] and (all(digits) or "number" in kinds):
        return _FAR
    if one.kind in CRITICAL and other.kind in CRITICAL:
        return _FAR
    size = max(len(a), len(b))
    exact = one.kind in CRITICAL or other.kind in CRITICAL
    limit = max(1, size // 4) if exact or "name" in kinds else max(1, round(size / 3))
    if size < 3 or (size < 4 and exact and "stop" in kinds) or opposed(a, b):
        return _FAR
    edits = distance(a, b, limit)
    return edits if edits <= limit else _FAR


#: Question words that ask for the same before a noun.
_SAME = ({"what", "which"}, {"who", "whom"})


@functools.cache
def _opposites() -> frozenset[tuple[str, str]]:
    pairs = read_table("equivalence_words")["opposites"]
    return frozenset((a, b) for one, other in pairs for a, b in ((one, other), (other, one)))


def opposed(a: str, b: str) -> bool:
    """Say whether two words look alike and mean opposite things.

    Examples
    --------
    >>> opposed("possible", "impossible"), opposed("encourage", "discourage"), opposed("which", "whihc")
    (True, True, False)
    """
    if a == b:
        return False
    return (a, b) in _opposites() or not _stems(a).isdisjoint(_stems(b))


@functools.lru_cache(maxsize=20_000)
def _stems(word: str) -> frozenset[str]:
    """Return a word, and what is left of it without a prefix, if that is long enough to be a word."""
    cut = (word.removeprefix(prefix) for prefix in read_table("equivalence_words")["prefixes"])
    return frozenset((word, *(stem for stem in cut if len(stem) > 3)))


def _cost(word: Word) -> int:
    return _WEIGHT.get(word.kind, 150)


def _pairs(canonical: list[Word], variant: list[Word]) -> list[tuple[tuple[int, ...], tuple[int, ...], int]]:
    """Return pairs (canonical places, variant places, edits), in order of the texts.

    In long texts the words of the longest common sequence are partners; its blocks part the texts.
    """
    if len(canonical) * len(variant) <= _FULL:
        return _trace(canonical, variant)
    numbers: dict[str, int] = {}
    own, other = (
        [numbers.setdefault(word.text, len(numbers)) for word in words] for words in (canonical, variant)
    )
    pairs: list[tuple[tuple[int, ...], tuple[int, ...], int]] = []
    i = j = 0
    for block in [*LCSseq.opcodes(own, other), None]:
        if block is not None and block.tag != "equal":
            continue
        i2, j2 = (len(own), len(other)) if block is None else (block.src_start, block.dest_start)
        if (i2 - i) * (j2 - j) <= _BETWEEN:
            pairs += [
                (tuple(at + i for at in left), tuple(at + j for at in right), edits)
                for left, right, edits in _trace(canonical[i:i2], variant[j:j2])
            ]
        if block is not None:
            i, j = block.src_end, block.dest_end
            pairs += [((one,), (two,), 0) for one, two in zip(range(i2, i), range(j2, j), strict=True)]
    return pairs


def _trace(canonical: list[Word], variant: list[Word]) -> list[tuple[tuple[int, ...], tuple[int, ...], int]]:
    """Return pairs (canonical places, variant places, edits), in order of the texts."""
    n, m = len(canonical), len(variant)
    # best[i][j]: cheapest for canonical[i:] beside variant[j:]; read from the start, an insertion
    # is taken first where it costs no more, so that partners stand late.
    best = [[0] * (m + 1) for _ in range(n + 1)]
    step: list[list[tuple[int, int, int]]] = [[(0, 0, 0)] * (m + 1) for _ in range(n + 1)]
    for i in range(n, -1, -1):
        for j in range(m, -1, -1):
            if i == n and j == m:
                continue
            options: list[tuple[int, int, tuple[int, int, int]]] = []
            if j < m:
                options.append((best[i][j + 1] + 3 * _cost(variant[j]) // 5, 0, (0, 1, 0)))
            if i < n:
                options.append((best[i + 1][j] + _cost(canonical[i]), 3, (1, 0, 0)))
            if i < n and j < m:
                options += _matches(canonical, variant, i, j, best)
            price, _, move = min(options)
            best[i][j], step[i][j] = price, move
    pairs = []
    i = j = 0
    while i < n or j < m:
        di, dj, edits = step[i][j]
        if di and dj:
            pairs.append((tuple(range(i, i + di)), tuple(range(j, j + dj)), edits))
        i, j = i + di, j + dj
    return pairs


def _matches(
    canonical: list[Word], variant: list[Word], i: int, j: int, best: list[list[int]]
) -> list[tuple[int, int, tuple[int, int, int]]]:
    one, two = canonical[i], variant[j]
    edits = 0 if one.text == two.text else _edits(one, two)
    if edits < _FAR:
        size = max(len(one.form), len(two.form))
        return [(best[i + 1][j + 1] + 100 * edits // size, 1, (1, 1, edits))]
    if one.form[0] != two.form[0]:
        return []
    found = []
    # A space too many, too few, or a letter too early.
    for own, other in ((1, 2), (2, 1), (2, 2)):
        if i + own > len(canonical) or j + other > len(variant):
            continue
        words = (*canonical[i : i + own], *variant[j : j + other])
        if any(word.kind == "number" for word in words):
            continue
        left = "".join(word.form for word in canonical[i : i + own])
        right = "".join(word.form for word in variant[j : j + other])
        cost = distance(left, right, 1) if len(left) > 3 else _FAR
        if cost <= (1 if own != other else 0):
            found.append((best[i + own][j + other] + 10 + 100 * cost // len(left), 2, (own, other, 1 + cost)))
    return found


def _unrepaired(gap: list[Word], last: bool) -> list[Word]:
    """Return what is left of unmatched words when a repair marker takes the rest back."""
    table = read_table("equivalence_words")
    repair, extra = set(table["repair"]), set(table["repair_extra"])
    if not _marked(gap) or (len(gap) == 1 and not last):
        return gap
    marks = [at for at, word in enumerate(gap) if word.text in repair]
    rest = gap[marks[-1] + 1 :]
    return [word for word in rest if word.text not in extra and word.kind != "stop"]


def _marked(gap: list[Word]) -> bool:
    """Say whether unmatched words correct what was said; "not" and "like" alone do not."""
    repair = read_table("equivalence_words")["repair"]
    return any(word.text in repair and word.text not in ("not", "like") for word in gap)
