"""Constraints on hand-made pairs."""

import pytest

from sago_harness.errors import SagoError
from sago_harness.variants.base import Passage
from sago_harness.variants.constraints import CONSTRAINTS
from sago_harness.variants.constraints.edits import Edits
from sago_harness.variants.constraints.entailment import Entailment
from sago_harness.variants.constraints.length import Length
from sago_harness.variants.constraints.similarity import Similarity
from sago_harness.variants.text.spans import find_spans


def check(name, canonical, variant):
    return CONSTRAINTS.load(name)().check(Passage(canonical, keep=find_spans(canonical)), variant)


def test_changed_sees_through_normal_forms():
    assert not check("changed", "e\u0301", "e\u0301").passed
    assert not check("changed", "e\u0301", "\u00e9").passed
    assert check("changed", "a", "a ").passed


@pytest.mark.parametrize(
    ("canonical", "variant", "passed"),
    [
        ("Give 3 of 4 hens", "Please give 3 of 4 hens", True),
        ("Give 3 of 4 hens", "Give 4 of 3 hens", False),
        ("Give 3 of 4 hens", "Give 3 of 14 hens", False),
        ("Give 3 of 4 hens", "Give 3 of 4 hens, 3 times", False),
        ("Run `a b` now", "Run `a  b` now", False),
        ("Say yes or no.", "Say YES or NO.", False),
        ("Who?", "Anything", True),
    ],
)
def test_literals(canonical, variant, passed):
    outcome = check("literals", canonical, variant)
    assert outcome.passed is passed
    assert bool(outcome.reason) is not passed


def test_literals_value_is_the_share_that_survived():
    # Two distinct literals, one of them gone.
    assert check("literals", "at 3.5% on 2031-04-05", "at 3.6% on 2031-04-05").value == 0.5


@pytest.mark.parametrize(
    ("canonical", "variant", "passed", "ratio"),
    [
        ("abcd", "abcd" + "x" * 120, True, 31.0),
        ("abcd", "abcd" + "x" * 121, False, 31.25),
        ("a" * 100, "a" * 400, True, 4.0),
        ("a" * 100, "a" * 401, False, 4.01),
        ("a" * 10, "a" * 3, True, 0.3),
        ("a" * 10, "a" * 2, False, 0.2),
        ("ab", "a" + " " * 900 + "b", True, 1.0),
    ],
)
def test_length(canonical, variant, passed, ratio):
    outcome = check("length", canonical, variant)
    assert outcome.passed is passed
    assert outcome.value == pytest.approx(ratio)


def test_length_bounds_can_be_stated():
    assert not Length(allowance=0, upper=1.5).check(Passage("ab"), "abcd").passed


@pytest.mark.parametrize(
    ("canonical", "variant", "value"),
    [
        ("abcdefghij", "ABCDEFGHIJ and more", 0.0),
        ("abcdefghij", "abcdefgh", 0.2),
        # The longest common subsequence of two halves swapped is one half.
        ("abcdefghij", "fghijabcde", 0.5),
        ("abcdefghij", "", 1.0),
        ("", "anything", 0.0),
    ],
)
def test_edits_counts_what_is_gone_or_moved(canonical, variant, value):
    assert Edits().check(Passage(canonical), variant).value == pytest.approx(value)


def test_edits_has_a_limit_of_its_own():
    assert not Edits(maximum=0.1).check(Passage("abcdefghij"), "abcdefgh").passed
    assert Edits(maximum=0.2).check(Passage("abcdefghij"), "abcdefgh").passed


@pytest.mark.parametrize(
    ("canonical", "language", "variant", "passed"),
    [
        ("Who wrote the book?", "en", "Please tell me who wrote the book.", True),
        ("Who wrote the book?", "en", "谁写了这本书？", False),
        ("Who wrote the book?", "en", "Wer hat das Buch geschrieben?", False),
        ("Who wrote the book?", "en", "¿Quién escribió el libro y cuándo fue publicado?", False),
        ("谁写了这本书？", "zh", "Who wrote the book?", False),
        ("谁写了这本书？", "zh", "誰寫了這本書？", True),
        # Full-width letters are the same letters; a few look-alikes are noise.
        ("Who wrote the book?", "en", "Ｗｈｏ ｗｒｏｔｅ ｔｈｅ ｂｏｏｋ？", True),
        ("Who wrote the book?", "en", "Whо wrоte the book?", True),
        ("12 + 30", "en", "12 + 30 =", True),
        ("", "en", "hello", True),
    ],
)
def test_language(canonical, language, variant, passed):
    assert CONSTRAINTS.load("language")().check(Passage(canonical, language), variant).passed is passed


@pytest.mark.parametrize(
    ("canonical", "language", "variant", "passed"),
    [
        ("Who wrote it?", "en", "By whom was it written?", True),
        ("Who wrote it?", "en", "When was it written?", False),
        ("How many hens are there?", "en", "how mnay hens are there", True),
        ("How many hens are there?", "en", "What is the number of hens?", True),
        ("How many hens are there?", "en", "Why are there hens?", False),
        ("Why?", "en", "For what reason?", True),
        ("Explain gravity.", "en", "Anything at all", True),
        # "then" is another word, not a slip of "when".
        ("When did it end?", "en", "Then did it end?", False),
        ("谁写了它？", "zh", "它是谁写的？", True),
        ("谁写了它？", "zh", "它是什么时候写的？", False),
        ("为什么下雨？", "zh", "为啥下雨？", True),
        ("什么时候下雨？", "zh", "什 么时 候下雨？", True),
    ],
)
def test_answer_type(canonical, language, variant, passed):
    assert CONSTRAINTS.load("answer_type")().check(Passage(canonical, language), variant).passed is passed


@pytest.mark.models
def test_similarity_is_the_cosine_of_the_sentence_encoder():
    """all-MiniLM-L6-v2: equal texts give 1; a paraphrase is nearer than another topic."""
    measure = Similarity(minimum=0.5)
    same = measure.check(Passage("Who wrote the novel?"), "Who wrote the novel?")
    near = measure.check(Passage("Who wrote the novel?"), "Who is the author of the novel?")
    far = measure.check(Passage("Who wrote the novel?"), "How tall is a giraffe?")
    assert same.value == pytest.approx(1, abs=1e-5)
    assert near.passed
    assert not far.passed
    assert far.value < near.value < same.value


def test_similarity_without_its_encoder_stops_in_one_line(monkeypatch, tmp_path):
    monkeypatch.setenv("SAGO_HOME", str(tmp_path))
    with pytest.raises(SagoError, match=r"constraint 'similarity': .*sago models get minilm"):
        Similarity().check(Passage("a b"), "a c")


@pytest.fixture
def nli(tmp_path):
    """A tiny classifier with random weights: what is tested is the plumbing, against its own logits."""
    import torch
    from transformers import BertConfig, BertForSequenceClassification, BertTokenizerFast

    vocabulary = tmp_path / "vocab.txt"
    vocabulary.write_text(
        "\n".join(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "who", "wrote", "it", "?"])
    )
    tokenizer = BertTokenizerFast(vocab_file=str(vocabulary), vocab=str(vocabulary))
    torch.manual_seed(3)
    config = BertConfig(
        vocab_size=9, hidden_size=16, num_hidden_layers=1, num_attention_heads=2, intermediate_size=16,
        id2label={0: "CONTRADICTION", 1: "NEUTRAL", 2: "ENTAILMENT"},
        label2id={"CONTRADICTION": 0, "NEUTRAL": 1, "ENTAILMENT": 2}, num_labels=3,
    )  # fmt: skip
    folder = tmp_path / "nli"
    model = BertForSequenceClassification(config).eval()
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder, model, tokenizer


def test_entailment_is_the_smaller_probability_of_both_directions(nli):
    import torch

    folder, model, tokenizer = nli

    def probability(premise, hypothesis):
        with torch.inference_mode():
            logits = model(**tokenizer(premise, hypothesis, return_tensors="pt")).logits[0]
        return float(logits.softmax(-1)[2])

    expected = min(probability("who wrote it ?", "it"), probability("it", "who wrote it ?"))
    check = Entailment(str(folder), minimum=0.0).check(Passage("who wrote it ?"), "it")
    assert check.value == pytest.approx(expected, abs=1e-6)
    assert check.passed
    assert not Entailment(str(folder), minimum=1.0).check(Passage("who wrote it ?"), "it").passed


def test_a_model_without_entailment_is_refused(nli):
    import json

    folder, _, _ = nli
    config = json.loads((folder / "config.json").read_text())
    config["id2label"] = {"0": "good", "1": "bad", "2": "ugly"}
    config["label2id"] = {"good": 0, "bad": 1, "ugly": 2}
    (folder / "config.json").write_text(json.dumps(config))
    with pytest.raises(SagoError, match="none of them is entailment"):
        Entailment(str(folder)).check(Passage("who"), "it")


def test_entailment_wants_a_model_folder(tmp_path):
    with pytest.raises(SagoError, match=r"has no config\.json"):
        Entailment(str(tmp_path))
