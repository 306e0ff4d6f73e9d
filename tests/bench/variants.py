"""How fast variants are made, and how much memory a long build takes.

``python -m tests.bench.variants`` prints, for each recipe, the variants a second on one core
over TruthfulQA's questions (constraints without an encoder included; a folder with
TruthfulQA.csv is named, else the shipped demo questions are used), as the median of several
rounds with their quartiles, and by how much the process grows while a pack of many synthetic
documents is built.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import resource
import statistics
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from sago_harness.axes.encoders.baseline import demo_texts
from sago_harness.data import Document
from sago_harness.variants.build import build
from sago_harness.variants.recipe import Recipe, load_recipe


def main() -> None:
    """Run the rounds and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data-dir", default=os.environ.get("SAGO_DATA_DIR"))
    parser.add_argument("--recipes", default="default,quick,full")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--documents", type=int, default=10_000, help="of the memory test")
    parser.add_argument("--json", help="write the figures here, too")
    args = parser.parse_args()
    questions, source = read_questions(args.data_dir)
    documents = [Document(str(number), {"question": text}) for number, text in enumerate(questions)]
    print(f"{len(documents)} documents of {source}")
    found: dict[str, object] = {"documents": len(documents), "source": source}
    # First, because the peak of a process only grows.
    found["memory"] = memory(documents, args.documents)
    for name in args.recipes.split(","):
        found[name] = rates(load_recipe(name), documents, args.rounds)
    if args.json:
        Path(args.json).write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


def read_questions(data_dir: str | None) -> tuple[list[str], str]:
    """Return TruthfulQA's questions where they are at hand, else the demo's."""
    path = Path(data_dir or "") / "truthfulqa" / "TruthfulQA.csv"
    if data_dir and path.is_file():
        with path.open(encoding="utf-8-sig", newline="") as lines:
            return [row["Question"] for row in csv.DictReader(lines)], "TruthfulQA"
    return list(demo_texts()["en"]), "the demo sets (no --data-dir with truthfulqa/TruthfulQA.csv)"


def rates(recipe: Recipe, documents: list[Document], rounds: int) -> dict[str, float]:
    """Print and return the variants a second of processor time."""
    made = [build(document, recipe, 0) for document in documents[:20]]  # tables and parsers are read once
    rejects: Counter[str] = Counter()
    speeds = []
    for turn in range(rounds):
        before, count = time.process_time(), 0
        for document in documents:
            made_set = build(document, recipe, turn)
            count += len(made_set.variants) - 1
            rejects.update(
                reject.reason for reject in made_set.rejects if reject.reason.startswith("missing")
            )
        speeds.append(count / (time.process_time() - before))
    low, middle, high = statistics.quantiles(speeds, n=4) if rounds > 1 else speeds * 3
    print(
        f"{recipe.name:>8}: {middle:,.0f} variants a second (quartiles {low:,.0f} to {high:,.0f}), "
        f"{sum(len(item.variants) - 1 for item in made) / len(made):.1f} a document"
        + "".join(f"; {reason}: {number // rounds}" for reason, number in rejects.most_common(2))
    )
    return {"low": low, "median": middle, "high": high}


def memory(documents: list[Document], count: int) -> dict[str, float]:
    """Print and return the peak memory of building a pack of many documents, in MB."""
    from sago_harness.variants.packs.freeze import freeze, manifest_of
    from sago_harness.variants.packs.packfile import write_lines

    many = (
        Document(f"{number:06d}", {"question": f"{documents[number % len(documents)].text} ({number})"})
        for number in range(count)
    )
    recipe = load_recipe("default")
    manifest = manifest_of(recipe, task="bench", task_version="1", seed=0)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "pack.jsonl"
        before = _peak()
        write_lines(path, manifest, freeze(many, recipe, 0))
        peak = _peak() - before
        size = path.stat().st_size / 1e6
    print(f"  memory: {peak:.0f} MB above the start for {count:,} documents, a pack of {size:.0f} MB")
    return {"peak_mb": peak, "pack_mb": size}


def _peak() -> float:
    """Return the largest resident memory of this process so far, in MB (Linux counts in KiB)."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


if __name__ == "__main__":
    sys.exit(main())
