"""The audit's statistics follow known laws, its halves are apart, and the check judges plain cases right."""

import csv
import json
import random

import numpy as np
import pytest
from scipy.stats import binomtest, mannwhitneyu

from sago_harness.cli.main import main
from sago_harness.errors import SagoError
from sago_harness.variants.audit.align import align, distance
from sago_harness.variants.audit.changes import taken_back_pairs
from sago_harness.variants.audit.checker import load_checker
from sago_harness.variants.audit.evidence import NAMES, gather
from sago_harness.variants.audit.figures import area, clopper_pearson, precision, rate
from sago_harness.variants.audit.fit import fit_threshold, fit_weights
from sago_harness.variants.audit.packs import pack_figures
from sago_harness.variants.audit.pairs import Pair, sample_clusters
from sago_harness.variants.audit.people import Measured, collect_pairs, fit_checker, read_bad_rate
from sago_harness.variants.audit.profile import divergence, edits_of, make_profile
from sago_harness.variants.audit.report import BEGIN, END, replace_section
from sago_harness.variants.audit.sources import (
    Question,
    human_pairs,
    pattern_pairs,
    read_questions,
    translation_pairs,
)
from sago_harness.variants.audit.words import read_words
from sago_harness.variants.base import Passage
from sago_harness.variants.build import build
from sago_harness.variants.constraints import CONSTRAINTS
from sago_harness.variants.recipe import load_recipe


def words(text):
    return [word.text for word in read_words(text)]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("It has 10,000 seats", "it has 10000 seats"),
        ("two hens", "2 hens"),
        ("twenty-five hens", "25 hens"),
        ("ten thousand hens", "10000 hens"),
        ("2.5 million", "2500000"),
        ("two hundred and", "200 and"),
        ("5%", "5 percent"),
        ("$5", "$5"),
        ("40 km", "40 kilometres"),
        ("15kg", "15 kilograms"),
        ("he didn't", "he didnt"),
        ("he can't", "he cannot"),
        ("the 1970's", "the 1970s"),
        ("the third one", "the 3rd one"),
        ("Tesla’s", "tesla's"),
        ("AT & T", "at and t"),
        ("café", "cafe\u0301"),
    ],
)
def test_two_spellings_of_one_thing_read_alike(one, other):
    assert words(one) == words(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("10,000", "1,000"),
        ("twenty five", "twenty six"),
        ("1.5", "15"),
        ("3rd", "3"),
        ("miles", "km"),
        ("not", "now"),
    ],
)
def test_two_things_do_not_read_alike(one, other):
    assert words(one) != words(other)


SAME = [
    (
        "How many points did the Panthers defense surrender?",
        "how many ooints did the panthers defense surrender",
    ),
    ("Who wrote Emma?", "who wrote emma"),
    ("When did Tesla die?", "When dide Tesla die?"),
    ("What is the largest city?", "What isthe largest city"),
    ("Who designed the Thinker?", "Who desi gned the Thinker?"),
    ("What does a hen eat?", "What does a cow no wait a hen eat?"),
    ("What does a hen eat?", "Where does, I mean, what does a hen eat?"),
    ("Who did not win in 1966?", "Who didnt win in 1966"),
    ("He sold 10,000 eggs for $5.", "he sold 10000 egs for $5"),
    ("Which bird lays more than two eggs?", "wich bird lays more than 2 eggs"),
    ("Who wrote Emma?", "Good morning! Who wrote Emma? Thank you very much."),
    ("Are all hens grey?", "I have been turning this over: Are all hens grey?"),
]
DIFFERENT = [
    ("number", "Who won in 1966?", "Who won in 1967?"),
    ("number", "I ate two eggs.", "I ate three eggs."),
    ("number", "It has 10,000 seats.", "It has 1,000 seats."),
    ("name", "When did Tesla die?", "When did Edison die?"),
    ("name", "Where is Paris?", "where is berlin"),
    ("negation", "Who won?", "Who did not win?"),
    ("negation", "Which birds can't fly?", "Which birds can fly?"),
    ("unit", "How many miles is it?", "How many kilometers is it?"),
    ("unit", "It cost $5.", "It cost €5."),
    ("comparison", "Which city is larger?", "Which city is smaller?"),
    ("comparison", "Who led before Anna?", "Who led after Anna?"),
    ("quantifier", "Do all birds fly?", "Do some birds fly?"),
    ("quantifier", "Birds can fly.", "Some birds can fly."),
    ("quantifier", "Does it always rain?", "Does it sometimes rain?"),
    ("word", "What kinds of growth did Kublai discourage?", "What kinds of growth did Kublai encourage?"),
    ("word", "Who sells the eggs?", "Who sells the clocks?"),
    ("question", "When did Tesla die?", "What was named after Tesla in his honour?"),
]


@pytest.mark.parametrize(("canonical", "other"), SAME)
def test_what_people_type_or_correct_is_let_through(canonical, other):
    assert CONSTRAINTS.load("equivalence")().check(Passage(canonical), other).passed


@pytest.mark.parametrize(("kind", "canonical", "other"), DIFFERENT)
def test_every_kind_of_change_is_refused(kind, canonical, other):
    check = CONSTRAINTS.load("equivalence")().check(Passage(canonical), other)
    assert not check.passed
    assert check.value < 0
    assert check.reason.startswith("the meaning may differ: ")


@pytest.mark.parametrize("text", ["", " ", "?!", "\ud800", "e\u0301\u200d", "你好", "not", "no no no"])
def test_no_text_breaks_the_check(text):
    check = CONSTRAINTS.load("equivalence")()
    assert check.check(Passage(text), text).passed
    check.check(Passage("Who wrote Emma?"), text)
    check.check(Passage(text), "Who wrote Emma?")


def test_equal_texts_show_no_difference():
    assert gather("Did Anna eat 2 hens?", "Did Anna eat 2 hens?", 1.0).row() == (0.0,) * len(NAMES)


def test_no_difference_speaks_for_the_same_meaning():
    assert all(weight <= 0 for weight in load_checker().weights)
    assert load_checker().intercept > load_checker().threshold


def test_another_language_passes_without_a_value():
    check = CONSTRAINTS.load("equivalence")().check(Passage("你好", "zh"), "再见")
    assert (check.passed, check.value) == (True, None)


def test_a_repair_leaves_the_later_words():
    found = align(read_words("It was in 2015."), read_words("It was in 2014 no wait 2015."))
    assert (found.missing, found.extra, found.repaired) == ((), (), 3)
    kept = align(read_words("It was in 2014."), read_words("It was in 2014 no wait 2015."))
    assert [word.text for word in kept.extra] == ["2015"]


@pytest.mark.parametrize(
    ("a", "b", "edits"),
    [("", "", 0), ("abc", "abc", 0), ("ab", "ba", 1), ("kitten", "sitting", 3), ("", "abc", 3)],
)
def test_distance_counts_edits(a, b, edits):
    assert distance(a, b) == distance(b, a) == edits


def test_clopper_pearson_is_scipys_exact_interval():
    for hits, n in ((0, 20), (3, 17), (20, 20), (1, 400)):
        interval = binomtest(hits, n).proportion_ci(0.95, "exact")
        assert clopper_pearson(hits, n) == pytest.approx((interval.low, interval.high))


def test_area_is_the_mann_whitney_statistic():
    rng = np.random.default_rng(1)
    same, different = rng.integers(0, 9, 80).astype(float), rng.integers(0, 7, 50).astype(float)
    expected = mannwhitneyu(same, different).statistic / (80 * 50)
    assert area(same, different) == pytest.approx(expected)
    assert area(different, same) == pytest.approx(1 - expected)


def test_an_interval_over_clusters_is_wider_than_over_pairs():
    """Ten clusters of twenty equal pairs hold no more than ten observations."""
    hits = np.repeat(np.arange(10) < 5, 20)
    clustered = rate(hits, [str(at // 20) for at in range(200)])
    single = rate(hits, [str(at) for at in range(200)])
    assert clustered.value == single.value == 0.5
    assert clustered.clusters == 10
    # Standard errors are .158 and .035.
    assert clustered.high - clustered.low == pytest.approx(2 * 1.96 * 0.158, abs=0.1)
    assert single.high - single.low == pytest.approx(2 * 1.96 * 0.0354, abs=0.02)


def test_precision_follows_bayes():
    assert precision(0.0, 0.0, 0.3) == 1.0
    assert precision(0.5, 0.1, 0.2) == pytest.approx(0.8 * 0.5 / (0.8 * 0.5 + 0.2 * 0.1))


def test_a_threshold_refuses_no_more_than_its_share_of_any_group():
    scores = np.concatenate([np.arange(100.0), np.arange(1000.0, 1010.0)])
    groups = ["a"] * 100 + ["b"] * 10
    cut = fit_threshold(scores, groups, 0.05)
    assert cut == 5.0
    assert (scores[:100] < cut).mean() == 0.05


def test_weights_agree_with_a_logistic_regression_worked_out_by_hand():
    """One yes-or-no difference: the log odds are those of the two shares."""
    rows = np.array([[0.0]] * 100 + [[1.0]] * 100)
    same = np.array([True] * 80 + [False] * 20 + [True] * 20 + [False] * 80)
    weights, intercept = fit_weights(rows, same, ["all"] * 200, ridge=0.0)
    assert intercept == pytest.approx(np.log(4), abs=1e-3)
    assert weights[0] == pytest.approx(-2 * np.log(4), abs=1e-3)


def test_edits_are_named_and_placed():
    assert edits_of("the hen", "teh hen") == [("transposition", 1)]
    assert edits_of("a hen", "ahen") == [("space", 1)]
    assert edits_of("hen?", "hen") == [("punctuation", 3)]
    assert [kind for kind, _ in edits_of("wich", "which")] == ["insertion"]
    assert edits_of("same", "same") == []
    profile = make_profile([("the hen", "teh hen"), ("a hen", "a hen")])
    assert profile.kinds["transposition"] == 1.0
    assert profile.words_hit == {"0": 0.5, "1": 0.5, "2": 0.0, "3+": 0.0}
    assert divergence(profile.kinds, profile.kinds) == 0.0


def pair(cluster, canonical="Who won?", other="who won", same=True, source="typed", kind="human"):
    return Pair(canonical, other, same, source, kind, "", cluster)


def test_halves_are_about_equal_and_follow_from_the_cluster_alone():
    halves = [pair(str(n)).half for n in range(2000)]
    assert 900 < halves.count("fit") < 1100
    assert pair("7", "a", "b", False, "spoken", "name").half == pair("7").half


def test_a_sample_takes_whole_clusters():
    pairs = [pair(str(n % 50)) for n in range(200)]
    chosen = sample_clusters(pairs, 10, seed=1)
    assert len({one.cluster for one in chosen}) == 10
    assert len(chosen) == 40
    assert sample_clusters(pairs, 0, 1) == pairs
    with pytest.raises(SagoError):
        sample_clusters(pairs, -1, 1)


def test_the_test_half_does_not_move_weights_or_threshold():
    rng = random.Random(0)
    good = [pair(str(n), f"Who won race {n}?", f"who wn race {n}") for n in range(60)]
    good += [
        pair(f"d{n}", f"Who won race {n}?", f"Who lost no won race {n}?", source="disfluent")
        for n in range(60)
    ]
    bad = [
        pair(str(n), f"Who won race {n}?", f"Who won race {n + 1}?", False, "published", "number")
        for n in range(60)
    ]
    measured = Measured([*good, *bad], say=lambda text: None)
    before = fit_checker(measured)
    test = measured.half == "test"
    assert 0 < test.sum() < len(test)
    measured.rows[test] = [[rng.random() * 3 for _ in NAMES] for _ in range(int(test.sum()))]
    assert fit_checker(measured) == before


def test_a_word_that_was_taken_back_makes_another_question():
    question = Question("1", "p", "Of what form are Sophie Germain primes?")
    said = Question(
        "1", "p", question.published, disfluent="Of what form are Sophie Germain tests no sorry primes?"
    )
    (made,) = taken_back_pairs([said])
    assert made.other == "Of what form are Sophie Germain tests?"
    assert not made.equivalent
    assert taken_back_pairs([question]) == []


def test_the_rate_of_bad_variants_comes_from_honest_rows(tmp_path):
    path = tmp_path / "readings.csv"
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["item", "planted", "one: same", "one: natural", "two: same"])
        writer.writerows(
            [["1", "", "y", "n", "y"], ["2", "", "y", "y", "n"], ["3", "change_name", "n", "y", "n"]]
        )
    assert read_bad_rate(path) == 0.5
    assert read_bad_rate(tmp_path / "none.csv") is None
    path.write_bytes(b"item,planted\n\xff\n")
    with pytest.raises(SagoError, match=r"readings\.csv cannot be read"):
        read_bad_rate(path)


def test_a_generated_section_leaves_the_prose(tmp_path):
    path = tmp_path / "variants.md"
    begin, end = BEGIN.format("audit"), END.format("audit")
    path.write_text(f"# Prose\n\n{begin}\nold\n{end}\n\nMore prose.\n")
    replace_section(path, "new")
    assert path.read_text() == f"# Prose\n\n{begin}\n\nnew\n{end}\n\nMore prose.\n"
    path.write_text("no marks")
    with pytest.raises(SagoError, match="lacks the lines"):
        replace_section(path, "new")


def test_a_pack_is_counted_by_operator():
    from sago_harness.data import Document

    recipe = load_recipe("quick").with_negatives()
    sets = [
        build(Document(str(n), {"q": f"Who won the largest race in {n} miles?"}), recipe, 0)
        for n in range(20, 40)
    ]
    rows = {row["operator"]: row for row in pack_figures(sets, None, 0)}
    assert rows["change_number"]["made"] == 20
    assert rows["change_number"]["doubted"] == 1.0
    assert rows["change_number"]["doubted for"] == {"numbers": 20}
    assert rows["change_quantifier"]["made"] == 0
    assert rows["change_quantifier"]["reasons"] == {"nothing to change": 20}
    noise = [row for row in rows.values() if row["family"] == "noise" and row["made"]]
    assert noise
    assert all(row["profile"]["n"] == row["made"] for row in noise)


def test_a_sample_of_a_pack_is_no_run_of_its_first_documents():
    """The first twenty of forty documents have their number changed, the others keep it."""
    from sago_harness.data import Document, Variant, VariantSet

    def one(number):
        fields = {"q": f"Who won race {number} in the town?"}
        changed = {"q": f"Who won race {number + (number < 60)} in the town?!"}
        variants = (
            Variant("canonical", "canonical", "", fields),
            Variant("x", "structure", "x", changed),
        )
        return VariantSet(Document(str(number), fields), variants)

    sets = [one(number) for number in range(40, 80)]
    assert pack_figures(sets, None, 0)[0]["doubted"] == 0.5
    drawn = {seed: pack_figures(sets, None, seed, sample=10)[0] for seed in range(20)}
    assert {row["judged"] for row in drawn.values()} == {10}
    # Ten of forty, half of them bad: five on average, and the mean of twenty draws within .1 of a half.
    assert 0.4 < sum(row["doubted"] for row in drawn.values()) / 20 < 0.6
    assert len({row["doubted"] for row in drawn.values()}) > 1
    backwards = pack_figures(sets[::-1], None, 3, sample=10)[0]
    assert backwards["doubted"] == drawn[3]["doubted"]


def publish(folder, name, content):
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content if isinstance(content, bytes) else json.dumps(content).encode())


SQUAD = {
    "data": [
        {
            "title": "t",
            "paragraphs": [{"context": "c", "qas": [{"id": "a", "question": "Who?", "answers": []}]}],
        }
    ]
}


@pytest.mark.parametrize(
    ("name", "content", "told"),
    [
        ("disfl_qa/dev.json", b'{"a": ', "is not JSON"),
        ("disfl_qa/dev.json", b"\xff", "cannot be read"),
        ("disfl_qa/dev.json", b"[" * 100_000, "nested too deeply"),
        ("disfl_qa/dev.json", {"a": {"original": "Who?"}}, "is not as published: lacks 'disfluent'"),
        ("disfl_qa/dev.json", {"b": {"original": "Who?"}}, "is not as published: lacks 'disfluent'"),
        ("disfl_qa/dev.json", {"b": {"original": None, "disfluent": "x"}}, "is not as published"),
        ("disfl_qa/dev.json", [1], "is not as published"),
        ("noiseqa/xquad-keyboard-natural.json", {"data": []}, "is not as published: lacks 'a'"),
        ("noiseqa/xquad-keyboard-natural.json", {"data": [{"title": "t"}]}, "lacks 'paragraphs'"),
        ("noiseqa/xquad-keyboard-natural.json", 7, "is not as published"),
    ],
)
def test_malformed_data_of_the_audit_is_told_in_one_line(tmp_path, name, content, told):
    for file in ("xquad-context-en-question-en", "xquad-keyboard-natural", "xquad-asr-natural"):
        publish(tmp_path, f"noiseqa/{file}.json", SQUAD)
    publish(tmp_path, "disfl_qa/dev.json", {"a": {"original": "Who?", "disfluent": "Where no who?"}})
    (question,) = read_questions(tmp_path)
    assert (question.published, question.disfluent) == ("Who?", "Where no who?")
    publish(tmp_path, name, content)
    with pytest.raises(SagoError, match=told) as error:
        read_questions(tmp_path)
    assert "\n" not in str(error.value)


def test_malformed_patterns_and_translations_are_told_in_one_line(tmp_path):
    publish(tmp_path, "pararel/patterns/P1.jsonl", b'{"pattern": "[X] is in [Y]."}\n{"patern": 1}\n')
    with pytest.raises(SagoError, match=r"P1\.jsonl is not as published: lacks 'pattern'"):
        pattern_pairs(tmp_path, 0)
    publish(tmp_path, "pararel/patterns/P1.jsonl", b'{"pattern": "[X] is in [Y]."}\n')
    publish(tmp_path, "pararel/tuples/P1.jsonl", b'{"sub_label": 3, "obj_label": "Rome"}\n')
    with pytest.raises(SagoError, match="int where a text should be"):
        pattern_pairs(tmp_path, 0)
    for language in ("en", "de", "es", "fr"):
        publish(tmp_path, f"mgsm/mgsm_{language}.tsv", b"Two?\t2\n")
    with pytest.raises(SagoError, match="or have one line"):
        translation_pairs(tmp_path, 0)


def test_clusters_are_paragraphs_and_never_in_both_halves(shared_data):
    questions = read_questions(shared_data)
    pairs = collect_pairs(shared_data, seed=0, sample=20)
    halves = {half: {one.canonical for one in pairs if one.half == half} for half in ("fit", "test")}
    assert len(halves["fit"]) > 50
    assert len(halves["test"]) > 50
    assert not halves["fit"] & halves["test"]
    # As published: all questions of a paragraph, in whatever version, fall into one half.
    found = {}
    for one in human_pairs(questions):
        found.setdefault(one.canonical, set()).add(one.half)
    squad = json.loads((shared_data / "noiseqa" / "xquad-context-en-question-en.json").read_text("utf-8"))
    for article in squad["data"]:
        for paragraph in article["paragraphs"]:
            asked = [row["question"].strip() for row in paragraph["qas"]]
            assert len(set().union(*(found.get(text, set()) for text in asked))) == 1
    assert {"typed", "spoken", "disfluent", "pattern", "translation", "published"} <= {
        one.source for one in pairs
    }
    assert all(one.canonical != one.other for one in pairs)
    # XQuAD has 240 paragraphs; ids that Disfl-QA shares with it stand in one of them.
    assert len({question.cluster for question in questions if question.typed}) == 240


def test_the_command_writes_tables_and_a_figure(shared_data, tmp_path, capsys):
    pytest.importorskip("matplotlib")
    out = tmp_path / "audit"
    arguments = [
        "variants",
        "audit",
        "--data-dir",
        str(shared_data),
        "--out",
        str(out),
        "--sample",
        "12",
        "--plot",
    ]
    assert main(arguments) == 0
    report = capsys.readouterr().out
    assert report.strip() == (out / "audit.md").read_text().strip()
    result = json.loads((out / "audit.json").read_text())
    assert result["pairs"]["fit"] > 0
    assert (out / "audit.svg").read_text().startswith("<?xml")
    assert main([*arguments[:-1], "--bad-rate", "2"]) == 2
    capsys.readouterr()
    assert main([*arguments[:-2], "2", "--write-table", "/nowhere/t.json"]) == 2
    assert "/nowhere/t.json cannot be written: No such file" in capsys.readouterr().err
    assert main(["variants", "audit", "--out", str(out)]) == 2
