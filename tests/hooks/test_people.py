"""A run on variants that people made: columns, what stands in the records, what the summary says."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest

from sago_harness.errors import SagoError
from sago_harness.report.words import describe_task
from sago_harness.scores.table import rescore
from tests.hooks.hosts import Scripted, build, evaluate, manager, records, values, write_yaml
from tests.people_files import save_disfl_qa, save_mgsm

RECIPE = {"recipe": "human"}


def data(folder: Path) -> dict[str, Any]:
    """The metadata of a run on the four questions."""
    return {"data_dir": str(save_disfl_qa(folder / "disfl_qa").parent), **RECIPE}


def echo(prompt: str) -> str:
    return f"There are four of them, I think: {prompt}"


@pytest.fixture(scope="module")
def disfluent(tmp_path_factory: pytest.TempPathFactory, minilm: Path) -> dict[str, Any]:
    return evaluate(Scripted(echo), "sago_disfl_qa", data(tmp_path_factory.mktemp("data")))


def test_the_scores_own_columns_are_absent_and_the_familys_are_there(disfluent: dict[str, Any]) -> None:
    named = {name for name in values(disfluent, "sago_disfl_qa") if not name.endswith("_stderr")} - {"alias"}
    assert named == {
        *(f"human_{name}" for name in ("x_bleu", "x_bert", "x_act", "x_prob", "x_ent")),
        *(f"human_sago_{axis}" for axis in ("generation", "activation", "confidence", "core")),
        *("n_scored", "stock_share", "response_tokens", "x_cka"),
    }


def test_a_familys_axis_is_its_distance_relative_to_chance(disfluent: dict[str, Any]) -> None:
    """r = sqrt(mean q_human / mean q_chance) of each measure, held to [0, 1], then their mean."""
    made = records(disfluent, "sago_disfl_qa")
    for rows in made.values():
        assert [(row["role"], row["operator"]) for row in rows] == [
            ("canonical", ""),
            ("variant", "disfluent"),
            ("control", "other_document"),
            ("control", "other_document"),
        ]
    r = []
    for name in ("x_bleu", "x_bert"):
        squares: dict[str, list[float]] = {"variant": [], "control": []}
        for rows in made.values():
            for role, found in squares.items():
                of = [row["distances"][name] ** 2 for row in rows if row["role"] == role]
                found.append(sum(of) / len(of))
        r.append(min(1.0, math.sqrt(sum(squares["variant"]) / sum(squares["control"]))))
    table = values(disfluent, "sago_disfl_qa")
    assert table["human_sago_generation"] == pytest.approx(sum(r) / 2, abs=1e-12)
    assert table["human_sago_generation_stderr"] > 0
    # Text is all that this model gives.
    assert table["human_sago_core"] == "N/A"
    assert table["n_scored"] == 4


def test_the_same_values_come_out_of_the_records(disfluent: dict[str, Any]) -> None:
    rows = [row for rows in records(disfluent, "sago_disfl_qa").values() for row in rows]
    again = rescore(rows)
    table = values(disfluent, "sago_disfl_qa")
    assert again.own["human"].axes["generation"].value == pytest.approx(table["human_sago_generation"])
    assert [value["n_scored"] for value in again.values] == [1, 1, 1, 1]


def test_the_summary_tells_of_people_and_of_no_score(disfluent: dict[str, Any]) -> None:
    rows = [row for rows in records(disfluent, "sago_disfl_qa").values() for row in rows]
    table = values(disfluent, "sago_disfl_qa")
    lines = describe_task(rows, "scripted on sago_disfl_qa").splitlines()
    assert lines[0] == "scripted on sago_disfl_qa: 4 documents, 1 variant each, 4 scored on every measure"
    assert "what people wrote (disfluent)" in lines[1]
    share = f"{100 * table['human_sago_generation']:.0f} %"
    (moved,) = [line for line in lines if "the text of the answer moves" in line]
    assert share in moved
    assert not any(line.startswith("  stability") for line in lines)
    assert not any("mirroring" in line for line in lines)


def test_all_signals_give_the_familys_stability(tmp_path: Path, english_lm: Any, minilm: Path) -> None:
    found = evaluate(english_lm, "sago_disfl_qa", data(tmp_path))
    table = values(found, "sago_disfl_qa")
    axes = [table[f"human_sago_{axis}"] for axis in ("generation", "activation", "confidence")]
    assert table["human_sago_core"] == pytest.approx(1 - sum(axes) / 3, abs=1e-12)
    beside = found["configs"]["sago_disfl_qa"]["metadata"]["sago"]["beside"]["human"]
    # The file keeps what the axis holds to 1.
    assert axes[1] == pytest.approx(min(1.0, beside["x_act"]["r"]))


def test_generated_and_peoples_variants_stand_side_by_side(tmp_path: Path, minilm: Path) -> None:
    metadata = {**data(tmp_path), "recipe": "quick"}
    table = values(evaluate(Scripted(echo), "sago_disfl_qa", metadata), "sago_disfl_qa")
    assert isinstance(table["sago_generation"], float)
    assert isinstance(table["human_sago_generation"], float)


def test_translations_have_answers_of_their_own(tmp_path: Path, no_encoder: None) -> None:
    save_mgsm(tmp_path / "mgsm")
    # Right in English and German alone: one of three translations is.
    found = evaluate(
        Scripted(lambda prompt: "It is 2." if "Two" in prompt or "Zwei" in prompt else "It is 7."),
        "sago_mgsm",
        {"data_dir": str(tmp_path), **RECIPE},
        samples={"sago_mgsm": [0]},
    )
    table = values(found, "sago_mgsm")
    assert table["acc"] == 1.0
    assert table["language_acc_mean"] == pytest.approx(1 / 3)
    assert table["language_acc_worst"] == 0.0
    assert table["language_flip"] == pytest.approx(2 / 3)
    assert "human_x_bleu" not in table
    assert "acc_mean" not in table


# ---------------------------------------------------------------------- the user's own column


def save_rows(path: Path, rows: list[dict[str, Any]], **metadata: Any) -> dict[str, Any]:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return {"file": str(path), **metadata}


def own_texts(task: Any) -> list[list[str]]:
    task.build_all_requests()
    found: dict[str, list[str]] = {}
    for instance in task.instances:
        payload = instance.arguments[2]
        of = found.setdefault(payload["document"], [])
        if payload["family"] == "human":
            of.append(payload["text"])
    return list(found.values())


def test_a_users_column_may_have_another_name(tmp_path: Path) -> None:
    rows = [
        {"prompt": "How many legs?", "paraphrases": ["Legs, how many?", {"text": "Count the legs."}]},
        {"prompt": "How many eyes?", "paraphrases": None},
    ]
    metadata = save_rows(tmp_path / "p.jsonl", rows, variants_column="paraphrases", **RECIPE)
    assert own_texts(build("local_sago", metadata)) == [["Legs, how many?", "Count the legs."], []]


def test_a_table_without_lists_holds_one_text_a_row(tmp_path: Path) -> None:
    path = tmp_path / "p.csv"
    path.write_text("prompt,again\nHow many legs?,Legs?\nHow many eyes?,\n", encoding="utf-8")
    task = build("local_sago", {"file": str(path), "variants_column": "again", **RECIPE})
    assert own_texts(task) == [["Legs?"], []]


def test_a_column_that_is_not_there_is_answered_with_the_nearest(tmp_path: Path) -> None:
    metadata = save_rows(
        tmp_path / "p.jsonl", [{"prompt": "p", "paraphrases": ["q"]}], variants_column="parphrases"
    )
    with pytest.raises(SagoError, match=r"unknown column of variants 'parphrases'.*did you mean paraphrases"):
        manager(metadata).load(["local_sago"])


def test_a_yaml_may_name_the_column_too(tmp_path: Path) -> None:
    body = "vary: q\nvariants_column: again\ndoc_to_text: '{{q}}'\ndoc_to_target: ''\n"
    write_yaml(tmp_path, "mine", body, [{"q": "How many?", "again": ["Count."]}])
    assert own_texts(build("mine", RECIPE, tmp_path)) == [["Count."]]
