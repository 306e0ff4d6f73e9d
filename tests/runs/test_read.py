"""Records -> table: every number in its place, and the scores of one model as the run itself gave them."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sago_harness.errors import SagoError
from sago_harness.runs.find import RunFile, find_runs
from sago_harness.runs.read import read_table, texts
from sago_harness.scores.composite import Estimate, relative_instability
from sago_harness.scores.table import read_filters, read_parquet, read_samples, rescore, write_parquet
from sago_harness.stats.quantities import mean_quantity, relative_quantity
from sago_harness.stats.scored import score_task
from sago_harness.stats.table import TaskTable
from tests import tiny
from tests.hooks.hosts import evaluate
from tests.runs.made_runs import (
    MEASURES,
    TIME,
    Rows,
    host_files,
    write_first_version,
    write_results,
    write_runs,
    write_samples,
)

pytestmark = pytest.mark.filterwarnings("error::RuntimeWarning")

FEW = {"max_gen_toks": 6}

ROLES = {"variant": "distances", "control": "controls", "repeat": "repeats"}


@pytest.fixture(scope="module", autouse=True)
def _one_thread() -> Iterator[None]:
    with tiny.one_thread():
        yield


@pytest.fixture(scope="module")
def real(tiny_lm: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of two tasks by a tiny model; what it writes is no language that an encoder knows."""
    folder = tmp_path_factory.mktemp("real")
    names = ("sago_demo_facts", "sago_demo_reasoning")
    results = evaluate(tiny_lm, names, {"canonical_repeats": 2}, limit=4, gen_kwargs=FEW)
    return host_files(results, folder, "tiny")


@pytest.fixture(scope="module")
def single(tiny_lm: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two tasks of one document."""
    results = evaluate(tiny_lm, ("sago_demo_facts", "sago_demo_instructions"), limit=1, gen_kwargs=FEW)
    return host_files(results, tmp_path_factory.mktemp("single"), "tiny")


def table_of(runs: list[RunFile]) -> TaskTable:
    (table,) = list(read_table(runs))
    return table


def records_of(run: RunFile) -> Rows:
    return read_parquet(run.path) if run.path.suffix == ".parquet" else read_samples(run.path)


def lost(rows: Rows, rng: np.random.Generator, share: float) -> Rows:
    """Take away some of all distances, some variants and a document's text."""
    kept = []
    for row in rows:
        if row["role"] == "variant" and rng.random() < share / 3:
            continue
        distances = {n: None if rng.random() < share else v for n, v in row["distances"].items()}
        if row["role"] == "canonical":
            distances = row["distances"]
        kept.append({**row, "distances": distances, "reasons": {**row["reasons"], "x_act": "nan_hidden"}})
    last = kept[-1]["document"]
    marked = [row for row in kept if row["document"] == last and row["role"] in ("canonical", "variant")]
    marked[0]["text_reason"] = marked[1]["text_reason"] = "noop_tokens"
    return kept


def as_run(rows: Rows, folder: Path, name: str = "m") -> list[RunFile]:
    folder.mkdir(parents=True, exist_ok=True)
    write_parquet(rows, folder / f"records_made_{TIME}.parquet")
    return find_runs([f"{name}={folder}"])


# ---------------------------------------------------------------------- scores


def same(estimate: Estimate, table: TaskTable, name: str) -> None:
    quantity = score_task(table).quantities[name]
    for ours, theirs in ((quantity.values[0], estimate.value), (quantity.stderr[0], estimate.stderr)):
        assert math.isnan(ours) if math.isnan(theirs) else abs(ours - theirs) <= 1e-12, name
    assert quantity.counts[0] == (estimate.n if math.isfinite(estimate.value) else 0)
    assert quantity.reasons[0] == estimate.reason


def same_as_rescored(run: RunFile) -> int:
    """Compare all scores of one model with those of its own run; return how many have a value."""
    table = table_of([run])
    again = rescore(records_of(run))
    scores = again.scores
    found = dict(scores.relative) | {f"sago_{name}": axis for name, axis in scores.axes.items()}
    found |= {name: getattr(scores, name) for name in ("sago", "sago_core", "sago_text")}
    scored = score_task(table)
    assert set(scored.quantities) == set(found)
    for name, estimate in found.items():
        same(estimate, table, name)
    for name in ("acc", "acc_mean", "acc_worst", "flip"):
        known = [value[name] for value in again.values if value.get(name) is not None]
        if known:
            assert scored.beside[name].values[0] == pytest.approx(np.mean(known), abs=1e-12)
            assert scored.beside[name].counts[0] == len(known)
        else:
            assert name not in scored.beside
    assert scored.scored[0] == sum(value["n_scored"] for value in again.values)
    stock = 0.0 if math.isnan(scored.stock[0]) else scored.stock[0]
    assert stock == pytest.approx(np.nan_to_num(scores.stock_share), abs=1e-12)
    lengths = [v["response_tokens"] for v in again.values if v["response_tokens"] is not None]
    assert scored.tokens[0] == pytest.approx(np.mean(lengths), abs=1e-12)
    return sum(math.isfinite(estimate.value) for estimate in found.values())


def test_scores_of_a_real_run_are_those_of_its_records(real: Path) -> None:
    runs = find_runs([real])
    assert [run.task for run in runs] == ["sago_demo_facts", "sago_demo_reasoning"]
    assert [same_as_rescored(run) >= 6 for run in runs] == [True, True]


def test_scores_of_a_real_run_are_those_of_its_results(real: Path) -> None:
    """What the host wrote into its table is the outside value."""
    (path,) = real.glob("results_*.json")
    written = json.loads(path.read_text(encoding="utf-8"))["configs"]
    for run in find_runs([real]):
        quantities = score_task(table_of([run])).quantities
        for name, one in written[run.task]["metadata"]["sago"]["relative"].items():
            if one["r"] is not None:
                assert quantities[name].values[0] == pytest.approx(one["r"], abs=1e-12)
                assert one["stderr"] is not None or one["n"] < 2
                if one["stderr"] is not None:
                    assert quantities[name].stderr[0] == pytest.approx(one["stderr"], abs=1e-12)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("share", [0.0, 0.15, 0.5])
def test_scores_with_missing_numbers_are_those_of_the_records(
    tmp_path: Path, seed: int, share: float
) -> None:
    (path,) = write_runs(
        tmp_path / "whole",
        models=1,
        tasks=1,
        documents=12,
        variants=8,
        repeats=1,
        missing=share / 2,
        seed=seed,
    )
    rows = lost(read_parquet(path), np.random.default_rng(seed), share)
    (run,) = as_run(rows, tmp_path / "m")
    assert same_as_rescored(run) >= (13 if share < 0.5 else 0)


def test_a_measure_that_is_never_given_leaves_the_others(tmp_path: Path) -> None:
    (path,) = write_runs(tmp_path / "whole", models=1, tasks=1, documents=6, variants=6)
    rows = read_parquet(path)
    for row in rows:
        row["distances"] |= dict.fromkeys(("x_act", "x_prob", "x_ent", "x_jsd"))
        row["reasons"] = {"x_act": "no_hidden_states"}
    (run,) = as_run(rows, tmp_path / "m")
    same_as_rescored(run)
    quantities = score_task(table_of([run])).quantities
    assert math.isnan(quantities["sago"].values[0])
    assert math.isfinite(quantities["sago_text"].values[0])


def test_a_run_without_scored_families_is_read(tmp_path: Path) -> None:
    """Variants that people wrote stand beside the score."""
    (path,) = write_runs(tmp_path / "whole", models=1, tasks=1, documents=4, variants=6)
    rows = read_parquet(path)
    for row in rows:
        row["families"] = {} if row["families"] is not None else None
        if row["role"] == "variant":
            row["family"] = "human"
    table = table_of(as_run(rows, tmp_path / "m"))
    assert table.families == {}
    assert {key.family for key in table.variants} == {"human"}
    assert np.isnan([q.values[0] for q in score_task(table).quantities.values()]).all()


def test_a_run_of_which_nothing_was_sent_is_read(tmp_path: Path) -> None:
    (path,) = write_runs(tmp_path / "whole", models=1, tasks=1, documents=3, variants=6)
    rows = [row for row in read_parquet(path) if row["role"] == "canonical"]
    for row in rows:
        row["document_reason"] = "missing_field"
    table = table_of(as_run(rows, tmp_path / "m"))
    assert table.shape == (1, 3, 0)
    scored = score_task(table)
    assert np.isnan([q.values[0] for q in scored.quantities.values()]).all()
    assert np.isnan(scored.stock).all()


def test_one_document_has_values_and_no_error(single: Path) -> None:
    """H08: two tasks under --limit 1."""
    tables = read_table(find_runs([single]))
    assert tables.tasks == ("sago_demo_facts", "sago_demo_instructions")
    for table in tables:
        assert table.shape == (1, 1, 6)
        for quantity in score_task(table).quantities.values():
            assert np.isnan(quantity.stderr).all()
            assert quantity.counts[0] <= 1
            assert bool(quantity.reasons[0]) == math.isnan(quantity.values[0])


def test_one_scored_document_of_three_is_the_mean() -> None:
    """E05: 0.8, nothing, nothing."""
    values = np.array([[0.8, np.nan, np.nan]])
    for quantity in (
        mean_quantity("x_mr", values),
        relative_quantity("x_bleu", np.square(values), np.ones((1, 3)), np.full((1, 3), np.nan)),
    ):
        assert quantity.values[0] == pytest.approx(0.8, abs=1e-15)
        assert quantity.counts[0] == 1
    assert relative_instability(np.square(values[0]), np.ones(3)).value == pytest.approx(0.8, abs=1e-15)


# ---------------------------------------------------------------------- places


def test_partners_of_controls_are_those_of_the_records(real: Path, tmp_path: Path) -> None:
    write_runs(tmp_path, models=2, tasks=1, documents=7, variants=6)
    for runs in ([find_runs([real])[0]], find_runs([tmp_path])):
        table = table_of(runs)
        assert table.partners is not None
        for m, run in enumerate(runs):
            rows = [row for row in records_of(run) if row["role"] == "control"]
            assert len(rows) == (table.partners[m] >= 0).sum() > 0
            for row in rows:
                d, k = table.documents.index(row["document"]), int(row["variant"].removeprefix("control")) - 1
                assert table.documents[table.partners[m, d, k]] == row["partner"] != row["document"]


def test_unknown_partners_take_nothing_from_the_others(tmp_path: Path) -> None:
    """Of two models one says whose prompts its controls are; the other has errors of the asker alone."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    known, path = write_runs(tmp_path, models=["a", "b"], tasks=1, documents=9, variants=6)
    apart = score_task(table_of(find_runs([f"a={known}"])))
    rows = pq.read_table(path)
    place = rows.column_names.index("partner")
    pq.write_table(rows.set_column(place, "partner", pa.nulls(len(rows), pa.string())), path)
    alone = score_task(table_of(find_runs([f"b={path}"])))
    assert alone.reduced["x_act"].partners is None
    both = score_task(table_of(find_runs([f"a={known}", f"b={path}"])))
    for name in ("x_bleu", "sago_core"):
        stderr = both.quantities[name].stderr
        assert stderr[0] == pytest.approx(apart.quantities[name].stderr[0], rel=1e-12)
        assert stderr[1] == pytest.approx(alone.quantities[name].stderr[0], rel=1e-12)


def test_every_number_is_in_its_place(tmp_path: Path) -> None:
    write_runs(tmp_path, models=3, tasks=1, documents=7, variants=8, repeats=2, missing=0.2)
    runs = find_runs([tmp_path])
    table = table_of(runs)
    assert table.models == ("model000", "model001", "model002")
    assert table.shape == (3, 7, 8)
    assert list(table.measures) == list(MEASURES)
    assert list(table.measures.values()) == [
        "generation", "generation", "activation", "confidence", "confidence", "",
    ]  # fmt: skip
    assert table.families == {"register": 3, "noise": 3, "structure": 2}
    seen = Counter[str]()
    place = {key.id: i for i, key in enumerate(table.variants)}
    for m, run in enumerate(runs):
        for row in records_of(run):
            d, role = table.documents.index(row["document"]), row["role"]
            seen[role] += 1
            if role == "canonical":
                assert table.correct is not None
                assert table.correct[m, d, 0] == row["correct"]
                assert table.responses is not None
                assert table.responses[m, d] == row["response_hash"]
                assert table.tokens is not None
                assert table.tokens[m, d] == row["tokens"]["response"]
                assert table.flags["truncated"][m, d] == ("truncated" in row["flags"])
                continue
            v = place[row["variant"]] if role == "variant" else int(row["variant"][-1]) - 1
            for name, block in getattr(table, ROLES[role]).items():
                _equal(block[m, d, v], row["distances"][name])
            if role == "variant":
                key = table.variants[v]
                assert (key.family, key.operator, key.strength, key.position) == (
                    row["family"], row["operator"], row["strength"], row["position"],
                )  # fmt: skip
                _equal(table.correct[m, d, v + 1] if table.correct is not None else 0, row["correct"])
                for name, block in table.raw.items():
                    _equal(block[m, d, v], row["raw"].get(name))
                for name, block in table.first.items():
                    _equal(block[m, d, v], row["first"].get(name))
            if role == "control":
                for name, block in table.first_controls.items():
                    _equal(block[m, d, v], row["first"].get(name))
    assert seen == {"canonical": 21, "variant": 168, "control": 42, "repeat": 42}


def _equal(number: float, expected: float | None) -> None:
    assert math.isnan(number) if expected is None else number == expected


def test_reasons_are_counted(tmp_path: Path) -> None:
    (path,) = write_runs(tmp_path, models=1, tasks=1, documents=9, variants=6, missing=0.3)
    table = table_of(find_runs([tmp_path]))
    rows = read_parquet(path)
    for name in (*MEASURES, "x_mr"):
        counted = Counter(
            row["reasons"].get(name, "unknown")
            for row in rows
            if row["role"] == "variant" and row["distances"][name] is None
        )
        assert table.reasons[name] == [counted], name
    assert table.reasons["x_act"][0]["nan_hidden"] > 0


def test_variants_stand_in_the_recipes_order(tmp_path: Path) -> None:
    """The first document lacks some: it does not move them to the end."""
    (path,) = write_runs(tmp_path / "whole", models=1, tasks=1, documents=3, variants=6)
    rows = read_parquet(path)
    recipe = [row["variant"] for row in rows[:9] if row["role"] == "variant"]
    lacks = {("d00000", recipe[0]), ("d00000", recipe[3]), ("d00000", recipe[4]), ("d00001", recipe[3])}
    kept = [row for row in rows if (row["document"], row["variant"]) not in lacks]
    table = table_of(as_run(kept, tmp_path / "m"))
    assert [key.id for key in table.variants] == recipe
    assert np.isnan(table.distances["x_bleu"][0, 0]).tolist() == [True, False, False, True, True, False]


def test_documents_are_those_of_all_models(tmp_path: Path) -> None:
    (path,) = write_runs(tmp_path / "whole", models=1, tasks=1, documents=4, variants=6)
    rows = read_parquet(path)
    early = as_run([row for row in rows if row["document"] < "d00003"], tmp_path / "a", "a")
    late = as_run([row for row in reversed(rows) if row["document"] > "d00000"], tmp_path / "b", "b")
    table = table_of([*late, *early])
    assert table.models == ("a", "b")
    assert table.documents == ("d00000", "d00001", "d00002", "d00003")
    known = np.isfinite(table.distances["x_bleu"]).all(axis=2)
    assert known.tolist() == [[True, True, True, False], [False, True, True, True]]
    assert table.responses is not None
    assert table.responses[0, 3] is None
    assert table.tokens is not None
    assert math.isnan(table.tokens[1, 0])
    assert (table.distances["x_act"][0, 1:3] == table.distances["x_act"][1, 1:3]).all()


def test_what_was_never_sent_gives_no_response(tmp_path: Path) -> None:
    (path,) = write_runs(tmp_path / "whole", models=1, tasks=1, documents=3, variants=3)
    rows = read_parquet(path)
    unsent = [row for row in rows if row["document"] != "d00001" or row["role"] == "canonical"]
    for row in unsent:
        if row["document"] == "d00001":
            row |= {"document_reason": "missing_field", "response_hash": ""}
        if row["document"] == "d00002" and row["role"] == "canonical":
            row |= {"response_hash": ""}
    table = table_of(as_run(unsent, tmp_path / "m"))
    assert table.responses is not None
    assert table.tokens is not None
    assert table.responses[0, 1] is None
    assert table.responses[0, 2] == ""
    assert np.isnan(table.tokens[0]).tolist() == [False, True, False]


def test_a_model_without_a_data_set_is_not_among_its_models(tmp_path: Path) -> None:
    write_runs(tmp_path, models=["a"], tasks=["one", "two"], documents=2, variants=3)
    write_runs(tmp_path, models=["b"], tasks=["two"], documents=2, variants=3)
    tables = read_table(find_runs([tmp_path]))
    assert tables.models == ("a", "b")
    assert {table.task: table.models for table in tables} == {"one": ("a",), "two": ("a", "b")}
    assert read_table(find_runs([tmp_path]), models=["b"]).tasks == ("two",)
    assert read_table(find_runs([tmp_path]), tasks=["one"]).models == ("a",)
    with pytest.raises(SagoError, match="unknown model 'c'"):
        read_table(find_runs([tmp_path]), models=["c"])
    with pytest.raises(SagoError, match="unknown task 'on' in these runs: did you mean one"):
        read_table(find_runs([tmp_path]), tasks=["on"])


# ---------------------------------------------------------------------- formats


def equal_tables(one: TaskTable, other: TaskTable, *, first: bool = True) -> None:
    for name in ("task", "models", "documents", "variants", "measures", "families", "reasons"):
        assert getattr(one, name) == getattr(other, name), name
    for name in ("distances", "controls", "repeats", "raw", "flags"):
        _equal_blocks(getattr(one, name), getattr(other, name))
    for name in ("first", "first_controls") if first else ():
        _equal_blocks(getattr(one, name), getattr(other, name))
    for name in ("correct", "tokens"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name))
    assert one.responses is not None
    assert other.responses is not None
    assert one.responses.tolist() == other.responses.tolist()
    assert one.partners is not None
    np.testing.assert_array_equal(one.partners, other.partners)


def _equal_blocks(one: Any, other: Any) -> None:
    assert list(one) == list(other)
    for name in one:
        np.testing.assert_array_equal(one[name], other[name])


@pytest.mark.parametrize("kind", ["real", "made"])
def test_all_formats_give_the_same_table(kind: str, request: pytest.FixtureRequest, tmp_path: Path) -> None:
    if kind == "real":
        (parquet,) = request.getfixturevalue("real").glob("records_sago_demo_facts_*.parquet")
    else:
        (parquet,) = write_runs(tmp_path, models=1, tasks=1, documents=5, variants=7, repeats=1, missing=0.2)
    rows = read_parquet(parquet)
    samples = write_samples(rows, tmp_path / "s2.jsonl")
    first_samples = write_samples(rows, tmp_path / "s1.jsonl", record=1)
    first = write_first_version(rows, tmp_path / "v1.parquet")
    new, lines, old_lines, old = (
        table_of(find_runs([f"m={path}"])) for path in (parquet, samples, first_samples, first)
    )
    equal_tables(new, lines)
    equal_tables(new, old, first=False)
    equal_tables(old, old_lines)
    assert np.isnan(old.first["x_prob"]).all()
    assert np.isfinite(new.first["x_prob"]).any()


def test_older_records_of_this_version_lack_the_first_tokens_of_texts(real: Path, tmp_path: Path) -> None:
    """Both kinds stand beside each other in one table."""
    import pyarrow.parquet as pq

    (path,) = real.glob("records_sago_demo_facts_*.parquet")
    older = pq.read_table(path)
    added = [
        name for name in ("x_bleu", "x_bert", "x_sem", "characters") if f"first_{name}" in older.column_names
    ]
    assert len(added) == 4
    (tmp_path / "old").mkdir()
    pq.write_table(older.drop_columns([f"first_{name}" for name in added]), tmp_path / "old" / path.name)
    rows = read_parquet(path)
    for row in rows:
        row["first"] = {name: value for name, value in row["first"].items() if name in ("x_prob", "x_ent")}
    samples = write_samples(rows, tmp_path / "s.jsonl")
    paths = {"new": path, "old": tmp_path / "old" / path.name, "samples": samples}
    (table,) = list(read_table(find_runs([f"{name}={given}" for name, given in paths.items()])))
    assert table.models == ("new", "old", "samples")
    known = np.isfinite(table.first["x_bleu"]).any(axis=(1, 2))
    assert known.tolist() == [True, False, False]
    assert np.isfinite(table.first_controls["x_bleu"]).any(axis=(1, 2)).tolist() == known.tolist()
    for name in ("x_prob", "x_ent"):
        for values in (table.first[name], table.first_controls[name]):
            assert np.isfinite(values[0]).any()
            np.testing.assert_array_equal(values[0], values[1])
            np.testing.assert_array_equal(values[0], values[2])
    assert table.mixed == (False, False, False)


def test_the_hosts_own_samples_give_the_table_of_the_records(real: Path) -> None:
    for run in find_runs([real]):
        samples = run.path.with_name(run.path.name.replace("records_", "samples_")).with_suffix(".jsonl")
        equal_tables(table_of([run]), table_of(find_runs([samples])))


def test_texts_are_those_of_the_records(tmp_path: Path) -> None:
    (path,) = write_runs(tmp_path, models=1, tasks=1, documents=4, variants=6)
    rows = read_parquet(path)
    samples = write_samples(rows, tmp_path / "s.jsonl")
    for run in (*find_runs([path]), *find_runs([f"m={samples}"])):
        for row in rows[5::7]:
            assert texts(run, row["document"], row["variant"]) == (row["text"], row["response"])
        with pytest.raises(SagoError, match="has no variant 'nothing' of document 'd00001'"):
            texts(run, "d00001", "nothing")


# ---------------------------------------------------------------------- damage


def damaged(folder: Path) -> Path:
    """Samples with two broken lines among six."""
    (path,) = write_runs(folder, models=["m"], tasks=1, documents=6, variants=6)
    samples = write_samples(read_parquet(path), path.with_name(f"samples_made00_{TIME}.jsonl"))
    path.unlink()
    lines = samples.read_text(encoding="utf-8").splitlines()
    lines[2] = lines[2][:200]
    lines[4] = lines[4].replace('\\"document\\":\\"d00004\\",', "", 1)
    samples.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return samples


def test_damaged_lines_are_refused_by_number(tmp_path: Path) -> None:
    samples = damaged(tmp_path)
    tables = read_table(find_runs([tmp_path]))
    with pytest.raises(SagoError, match=rf"{samples.name} line 3 .*--skip-damaged"):
        tables.load("made00")


def test_damaged_lines_may_be_left_out_and_are_counted(tmp_path: Path) -> None:
    damaged(tmp_path)
    tables = read_table(find_runs([tmp_path]), skip_damaged=True)
    (note,) = tables.notes
    assert note.startswith("made00: m: 2 damaged lines left out: ")
    assert "line 3" in note
    assert "line 5: a record without 'document'" in note
    assert tables.load("made00").documents == ("d00000", "d00001", "d00003", "d00005")


def test_whole_files_have_no_note(tmp_path: Path) -> None:
    write_runs(tmp_path, models=2, tasks=2, documents=2, variants=3)
    assert read_table(find_runs([tmp_path]), skip_damaged=True).notes == ()


def test_a_file_that_is_cut_off_is_named(tmp_path: Path) -> None:
    (path,) = write_runs(tmp_path, models=1, tasks=1, documents=3, variants=3)
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(SagoError, match=rf"{path.name} is no Parquet file"):
        table_of(find_runs([tmp_path]))


def test_a_newer_record_is_refused_by_name(tmp_path: Path) -> None:
    (path,) = write_runs(tmp_path, models=1, tasks=1, documents=3, variants=3)
    rows = read_parquet(path)
    rows[-1]["record"] = 99
    write_parquet(rows, path)
    with pytest.raises(SagoError, match=rf"{path.name}: a record of version 99"):
        table_of(find_runs([tmp_path]))
    samples = write_samples(rows, tmp_path / "s.jsonl", record=99)
    with pytest.raises(SagoError, match=r"s.jsonl line 1: a record of version 99"):
        table_of(find_runs([samples]))


def test_two_records_of_one_prompt_are_refused(tmp_path: Path) -> None:
    (path,) = write_runs(tmp_path, models=1, tasks=1, documents=3, variants=3)
    rows = read_parquet(path)
    write_parquet([*rows, rows[2]], path)
    with pytest.raises(SagoError, match=r"holds document 'd00000' twice with variant 'typos1'"):
        table_of(find_runs([tmp_path]))
    write_parquet([*rows, rows[0]], path)
    with pytest.raises(SagoError, match=r"holds document 'd00000' twice with variant 'canonical'"):
        table_of(find_runs([tmp_path]))


def test_an_unknown_role_is_refused(tmp_path: Path) -> None:
    (path,) = write_runs(tmp_path, models=1, tasks=1, documents=3, variants=3)
    rows = read_parquet(path)
    rows[3]["role"] = "guest"
    write_parquet(rows, path)
    with pytest.raises(SagoError, match=rf"{path.name} .*role guest"):
        table_of(find_runs([tmp_path]))


def test_parquet_of_something_else_is_refused(tmp_path: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    path = tmp_path / f"records_made_{TIME}.parquet"
    pq.write_table(pa.table({"a": [1, 2]}), path)
    with pytest.raises(SagoError, match="holds no records of sago-harness"):
        table_of(find_runs([tmp_path]))


def test_samples_of_another_project_under_our_name_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "mine.jsonl"
    path.write_text(json.dumps({"resps": [["4"]], "filtered_resps": ["4"]}) + "\n", encoding="utf-8")
    write_results(tmp_path, "m", {})
    assert read_filters(path) == {}
    with pytest.raises(SagoError, match="samples of other tasks only"):
        find_runs([path])
