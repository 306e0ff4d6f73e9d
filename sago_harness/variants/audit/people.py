"""Runs the audit of the check itself: pairs in, figures out."""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from sago_harness.variants.audit.changes import (
    KINDS,
    borrowed_pairs,
    changed_pairs,
    changed_versions,
    taken_back_pairs,
)
from sago_harness.variants.audit.checker import Checker, checker_of, table_of
from sago_harness.variants.audit.evidence import NAMES, gather
from sago_harness.variants.audit.figures import Floats, area, best_cut, precision, rate
from sago_harness.variants.audit.fit import fit_threshold, fit_weights
from sago_harness.variants.audit.pairs import Pair, sample_clusters
from sago_harness.variants.audit.reading import read_rows
from sago_harness.variants.audit.sources import (
    human_pairs,
    other_questions,
    pattern_pairs,
    read_problems,
    read_questions,
    translation_pairs,
)
from sago_harness.variants.base import Constraint
from sago_harness.variants.build import make_passage
from sago_harness.variants.constraints.literals import Literals
from sago_harness.variants.constraints.semantic import Semantic

#: Largest share of a group of people's variants that the threshold may refuse, on the fit half.
REFUSED = 0.04
#: Share of generated variants taken to be bad where no reading says so.
BAD_RATE = 0.03
#: The generator's own checks, which run before this one.
OWN_CHECKS: tuple[type[Constraint], ...] = (Literals, Semantic)
#: Sources whose pairs mean the same by construction; speech recognition and patterns do not always.
TRUSTED = ("typed", "disfluent")
VERSIONS = ("typed", "spoken", "disfluent")

Say = Callable[[str], None]


def to_stderr(text: str) -> None:
    """Write a line of progress."""
    print(text, file=sys.stderr, flush=True)


def collect_pairs(folder: Path, seed: int, sample: int = 0) -> list[Pair]:
    """Return all pairs of the public data, or those of ``sample`` clusters a source.

    Raises
    ------
    SagoError
        If a data set is not in the folder.
    """
    questions = read_questions(folder)
    published = [(question.cluster, question.published) for question in questions]
    pairs = [
        *human_pairs(questions),
        *other_questions(questions, seed),
        *changed_pairs(published, "published", seed),
        *changed_pairs(read_problems(folder), "problem", seed),
        *changed_versions(questions, seed),
        *borrowed_pairs(questions, seed),
        *taken_back_pairs(questions),
        *pattern_pairs(folder, seed),
        *translation_pairs(folder, seed),
    ]
    return sample_clusters(pairs, sample, seed)


class Measured:
    """Pairs of one language with what was measured on them.

    Attributes
    ----------
    pairs : list of Pair
    rows : ndarray of shape (N, K)
        Evidence.
    cosine : ndarray of shape (N,)
        NaN without an encoder.
    own : ndarray of bool, shape (N,)
        Whether the generator's own checks let the other text through.
    """

    def __init__(self, pairs: list[Pair], say: Say = to_stderr) -> None:
        self.pairs = pairs
        self.same = np.array([pair.equivalent for pair in pairs], dtype=bool)
        self.half = np.array([pair.half for pair in pairs])
        self.source = np.array([pair.source for pair in pairs])
        self.kind = np.array([pair.kind for pair in pairs])
        self.cosine = cosines(pairs, "sentence:minilm", "en", say)
        known = np.nan_to_num(self.cosine, nan=1.0)
        rows, own = [], []
        for at, pair in enumerate(pairs):
            if at % 2000 == 0:
                say(f"compared {at} of {len(pairs)} pairs word by word")
            rows.append(gather(pair.canonical, pair.other, float(known[at])).row())
            passage = make_passage(pair.canonical)
            own.append(all(check().check(passage, pair.other).passed for check in OWN_CHECKS))
        self.rows = np.array(rows, dtype=float).reshape(-1, len(NAMES))
        self.own = np.array(own, dtype=bool)

    def scores(self, checker: Checker) -> Floats:
        """Return the check's scores."""
        return np.asarray(checker.intercept + self.rows @ np.array(checker.weights), dtype=np.float64)


def cosines(pairs: Sequence[Pair], encoder: str, language: str, say: Say) -> Floats:
    """Return the cosine of each pair; NaN where the encoder is not here or cannot read a text."""
    from sago_harness.axes.encoders import Missing, load_encoder

    loaded = load_encoder(encoder, language)
    if isinstance(loaded, Missing):
        say(f"no cosine: {loaded.message}")
        return np.full(len(pairs), np.nan)
    step = [0]

    def progress(done: int, total: int) -> None:
        if done >= step[0]:
            say(f"embedded {done} of {total} texts")
            step[0] += 2000

    found = loaded.compare([(pair.canonical, pair.other) for pair in pairs], progress=progress)
    return np.array([np.nan if one.value is None else one.value for one in found])


def fit_checker(measured: Measured) -> Checker:
    """Fit weights and threshold on the fit half; the other half is not looked at.

    Spoken and pattern pairs are left out: not all of them mean the same, or share words.
    """
    fit = measured.half == "fit"
    trusted = measured.same & np.isin(measured.source, TRUSTED)
    used = fit & (trusted | (~measured.same & (measured.source != "pattern")))
    groups = np.where(measured.same, measured.source, measured.kind)
    weights, intercept = fit_weights(measured.rows[used], measured.same[used], list(groups[used]))
    free = Checker(tuple(weights.tolist()), intercept, 0.0)
    checker = checker_of(table_of(free, {}))
    good = fit & trusted
    threshold = fit_threshold(measured.scores(checker)[good], list(groups[good]), REFUSED)
    # A hair under the score of the last pair that is let through, so that rounding keeps it.
    return Checker(checker.weights, checker.intercept, float(np.floor(threshold * 1000 - 1e-6) / 1000))


def people_figures(measured: Measured, checker: Checker, bad_rate: float, seed: int) -> dict[str, Any]:
    """Return every figure of the check on the test half, baselines beside it."""
    test = measured.half == "test"
    scores = measured.scores(checker)
    cut = _cosine_cut(measured)
    accepted = {
        "equivalence": scores >= checker.threshold,
        "literals + semantic": measured.own,
    }
    if not np.isnan(cut):
        accepted["cosine"] = measured.cosine >= cut
    rows = []
    for source, kind, operator in sorted({(p.source, p.kind, p.operator) for p in measured.pairs}):
        mask = test & (measured.source == source) & (measured.kind == kind)
        clusters = [measured.pairs[at].cluster for at in np.flatnonzero(mask)]
        if not clusters:
            continue
        same = kind == "human"
        for check, passed in accepted.items():
            found = rate(passed[mask] != same, clusters, seed)
            error = "false refusal" if same else "false acceptance"
            rows.append(_row(found, check=check, source=source, kind=kind, operator=operator, error=error))
    by_operator = []
    for kind in KINDS:
        mask = test & (measured.kind == kind) & np.array([bool(p.operator) for p in measured.pairs])
        clusters = [measured.pairs[at].cluster for at in np.flatnonzero(mask)]
        if clusters:
            found = rate(accepted["equivalence"][mask], clusters, seed)
            by_operator.append(_row(found, operator=f"change_{kind}", error="false acceptance"))
    return {
        "rates": rows,
        "operators": by_operator,
        "summary": _summary(measured, accepted, test, seed),
        "areas": _areas(measured, scores, test),
        "precision": _precision(measured, accepted["equivalence"], test, bad_rate),
        "cosine threshold": None if np.isnan(cut) else round(cut, 3),
        "pairs": dict(sorted(Counter(measured.half.tolist()).items())),
    }


def _row(found: Any, **names: str) -> dict[str, Any]:
    return {
        **names,
        "n": found.n,
        "clusters": found.clusters,
        "hits": found.hits,
        "value": found.value,
        "low": found.low,
        "high": found.high,
    }


def _cosine_cut(measured: Measured) -> float:
    """Return the cosine that parts the fit half best, or NaN without an encoder."""
    fit = (measured.half == "fit") & ~np.isnan(measured.cosine) & (measured.source != "pattern")
    same = fit & measured.same & np.isin(measured.source, TRUSTED)
    different = fit & ~measured.same
    if not same.any() or not different.any():
        return float("nan")
    return best_cut(measured.cosine[same], measured.cosine[different])


def _groups(measured: Measured) -> dict[str, Any]:
    """Return the kinds of different pairs that the aims name."""
    plain = ~np.isin(measured.source, (*VERSIONS, "pattern"))
    literal = np.isin(measured.kind, KINDS)
    return {
        "changed literal": plain & literal & (measured.source != "borrowed"),
        "changed literal in people's versions": np.isin(measured.source, VERSIONS) & literal,
        "borrowed name or number": measured.source == "borrowed",
        "word taken back": measured.source == "taken-back",
        "other question": (measured.source == "published") & (measured.kind == "other-question"),
        "other question in people's versions": np.isin(measured.source, VERSIONS)
        & (measured.kind == "other-question"),
        "other fact": measured.kind == "other-fact",
    }


def _summary(measured: Measured, accepted: dict[str, Any], test: Any, seed: int) -> list[dict[str, Any]]:
    """Return accuracy on each group: the mean of typed pairs accepted and different pairs refused."""
    typed = test & measured.same & (measured.source == "typed")
    rows = []
    for group, members in _groups(measured).items():
        mask = test & members
        if not mask.any() or not typed.any():
            continue
        clusters = [measured.pairs[at].cluster for at in np.flatnonzero(mask)]
        for check, passed in accepted.items():
            refused = rate(~passed[mask], clusters, seed)
            accuracy = (float(passed[typed].mean()) + refused.value) / 2
            rows.append({**_row(refused, check=check, group=group), "accuracy": accuracy})
    return rows


def _areas(measured: Measured, scores: Floats, test: Any) -> list[dict[str, Any]]:
    rows = []
    groups = _groups(measured)
    for source in VERSIONS:
        same = test & measured.same & (measured.source == source)
        everywhere = measured.same & (measured.source == source)
        for group in ("other question", "changed literal", "word taken back"):
            different = test & groups[group]
            published = groups[group] & (measured.source != "problem")
            rows.append(
                {
                    "source": source,
                    "against": group,
                    "check": area(scores[same], scores[different]),
                    "cosine": area(measured.cosine[same], measured.cosine[different]),
                    # On all pairs of the same questions, to be set beside figures from elsewhere.
                    "cosine, both halves": area(measured.cosine[everywhere], measured.cosine[published]),
                }
            )
    return rows


def _precision(measured: Measured, accepted: Any, test: Any, bad_rate: float) -> dict[str, float]:
    typed = test & measured.same & (measured.source == "typed")
    changed = test & _groups(measured)["changed literal in people's versions"]
    if not typed.any() or not changed.any():
        return {"bad rate": bad_rate}
    refused, let = float(1 - accepted[typed].mean()), float(accepted[changed].mean())
    return {"bad rate": bad_rate, "precision": precision(refused, let, bad_rate)}


def translation_figures(pairs: list[Pair], seed: int, say: Say = to_stderr) -> list[dict[str, Any]]:
    """Return what a multilingual cosine and the digits say of translations, on the test half."""
    if not pairs:
        return []
    cosine = cosines(pairs, "use-multilingual", "en", say)
    same = np.array([pair.equivalent for pair in pairs])
    half = np.array([pair.half for pair in pairs])
    fit, test = half == "fit", half == "test"
    usable = not np.isnan(cosine).any() and (fit & same).any() and (fit & ~same).any()
    cut = best_cut(cosine[fit & same], cosine[fit & ~same]) if usable else float("nan")
    digits = np.array([_digits(pair.canonical) == _digits(pair.other) for pair in pairs])
    rows = []
    for language in sorted({pair.language for pair in pairs}):
        spoken = np.array([pair.language == language for pair in pairs])
        for check, passed in (("cosine (multilingual)", cosine >= cut), ("same digits", digits)):
            for kind, equivalent in (("human", True), ("other-question", False)):
                mask = test & spoken & (same == equivalent)
                clusters = [pairs[at].cluster for at in np.flatnonzero(mask)]
                error = "false refusal" if equivalent else "false acceptance"
                found = rate(passed[mask] != equivalent, clusters, seed)
                rows.append(_row(found, check=check, language=language, kind=kind, error=error))
    return rows


def _digits(text: str) -> list[str]:
    """Return the numbers in digits, in any country's way of grouping them."""
    return sorted(
        re.sub(r"[.,\s\u00a0\u202f](?=\d{3}(?!\d))", "", one).replace(",", ".")
        for one in _NUMBER.findall(text)
    )


_NUMBER = re.compile(r"\d+(?:[.,\u00a0\u202f]\d+)*")


def read_bad_rate(path: Path) -> float | None:
    """Return the share of read variants that a reader found to say something else.

    Parameters
    ----------
    path : Path
        Readings as ``sago variants sample`` collects them: columns ``planted`` and, for every
        reader, ``<reader>: same`` with y or n. None where the file or a reading is not there.

    Raises
    ------
    SagoError
        If the file cannot be read.
    """
    if not path.is_file():
        return None
    rows = [row for row in read_rows(path) if not row.get("planted")]
    marks = [{value for name, value in row.items() if str(name).endswith(": same")} - {""} for row in rows]
    read = [mark for mark in marks if mark]
    return sum("n" in mark for mark in read) / len(read) if read else None
