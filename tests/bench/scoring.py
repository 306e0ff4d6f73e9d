"""BLEU and BERTScore of a run's responses against the same work done pair by pair.

``python -m tests.bench.scoring`` makes responses to 1,000 documents of 40 variants from
shipped texts and scores them twice. *Ours* is what a run does after the model: all of them,
bundle by bundle. *Per pair* calls sacrebleu (sentence BLEU in both directions; corpus BLEU
twice for the published delta) and bert-score (``BERTScorer.score`` with one pair a call,
its model loaded once) on a sample of the same pairs; its time is that of a pair times the
number of pairs. The two take turns, so that a busy machine slows both. Medians with
quartiles; a row whose quartiles lie more than a fifth of the median apart is marked
``inconclusive``.
"""

from __future__ import annotations

import argparse
import functools
import json
import logging
import os
import random
import re
import resource
import statistics
import sys
import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from sago_harness.axes import generation
from sago_harness.axes.base import Context
from sago_harness.axes.encoders import Encoder, baseline, load_encoder
from sago_harness.axes.encoders.baseline import demo_texts
from sago_harness.axes.measures import Bert, Bleu
from sago_harness.data import Response
from sago_harness.taskfiles import task_folder

Pair = tuple[str, str]

#: Documents that a run measures together (one group of documents on a processor).
BUNDLE = 8

#: Of a document's responses: equal to the canonical one, equal to an earlier variant's.
SAME, REPEATED = 0.20, 0.25

#: Words of a response.
SHORTEST, LONGEST = 10, 30


@dataclass(frozen=True, slots=True)
class Times:
    """Seconds of every round, extrapolated to all pairs where only a sample was run."""

    wall: list[float]
    cpu: list[float]

    def row(self) -> dict[str, Any]:
        """Return medians and quartiles."""
        low, middle, high = quartiles(self.wall)
        return {
            "seconds": middle,
            "low": low,
            "high": high,
            "cpu_seconds": statistics.median(self.cpu),
            "rounds": {"wall": self.wall, "cpu": self.cpu},
            "inconclusive": high - low > 0.2 * middle,
        }


def main() -> None:
    """Run the rounds, print the table and write it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--documents", type=int, default=1000)
    parser.add_argument("--variants", type=int, default=40)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--sample", type=int, default=200, help="pairs a round that are scored pair by pair")
    parser.add_argument("--encoder", default="minilm")
    parser.add_argument("--threads", type=int, default=os.cpu_count(), help="of torch, for both sides")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", help="write the figures here, too")
    args = parser.parse_args()
    # Both say once a call what a bench cannot use.
    logging.disable(logging.WARNING)
    warnings.simplefilter("ignore")
    torch.set_num_threads(args.threads)

    documents = make_documents(args.documents, args.variants, args.seed)
    encoder = load_encoder(args.encoder, "en")
    if not isinstance(encoder, Encoder):
        sys.exit(encoder.message)
    if encoder.kind != "token":
        sys.exit(f"{args.encoder} is a sentence encoder: bert-score has no such thing, name a token encoder")
    found = describe(documents, encoder) | {"threads": args.threads, "rounds": args.rounds}
    print(
        "{pairs:,} pairs of {documents:,} documents; {words:.1f} words a text, {same:.0%} equal to the "
        "canonical one, {repeated:.0%} repeated; {distinct:,} distinct texts to embed, {tokens:,} tokens; "
        "{threads} threads".format(**found)
    )
    # Before bert-score is loaded, because the peak of a process only grows.
    start = _peak()
    our_measures(documents[: 2 * BUNDLE], encoder)
    found["peak_mb"] = _peak() - start
    rows = measure(documents, encoder, args)
    found["rows"] = {name: times.row() for name, times in rows.items()}
    print_table(found)
    if args.json:
        Path(args.json).write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


def make_documents(count: int, variants: int, seed: int) -> list[list[Pair]]:
    """Return each document's pairs (canonical response, response to a variant).

    A canonical response is a run of words of the shipped demo texts. A variant's one is the
    same text with a share of its words, up to all of them, taken from another place; the
    stated shares are equal to the canonical response or to an earlier variant's.
    """
    rng = random.Random(seed)
    words = " ".join(_sentences()).split()
    return [_document(rng, words, variants) for _ in range(count)]


def _sentences() -> list[str]:
    found = list(demo_texts()["en"])
    for name in ("reasoning", "instructions"):
        lines = (task_folder() / "demo" / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
        rows = [json.loads(line) for line in lines]
        found += [row[field] for row in rows for field in ("solution", "reference") if field in row]
    return [sentence for text in found for sentence in re.split(r"(?<=[.!?]) ", text)]


def _document(rng: random.Random, words: Sequence[str], variants: int) -> list[Pair]:
    def cut() -> list[str]:
        length = rng.randint(SHORTEST, LONGEST)
        at = rng.randrange(len(words) - length)
        return list(words[at : at + length])

    canonical = cut()
    same, repeated = round(SAME * variants), round(REPEATED * variants)
    own: list[str] = []
    while len(own) < variants - same - repeated:
        changed, other = list(canonical), cut()
        # Two cuts: a run of words is replaced, which also changes the length.
        first, last = sorted(rng.sample(range(len(changed) + 1), 2))
        taken = rng.randrange(1, len(other))
        changed[first:last] = other[:taken]
        if SHORTEST <= len(changed) <= LONGEST:
            own.append(" ".join(changed))
    text = " ".join(canonical)
    responses = own + [text] * same + rng.choices(own, k=repeated)
    rng.shuffle(responses)
    return [(text, response) for response in responses]


def describe(documents: Sequence[Sequence[Pair]], encoder: Encoder) -> dict[str, Any]:
    """Return the shares and counts of what was made."""
    pairs = [pair for document in documents for pair in document]
    groups = [bundle_texts(bundle) for bundle in bundles(documents)]
    tokens = [len(reading.ids) for group in groups for reading in encoder.read(group)]
    equal = sum(a == b for a, b in pairs)
    fresh = sum(len({b for a, b in document if a != b}) for document in documents)
    return {
        "documents": len(documents),
        "pairs": len(pairs),
        "words": statistics.fmean(len(b.split()) for _, b in pairs),
        "same": equal / len(pairs),
        "repeated": (len(pairs) - equal - fresh) / len(pairs),
        "distinct": len(tokens),
        "tokens": sum(tokens),
    }


def bundles(documents: Sequence[Sequence[Pair]]) -> list[list[Pair]]:
    """Return the pairs that are measured together."""
    return [
        [pair for document in documents[at : at + BUNDLE] for pair in document]
        for at in range(0, len(documents), BUNDLE)
    ]


def bundle_texts(pairs: Sequence[Pair]) -> list[str]:
    """Return the distinct texts of the pairs that differ."""
    return list(dict.fromkeys(text for pair in pairs if pair[0] != pair[1] for text in pair))


def measure(
    documents: Sequence[Sequence[Pair]], encoder: Encoder, args: argparse.Namespace
) -> dict[str, Times]:
    """Return the times of each row; the sides take turns."""
    pairs = [pair for document in documents for pair in document]
    # Drawn over all pairs, the identical ones with them: a caller pair by pair has those, too.
    sample = random.Random(args.seed).sample(pairs, min(args.sample, len(pairs)))
    scale = len(pairs) / len(sample)
    scorer = bert_scorer(args.encoder, encoder)
    steps: dict[str, tuple[Callable[[], object], float]] = {
        "ours, BLEU": (functools.partial(our_bleu, documents), 1.0),
        "per pair, BLEU": (functools.partial(their_bleu, sample), scale),
        "ours, BERTScore": (functools.partial(our_f1, documents, encoder), 1.0),
        "per pair, BERTScore": (functools.partial(their_f1, sample, scorer), scale),
        "in one list, BERTScore": (functools.partial(their_list, sample, scorer), scale),
        "ours, both as a run does it": (functools.partial(our_measures, documents, encoder), 1.0),
    }
    # The first call reads tables and warms the threads; ours has had it.
    their_bleu(sample[:2])
    their_f1(sample[:2], scorer)
    times = {name: Times([], []) for name in steps}
    for turn in range(args.rounds):
        for name, (step, factor) in steps.items():
            forget()
            wall, cpu = time.perf_counter(), time.process_time()
            step()
            times[name].wall.append(factor * (time.perf_counter() - wall))
            times[name].cpu.append(factor * (time.process_time() - cpu))
        print(f"round {turn + 1} of {args.rounds}: {times['ours, both as a run does it'].wall[-1]:.1f} s")
    return times


def forget() -> None:
    """Empty what either side remembers of the texts, so that every round does all the work."""
    from sacrebleu.tokenizers.tokenizer_13a import Tokenizer13a
    from sacrebleu.tokenizers.tokenizer_re import TokenizerRegexp

    caches = [found for found in vars(generation).values() if hasattr(found, "cache_clear")]
    for cache in (*caches, Tokenizer13a.__call__, TokenizerRegexp.__call__):
        cache.cache_clear()


def our_bleu(documents: Sequence[Sequence[Pair]]) -> None:
    """Distances and published deltas of all pairs."""
    for document in documents:
        for pair in document:
            generation.bleu_distance(*pair)
            generation.bleu_raw_delta(*pair)


def their_bleu(pairs: Sequence[Pair]) -> None:
    """Score the same with sacrebleu: two sentence scores and two corpus scores a pair."""
    from sacrebleu.metrics.bleu import BLEU

    sentence, corpus = BLEU(effective_order=True), BLEU()
    for a, b in pairs:
        sentence.sentence_score(a, [b])
        sentence.sentence_score(b, [a])
        corpus.corpus_score([b], [[a]])
        corpus.corpus_score([a], [[a]])


def our_f1(documents: Sequence[Sequence[Pair]], encoder: Encoder) -> None:
    """F1 of all pairs, bundle by bundle."""
    for pairs in bundles(documents):
        encoder.compare(pairs)


def bert_scorer(name: str, encoder: Encoder) -> Any:
    """Return bert-score's own scorer with the same weights and layer."""
    from bert_score import BERTScorer

    from sago_harness.axes.encoders.spec import parse_spec
    from sago_harness.models import resolve

    source = parse_spec(name).source
    return BERTScorer(
        model_type=str(resolve(source) or source), num_layers=encoder.layer, idf=False, device="cpu"
    )


def their_f1(pairs: Sequence[Pair], scorer: Any) -> None:
    """Score the same with bert-score, one pair a call."""
    for a, b in pairs:
        scorer.score([b], [a], batch_size=1)


def their_list(pairs: Sequence[Pair], scorer: Any) -> None:
    """Score the sample with bert-score in one call: it sorts and batches the distinct texts of its list."""
    scorer.score([b for _, b in pairs], [a for a, _ in pairs])


def our_measures(documents: Sequence[Sequence[Pair]], encoder: Encoder) -> None:
    """``x_bleu`` and ``x_bert`` with their published deltas, as a run asks for them."""
    context = Context(encoder, baseline(encoder, "en"), "en")
    for pairs in bundles(documents):
        responses = [(Response(text=a), Response(text=b)) for a, b in pairs]
        for asked in (Bleu(), Bert()):
            asked.distances(responses, context)


def quartiles(values: Sequence[float]) -> tuple[float, float, float]:
    """Return the quartiles; a single value is all three."""
    if len(values) < 2:
        return values[0], values[0], values[0]
    low, middle, high = statistics.quantiles(values, n=4, method="inclusive")
    return low, middle, high


def print_table(found: dict[str, Any]) -> None:
    """Print a line for each row."""
    print(f"{'':28} {'seconds':>10} {'quartiles':>19} {'processor s':>12} {'ms a pair':>10}")
    for name, row in found["rows"].items():
        span = f"{row['low']:,.1f} to {row['high']:,.1f}"
        print(
            f"{name:28} {row['seconds']:10,.1f} {span:>19} {row['cpu_seconds']:12,.1f} "
            f"{1000 * row['seconds'] / found['pairs']:10.3f}" + "  inconclusive" * row["inconclusive"]
        )
    both = sum(found["rows"][f"per pair, {kind}"]["seconds"] for kind in ("BLEU", "BERTScore"))
    ratio = both / found["rows"]["ours, both as a run does it"]["seconds"]
    print(f"per pair / ours: {ratio:.1f}; ours takes {found['peak_mb']:.0f} MB above the loaded encoder")


def _peak() -> float:
    """Return the largest resident memory of this process so far, in MB (Linux counts in KiB)."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


if __name__ == "__main__":
    main()
