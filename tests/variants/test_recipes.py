"""Recipes: the built-in ones, and what a wrong one is answered."""

import csv
import json
import shutil
import time
from collections import Counter
from pathlib import Path

import pytest

from sago_harness.data import Document
from sago_harness.errors import SagoError
from sago_harness.variants import phrases
from sago_harness.variants.base import SCORED_FAMILIES
from sago_harness.variants.build import build
from sago_harness.variants.recipe import base_language, load_recipe

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize(("name", "each"), [("quick", 2), ("default", 4)])
def test_built_in_recipes_are_balanced(name, each, language):
    recipe = load_recipe(name)
    assert recipe.name == name
    assert recipe.families == SCORED_FAMILIES
    assert recipe.count(language) == dict.fromkeys(SCORED_FAMILIES, each)
    ids = [operator.variant_id for operator in recipe.for_language(language)]
    assert len(set(ids)) == len(ids)


def test_a_language_without_variants_is_named():
    with pytest.raises(SagoError, match="'quick' has no variant for language 'de': it has en, zh"):
        load_recipe("quick").for_language("de")


def documents():
    """The demo prompts, and a published question set where it is at hand."""
    for path in sorted((ROOT / "task_configs" / "demo").glob("*.jsonl")):
        for line in path.read_text(encoding="utf-8").splitlines():
            row = json.loads(line)
            yield row.get("question") or row["instruction"], "zh" if "zh" in path.stem else "en"
    published = ROOT.parent / "shared" / "data" / "truthfulqa" / "TruthfulQA.csv"
    if published.is_file():
        with published.open(encoding="utf-8-sig", newline="") as lines:
            yield from ((row["Question"], "en") for row in csv.DictReader(lines))


@pytest.mark.parametrize("name", ["quick", "default"])
def test_every_document_gets_two_variants_a_family(name):
    recipe = load_recipe(name)
    texts = ["Who are you?", "Is it a cat", "Why do we nod"]
    for text, language in [*documents(), *((text, "en") for text in texts)]:
        made = build(Document(text, {"q": text}, language), recipe, seed=0)
        families = Counter(variant.family for variant in made.variants[1:])
        assert all(families[family] >= 2 for family in SCORED_FAMILIES), (text, made.rejects)


def test_a_language_code_loses_its_region():
    assert [base_language(code) for code in ("en-US", "en_GB", " EN ", "zh-Hant-TW", "fr", "")] == [
        "en", "en", "en", "zh", "fr", "",
    ]  # fmt: skip


def write(tmp_path, content):
    path = tmp_path / "mine.yaml"
    path.write_text(content, encoding="utf-8")
    return path


GOOD = (
    "name: mine\nversion: 2\nvariants:\n"
    + "  - {operator: politeness, strength: 4, position: suffix, languages: [en]}\n"
)


def test_a_recipe_of_ones_own(tmp_path):
    recipe = load_recipe(write(tmp_path, GOOD))
    assert (recipe.name, recipe.version, recipe.families) == ("mine", "2", ("register",))
    assert [operator.variant_id for operator in recipe.for_language("en")] == ["politeness+4@suffix"]
    assert recipe.constraints[:4] == ("changed", "literals", "semantic", "length")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (
            GOOD.replace("operator: politeness", "operator: politenes"),
            "unknown operator 'politenes'.*mean politeness",
        ),
        (GOOD.replace("version", "verson"), "unknown key 'verson'.*did you mean version"),
        (GOOD.replace("strength", "strenght"), "unknown key 'strenght'.*did you mean strength"),
        (GOOD.replace("strength: 4", "strength: 5"), r"no strength 5: it has .*-10"),
        (GOOD.replace("strength: 4", "strength: much"), "strength 'much' is not a number"),
        (GOOD.replace("suffix", "sufix"), "no position 'sufix'"),
        (GOOD.replace("[en]", "[eng]"), "unknown language of operator 'politeness' 'eng'.*did you mean en"),
        (GOOD + "constraints: [lenght]\n", "unknown constraint 'lenght'.*did you mean length"),
        (GOOD + "levels: [pragmatic]\n", "unknown level 'pragmatic'"),
        (GOOD + "  - {operator: politeness, strength: 4, position: suffix}\n", "twice in language 'en'"),
        (GOOD + "  - {strength: 4}\n", "variant 2 lacks 'operator'"),
        (GOOD + "  - politeness\n", "variant 2 must hold keys"),
        ("name: x\nversion: 1\n", "lacks 'variants'"),
        ("name: x\nversion: 1\nvariants: label\n", "'variants' must be a list"),
        ("- a\n", "must hold keys"),
        ("", "must hold keys.*it is empty"),
        ("a: [\n", "cannot be read"),
    ],
)
def test_a_wrong_recipe_is_answered_in_one_line(tmp_path, content, message):
    with pytest.raises(SagoError, match=message) as caught:
        load_recipe(write(tmp_path, content))
    assert "\n" not in str(caught.value)
    assert "mine.yaml" in str(caught.value)


PLAIN = "version: 1\nvariants: [{operator: label}]\n"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("a: &a [x, x]\nname: *a\n" + PLAIN, "an alias .* is not read"),
        ("&x\nname: *x\n" + PLAIN, "an alias .* is not read"),
        ("name: x\nversion: 1\nvariants: &v [*v]\n", "an alias .* is not read"),
        ("name: " + "[" * 3000 + "]" * 3000 + "\n" + PLAIN, "nested too deeply"),
        ("name: 2020-99-99\n" + PLAIN, "cannot be read: month must be"),
        ("name: x\nversion: " + "9" * 5000 + "\nvariants: [{operator: label}]\n", "cannot be read"),
        ("name: x\n" + PLAIN + "#" * 300_000, "is too large: at most 256 KiB"),
        ("name: [x]\n" + PLAIN, "'name' must be a text or a number, it is of type list"),
        ("name: x\nversion: {a: 1}\nvariants: [{operator: label}]\n", "'version' must be a text"),
        ("name: x\nversion: 1\nvariants: [{operator: [label]}]\n", "'operator' must be a text"),
        (
            "name: x\nversion: 1\nvariants: [{operator: label, languages: [[en]]}]\n",
            "a language must be a text",
        ),
        ("name: x\nversion: 1\nvariants: [{operator: label, position: [a]}]\n", "'position' must be a text"),
        ("name: x\nversion: 1\nvariants: [{operator: label, strength: [1]}]\n", "'strength' must be a text"),
        ("name: x\n" + PLAIN + "levels: [[literal]]\n", "a level must be a text"),
        ("name: x\n" + PLAIN + "constraints: [[changed]]\n", "'constraint' must be a text"),
        (f"name: x\nversion: 1\nvariants: [{{operator: {'x' * 5000}}}]\n", "is longer than 200 characters"),
        (f"name: x\n{PLAIN}{'y' * 900}: 1\n", "is longer than 200 characters"),
    ],
)
def test_a_hostile_recipe_is_answered_in_one_short_line(tmp_path, content, message):
    with pytest.raises(SagoError, match=message) as caught:
        load_recipe(write(tmp_path, content))
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 600


def test_a_few_lines_of_aliases_do_not_fill_the_memory(tmp_path):
    """Written out, the last name would hold nine to the ninth texts."""
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 9)]
    start = time.monotonic()
    with pytest.raises(SagoError, match="an alias"):
        load_recipe(write(tmp_path, "\n".join([*lines, "name: *a8\n"]) + PLAIN))
    assert time.monotonic() - start < 5


@pytest.mark.parametrize(
    ("constraint", "message"),
    [
        ("length, lower: abc", "lower must be a number of at least 0"),
        ("length, lower: .nan", "lower must be a number of at least 0"),
        ("length, upper: .inf", "upper must be a number of at least 0"),
        ("length, upper: -1", "upper must be a number of at least 0"),
        (f"length, upper: 1{'0' * 400}", "upper must be a number of at least 0"),
        ("length, lower: 5", "upper 4 is under lower 5"),
        ("length, allowance: -1", "allowance must be a number of at least 0"),
        ("edits, maximum: 7", "maximum must be a number from 0 to 1"),
        ("similarity, encoder: 3", "encoder must be a text"),
        ("similarity, minimum: 1.1", "minimum must be a number from -1 to 1"),
        ("language, minimum: .nan", "minimum must be a number from 0 to 1"),
        ("entailment, model: 3", "model must be a text"),
        ("entailment", "needs a local NLI model"),
    ],
)
@pytest.mark.parametrize("place", ["recipe", "variant"])
def test_a_wrong_option_of_a_constraint_is_told_when_the_recipe_is_read(tmp_path, constraint, message, place):
    rules = f"constraints: [{{constraint: {constraint}}}]"
    if place == "recipe":
        content = f"name: x\n{PLAIN}{rules}\n"
    else:
        content = f"name: x\nversion: 1\nvariants: [{{operator: label, {rules}}}]\n"
    with pytest.raises(SagoError, match=f"mine.yaml.*: constraint .*{message}") as caught:
        load_recipe(write(tmp_path, content))
    assert "\n" not in str(caught.value)


def test_options_at_their_bounds_are_taken(tmp_path):
    rules = "constraints: [{constraint: length, lower: 0, upper: 0}, {constraint: edits, maximum: 1}]\n"
    assert load_recipe(write(tmp_path, f"name: x\n{PLAIN}{rules}")).constraints == ("length", "edits")


def test_a_recipe_that_does_not_exist():
    with pytest.raises(SagoError, match=r"unknown recipe 'qick'.*did you mean quick"):
        load_recipe("qick")
    with pytest.raises(SagoError, match=r"no/such\.yaml does not exist"):
        load_recipe("no/such.yaml")


def test_the_digest_follows_content(tmp_path):
    first = load_recipe(write(tmp_path, GOOD)).digest
    assert len(first) == 64
    assert load_recipe(write(tmp_path, "# a remark\n" + GOOD)).digest == first
    assert load_recipe(write(tmp_path, GOOD.replace("strength: 4", "strength: 6"))).digest != first
    assert load_recipe(write(tmp_path, GOOD.replace("version: 2", "version: 3"))).digest != first
    assert load_recipe(write(tmp_path, GOOD + "constraints: [changed]\n")).digest != first


def test_the_digest_follows_phrases_and_versions(tmp_path, monkeypatch):
    before = load_recipe("quick").digest
    copy = tmp_path / "tables"
    shutil.copytree(phrases.FOLDER, copy)
    monkeypatch.setattr(phrases, "FOLDER", copy)
    assert load_recipe("quick").digest == before
    table = json.loads((copy / "politeness.json").read_text(encoding="utf-8"))
    table["en"]["prefix"]["6"][0] += " Please."
    (copy / "politeness.json").write_text(json.dumps(table), encoding="utf-8")
    after = load_recipe("quick").digest
    assert after != before
    from sago_harness.variants.operators.label import Label

    monkeypatch.setattr(Label, "version", Label.version + 1)
    assert load_recipe("quick").digest != after


def test_a_missing_table_is_named():
    with pytest.raises(SagoError, match=r"unknown table 'politnes'.*did you mean politeness"):
        phrases.read_table("politnes")
