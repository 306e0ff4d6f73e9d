"""What the host's table holds after a run on a model that gives every signal."""

from __future__ import annotations

import json
import logging
import math
from pathlib import Path
from typing import Any

import pytest

from sago_harness.axes import MEASURES
from tests.hooks.hosts import Scripted, evaluate, records, values

TASK = "sago_demo_facts"
LOWER = [
    *("x_bleu", "x_bert", "x_act", "x_prob", "x_ent", "x_mr"),
    *("sago_generation", "sago_activation", "sago_confidence", "sago_mirroring", "stock_share"),
    "x_cka",
]
HIGHER = ["sago", "sago_core", "sago_text", "acc", "acc_mean", "acc_worst"]
#: Figures that are neither good nor bad have no arrow.
NEUTRAL = ["n_scored", "response_tokens"]
ALL = [*LOWER, *HIGHER, *NEUTRAL]
#: It needs 16 documents (tests/hooks/test_layers.py).
TOO_FEW = {"x_cka"}
NO_STDERR = {"n_scored", "stock_share", *TOO_FEW}


@pytest.fixture(scope="module")
def scored(english_lm: Any, minilm: Path) -> dict[str, Any]:
    return evaluate(english_lm, TASK, limit=3)


def test_every_column_is_there_with_its_direction(scored: dict[str, Any]) -> None:
    table = values(scored, TASK)
    named = {name for name in table if "_stderr" not in name}
    assert named == {*ALL}
    direction = scored["higher_is_better"][TASK]
    assert {name for name in LOWER if direction[name] is not False} == set()
    assert {name for name in HIGHER if direction[name] is not True} == set()
    assert {name for name in NEUTRAL if direction[name] is not None} == set()


def test_all_four_axes_and_all_three_composites_are_scored(scored: dict[str, Any]) -> None:
    table = values(scored, TASK)
    assert {table[name] for name in TOO_FEW} == {"N/A"}
    for name in set(ALL) - TOO_FEW:
        assert isinstance(table[name], int | float), f"{name} is {table[name]!r}"
        assert math.isfinite(table[name])
    assert table["n_scored"] == 3
    axes = [table[f"sago_{axis}"] for axis in ("generation", "activation", "confidence", "mirroring")]
    assert all(0.0 <= axis <= 1.0 for axis in axes)
    assert table["sago"] == pytest.approx(1 - sum(axes) / 4, abs=1e-12)
    assert table["sago_core"] == pytest.approx(1 - sum(axes[:3]) / 3, abs=1e-12)
    assert table["sago_text"] == pytest.approx(1 - (axes[0] + axes[3]) / 2, abs=1e-12)


def test_the_hosts_stderr_column_is_filled(scored: dict[str, Any]) -> None:
    from lm_eval.utils import make_table

    rows = {}
    for line in make_table(scored).splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if len(cells) > 8 and cells[4] in ALL:
            rows[cells[4]] = cells
    assert set(rows) == {*ALL}
    for name, cells in rows.items():
        assert cells[5] == ("↑" if name in HIGHER else "↓" if name in LOWER else "")
        assert cells[7] == "±"
        if name in NO_STDERR:
            assert cells[8] == "N/A"
        else:
            assert float(cells[8]) >= 0.0, name


def test_the_stderr_of_a_mean_is_s_over_root_n(scored: dict[str, Any]) -> None:
    per_document = [sample["x_act"] for sample in scored["samples"][TASK]]
    mean = sum(per_document) / 3
    spread = sum((value - mean) ** 2 for value in per_document) / 2
    table = values(scored, TASK)
    assert table["x_act"] == pytest.approx(mean, abs=1e-12)
    assert table["x_act_stderr"] == pytest.approx(math.sqrt(spread / 3), abs=1e-12)


def test_document_values_follow_the_definition(scored: dict[str, Any]) -> None:
    """sqrt of the mean over families of the mean square, straight from the records."""
    by_id = records(scored, TASK)
    samples = {json.loads(s["filtered_resps"][0])["document"]: s for s in scored["samples"][TASK]}
    for document, rows in by_id.items():
        assert [row["role"] for row in rows] == ["canonical"] + 6 * ["variant"] + 2 * ["control"]
        for measure in ("x_bleu", "x_bert", "x_act", "x_prob", "x_ent"):
            families: dict[str, list[float]] = {}
            for row in rows:
                if row["role"] == "variant":
                    families.setdefault(row["family"], []).append(row["distances"][measure] ** 2)
            assert {name: len(found) for name, found in families.items()} == {
                "register": 2,
                "noise": 2,
                "structure": 2,
            }
            square = sum(sum(found) / 2 for found in families.values()) / 3
            assert samples[document][measure] == pytest.approx(math.sqrt(square), abs=1e-12)


def test_the_canonical_prompt_is_at_distance_zero(scored: dict[str, Any]) -> None:
    for rows in records(scored, TASK).values():
        distances = {name: rows[0]["distances"][name] for name in MEASURES if name != "x_sem"}
        assert set(distances.values()) == {0.0}


def test_hf_and_sago_hf_give_the_same_numbers(english_folder: Path, english_lm: Any) -> None:
    arguments = f"pretrained={english_folder},dtype=float32"
    ours = evaluate("sago-hf", TASK, limit=2, model_args=arguments, batch_size=8, device="cpu")
    stock = evaluate(english_lm, TASK, limit=2)
    assert values(ours, TASK) == values(stock, TASK)
    for mine, theirs in zip(ours["samples"][TASK], stock["samples"][TASK], strict=True):
        assert mine["resps"] == theirs["resps"]
        assert mine["filtered_resps"] == theirs["filtered_resps"]


def test_the_texts_are_those_of_the_hosts_own_generation(english_lm: Any, scored: dict[str, Any]) -> None:
    from lm_eval.api.instance import Instance

    sample = scored["samples"][TASK][1]
    requests = [
        Instance("generate_until", doc={}, arguments=(prompt, dict(kwargs)), idx=index)
        for index, (prompt, kwargs, _) in enumerate(sample["arguments"])
    ]
    assert english_lm.generate_until(requests) == [str(resp[0]) for resp in sample["resps"]]


def test_without_an_encoder_the_rest_is_scored(
    english_lm: Any, no_encoder: None, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING):
        found = evaluate(english_lm, ["sago_demo_facts", "sago_demo_instructions"], limit=2)
    for task in ("sago_demo_facts", "sago_demo_instructions"):
        table = values(found, task)
        for name in ("x_bert", "sago_generation", "sago", "sago_core", "sago_text"):
            assert table[name] == table[f"{name}_stderr"] == "N/A"
        for name in ("x_bleu", "x_act", "x_prob", "x_ent", "x_mr", "sago_activation", "sago_confidence"):
            assert isinstance(table[name], float)
        assert table["n_scored"] == 0
        for rows in records(found, task).values():
            assert {row["reasons"]["x_bert"] for row in rows} == {"encoder_unavailable"}
            assert {row["distances"]["x_bert"] for row in rows} == {None}
    told = [r.getMessage() for r in caplog.records if "sago models get minilm" in r.getMessage()]
    assert len(told) == 1


def test_what_the_numbers_depend_on_stands_with_the_results(scored: dict[str, Any]) -> None:
    """M01: dtype, attention and batch size; and the signature."""
    own = scored["configs"][TASK]["metadata"]["sago"]
    assert own["model"]["dtype"] == "float32"
    assert own["model"]["attention"] in ("sdpa", "eager")
    assert own["model"]["batch_size"] == "8"
    assert own["signature"]["task"] == TASK
    assert set(own["relative"]) == {"x_bleu", "x_bert", "x_act", "x_prob", "x_ent", "x_mr"}


SIGNATURE_CHANGES: dict[str, dict[str, Any]] = {
    "few-shot seed": {"num_fewshot": 2, "fewshot_random_seed": 99},
    "shots": {"num_fewshot": 1},
    "system": {"system_instruction": "Be brief."},
    "tokens": {"gen_kwargs": {"max_gen_toks": 3}},
}


@pytest.mark.parametrize("change", sorted(SIGNATURE_CHANGES))
def test_what_changes_numbers_changes_the_signature(change: str) -> None:
    """In the results and in every record: two values with equal signatures can be compared."""
    options = SIGNATURE_CHANGES[change]
    base = {"num_fewshot": 2} if "num_fewshot" in options else {}

    def signature(**given: Any) -> tuple[dict[str, Any], str]:
        found = evaluate(Scripted(str.lower), TASK, limit=2, **given)
        record = json.loads(found["samples"][TASK][0]["filtered_resps"][0])
        return found["configs"][TASK]["metadata"]["sago"]["signature"], record["signature"]

    first, second = signature(**base), signature(**options)
    assert first[0] != second[0]
    assert first[1] != second[1]
    assert signature(**base) == first


def test_the_signature_knows_own_variants_and_gold_answers(tmp_path: Path) -> None:
    def signature(row: dict[str, Any]) -> str:
        path = tmp_path / "mine.jsonl"
        rows = [
            {"prompt": "Name a river in Spain, please.", "id": "a", **row},
            {"prompt": "Say hi to me now."},
        ]
        path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
        found = evaluate(Scripted(str.lower), "local_sago", {"file": str(path)})
        return str(json.loads(found["samples"]["local_sago"][0]["filtered_resps"][0])["signature"])

    plain = signature({})
    assert signature({}) == plain
    assert len({plain, signature({"target": "Ebro"}), signature({"variants": ["A river of Spain?"]})}) == 3
