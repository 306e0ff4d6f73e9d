"""Stock tasks in the same call, models that give text only, and the answers they may give."""

from __future__ import annotations

import json
import logging
import math
from pathlib import Path
from typing import Any

import pytest

from sago_harness.hooks.requests import SagoText
from tests.hooks.hosts import Scripted, evaluate, records, values

STOCK = """
task: stock_colours
dataset_path: json
dataset_kwargs: {data_files: {test: FILE}}
test_split: test
output_type: multiple_choice
doc_to_text: "{{question}}"
doc_to_choice: "{{choices}}"
doc_to_target: gold
metric_list: [{metric: acc, aggregation: mean, higher_is_better: true}]
metadata: {version: 1.0}
"""


@pytest.fixture(scope="module")
def stock_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("stock")
    rows = [
        {"question": f"Colour {k}?", "choices": ["red", "turquoise", "blue"], "gold": k % 3} for k in range(6)
    ]
    (folder / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    (folder / "stock.yaml").write_text(STOCK.replace("FILE", str(folder / "rows.jsonl")), encoding="utf-8")
    return folder


def test_mixed_with_a_stock_task_both_are_right(english_lm: Any, stock_folder: Path) -> None:
    mixed = evaluate(english_lm, ["sago_demo_facts", "stock_colours"], folders=[stock_folder], limit=3)
    alone = evaluate(english_lm, "stock_colours", folders=[stock_folder], limit=3)
    ours = evaluate(english_lm, "sago_demo_facts", limit=3)
    assert mixed["results"]["stock_colours"] == alone["results"]["stock_colours"]
    assert isinstance(values(alone, "stock_colours")["acc"], float)
    assert values(mixed, "sago_demo_facts") == values(ours, "sago_demo_facts")
    assert mixed["n-samples"]["sago_demo_facts"] == {"original": 24, "effective": 3}


def test_the_hosts_own_accuracy_keeps_its_aggregation(stock_folder: Path) -> None:
    """Our ``acc`` column must not replace the host's metric of that name."""
    found = evaluate(Scripted(str.upper), ["sago_demo_facts", "stock_colours"], folders=[stock_folder])
    # The shortest choice, red, is gold in two of six rows.
    table = values(found, "stock_colours")
    assert table["acc"] == pytest.approx(1 / 3)
    # s / sqrt(n) of (1, 0, 0, 1, 0, 0): squares about 1/3 sum to 4/3.
    assert table["acc_stderr"] == pytest.approx(math.sqrt(4 / 3 / 5 / 6))


def test_dummy_gives_text_measures_only_and_says_so_once(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        found = evaluate("dummy", ["sago_demo_facts", "sago_demo_reasoning"], limit=3)
    for task in ("sago_demo_facts", "sago_demo_reasoning"):
        table = values(found, task)
        for name in ("x_act", "x_prob", "x_ent", "sago_activation", "sago_confidence", "sago", "sago_core"):
            assert table[name] == table[f"{name}_stderr"] == "N/A", name
        # "lol" to everything: nothing moves, whatever is asked.
        assert table["x_bleu"] == 0.0
        assert table["stock_share"] == 1.0
        for rows in records(found, task).values():
            assert {row["reasons"]["x_act"] for row in rows} == {"no_hidden_states"}
            assert {row["reasons"]["x_prob"] for row in rows} == {"no_logprobs"}
            assert all(row["tokens"]["response"] is None for row in rows)
    told = [r.getMessage() for r in caplog.records if "gives text only" in r.getMessage()]
    assert told == ["model DummyLM gives text only: measures of activation and confidence are unscored"]


def test_a_text_model_gets_its_text_score(minilm: Path) -> None:
    def answer(prompt: str) -> str:
        question = prompt.rsplit("Q:", 1)[-1].split("\nA:")[0].strip()
        return f"You asked me this: {question}"

    found = evaluate(Scripted(answer), "sago_demo_facts", limit=6)
    table = values(found, "sago_demo_facts")
    axes = (table["sago_generation"] + table["sago_mirroring"]) / 2
    assert table["sago_text"] == pytest.approx(1 - axes, abs=1e-12)
    assert 0.0 < table["sago_generation"] < 1.0
    # It repeats the manner of the question word for word, so the value of every variant is 1 ...
    rows = [row for found_rows in records(found, "sago_demo_facts").values() for row in found_rows]
    shares = [row["distances"]["x_mr"] for row in rows if row["distances"].get("x_mr") is not None]
    assert len(shares) >= 24
    assert sum(shares) / len(shares) > 0.6
    assert table["sago_mirroring"] > 0.4
    assert table["stock_share"] == 0.0


def test_lone_surrogates_are_unscored_and_the_run_goes_on() -> None:
    def answer(prompt: str) -> str:
        return "broken \ud800 text" if "  " in prompt else "a plain answer of five words"

    found = evaluate(Scripted(answer), "sago_demo_facts", limit=3)
    for rows in records(found, "sago_demo_facts").values():
        broken = [row for row in rows if row["operator"] == "spaces"]
        assert [row["reasons"]["x_bleu"] for row in broken] == ["invalid_unicode"]
        assert broken[0]["distances"]["x_bleu"] is None
        assert all(row["distances"]["x_bleu"] == 0.0 for row in rows if row["role"] != "variant")
    # One noise variant of two is left, and the recipe asks for both.
    assert values(found, "sago_demo_facts")["x_bleu"] == "N/A"
    for sample in found["samples"]["sago_demo_facts"]:
        json.dumps([str(resp) for resp in sample["resps"]], ensure_ascii=False).encode("utf-8")


def test_empty_responses_are_flagged_and_count_as_far(minilm: Path) -> None:
    """E02: ("", "") is 0 with a flag, ("", "yes") is 1."""
    found = evaluate(Scripted(lambda p: "\x0c" if "  " in p else "yes it is so"), "sago_demo_facts", limit=2)
    for rows in records(found, "sago_demo_facts").values():
        for row in rows:
            empty = row["operator"] == "spaces"
            assert ("empty" in row["flags"]) == empty
            assert row["distances"]["x_bleu"] == row["distances"]["x_bert"] == float(empty)


def test_an_always_empty_model_is_marked_and_has_no_score(
    minilm: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """E02: nothing moves, but nothing is there; it must not look like the most stable one."""
    with caplog.at_level(logging.WARNING):
        found = evaluate(Scripted(lambda _: ""), "sago_demo_facts", limit=4)
    table = values(found, "sago_demo_facts")
    assert table["stock_share"] == 1.0
    assert table["x_bleu"] == table["x_bert"] == 0.0
    for name in ("sago", "sago_core", "sago_text", "sago_generation"):
        assert table[name] == "N/A"
    log = [record.getMessage() for record in caplog.records]
    assert any("4 of 4 documents have a stock answer" in line and "not to be ranked" in line for line in log)
    assert any("x_bleu has no value relative to chance" in line and "rigid" in line for line in log)
    for rows in records(found, "sago_demo_facts").values():
        assert all("empty" in row["flags"] for row in rows)


def test_a_partly_stock_model_is_marked(caplog: pytest.LogCaptureFixture, minilm: Path) -> None:
    def answer(prompt: str) -> str:
        return "I cannot say." if len(prompt) % 2 else f"It is about {prompt[5:40]}"

    with caplog.at_level(logging.WARNING):
        found = evaluate(Scripted(answer), "sago_demo_facts", limit=8)
    share = values(found, "sago_demo_facts")["stock_share"]
    canonical = [rows[0] for rows in records(found, "sago_demo_facts").values()]
    even = [json.loads(s["filtered_resps"][0]) for s in found["samples"]["sago_demo_facts"]]
    same = [s["resps"][0][0] for s in found["samples"]["sago_demo_facts"]].count("I cannot say.")
    assert len(canonical) == len(even) == 8
    assert 1 < same < 8
    assert share == same / 8
    log = [record.getMessage() for record in caplog.records if "stock answer" in record.getMessage()]
    assert len(log) == 1
    assert f"{same} of 8 documents" in log[0]
    assert f"the other {8 - same}" in log[0]


def test_a_response_of_another_kind_stops_with_its_type() -> None:
    from sago_harness.hooks.filters import DistanceFilter

    with pytest.raises(TypeError, match="response of str"):
        DistanceFilter().apply([["plain"]], [{}])


def test_a_response_travels_between_processes_as_text() -> None:
    import pickle

    made = SagoText("hello", {"distances": {}}, {})
    back = pickle.loads(pickle.dumps(made))
    assert type(back) is str
    assert back == "hello"
