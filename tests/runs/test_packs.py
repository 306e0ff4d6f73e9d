"""The same models on variants of several seeds: one ranks, the others say how firm that is."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.stats import kendalltau

from sago_harness.errors import SagoError
from sago_harness.report.compared import TABLES
from sago_harness.runs.comparable import ACROSS, FIELDS
from sago_harness.runs.find import find_runs
from sago_harness.runs.packs import by_pack
from sago_harness.runs.read import read_table
from sago_harness.stats.compare import compare
from sago_harness.stats.resampling import Settings
from sago_harness.stats.table import ScoreTable
from tests.hooks.hosts import evaluate
from tests.runs.made_runs import MEASURES, TIME, described, host_files, signature, write_results, write_runs
from tests.runs.test_read import equal_tables

pytestmark = pytest.mark.filterwarnings("error::RuntimeWarning")

LATER = "2026-02-02T03-04-05.000006"
OTHERS = "the others are in 'How firm is this?' and 'Other seeds of the variants'"

LATEST = "2026-03-02T03-04-05.000006"


def made(folder: Path, *, models: Any = ("a", "b", "c"), tasks: Any = 1, **options: Any) -> list[Path]:
    seed = options.get("pack_seed", 42)
    options = {"documents": 6, "variants": 6, "seed": seed, **options}
    return write_runs(folder / f"seed{seed}", models=list(models), tasks=tasks, **options)


def table_of(folder: Path, **options: Any) -> ScoreTable:
    return read_table(find_runs([folder]), **options)


def test_the_most_frequent_seed_ranks(tmp_path: Path) -> None:
    made(tmp_path)
    made(tmp_path, models=("a", "b"), pack_seed=7, time=LATER)
    made(tmp_path, models=("c",), pack_seed=9, time=LATER)
    table = table_of(tmp_path)
    assert table.notes == (f"pack seeds 7, 9, 42 found: ranked by 42, {OTHERS}",)
    assert table.models == ("a", "b", "c")
    equal_tables(table.load("made00"), table_of(tmp_path / "seed42").load("made00"))
    assert list(table.packs) == [7, 9]
    for seed, models in ((7, ("a", "b")), (9, ("c",))):
        assert table.packs[seed].load("made00").models == models
        equal_tables(table.packs[seed].load("made00"), table_of(tmp_path / f"seed{seed}").load("made00"))


def test_of_equally_frequent_seeds_the_newest_ranks(tmp_path: Path) -> None:
    made(tmp_path)
    made(tmp_path, pack_seed=7, time=LATER)
    table = table_of(tmp_path)
    assert list(table.packs) == [42]
    assert {one["seed"] for one in table.load("made00").signatures} == {7}
    assert {one["seed"] for one in table.packs[42].load("made00").signatures} == {42}


def test_all_data_sets_are_ranked_by_one_seed_where_they_have_it(tmp_path: Path) -> None:
    made(tmp_path, tasks=["p", "q"])
    made(tmp_path, tasks=["p"], pack_seed=7, time=LATEST)
    made(tmp_path, tasks=["q"], pack_seed=7, time=LATER)
    made(tmp_path, tasks=["q"], time=LATEST)
    made(tmp_path, tasks=["r"], pack_seed=7)
    table = table_of(tmp_path)
    # Seed 7 has one run more; without r it is even, and 7 and 42 are equally new.
    assert [{s["seed"] for s in one.signatures} for one in table] == [{7}, {7}, {7}]
    assert table.packs[42].tasks == ("p", "q")
    assert table.notes[1] == (f"p, q: pack seeds 7, 42 found: ranked by 7, {OTHERS}")
    assert table.notes[0].startswith("3 older runs left out: ")
    table = table_of(tmp_path, tasks=["p", "q"])
    assert [{s["seed"] for s in one.signatures} for one in table] == [{42}, {42}]


def test_the_newest_of_each_seed_counts(tmp_path: Path) -> None:
    made(tmp_path, models=("a",))
    made(tmp_path, models=("a",), time=LATEST)
    made(tmp_path, models=("a",), pack_seed=7, time=LATER)
    runs = find_runs([tmp_path])
    assert [(run.signature["seed"], run.time, run.older) for run in runs] == [(7, LATER, 0), (42, LATEST, 1)]
    assert [run.model for run in find_runs([tmp_path], every=True)] == [
        f"a {TIME}",
        f"a {LATER}",
        f"a {LATEST}",
    ]


def test_a_model_without_the_seed_is_refused_as_ever(tmp_path: Path) -> None:
    made(tmp_path, models=("a", "b"))
    made(tmp_path, models=("a", "b", "c"), pack_seed=7, time=LATER)
    assert list(table_of(tmp_path).packs) == [42]
    made(tmp_path, models=("d", "e"))
    with pytest.raises(SagoError, match=r"made00: seed: a has 42, c has 7 \(--allow"):
        table_of(tmp_path)
    table = table_of(tmp_path, allow_mixed=True)
    assert table.models == ("a", "b", "c", "d", "e")
    assert table.load("made00").mixed == (False, False, True, False, False)
    assert table.packs[7].models == ("a", "b")


def test_models_of_one_seed_each_are_refused_as_ever(tmp_path: Path) -> None:
    made(tmp_path, models=("a",))
    made(tmp_path, models=("b",), pack_seed=7)
    with pytest.raises(SagoError, match="made00: seed: a has 42, b has 7"):
        table_of(tmp_path)
    assert not table_of(tmp_path, allow_mixed=True).packs


CHANGES: dict[str, dict[str, Any]] = {
    "version": {"version": "2.0"},
    "recipe": {"recipe": "made.2"},
    "recipe_digest": {"recipe_digest": "ff"},
    "shots": {"shots": 5},
    "template": {"template": True},
    "controls": {"controls": 3},
    "canonical_repeats": {"canonical_repeats": 3},
    "generation": {"generation": {"max_gen_toks": 64}},
    "encoder": {"encoder": "none(encoder_unavailable)"},
    "pooling": {"pooling": "span"},
    "layers": {"layers": "attention"},
    "measures": {"measures": {**dict.fromkeys(MEASURES, 1), "x_bleu": 2}},
    "documents": {"documents": 20},
}


def test_every_field_over_seeds_has_a_case() -> None:
    # Precision and quantisation make another model of the same name.
    assert set(CHANGES) | {"dtype", "quantised"} == set(ACROSS)
    assert set(FIELDS) - set(ACROSS) == {"pack", "seed", "variants", "prompts", "scoring"}


@pytest.mark.parametrize("field", CHANGES)
def test_what_does_not_follow_from_the_seed_is_refused(field: str, tmp_path: Path) -> None:
    made(tmp_path, models=("a",))
    made(tmp_path, models=("b",))
    (path,) = made(tmp_path, models=("a",), pack_seed=7)
    other = {"seed": 7, "variants": "v", "prompts": "p", "scoring": "s", "pack": "e" * 64}
    full = {"made00": {**signature("made00", 6, 6), **other}}
    write_results(path.parent, "a", full)
    assert list(table_of(tmp_path).packs) == [7]
    full = {"made00": {**full["made00"], **CHANGES[field]}}
    write_results(path.parent, "a", full)
    with pytest.raises(
        SagoError, match=rf"made00: {ACROSS[field]}: a has .*, a with pack seed 7 has "
    ) as caught:
        table_of(tmp_path)
    assert "\n" not in str(caught.value)
    table = table_of(tmp_path, allow_mixed=True)
    assert table.notes[1].startswith(f"made00: a with pack seed 7 is marked as mixed: {ACROSS[field]} ")
    assert table.load("made00").mixed == (False, False)


def test_runs_of_one_other_seed_are_like_each_other(tmp_path: Path) -> None:
    made(tmp_path, models=("a", "b"))
    made(tmp_path, models=("a",), pack_seed=7)
    made(tmp_path, models=("b",), pack_seed=7, prompts="others")
    with pytest.raises(
        SagoError, match=r"made00: prompts: a with pack seed 7 has .*, b with pack seed 7 has"
    ):
        table_of(tmp_path)


def test_another_precision_is_another_model(tmp_path: Path) -> None:
    made(tmp_path, models=("a",))
    (path,) = made(tmp_path, models=("a",), pack_seed=7)
    own = {"made00": signature("made00", 6, 6, seed=7)}
    write_results(path.parent, "a", own, model=described(dtype="bfloat16"))
    with pytest.raises(SagoError, match=r"seed: a \(dtype=bfloat16\) has 7, a \(dtype=float32\) has 42"):
        table_of(tmp_path)


def test_without_results_files_the_records_say_the_seed(tmp_path: Path) -> None:
    for path in (*made(tmp_path, models=("a",)), *made(tmp_path, models=("a",), pack_seed=7, time=LATER)):
        next(path.parent.glob("results_*.json")).unlink()
        path.parent.rename(path.parent.with_name("a"))
    table = table_of(tmp_path)
    assert list(table.packs) == [42]


def test_a_run_that_does_not_say_its_seed_is_no_other_pack(tmp_path: Path) -> None:
    made(tmp_path, models=("a",))
    made(tmp_path, models=("a",), pack_seed=7, time=LATER)
    runs = find_runs([tmp_path])
    ranked, others, notes = by_pack([replace(run, signature={}) for run in runs[:1]])
    assert (len(ranked), others, notes) == (1, {}, [])
    write_results(tmp_path / "seed42" / "a", "a", {"made00": {}})
    (run,) = find_runs([tmp_path])
    assert (run.signature["seed"], run.older) == (7, 1)


# ---------------------------------------------------------------------- in a study


QUICK = Settings(resamples=99)


def test_another_seed_is_a_row_of_how_firm(tmp_path: Path) -> None:
    """Against a study of the other seed's runs alone."""
    levels = (0.2, 0.4, 0.6)
    made(tmp_path, tasks=["p", "q"], levels=levels, time=LATER)
    made(tmp_path, tasks=["p"], levels=levels[::-1], pack_seed=7)
    made(tmp_path, models=("a", "b"), tasks=["q"], levels=levels[:2], pack_seed=9, documents=5)
    found = compare(table_of(tmp_path, allow_mixed=True), QUICK)
    rows = {(one.detail, one.score): one for one in found.firmness if one.kind == "pack seed"}
    assert {detail for detail, _ in rows} == {"7", "9"}
    alone = compare(table_of(tmp_path / "seed7"), QUICK).scored["p"].quantities
    ranked = found.scored["p"].quantities
    for score in ("sago", "sago_core", "sago_text"):
        row = rows["7", score]
        assert (row.models, row.tasks) == (("a", "b", "c"), 1)
        assert row.values == pytest.approx(alone[score].values, abs=1e-12)
        assert row.tau == pytest.approx(kendalltau(ranked[score].values, alone[score].values).statistic)
        assert rows["9", score].models == ("a", "b")
    assert rows["7", "sago_core"].tau == pytest.approx(-1.0)
    assert not rows["7", "sago_core"].best_kept
    # The ranking itself is that of the runs of the first seed.
    first = compare(table_of(tmp_path / "seed42"), QUICK)
    for task in ("p", "q"):
        for name, quantity in first.scored[task].quantities.items():
            np.testing.assert_array_equal(found.scored[task].quantities[name].values, quantity.values)
    rest = [one for one in found.firmness if one.kind != "pack seed"]
    assert list(map(repr, rest)) == list(map(repr, first.firmness))


def test_it_is_told_what_was_found(tmp_path: Path) -> None:
    made(tmp_path, tasks=["p", "q"], time=LATER)
    made(tmp_path, tasks=["p", "q"], pack_seed=7)
    found = compare(table_of(tmp_path), QUICK)
    said = TABLES["leaderboard"](found).notes
    assert said[0] == f"pack seeds 7, 42 found: ranked by 42, {OTHERS}"
    firm = TABLES["firmness"](found)
    assert {row[2] for row in firm.rows if row[1] == "pack seed"} == {"7"}
    about = found.about()
    assert about["signatures"]["p"]["b with pack seed 7"]["seed"] == 7
    assert "seed7" in about["sources"]["q"]["a with pack seed 7"]
    assert found.signature != compare(table_of(tmp_path / "seed42"), QUICK).signature


def test_other_documents_are_told(tmp_path: Path) -> None:
    table = ScoreTable.of(list(table_of(made(tmp_path, tasks=["p", "q"])[0].parents[1])))
    fewer = [one.with_documents(np.arange(6) < 5) if one.task == "q" else one for one in table]
    found = compare(replace(table, packs={7: ScoreTable.of(fewer)}), QUICK)
    assert found.notes == ("pack seed 7: not the same documents on q",)
    stranger = replace(fewer[0], models=("x", "y", "z"))
    (row, *_) = [
        one
        for one in compare(replace(table, packs={7: ScoreTable.of([stranger])}), QUICK).firmness
        if one.kind == "pack seed"
    ]
    assert row.reason == "no model of the ranking was run with it"


def test_real_runs_with_another_seed(tiny_lm: Any, tmp_path: Path) -> None:
    """Through the host: a seed changes variants and partners, and nothing that must be equal."""
    for seed in (42, 7):
        options = {"variant_seed": seed, "recipe": "quick"}
        results = evaluate(tiny_lm, "sago_demo_reasoning", options, limit=3, gen_kwargs={"max_gen_toks": 6})
        host_files(results, tmp_path / str(seed), "tiny")
    runs = find_runs([tmp_path])
    assert [run.signature["seed"] for run in runs] == [42, 7]
    assert len({run.signature["variants"] for run in runs}) == 2
    table = table_of(tmp_path)
    assert list(table.packs) == [42]
    assert table.packs[42].load(*table.tasks).documents == table.load(*table.tasks).documents
    (row, *_) = [one for one in compare(table, QUICK).firmness if one.kind == "pack seed"]
    assert (row.detail, row.reason) == ("42", "fewer than two models are ranked")
