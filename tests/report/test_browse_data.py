"""What the document browser is given: every text and number of the records, once, and nothing else."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest

from sago_harness.report.browse.block import DataBlock, packed, unpacked
from sago_harness.report.browse.data import FIRST, BrowseData, browse_data
from sago_harness.report.browse.script import PARTS
from sago_harness.report.browse.unrest import floor_share, levels
from sago_harness.report.study import Study, read_study
from sago_harness.runs.columns import read_columns
from sago_harness.scores.table import read_parquet
from sago_harness.stats.independence import chance_levels
from sago_harness.stats.resampling import Settings
from sago_harness.stats.scored import score_task
from tests.runs.made_runs import TIME, Rows, signature, write_results, write_runs, write_samples
from tests.stats.made import table

FEW = Settings(resamples=99)

#: All documents are among the worst ones: their values are known from elsewhere then.
ALL = 1000

HOSTILE = (
    "</script><script>window.hurt = 1</script>",
    "\"><img src=x onerror='window.hurt = 1'>",
    "{{ 7 * 7 }} {% raw %} ${window.hurt}",
    "\u202eright to left\u2066 and back\u200b",
    "\x00\x07\u2028 line",
)


def study_of(*paths: Path, **changes: Any) -> Study:
    return read_study(paths, FEW, worst=ALL, with_texts=False, **changes)


def contents(data: BrowseData) -> dict[str, Any]:
    found = {block.id: unpacked(block) for block in data.blocks}
    assert len(found) == len(data.blocks)
    return found


def records(data: BrowseData, task: str, model: str) -> dict[tuple[str, str], dict[str, Any]]:
    """Read the blocks as the page does: (document, key) -> what is shown of it."""
    blocks = contents(data)
    number = next(i for i, one in enumerate(blocks[FIRST]["tasks"]) if one["task"] == task)
    index = blocks[f"browse-i-{number}"]
    place = next(i for i, one in enumerate(index["models"]) if one["name"] == model)
    found = {}
    for d, document in enumerate(index["documents"]):
        chunk, local = divmod(d, index["chunk"])
        prompts = blocks[f"browse-p-{number}-{chunk}"][local]
        said = blocks[f"browse-r-{number}-{place}-{chunk}"]
        own = said["documents"][local]
        assert (own is not None) == bool(index["models"][place]["has"][d])
        for k, (key, family, operator, strength, role, _) in enumerate(index["keys"]):
            share = index["models"][place]["shares"][d][k - 1 : k] or [False]
            if own is None or k >= len(own["r"]) or (k and share[0] is False):
                continue
            response = own["r"][k]
            stopped, reasons = said["reasons"][own["w"][k] if "w" in own else 0]
            found[document, key] = {
                "role": role,
                "family": family,
                "operator": operator,
                "strength": strength,
                "share": share[0] if k else None,
                "prompt": own["p"][str(k)] if str(k) in own.get("p", {}) else prompts[k],
                "response": own["r"][response] if isinstance(response, int) else response,
                "distances": {n: v[k - 1] for n, v in zip(said["measures"], own["d"], strict=True)}
                if k
                else {},
                "correct": own["c"][k] if "c" in own else None,
                "answer": own["a"][k] if "a" in own else None,
                "flags": said["flags"][own["f"][k] if "f" in own else 0],
                "stopped": stopped,
                "reasons": reasons,
            }
    return found


def assert_same(shown: dict[tuple[str, str], dict[str, Any]], rows: Rows) -> None:
    """Compare with the records of a run, which hold chance controls too."""
    wanted = {(row["document"], row["variant"]): row for row in rows if row["role"] != "control"}
    assert set(shown) == set(wanted)
    for at, row in wanted.items():
        one = shown[at]
        assert (one["prompt"], one["response"]) == (row["text"], row["response"])
        assert (one["answer"], one["correct"]) == (row.get("answer"), row.get("correct"))
        assert one["flags"] == (row["flags"] or [])
        assert one["reasons"] == row["reasons"]
        assert one["stopped"] == (row.get("document_reason") or row.get("text_reason") or "")
        assert one["role"] == row["role"]
        if row["role"] != "canonical":
            assert (one["family"], one["operator"], one["strength"]) == (
                row["family"],
                row["operator"],
                row["strength"],
            )
            for name, value in one["distances"].items():
                exact = row["distances"].get(name)
                assert (value is None) == (exact is None)
                assert value is None or abs(value / 1000 - exact) <= 0.0005


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two models on two data sets; more documents than a block holds, some numbers missing."""
    folder = tmp_path_factory.mktemp("made")
    write_runs(
        folder, models=2, tasks=2, documents=120, variants=7, repeats=1, missing=0.05, levels=(0.3, 0.6)
    )
    return folder


@pytest.fixture(scope="module")
def study(made: Path) -> Study:
    return study_of(made)


@pytest.fixture(scope="module")
def data(study: Study) -> BrowseData:
    return browse_data(study)


def test_every_text_and_number_of_the_records_is_there(study: Study, data: BrowseData) -> None:
    assert sorted(study.runs) == [(t, m) for t in ("made00", "made01") for m in ("model000", "model001")]
    for (task, model), run in study.runs.items():
        assert_same(records(data, task, model), read_parquet(run.path))


def test_distances_that_were_not_measured_are_left_out_and_unscored_ones_have_their_reason(
    data: BrowseData,
) -> None:
    shown = records(data, "made00", "model000")
    names = {name for one in shown.values() for name in one["distances"]}
    assert "x_sem" not in names
    assert {"x_bleu", "x_jsd", "x_mr", "x_mr_floor", "flip"} <= names
    lost = [one for one in shown.values() if one["role"] == "variant" and one["distances"]["x_act"] is None]
    assert lost
    assert {one["reasons"]["x_act"] for one in lost} == {"nan_hidden"}


def test_instability_and_order_are_those_of_the_worst_cases(study: Study, data: BrowseData) -> None:
    blocks = contents(data)
    for number, task in enumerate(study.found.tasks):
        index = blocks[f"browse-i-{number}"]
        for model in index["models"]:
            worst = next(one for one in study.found.worst if (one.task, one.model) == (task, model["name"]))
            assert index["score"] == worst.score
            order = [index["documents"][d] for d in model["order"]]
            assert order[: len(worst.cases)] == [case.document for case in worst.cases]
            assert sum(value is not None for value in model["values"]) == worst.documents == len(worst.cases)
            shown = records(data, task, model["name"])
            for case in worst.cases:
                d = index["documents"].index(case.document)
                assert abs(model["values"][d] / 1000 - case.value) <= 0.0005
                key = model["furthest"][d]
                assert (index["keys"][key][0] if key >= 0 else "") == case.variant
                if case.variant:
                    assert abs(shown[case.document, case.variant]["share"] / 1000 - case.distance) <= 0.0005


def test_variants_beside_the_score_are_shown_and_are_no_worst_ones(tmp_path: Path) -> None:
    (path,) = write_runs(tmp_path / "made", models=["m"], tasks=1, documents=6, variants=6)
    rows = read_parquet(path)
    for row in rows:
        if row["families"]:
            row["families"] = {"register": 2, "noise": 1, "structure": 2}
        if row["operator"] == "spaces":
            row |= {"family": "human", "operator": "typed"}
            row["distances"] |= dict.fromkeys(("x_bleu", "x_bert", "x_act", "x_prob", "x_ent"), 1.0)
    samples(tmp_path / "samples", {"m": rows})
    study = study_of(tmp_path / "samples")
    data = browse_data(study)
    index = contents(data)["browse-i-0"]
    keys = {key[0]: (place, key[5]) for place, key in enumerate(index["keys"])}
    assert [name for name, (_, scored) in keys.items() if not scored] == ["canonical", "spaces1"]
    model = index["models"][0]
    (worst,) = (one for one in study.found.worst if one.model)
    assert len(worst.cases) == 6
    for case in worst.cases:
        d = index["documents"].index(case.document)
        assert model["furthest"][d] == keys[case.variant][0] != keys["spaces1"][0]
        assert model["shares"][d][keys["spaces1"][0] - 1] == max(model["shares"][d])


def test_it_opens_on_the_least_stable_document_of_the_least_stable_model(
    study: Study, data: BrowseData
) -> None:
    cases = [(one.task, one.model, case) for one in study.found.worst if one.model for case in one.cases]
    # levels=(0.3, 0.6): the second model is the worse one.
    task, model, case = max((c for c in cases if c[1] == "model001"), key=lambda c: c[2].value)
    blocks = contents(data)
    number, place, d = blocks[FIRST]["start"]
    index = blocks[f"browse-i-{number}"]
    assert (index["task"], index["models"][place]["name"]) == (task, model)
    assert index["documents"][d] == case.document


def test_chance_levels_and_noise_floors_are_those_of_the_scores(study: Study, data: BrowseData) -> None:
    for number, (task, scored) in enumerate(study.found.scored.items()):
        index = contents(data)[f"browse-i-{number}"]
        for m, model in enumerate(index["models"]):
            assert set(model["levels"]) == {"x_bleu", "x_bert", "x_act", "x_prob", "x_ent", "x_jsd"}
            columns = read_columns(study.runs[task, model["name"]])
            for name, (chance, floor) in model["levels"].items():
                if name in scored.reduced:
                    exact = levels(columns, name)
                    assert exact[0] == pytest.approx(chance_levels(scored.reduced[name])[m], rel=1e-12)
                    floors = scored.reduced[name].floors[m]
                    assert exact[1] == pytest.approx(math.sqrt(floors[np.isfinite(floors)].mean()), abs=1e-12)
                assert abs(chance / 1000 - levels(columns, name)[0]) <= 0.0005
                assert floor == 0
            assert model["floor"] == 0


def test_the_floor_of_shares_is_the_share_of_repeats() -> None:
    """Repeats at .06, controls at .6: a tenth of chance on each axis; mirroring has none of its own."""
    one = table(np.random.default_rng(1), documents=12, repeats=2)
    fixed: dict[str, Any] = {
        "controls": {name: np.full_like(values, 0.6) for name, values in one.controls.items()},
        "repeats": {name: np.full_like(values, 0.06) for name, values in one.repeats.items()},
    }
    scored = score_task(replace(one, **fixed))
    for score in ("sago", "sago_core", "sago_text", "sago_activation", "x_bleu"):
        assert floor_share(scored, 0, score) == pytest.approx(0.1)
    assert math.isnan(floor_share(scored, 0, "sago_mirroring"))
    assert math.isnan(floor_share(score_task(replace(one, repeats={})), 0, "sago_core"))


def test_prompts_that_models_share_are_kept_once(data: BrowseData) -> None:
    for id, content in contents(data).items():
        if id.startswith("browse-r"):
            assert not any("p" in own for own in content["documents"] if own)


def test_a_prompt_that_only_one_model_was_given_stays_its_own(tmp_path: Path) -> None:
    first, second = write_runs(tmp_path, models=2, tasks=1, documents=3, variants=2)
    table = pq.read_table(second)
    texts = table.column("text").to_pylist()
    texts[1] = "something else"
    place = table.column_names.index("text")
    pq.write_table(table.set_column(place, "text", [texts]), second)
    data = browse_data(study_of(tmp_path))
    for path, model in ((first, "model000"), (second, "model001")):
        assert_same(records(data, "made00", model), read_parquet(path))
    own = [one.get("p") for one in contents(data)["browse-r-0-1-0"]["documents"]]
    assert own == [{"1": "something else"}, None, None]


def test_a_response_that_was_given_before_is_named_by_its_place(tmp_path: Path) -> None:
    rows = rows_of(tmp_path)
    for row, text in zip(rows, ("one", "two", "two", "one"), strict=False):
        row["response"] = text
    (path,) = samples(tmp_path / "again", {"m": rows})
    data = browse_data(study_of(path))
    said = contents(data)["browse-r-0-0-0"]["documents"][0]["r"]
    assert said == ["one", "two", 1, 0]
    assert_same(records(data, "made00", "m"), rows)


def test_samples_and_parquet_give_the_same_blocks(tmp_path: Path) -> None:
    paths = write_runs(tmp_path / "parquet", models=["a", "b"], tasks=1, documents=4, variants=3, missing=0.1)
    samples(tmp_path / "samples", dict(zip("ab", map(read_parquet, paths), strict=True)))
    columns, lines = (browse_data(study_of(tmp_path / name)) for name in ("parquet", "samples"))
    assert columns == lines


def test_the_same_runs_give_the_same_characters(study: Study, made: Path, data: BrowseData) -> None:
    assert browse_data(study) == data
    assert browse_data(study_of(made)) == data


def test_models_on_other_documents_and_variants_have_what_they_have(tmp_path: Path) -> None:
    (first,) = write_runs(tmp_path, models=["a"], tasks=1, documents=6, variants=4)
    (second,) = write_runs(tmp_path, models=["b"], tasks=1, documents=6, variants=4)
    table = pq.read_table(second)
    keep = [
        d != "d00002" and not (v == "typos1" and d != "d00005")
        for d, v in zip(
            table.column("document").to_pylist(), table.column("variant").to_pylist(), strict=True
        )
    ]
    pq.write_table(table.filter(keep), second)
    data = browse_data(study_of(tmp_path))
    assert_same(records(data, "made00", "a"), read_parquet(first))
    assert_same(records(data, "made00", "b"), read_parquet(second))
    assert contents(data)["browse-i-0"]["models"][1]["has"] == [1, 1, 0, 1, 1, 1]


def test_hostile_texts_are_kept_as_they_are(tmp_path: Path) -> None:
    rows = rows_of(tmp_path)
    for row, text in zip(rows, HOSTILE * 3, strict=False):
        row["text"], row["response"] = text, text + "x" * 100_000
    name = "<script>alert(1)</script>/\u202emodel"
    samples(tmp_path / "hostile", {name: rows})
    data = browse_data(study_of(tmp_path / "hostile"))
    assert_same(records(data, "made00", name), rows)
    for block in data.blocks:
        assert set(block.text) <= set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/=")


def test_lone_surrogates_become_replacement_characters(tmp_path: Path) -> None:
    rows = rows_of(tmp_path)
    rows[0]["response"] = "a\ud800b \U0001f600"
    samples(tmp_path / "broken", {"m": rows})
    data = browse_data(study_of(tmp_path / "broken"))
    assert records(data, "made00", "m")["d00000", "canonical"]["response"] == "a\ufffdb \U0001f600"


def test_what_is_no_evidence_says_why(tmp_path: Path) -> None:
    rows = rows_of(tmp_path)
    rows[1] |= {"text_reason": "noop_tokens", "flags": ["noop_tokens"]}
    rows[1]["reasons"] = dict.fromkeys(("x_bleu", "x_act"), "noop_tokens")
    rows[1]["distances"] |= {"x_bleu": None, "x_act": None}
    samples(tmp_path / "stopped", {"m": rows})
    shown = records(browse_data(study_of(tmp_path / "stopped")), "made00", "m")[
        rows[1]["document"], rows[1]["variant"]
    ]
    assert (shown["stopped"], shown["flags"]) == ("noop_tokens", ["noop_tokens"])
    assert shown["reasons"] == {"x_bleu": "noop_tokens", "x_act": "noop_tokens"}
    assert (shown["distances"]["x_bleu"], shown["share"]) == (None, None)


@pytest.mark.parametrize("change", [lambda t: t.drop_columns(["response"]), None])
def test_records_without_responses_are_shown_with_a_note(
    tmp_path: Path, change: Callable[[Any], Any] | None
) -> None:
    (path,) = write_runs(tmp_path, models=1, tasks=1, documents=3, variants=2)
    table = pq.read_table(path)
    if change is None:
        place = table.column_names.index("response")
        table = table.set_column(place, "response", [[None] * table.num_rows])
    else:
        table = change(table)
    pq.write_table(table, path)
    data = browse_data(study_of(tmp_path))
    assert data.notes == ("made00: model000: the records hold no responses, distances alone are shown",)
    shown = records(data, "made00", "model000")
    assert {one["response"] for one in shown.values()} == {None}
    assert all(one["distances"]["x_bleu"] is not None for one in shown.values() if one["role"] == "variant")


def test_a_run_that_was_not_found_is_told(study: Study) -> None:
    lacking = replace(study, runs={key: run for key, run in study.runs.items() if key[1] != "model001"})
    data = browse_data(lacking)
    assert data.notes == tuple(f"{task}: model001: its records were not found" for task in study.found.tasks)
    assert contents(data)[FIRST]["notes"] == list(data.notes)
    assert [one["name"] for one in contents(data)["browse-i-0"]["models"]] == ["model000"]


def test_damaged_lines_are_counted(tmp_path: Path) -> None:
    (path,) = samples(tmp_path / "runs", {"m": rows_of(tmp_path)})
    with path.open("a", encoding="utf-8") as out:
        out.write('{"doc_id": 99, "resps"\n')
    data = browse_data(study_of(tmp_path / "runs", skip_damaged=True))
    assert data.notes == ("made00: m: 1 damaged line left out of the browser",)


def test_one_block_is_as_good_as_another() -> None:
    block = packed("a", {"x": [1, None, "\u2028"]})
    assert isinstance(block, DataBlock)
    assert unpacked(block) == {"x": [1, None, "\u2028"]}
    with pytest.raises(ValueError, match="JSON"):
        packed("a", float("nan"))


def rows_of(folder: Path, model: str = "m") -> Rows:
    (path,) = write_runs(folder, models=[model], tasks=1, documents=4, variants=3, missing=0.1)
    return read_parquet(path)


def samples(folder: Path, rows: dict[str, Rows]) -> list[Path]:
    """Write samples alone, a folder a model."""
    paths = []
    for number, (name, of) in enumerate(rows.items()):
        place = folder / f"m{number}"
        place.mkdir(parents=True)
        write_results(place, name, {"made00": signature("made00", 4, 3)})
        paths.append(write_samples(of, place / f"samples_made00_{TIME}.jsonl"))
    return paths


def test_the_templates_hold_no_markup_of_the_page_that_takes_them_in() -> None:
    folder = Path(browse_data.__code__.co_filename).parent / "templates"
    for path in folder.iterdir():
        text = path.read_text(encoding="utf-8")
        if path.suffix != ".j2":
            assert not any(mark in text for mark in ("{{", "{%", "{#", "</script", "</style", "<!--"))
        assert "innerHTML" not in text
        assert "style=" not in text
    scripts = [f"{name}.js" for name in PARTS]
    assert sorted(path.name for path in folder.iterdir()) == sorted(
        ["browse.css", "browse.html.j2", *scripts]
    )
