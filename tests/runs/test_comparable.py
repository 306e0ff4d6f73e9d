"""Only like is compared with like."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from sago_harness.errors import SagoError
from sago_harness.runs.comparable import FIELDS, check
from sago_harness.runs.find import RunFile, find_runs
from sago_harness.runs.read import read_table
from sago_harness.runs.signatures import of_text
from sago_harness.signature import Signature
from tests.runs.made_runs import MEASURES, TIME, described, signature, write_runs


def run(model: str, *, said: dict[str, Any] | None = None, **changes: Any) -> RunFile:
    full = {**signature("made", 10, 6), **changes, "model": said or described()}
    return RunFile(model, "made", Path(f"{model}.parquet"), TIME, signature=full)


CHANGES: list[tuple[str, dict[str, Any], str, str]] = [
    ("version", {"version": "2.0"}, "1.0", "2.0"),
    ("recipe", {"recipe": "made.2"}, "made.1", "made.2"),
    ("recipe_digest", {"recipe_digest": "ff"}, "04d8e2deb1a99b72", "ff"),
    ("pack", {"pack": "e" * 64}, "none", "e" * 16),
    ("seed", {"seed": 1}, "42", "1"),
    ("shots", {"shots": 5}, "0", "5"),
    ("template", {"template": True}, "off", "on"),
    ("variants", {"variants": "aa", "documents": 20}, "(10 documents)", "aa (20 documents)"),
    ("controls", {"controls": 3}, "2", "3"),
    ("canonical_repeats", {"canonical_repeats": 3}, "0", "3"),
    (
        "generation",
        {"generation": {"do_sample": False, "max_gen_toks": 64, "until": []}},
        "max_gen_toks 32",
        "max_gen_toks 64",
    ),
    ("prompts", {"prompts": "bb"}, "996f7d75105b2c4e", "bb"),
    ("scoring", {"scoring": "cc"}, "b1cbbd3ce71274f8", "cc"),
    ("encoder", {"encoder": "none(encoder_unavailable)"}, "minilm:6", "none(encoder_unavailable)"),
    ("pooling", {"pooling": "span"}, "last", "span"),
    ("layers", {"layers": "attention"}, "blocks", "attention"),
    ("measures", {"measures": {**dict.fromkeys(MEASURES, 1), "x_bleu": 2}}, "x_bleu 1", "x_bleu 2"),
    ("dtype", {"said": described(dtype="bfloat16")}, "float32", "bfloat16"),
    ("quantised", {"said": described(quantised=True)}, "no", "yes"),
]


def test_every_field_has_a_case() -> None:
    assert [case[0] for case in CHANGES] == list(FIELDS)


@pytest.mark.parametrize(("field", "change", "usual", "value"), CHANGES)
def test_a_difference_is_refused_in_one_line(
    field: str, change: dict[str, Any], usual: str, value: str
) -> None:
    runs = [run("a"), run("b", **change), run("c")]
    with pytest.raises(SagoError) as caught:
        check(runs)
    said = str(caught.value)
    assert "\n" not in said
    assert f"made: {FIELDS[field]}: a has " in said
    assert usual in said.partition("b has")[0]
    assert f"b has {value}" in said
    assert "--allow-mixed" in said


@pytest.mark.parametrize(("field", "change", "usual", "value"), CHANGES)
def test_a_difference_may_be_marked(field: str, change: dict[str, Any], usual: str, value: str) -> None:
    mixed, notes = check([run("a"), run("b", **change), run("c")], allow_mixed=True)
    assert mixed == {("made", "b")}
    (note,) = notes
    assert note.startswith("made: b is marked as mixed: ")
    assert FIELDS[field] in note
    assert value in note


def test_packages_and_batches_may_differ() -> None:
    other = run("b", versions={"torch": "9"}, said=described(batch_size="64", device="cuda"))
    assert check([run("a"), other]) == (frozenset(), ())


def test_order_in_a_mapping_is_no_difference() -> None:
    turned = {"until": [], "max_gen_toks": 32, "do_sample": False}
    assert check([run("a"), run("b", generation=turned)]) == (frozenset(), ())


def test_tasks_are_compared_each_for_itself() -> None:
    other = replace(run("b", seed=1), task="another")
    assert check([run("a"), other]) == (frozenset(), ())


def test_the_most_common_value_is_the_reference() -> None:
    runs = [run("a", seed=1), run("b"), run("c"), run("d", seed=2)]
    mixed, notes = check(runs, allow_mixed=True)
    assert mixed == {("made", "a"), ("made", "d")}
    assert all("not 42" in note for note in notes)
    with pytest.raises(SagoError, match="b has 42, a has 1"):
        check(runs)


def test_what_an_interface_does_not_state_is_not_compared() -> None:
    said = {"class": "LocalCompletionsAPI", "backend": "text"}
    assert check([run("a"), run("b", said=said)]) == (frozenset(), ())


def test_a_line_says_what_the_signature_says() -> None:
    """The whole signature is the outside value."""
    whole = Signature(**signature("made", 10, 6, pack="e" * 64, template=True))
    read = of_text(str(whole))
    assert read["pack"] == whole.pack[:16]
    for name, value in read.items():
        if name != "pack":
            assert value == getattr(whole, name), name
    assert set(FIELDS) - set(read) == {
        "recipe_digest", "generation", "prompts", "scoring", "measures", "dtype", "quantised",
    }  # fmt: skip
    assert of_text(str(replace(whole, pack="")))["pack"] == ""


def test_without_results_the_records_are_compared(tmp_path: Path) -> None:
    """Other documents are other variants; a results file on one side is enough to see it."""
    (first,) = write_runs(tmp_path, models=["a"], tasks=1, documents=2, variants=3)
    (second,) = write_runs(tmp_path, models=["b"], tasks=1, documents=3, variants=3)
    (third,) = write_runs(tmp_path, models=["c"], tasks=1, documents=2, variants=3)
    for path in (second, third):
        (path.parent / f"results_{TIME}.json").unlink()
    read_table(find_runs([first.parent, third.parent]))
    with pytest.raises(SagoError, match=r"made00: variants: a has .* \(2 documents\), b has .* \(3 doc"):
        read_table(find_runs([tmp_path]))
    table = read_table(find_runs([tmp_path]), allow_mixed=True)
    assert table.load("made00").mixed == (False, True, False)
    mixed, *unchecked = table.notes
    assert "b is marked as mixed" in mixed
    assert [note.split(", and it is")[0] for note in unchecked] == [
        f"made00: {model} has no results file beside its records" for model in "bc"
    ]
    assert all("generation arguments, prompts" in note for note in unchecked)
    assert "made00: b is marked as mixed" in table.notes[0]


def test_models_that_are_not_chosen_do_not_matter(tmp_path: Path) -> None:
    write_runs(tmp_path, models=["a", "b"], tasks=1, documents=2, variants=3)
    write_runs(tmp_path, models=["c"], tasks=1, documents=3, variants=3)
    assert read_table(find_runs([tmp_path]), models=["a", "b"]).models == ("a", "b")
