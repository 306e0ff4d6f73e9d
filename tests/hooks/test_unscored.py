"""What cannot be scored: null with a reason, counted, never 0; the run goes on."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

import pytest

from sago_harness.data import Document, Reject, Variant, VariantSet
from sago_harness.hooks import health
from sago_harness.hooks.metrics import NotScored, document_mean
from tests import tiny
from tests.hooks.hosts import Scripted, build, evaluate, records, values, write_yaml

BODY = 'vary: prompt\ndoc_to_text: "{{prompt}}"\ndoc_to_target: ""\n'


def test_one_document_of_two_tasks_has_no_stderr(english_lm: Any) -> None:
    """H08: --limit 1 on two tasks: N/A, never 0."""
    found = evaluate(english_lm, ["sago_demo_facts", "sago_demo_instructions"], limit=1)
    for task in ("sago_demo_facts", "sago_demo_instructions"):
        table = values(found, task)
        assert isinstance(table["x_act"], float)
        errors = {name: value for name, value in table.items() if name.endswith("_stderr")}
        assert set(errors.values()) == {"N/A"}
        # No other document, no chance level, no relative score.
        assert table["sago"] == table["sago_activation"] == "N/A"
        assert [row["role"] for row in next(iter(records(found, task).values()))].count("control") == 0


def test_document_values_with_gaps(caplog: pytest.LogCaptureFixture) -> None:
    """E05: 0.8, null, null is 0.8 with a count and a warning."""
    assert document_mean([0.8, None, None]) == pytest.approx(0.8)
    task = build("sago_demo_facts")
    with caplog.at_level(logging.INFO):
        value = task.aggregation()["x_act"]([0.8, None, None])
    assert value == pytest.approx(0.8)
    told = [(r.levelno, r.getMessage()) for r in caplog.records if "documents scored" in r.getMessage()]
    assert told == [(logging.WARNING, "[sago_demo_facts] x_act: 1 of 3 documents scored")]
    assert task.aggregation()["x_act_stderr"]([0.8, None, None]) == "N/A"


def test_a_small_gap_is_information_not_a_warning(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO):
        build("sago_demo_facts").aggregation()["x_act"]([0.5] * 9 + [None])
    assert [r.levelno for r in caplog.records if "9 of 10 documents scored" in r.getMessage()] == [
        logging.INFO
    ]


def test_not_scored_swallows_a_groups_mean() -> None:
    mean = (0.5 + NotScored() + 0.25) / 3
    assert str(mean) == "N/A"
    assert sum([0.5, NotScored()]) == "N/A"
    assert 2 * NotScored() == NotScored() * 2 == "N/A"


@pytest.fixture(scope="module")
def odd_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    rows: list[dict[str, Any]] = [
        {"prompt": "Which river runs through the old town of Basel in the north?"},
        {"prompt": None},
        {"prompt": "   \n"},
        {"prompt": "Which metal is used for the thin wires in most house walls?"},
        {"prompt": "Which tall animal of the savannah eats leaves from the trees?"},
    ]
    return write_yaml(tmp_path_factory.mktemp("odd"), "odd", BODY, rows)


def test_missing_and_empty_prompts_are_never_sent(odd_folder: Path, minilm: Path) -> None:
    model = Scripted(lambda prompt: f"I think of {prompt[:30]}")
    found = evaluate(model, "odd", folders=[odd_folder])
    assert all(prompt.strip() for prompt in model.sent)
    by_reason = {}
    for rows in records(found, "odd").values():
        by_reason.setdefault(rows[0].get("document_reason"), []).append(rows)
    assert {reason: len(rows) for reason, rows in by_reason.items()} == {
        None: 3,
        "missing_field": 1,
        "empty_prompt": 1,
    }
    for reason in ("missing_field", "empty_prompt"):
        (rows,) = by_reason[reason]
        assert len(rows) == 1
        assert rows[0]["flags"][0] == reason
    table = values(found, "odd")
    assert table["n_scored"] == 3  # on every measure that a text model can give
    assert isinstance(table["x_bleu"], float)
    assert isinstance(table["sago_text"], float)
    scored = [sample for sample in found["samples"]["odd"] if sample["x_bleu"] is not None]
    assert len(scored) == 3
    # The others are neither partners nor stock.
    partners = {row["partner"] for rows in by_reason[None] for row in rows if row["role"] == "control"}
    assert len(partners) == 3
    assert table["stock_share"] == 0.0


def test_a_model_with_all_signals_skips_them_too(odd_folder: Path, english_lm: Any, minilm: Path) -> None:
    found = evaluate(english_lm, "odd", folders=[odd_folder])
    assert values(found, "odd")["n_scored"] == 3
    assert isinstance(values(found, "odd")["sago"], float)


def test_a_prompt_longer_than_the_context_is_unscored(
    english_lm: Any, tmp_path: Path, minilm: Path, caplog: pytest.LogCaptureFixture
) -> None:
    rows = [{"prompt": "Where does the sun rise in the morning? " * 60}]
    rows += [
        {"prompt": f"Which number comes after {word}, and why is that?"} for word in ("one", "two", "six")
    ]
    folder = write_yaml(tmp_path / "long", "long", BODY, rows)
    with caplog.at_level(logging.WARNING):
        found = evaluate(english_lm, "long", folders=[folder])
    long, *others = records(found, "long").values()
    canonical = long[0]
    assert "prompt_truncated" in canonical["flags"]
    own = [row for row in long if row["role"] != "control"]
    assert {row["reasons"]["x_bleu"] for row in own} == {"prompt_too_long"}
    assert {row["reasons"]["x_act"] for row in own} == {"prompt_too_long"}
    assert all(row["distances"]["x_prob"] is None for row in own)
    assert all(rows[1]["distances"]["x_act"] is not None for rows in others)
    assert values(found, "long")["n_scored"] == 3
    log = [r.getMessage() for r in caplog.records]
    assert any("[long] x_act" in line and "prompt_too_long" in line for line in log)
    assert "[long] x_act: 3 of 4 documents scored" in log


def test_variants_equal_to_the_canonical_prompt_are_no_evidence(tmp_path: Path, minilm: Path) -> None:
    """A recipe without anything to do for a document leaves it unscored, not perfectly stable."""
    recipe = tmp_path / "same.yaml"
    recipe.write_text(
        "name: same\nversion: 1\nvariants:\n  - {operator: case, strength: 30, position: throughout}\n",
        encoding="utf-8",
    )
    rows = [{"prompt": "12 + 30 = ?"}, {"prompt": "7 * 6 = ?"}, {"prompt": "which is the longest river?"}]
    folder = write_yaml(tmp_path / "digits", "digits", BODY, rows)
    found = evaluate(Scripted(lambda p: f"ok {p}"), "digits", {"recipe": str(recipe)}, [folder])
    first, second, third = records(found, "digits").values()
    for rows_of in (first, second):
        assert [row["role"] for row in rows_of] == ["canonical", "control", "control"]
        ((variant, family, operator, reason),) = rows_of[0]["rejects"]
        assert (family, operator) == ("noise", "case")
        assert variant == "case30@throughout"
        assert reason
    assert third[1]["role"] == "variant"
    assert [sample["x_bleu"] is None for sample in found["samples"]["digits"]] == [True, True, False]


def test_a_variant_that_does_not_reach_the_model_is_no_evidence(tmp_path: Path, minilm: Path) -> None:
    """A tokenizer that drops extra white space sends the canonical ids again."""
    from lm_eval.models.huggingface import HFLM
    from tokenizers import Tokenizer, models, pre_tokenizers, trainers
    from transformers import PreTrainedTokenizerFast

    made = Tokenizer(models.WordLevel(unk_token="<unk>"))
    made.pre_tokenizer = pre_tokenizers.Whitespace()
    special = ["<s>", "</s>", "<pad>", "<unk>"]
    made.train_from_iterator(
        tiny.corpus(), trainers.WordLevelTrainer(vocab_size=5000, special_tokens=special)
    )
    words = PreTrainedTokenizerFast(
        tokenizer_object=made, bos_token="<s>", eos_token="</s>", pad_token="<pad>", unk_token="<unk>"
    )
    words.save_pretrained(tmp_path)
    tiny.llama(len(words)).save_pretrained(tmp_path)
    lm = HFLM(pretrained=str(tmp_path), device="cpu", dtype="float32", batch_size=8)
    found = evaluate(lm, "sago_demo_facts", limit=3)
    for rows in records(found, "sago_demo_facts").values():
        for row in rows:
            noop = row["operator"] == "spaces"
            assert ("noop_tokens" in row["flags"]) == noop
            if noop:
                assert {row["reasons"][name] for name in ("x_bleu", "x_act", "x_prob")} == {"noop_tokens"}
                assert row["distances"]["x_bleu"] is row["distances"]["x_act"] is None
    # The recipe has two variants of noise and asks for both.
    assert values(found, "sago_demo_facts")["x_act"] == "N/A"


def test_refused_variants_are_counted_and_what_is_missing_is_a_warning(
    caplog: pytest.LogCaptureFixture,
) -> None:
    def made(name: str, *reasons: str) -> VariantSet:
        fields = {"q": name}
        variants = tuple(Variant(each, "noise", "x", fields) for each in ("canonical", "a", "b"))
        return VariantSet(
            Document(name, fields), variants, tuple(Reject("r", "noise", "x", reason) for reason in reasons)
        )

    with caplog.at_level(logging.INFO):
        health.say_rejects("t", [made("1", "missing library spacy", "length"), made("2", "length")])
        health.say_rejects("quiet", [made("3")])
    assert [(record.levelno, record.getMessage()) for record in caplog.records] == [
        (logging.INFO, "[t] 4 variants made, 3 refused: length (2), missing library spacy (1)"),
        (
            logging.WARNING,
            "[t] 1 variants left out: missing library spacy (`sago variants build` says how to get it)",
        ),
    ]
