"""The record of a document: strict JSON, complete, and enough to compute every score again."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest
from lm_eval.loggers import EvaluationTracker

from sago_harness.axes import MEASURES
from sago_harness.axes.base import Context, Measure, Scored
from sago_harness.axes.encoders import Encoder, baseline, load_encoder
from sago_harness.axes.generation import generation_distances
from sago_harness.axes.representation import REPRESENTATIONS
from sago_harness.scores.columns import AXIS_COLUMNS
from sago_harness.scores.composite import COMPOSITES, mean_estimate
from sago_harness.scores.table import read_parquet, read_samples, rescore, write_parquet
from tests.hooks.hosts import evaluate, values

TASKS = ("sago_demo_facts", "sago_demo_reasoning")


def strict(text: str) -> Any:
    """Read JSON as the standard defines it: no NaN, no Infinity."""

    def refuse(constant: str) -> None:
        raise AssertionError(f"{constant} is not JSON")

    return json.loads(text, parse_constant=refuse)


def write(results: dict[str, Any], folder: Path) -> tuple[Path, dict[str, Path]]:
    """Let the host write its files."""
    tracker = EvaluationTracker(output_path=str(folder))
    tracker.general_config_tracker.model_name_sanitized = "m"
    samples = results.pop("samples")
    tracker.save_results_aggregated(results=results, samples=samples)
    for task in results["configs"]:
        tracker.save_results_samples(task_name=task, samples=samples[task])
    (table,) = (folder / "m").glob("results_*.json")
    return table, {task: next((folder / "m").glob(f"samples_{task}_*.jsonl")) for task in results["configs"]}


@pytest.fixture(scope="module")
def written(
    english_lm: Any, minilm: Path, tmp_path_factory: pytest.TempPathFactory
) -> tuple[dict[str, Any], Path, dict[str, Path]]:
    results = evaluate(english_lm, TASKS, {"canonical_repeats": 1}, limit=4, gen_kwargs={"max_gen_toks": 10})
    return results, *write(results, tmp_path_factory.mktemp("run"))


def test_both_files_are_strict_json(written: tuple[dict[str, Any], Path, dict[str, Path]]) -> None:
    _, table, samples = written
    assert strict(table.read_text(encoding="utf-8"))["results"]
    for path in samples.values():
        lines = path.read_text(encoding="utf-8").splitlines()
        assert len(lines) == 4
        for line in lines:
            sample = strict(line)
            for record in sample["filtered_resps"]:
                assert strict(record)["record"] == 2
            for mark in ("tensor(", "array(", "dtype=", "NaN"):
                assert mark not in line


def test_a_record_says_all_that_was_promised(written: tuple[dict[str, Any], Path, dict[str, Path]]) -> None:
    rows = read_samples(written[2]["sago_demo_reasoning"])
    assert len(rows) == 4 * (1 + 6 + 2 + 1)
    for row in rows:
        assert {"document", "variant", "family", "operator", "strength", "position", "language"} <= set(row)
        assert {*MEASURES} - {"x_sem"} <= set(row["distances"])
        assert set(row["tokens"]) == {"prompt", "response", "forced"}
        assert isinstance(row["flags"], list)
        assert row["tokens"]["prompt"] > 0
        # One number a layer, embedding first: two blocks here.
        assert len(row["layers"]) == 3
        assert all(angle == float(f"{angle:.7g}") for angle in row["layers"])
        for name, value in row["distances"].items():
            if value is None:
                assert name == "flip" or row["reasons"][name.removesuffix("_floor")]
            else:
                assert -1.0 <= value <= 1.0
                assert name.startswith("x_mr") or value >= 0.0
        assert {"x_act", "x_prob", "x_ent", "x_bleu"} <= set(row["raw"])
    canonical = [row for row in rows if row["role"] == "canonical"]
    for row in canonical:
        assert row["signature"].startswith("task:sago_demo_reasoning|")
        assert row["families"] == {"register": 2, "noise": 2, "structure": 2}
        assert row["model"]["dtype"] == "float32"
        assert isinstance(row["rejects"], list)


def test_the_first_tokens_are_measured_on_their_own(english_lm: Any, minilm: Path) -> None:
    """Against both measures on the texts, cut where the record says."""
    task = "sago_demo_reasoning"
    results = evaluate(english_lm, task, limit=3, gen_kwargs={"max_gen_toks": 24, "until": ["Z", "q"]})
    encoder = load_encoder(None, "en")
    assert isinstance(encoder, Encoder)
    b = baseline(encoder, "en")
    lengths = set()
    for sample in results["samples"][task]:
        rows = [json.loads(record) for record in sample["filtered_resps"]]
        said = [texts[0] for texts in sample["resps"]]
        heads = [text[: row["first"]["characters"]] for row, text in zip(rows, said, strict=True)]
        expected = generation_distances([(heads[0], head) for head in heads], encoder, b)
        for row, one, text, head in zip(rows, expected, said, heads, strict=True):
            assert row["first"]["x_bleu"] == one.bleu
            assert row["first"]["x_bert"] == pytest.approx(one.semantic, abs=1e-6)
            assert row["tokens"]["response"] > 16 or head == text
            lengths.add(head == text)
    assert lengths == {True, False}


def test_every_prompt_has_its_hash(written: tuple[dict[str, Any], Path, dict[str, Path]]) -> None:
    """The host's own hash covers the first request of a document only."""
    import hashlib

    for line in written[2]["sago_demo_facts"].read_text(encoding="utf-8").splitlines():
        sample = json.loads(line)
        sent = [sample["arguments"][f"gen_args_{k}"]["arg_0"] for k in range(len(sample["arguments"]))]
        found = [json.loads(record)["prompt_hash"] for record in sample["filtered_resps"]]
        assert found == [hashlib.sha256(text.encode()).hexdigest()[:16] for text in sent]


def test_the_signature_stands_in_the_results(written: tuple[dict[str, Any], Path, dict[str, Path]]) -> None:
    config = strict(written[1].read_text(encoding="utf-8"))["configs"]["sago_demo_facts"]
    own = config["metadata"]["sago"]
    signature = own["signature"]
    assert signature["task"] == "sago_demo_facts"
    assert signature["recipe"].startswith("quick.")
    assert signature["documents"] == 4
    assert signature["canonical_repeats"] == 1
    assert re.fullmatch(r"all-MiniLM-L6-v2:6/token/[0-9a-f]{8}/b=0\.184819", signature["encoder"])
    assert signature["versions"]["lm_eval"].startswith("0.4")
    assert set(own["relative"]) >= {"x_bleu", "x_bert", "x_act", "x_prob", "x_ent", "x_mr"}


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("kind", ["samples", "parquet"])
def test_saved_records_give_the_hosts_numbers_again(
    written: tuple[dict[str, Any], Path, dict[str, Path]], task: str, kind: str, tmp_path: Path
) -> None:
    results, _, samples = written
    rows = read_samples(samples[task])
    if kind == "parquet":
        write_parquet(rows, tmp_path / "records.parquet")
        rows = read_parquet(tmp_path / "records.parquet")
    again = rescore(rows)
    table = values(results, task)
    seen = set()
    for column in (name for name in table if not name.endswith("_stderr")):
        if column in REPRESENTATIONS:
            continue  # It needs the hidden states themselves, which records do not hold.
        if column in AXIS_COLUMNS:
            estimate = again.scores.axes[AXIS_COLUMNS[column]]
        elif column in COMPOSITES:
            estimate = getattr(again.scores, column)
        elif column == "stock_share":
            assert again.scores.stock_share == table[column]
            continue
        elif column == "n_scored":
            assert sum(value["n_scored"] for value in again.values) == table[column]
            continue
        else:
            found = [value[column] for value in again.values]
            estimate = mean_estimate(np.array([math.nan if v is None else v for v in found], dtype=float))
        for number, shown in ((estimate.value, table[column]), (estimate.stderr, table[f"{column}_stderr"])):
            assert shown == (number if math.isfinite(number) else "N/A"), column
        seen.add(column)
    assert {"x_bleu", "x_bert", "x_act", "sago", "sago_text", "sago_mirroring", "acc"} <= seen
    assert ("flip" in seen) == (task == "sago_demo_reasoning")


def test_parquet_loses_nothing(written: tuple[dict[str, Any], Path, dict[str, Path]], tmp_path: Path) -> None:
    rows = read_samples(written[2]["sago_demo_reasoning"])
    write_parquet(rows, tmp_path / "records.parquet")
    back = read_parquet(tmp_path / "records.parquet")
    for before, after in zip(rows, back, strict=True):
        for name, value in before.items():
            if name in ("distances", "raw", "first", "tokens"):
                # A number that is null and one that is not there are the same: not known.
                assert {k: v for k, v in after[name].items() if v is not None} == {
                    k: v for k, v in value.items() if v is not None
                }
            else:
                assert after[name] == value, name
    assert not list(tmp_path.glob("*.part"))


# ---------------------------------------------------------------------- H04: other people's types


class Odd(Measure):
    """A measure of another package that returns whatever numpy made."""

    name = "x_odd"
    axis = ""
    requires = ("text",)
    symmetric = True
    reference = "none"
    symbols: ClassVar[set[str]] = {"b", "a"}

    def distances(self, pairs: Sequence[tuple[Any, Any]], context: Context) -> list[Scored]:
        """Return numpy scalars, an array as raw delta, a numpy text as flag."""
        raw: Any = {
            "vector": np.arange(3, dtype=np.float32),
            "count": np.int64(7),
            "same": np.bool_(True),
            "set": self.symbols,
        }
        return [Scored(np.float64(0.25), np.str_(""), (np.str_("odd"),), raw) for _ in pairs]


def test_numpy_types_of_a_measure_become_plain_json(
    english_lm: Any, no_encoder: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """H04: arrays, numpy integers and booleans, sets."""
    MEASURES["x_bleu"]
    monkeypatch.setitem(MEASURES._targets, "x_odd", "tests.hooks.test_samples_file:Odd")
    results = evaluate(english_lm, "sago_demo_facts", limit=2)
    _, samples = write(results, tmp_path)
    text = samples["sago_demo_facts"].read_text(encoding="utf-8")
    assert "array(" not in text
    rows = [strict(record) for line in text.splitlines() for record in strict(line)["filtered_resps"]]
    for row in rows:
        assert row["distances"]["x_odd"] == 0.25
        assert row["raw"]["x_odd"] == {"vector": [0.0, 1.0, 2.0], "count": 7, "same": True, "set": ["a", "b"]}
        assert "odd" in row["flags"]


def test_a_broken_samples_line_is_named(tmp_path: Path) -> None:
    from sago_harness.errors import SagoError

    path = tmp_path / "samples_t_2026-01-01T00-00-00.0.jsonl"
    path.write_text('{"filtered_resps": [], "resps": []}\n{"filtered_resps": [', encoding="utf-8")
    with pytest.raises(SagoError, match=r"samples_t_.*jsonl line 2"):
        read_samples(path)


def test_a_stock_tasks_samples_are_not_ours(tmp_path: Path) -> None:
    path = tmp_path / "samples_stock_2026-01-01T00-00-00.0.jsonl"
    path.write_text('{"filtered_resps": ["yes"], "resps": [["yes"]]}\n', encoding="utf-8")
    assert read_samples(path) == []
