"""What is drawn is what the tables of ``sago compare`` say, and what they say is drawn."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats

from sago_harness.figures import FIGURES, Figure, figures
from sago_harness.figures.bump import MOST_CROSSINGS
from sago_harness.figures.levels import noise_levels
from sago_harness.figures.operators import AGAIN, ANOTHER, TAKEN_OVER
from sago_harness.report.compared import TABLES
from sago_harness.report.study import Study, read_study
from sago_harness.scores.table import read_parquet
from sago_harness.stats.resampling import Settings
from tests.figures.studies import made, points, profile_of, rows_in, study, study_of
from tests.runs.made_runs import signature, write_results, write_runs, write_samples


def told(of: Study, name: str) -> list[dict[str, Any]]:
    """Rows of a table of ``sago compare``."""
    table = TABLES[name](of.found)
    keys = [column.key for column in table.columns]
    return [dict(zip(keys, row, strict=True)) for row in table.rows]


def rows(figure: Figure) -> list[dict[str, Any]]:
    keys = [column.key for column in figure.table.columns]
    return [dict(zip(keys, row, strict=True)) for row in figure.table.rows]


def drawn(of: Study, kind: str) -> dict[str, Figure]:
    return {one.name: one for one in figures(of, [kind]) if isinstance(one, Figure)}


def near(value: float | None) -> Any:
    return pytest.approx(value, abs=1e-6, nan_ok=True)


@pytest.fixture(params=["one", "two", "missing", "many"])
def of(request: pytest.FixtureRequest) -> Study:
    return study(request.param)


def known(value: Any) -> bool:
    return value is not None and math.isfinite(value)


def same_points(figure: Figure, field: str, expected: list[tuple[str, float]]) -> None:
    """The specification holds these numbers of these models, no more and no fewer."""
    given = sorted((m, v) for m, v in points(figure.spec, field))
    wanted = sorted((m, round(v, 7)) for m, v in set(expected))
    assert [m for m, _ in given] == [m for m, _ in wanted]
    assert [v for _, v in given] == near([v for _, v in wanted])


def test_standing_is_the_leaderboard(of: Study) -> None:
    board = {row["model"]: row for row in told(of, "leaderboard")}
    made_of = drawn(of, "standing")
    assert made_of
    for score in of.found.scores:
        figure = made_of[f"standing-{score}"]
        for row in rows(figure):
            there = board[row["model"]]
            assert row[score] == near(there[score])
            assert row["interval"] == near(there[f"{score}_interval"])
            assert row["ranks"] == there[f"{score}_ranks"]
        assert {row["model"] for row in rows(figure)} == set(board)
        same_points(figure, "value", [(m, r[score]) for m, r in board.items() if known(r[score])])
        ends = [(m, r[f"{score}_interval"][0]) for m, r in board.items() if known(r[score])]
        same_points(figure, "low", ends)
        values = [row[score] for row in rows(figure) if known(row[score])]
        assert values == sorted(values, reverse=True), "the most stable first"


def test_profile_is_the_leaderboards_axes(of: Study) -> None:
    board = {row["model"]: row for row in told(of, "leaderboard")}
    figure = drawn(of, "profile")["profile"]
    for row in rows(figure):
        assert row["value"] == near(board[row["model"]][f"sago_{row['axis']}"])
        assert row["chance"] == 1.0
    expected = [
        (model, there[f"sago_{axis}"])
        for model, there in board.items()
        for axis in ("generation", "activation", "confidence", "mirroring")
        if known(there[f"sago_{axis}"])
    ]
    same_points(figure, "value", expected)


def test_datasets_are_the_ranking(of: Study) -> None:
    ranking = {(row["task"], row["model"]): row for row in told(of, "ranking")}
    made_of = drawn(of, "datasets")
    axes = {"sago_generation": "generation", "sago_mirroring": "mirroring"}
    for name in (*of.found.scores, *axes):
        figure = made_of[f"datasets-{axes.get(name, name)}"]
        seen = {(row["task"], row["model"]): row for row in rows(figure)}
        assert set(seen) == set(ranking)
        for place, row in seen.items():
            expected = ranking[place][name]
            assert (row[name] if known(row[name]) else None) == near(expected if known(expected) else None)
        same_points(figure, "value", [(m, r[name]) for (_, m), r in ranking.items() if known(r[name])])


def test_bump_ranks_follow_the_values() -> None:
    of = study("missing")
    ranking = told(of, "ranking")
    figure = drawn(of, "bump")["bump-sago_text"]
    for task in of.found.tasks:
        values = {r["model"]: r["sago_text"] for r in ranking if r["task"] == task and known(r["sago_text"])}
        expected = dict(zip(values, stats.rankdata([-v for v in values.values()], "min"), strict=True))
        found = {row["model"]: row["rank"] for row in rows(figure) if row["task"] == task}
        assert {m: r for m, r in found.items() if r is not None} == expected
    lines = {(row["model"], row["x"]) for row in rows_in(figure.spec) if "run" in row}
    assert ("c", 1) not in lines, "the third model was not run there"


def test_reversals_are_those_of_the_table() -> None:
    of = study("two")
    expected = {
        (r["a"], r["b"], r["first"], r["second"]): (r["confirmed"], r["support"], r["p_adjusted"])
        for r in told(of, "where-reversed")
        if r["score"] == "sago_core"
    }
    assert any(sure for sure, *_ in expected.values())
    figure = drawn(of, "bump")["bump-reversals-sago_core"]
    found = {
        (r["a"], r["b"], r["first"], r["second"]): (
            r["certainty"] == "confirmed",
            r["support"],
            r["p_adjusted"],
        )
        for r in rows(figure)
    }
    assert found == expected
    # Two lines cross once, half-way between the two data sets, and the mark is the solid one.
    (mark,) = [r for r in rows_in(drawn(of, "bump")["bump-sago_core"].spec) if "certainty" in r]
    assert (mark["x"], mark["y"], mark["certainty"]) == (0.5, 1.5, "confirmed")


def test_certainty_has_three_steps() -> None:
    """Equal models swap by chance alone: nothing confirmed, some of it in most of the resamples."""
    of = study_of([made(t, k, list("abcdef")) for k, t in enumerate("pqr")])
    table = {
        (r["a"], r["b"], r["first"], r["second"]): r
        for r in told(of, "where-reversed")
        if r["score"] == "sago"
    }
    figure = drawn(of, "bump")["bump-reversals-sago"]
    assert len(rows(figure)) == len(table) > 5
    for row in rows(figure):
        there = table[row["a"], row["b"], row["first"], row["second"]]
        expected = (
            "confirmed" if there["confirmed"] else "supported" if there["support"] >= 0.8 else "not shown"
        )
        assert row["certainty"] == expected
    assert {row["certainty"] for row in rows(figure)} >= {"supported", "not shown"}


def test_operators_are_means_over_data_sets(of: Study) -> None:
    figure = drawn(of, "operators").get("operators-activation")
    assert figure is not None
    for row in rows(figure):
        values = []
        for one in of.found.operators:
            if (one.family, one.operator) == (row["family"], row["operator"]) and row["model"] in one.models:
                value = one.quantities["sago_activation"].values[one.models.index(row["model"])]
                values += [value] if np.isfinite(value) else []
        assert row["sago_activation"] == near(np.mean(values) if values else math.nan)
        assert row["data_sets"] == len(values)
        assert bool(row["reason"]) != bool(values)
    cells = [row for row in rows_in(figure.spec) if "column" in row]
    marks = [row for row in cells if {row["row"], row["column"]} & {AGAIN, ANOTHER}]
    assert {row["value"] for row in marks if ANOTHER in row.values()} == {1.0}
    written = {row["value"] for row in cells if row not in marks and row.get("value") is not None}
    assert sorted(written) == near(
        sorted({round(r["sago_activation"], 7) for r in rows(figure) if r["data_sets"]})
    )


def test_dose_is_the_table(of: Study) -> None:
    expected = {
        (r["task"], r["model"], r["operator"], r["strength"]): r
        for r in told(of, "dose")
        if r["measure"] == "x_bleu"
    }
    chance = {(r["task"], r["model"]): r["chance"] for r in told(of, "unstable") if r["measure"] == "x_bleu"}
    figure = drawn(of, "dose")["dose-x_bleu"]
    assert len(rows(figure)) > 0
    for row in rows(figure):
        there = expected[row["task"], row["model"], row["operator"], row["strength"]]
        assert row["distance"] == near(there["distance"])
        assert row["interval"] == near(there["interval"])
        assert row["threshold"] == near(there["threshold"])
        assert row["chance"] == near(chance[row["task"], row["model"]])
    graded = {r["operator"] for r in rows(figure)}
    assert graded == {"register/politeness", "register/casual", "noise/spaces", "noise/typos"}
    same_points(figure, "y", [(r["model"] if "/" not in r["model"] else _label(of, r["model"]), r["distance"])
                              for r in rows(figure) if known(r["distance"])])  # fmt: skip
    for ring in (r for r in rows_in(figure.spec) if r.get("ring")):
        assert any(near(ring["y"]) == r["distance"] and r["threshold"] == r["strength"] for r in rows(figure))


def _label(of: Study, model: str) -> str:
    from sago_harness.figures.series import Series

    return Series(of.found.models).label[model]


def test_layers_are_the_profiles(of: Study) -> None:
    figure = drawn(of, "layers")["layers"]
    for (task, model), profile in of.layers.items():
        own = [r for r in rows(figure) if (r["task"], r["model"]) == (task, model)]
        assert [r["r"] for r in own] == [level.r for level in profile.layers]
        assert [r["noise"] for r in own] == near([0.1] * len(own))
    levels = [level.r for profile in of.layers.values() for level in profile.layers]
    assert {v for _, v in points(figure.spec, "y")} == {round(r, 7) for r in levels}


def test_a_model_without_states_is_told() -> None:
    whole = study("two")
    less = replace(whole, layers={("facts", "first"): profile_of(0)})
    figure = drawn(less, "layers")["layers"]
    assert "second on facts" in " ".join(figure.notes)
    (gone,) = figures(replace(whole, layers={}), ["layers"])
    assert not isinstance(gone, Figure)


def test_independence_is_the_table() -> None:
    of = study("two")
    expected = {
        (r["task"], r["first"], r["second"]): r
        for r in told(of, "independence")
        if r["kind"] == "axis" and r["model"] == "all models"
    }
    made_of = drawn(of, "independence")
    figure = made_of["independence"]
    assert len(rows(figure)) == len(expected)
    for row in rows(figure):
        there = expected[row["task"], row["first"], row["second"]]
        assert row["correlation"] == near(there["correlation"])
        assert row["interval"] == near(there["interval"])
        assert row["verdict"] == there["verdict"]
    cells = {row["value"] for row in rows_in(figure.spec) if row.get("value") is not None}
    assert sorted(cells) == near(
        sorted({round(r["correlation"], 7) for r in expected.values() if known(r["correlation"])})
    )


def test_accuracy_is_the_ranking(of: Study) -> None:
    ranking = {(row["task"], row["model"]): row for row in told(of, "ranking") if row["of"] is not None}
    figure = drawn(of, "accuracy")["accuracy-sago_text"]
    for row in rows(figure):
        there = ranking[row["task"], row["model"]]
        for name in ("acc", "acc_mean", "acc_worst", "sago_text"):
            assert row[name] == near(there[name])
        assert row["acc_worst"] <= row["acc_mean"]
    assert len(rows(figure)) == len(ranking)


def test_unstable_is_the_table(of: Study) -> None:
    figure = drawn(of, "unstable")["unstable-x_act"]
    expected = {(r["task"], r["model"]): r for r in told(of, "unstable") if r["measure"] == "x_act"}
    own = {(r["task"], r["model"]): r for r in rows(figure) if r["verdict"] != "not run"}
    assert set(own) == set(expected)
    for place, row in own.items():
        for name in ("s", "chance", "floor", "excess", "p_adjusted", "verdict", "documents"):
            assert (
                (row[name] == near(expected[place][name]))
                if not isinstance(row[name], str)
                else (row[name] == expected[place][name])
            )
    filled = {
        (r["model"], r["value"]) for r in rows_in(figure.spec) if r.get("sure") and r.get("value") is not None
    }
    sure = {(_label(of, m), round(r["s"], 7)) for (_, m), r in expected.items() if r["verdict"] == "unstable"}
    assert filled == sure


def test_variance_is_the_table(of: Study) -> None:
    figure = drawn(of, "variance")["variance-x_prob"]
    expected = {
        (r["task"], r["model"], r["component"]): r for r in told(of, "variance") if r["measure"] == "x_prob"
    }
    assert len(rows(figure)) == len(expected)
    for row in rows(figure):
        there = expected[row["task"], row["model"], row["component"]]
        for name in ("share", "variance", "interval"):
            assert row[name] == near(there[name])
    bars = [r for r in rows_in(figure.spec) if "stop" in r and "start" in r]
    assert {r["share"] for r in bars} == {
        round(r["share"], 7) for r in expected.values() if known(r["share"])
    }
    for bar in bars:
        assert bar["stop"] - bar["start"] == pytest.approx(bar["share"], abs=1e-6)


def test_health_counts_documents() -> None:
    one = made("p", 0, ["a", "b"], documents=20)
    flags = {name: values.copy() for name, values in one.flags.items()}
    flags["empty"][0, :5] = True
    flags["refused"][1, :1] = True
    responses = one.responses
    assert responses is not None
    responses[1, :8] = "the same"
    distances = {**one.distances, "x_act": one.distances["x_act"].copy()}
    distances["x_act"][0, :10] = np.nan
    of = study_of([replace(one, flags=flags, responses=responses, distances=distances)])
    (figure,) = drawn(of, "health").values()
    found = {row["model"]: row for row in rows(figure)}
    assert (found["a"]["empty"], found["b"]["refused"]) == (0.25, 0.05)
    assert (found["b"]["stock"], found["a"]["unscored"], found["b"]["unscored"]) == (0.4, 0.5, 0.0)
    assert figure.description.count("empty 25 % (a on p)") == 1


def noisy(level: float, chance: float, own: float) -> Study:
    """All repeats, controls and variants at fixed distances: every level is known in closed form."""
    one = made("p", 0, ["a", "b"], documents=12, repeats=2)
    fixed: dict[str, Any] = {
        "distances": {k: np.full_like(v, own) if k in one.measures else v for k, v in one.distances.items()},
        "controls": {k: np.full_like(v, chance) for k, v in one.controls.items()},
        "repeats": {k: np.full_like(v, level) for k, v in one.repeats.items()},
    }
    return study_of([replace(one, **fixed), replace(one, task="q", **fixed)])


def test_noise_stands_on_the_scale_of_the_scores() -> None:
    """Repeats at .06, controls at .6: each axis has a floor of a tenth, mirroring of none."""
    of = noisy(0.06, 0.6, 0.3)
    for place in ("p", "overall"):
        found = noise_levels(of.found, place)
        for axis in ("generation", "activation", "confidence"):
            assert found[f"sago_{axis}"] == near([0.1, 0.1])
        assert found["sago_core"] == near([0.9, 0.9])
        assert found["sago"] == near([1 - 0.3 / 4] * 2)
        assert found["sago_text"] == near([1 - 0.1 / 2] * 2)
        assert "sago_mirroring" not in found
    figure = drawn(of, "standing")["standing-sago_core"]
    assert points(figure.spec, "noise") == {("a", 0.9), ("b", 0.9)}
    assert not figure.notes
    for name, chance, own in (("sago_core", 0.0, 0.9), ("activation", 1.0, 0.1)):
        figure = drawn(of, "operators")[f"operators-{name}"]
        levels = {
            (row["row"], row["value"]) for row in rows_in(figure.spec) if row.get("row") in (AGAIN, ANOTHER)
        }
        assert levels == {(AGAIN, own), (ANOTHER, chance)}
        for row in rows(figure):
            assert (row["noise"], row["chance"]) == (near(own), chance)
        assert not figure.notes
    figure = drawn(of, "operators")["operators-mirroring"]
    levels = {(row["row"], row["value"]) for row in rows_in(figure.spec) if "(" in row.get("row", "")}
    assert levels == {(TAKEN_OVER, 1.0)}
    assert figure.notes == ("no noise floor of its own: mirroring has it taken off already",)
    figure = drawn(of, "accuracy")["accuracy-sago_core"]
    assert points(figure.spec, "noise") == {("a", 0.9), ("b", 0.9)}
    assert "noise alone" in " ".join(figure.spec["title"]["text"])
    for row in rows(figure):
        assert (row["noise"], row["chance"]) == (near(0.9), 0.0)
    assert not figure.notes


def test_without_repeats_no_noise_is_drawn_and_that_is_said() -> None:
    of = study("one")
    assert all(np.isnan(level).all() for name, level in noise_levels(of.found, "facts").items())
    for kind in ("standing", "profile", "unstable", "datasets", "operators", "accuracy", "dose"):
        for one in figures(of, [kind]):
            assert isinstance(one, Figure)
            assert points(one.spec, "noise") == set()
            if one.name != "unstable-x_mr":
                assert any("no noise floor" in note for note in one.notes), one.name
            assert one.table.notes == one.notes or kind == "standing"


def test_repeats_of_some_runs_give_no_floor_over_all_data_sets() -> None:
    of = study_of([made("p", 0, ["a", "b"], repeats=2), made("q", 1, ["a", "b"])])
    (note,) = drawn(of, "standing")["standing-sago"].notes
    assert note == "no noise floor: 2 of 4 runs do not repeat their canonical prompts"
    assert not drawn(of, "datasets")["datasets-sago"].notes, "one of the data sets has a floor"


@pytest.mark.parametrize("ending", ["parquet", "jsonl"])
def test_a_distance_of_no_score_has_its_chance_level_from_the_records(tmp_path: Path, ending: str) -> None:
    (path,) = write_runs(tmp_path / "parquet", models=["a"], tasks=["p"], documents=9, variants=12)
    records = read_parquet(path)
    folder = tmp_path / ending
    if ending == "jsonl":
        folder.mkdir()
        write_samples(records, folder / path.with_suffix(".jsonl").name.replace("records", "samples"))
        write_results(folder, "a", {"p": signature("p", 9, 12)})
    squares: dict[str, list[float]] = {}
    for row in records:
        if row["role"] == "control" and row["distances"]["x_jsd"] is not None:
            squares.setdefault(row["document"], []).append(row["distances"]["x_jsd"] ** 2)
    level = math.fsum(math.sqrt(math.fsum(of) / len(of)) for of in squares.values()) / len(squares)
    study = read_study([folder], Settings(resamples=99), with_texts=False)
    figure = drawn(study, "dose")["dose-x_jsd"]
    assert [row["chance"] for row in rows(figure)] == near([level] * len(rows(figure)))
    assert [value for _, value in points(figure.spec, "level")] == near([round(level, 7)])
    assert "Dashed line: chance" in " ".join(figure.spec["title"]["text"])
    assert not any("chance" in note for note in figure.notes)
    # Without its records nobody knows it, and that is told.
    (figure,) = (one for one in figures(replace(study, runs={}), ["dose"]) if one.name == "dose-x_jsd")
    assert isinstance(figure, Figure)
    assert points(figure.spec, "level") == set()
    assert figure.notes[0].startswith("no chance level: x_jsd forms no score")


def test_many_crossings_have_marks_for_confirmed_reversals_alone_and_the_key_says_so() -> None:
    few = drawn(study("two"), "bump")["bump-sago_core"]
    assert "faint dot" in " ".join(few.spec["title"]["text"])
    of = study("many")
    for score in of.found.scores:
        confirmed = sum(r["confirmed"] for r in told(of, "where-reversed") if r["score"] == score)
        figure = drawn(of, "bump")[f"bump-{score}"]
        key = " ".join(figure.spec["title"]["text"])
        assert "confirmed reversals alone have a mark" in key
        assert "faint" not in key
        marks = [row["certainty"] for row in rows_in(figure.spec) if "certainty" in row]
        assert marks == ["confirmed"] * min(confirmed, MOST_CROSSINGS)
        said = {
            "A crossing without a mark is not confirmed": 0 < confirmed <= MOST_CROSSINGS,
            f"These are the {MOST_CROSSINGS} surest": confirmed > MOST_CROSSINGS,
            "None is confirmed here": confirmed == 0,
        }
        assert {words: words in key for words in said} == said


def test_chance_stands_on_every_scale() -> None:
    """0 for scores, 1 for relative instability, its own level for distances."""

    def levels(spec: Any, above: Any = ()) -> Iterator[Any]:
        if isinstance(spec, dict):
            own = spec.get("data", {}).get("values", above)
            mark = spec.get("mark")
            if isinstance(mark, dict) and mark.get("style") == "chance":
                yield from own
            for key, value in spec.items():
                yield from levels(value, own) if key != "data" else ()
        elif isinstance(spec, list):
            for value in spec:
                yield from levels(value, above)

    of = study("two")
    expected = {
        "standing": ("value", 0.0),
        "profile": ("value", 1.0),
        "layers": ("y", 1.0),
        "accuracy": ("score", 0.0),
    }
    for kind, (field, level) in expected.items():
        for one in drawn(of, kind).values():
            found = list(levels(one.spec))
            assert found
            assert all(row[field] == level for row in found), kind
    for name, one in drawn(of, "datasets").items():
        end = 0.0 if "sago" in name else 1.0
        assert {row["value"] for row in levels(one.spec)} == {end}
    for kind, field in (("unstable", "chance"), ("dose", "level")):
        for one in drawn(of, kind).values():
            assert all(row[field] > 0.0 for row in levels(one.spec))
            # x_jsd forms no score and has no test, which is where a distance's chance level stands.
            assert list(levels(one.spec)) or "x_jsd" in one.name


@pytest.mark.parametrize("scheme", ["paper-rms", "paper-std-minmax"])
def test_published_schemes_have_no_axes_and_no_chance(scheme: str) -> None:
    one = made("p", 0, ["a", "b"])
    raw = {key: np.abs(np.random.default_rng(k).normal(size=one.shape)) for k, key in
           enumerate(("x_bleu", "x_bert", "x_act", "x_prob", "x_ent", "mirroring"))}  # fmt: skip
    of = study_of([replace(one, raw=raw), replace(made("q", 1, ["a", "b"]), raw=raw)], scheme=scheme)
    found = figures(of)
    assert {one.kind for one in found} == set(FIGURES)
    board = {row["model"]: row for row in told(of, "leaderboard")}
    standing = drawn(of, "standing")
    assert standing
    for name, figure in standing.items():
        score = name.removeprefix("standing-")
        for row in rows(figure):
            assert row[score] == near(board[row["model"]][score])
            assert math.isnan(row["chance"])
    assert not drawn(of, "profile")


def test_lower_is_more_stable_under_the_published_schemes(tmp_path: Path) -> None:
    """The words name the model of rank 1, whichever end of the scale is the better one."""
    write_runs(tmp_path, models=["calm", "wild"], tasks=1, documents=20, variants=6, levels=[0.1, 0.8])
    study = read_study([tmp_path], Settings(resamples=99, scheme="paper-rms"), with_texts=False)
    made = [one for one in figures(study, ["accuracy"]) if isinstance(one, Figure)]
    (scored,) = study.found.scored.values()
    expected = {}
    for name, quantity in scored.quantities.items():
        best = np.argmax(quantity.values) if quantity.higher_is_better else np.argmin(quantity.values)
        expected[f"accuracy-{name}"] = f"most stable {scored.models[best]} on"
    assert {one.name for one in made} <= set(expected)
    assert any(not scored.quantities[one.name.removeprefix("accuracy-")].higher_is_better for one in made)
    for one in made:
        assert expected[one.name] in one.description
