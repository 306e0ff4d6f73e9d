"""The commands of runs as the report rebuilds them: the host reads back what was saved, and no secret."""

from __future__ import annotations

import json
import shlex
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from sago_harness.cli.run import _parse
from sago_harness.report.page.commands import _word, command_of, commands_table, rebuilt_commands
from sago_harness.report.page.masks import HIDDEN, masked
from sago_harness.report.page.page import build
from sago_harness.report.study import Study, read_study
from sago_harness.report.tables import as_csv
from sago_harness.runs.find import RunFile
from sago_harness.stats.resampling import Settings
from tests.report.test_page import Page, unpacked
from tests.runs.made_runs import write_runs

SEEDS = {"random_seed": 0, "numpy_seed": 1234, "torch_seed": None, "fewshot_seed": 7}

#: What the host writes into a results file, as far as it says how the run was made.
SAVED: dict[str, Any] = {
    "config": {
        "model": "sago-hf",
        "model_args": {"pretrained": "smollm2", "dtype": "float32", "trust_remote_code": True},
        "batch_size": "32",
        "device": "cpu",
        "limit": 12.0,
        "gen_kwargs": {"max_gen_toks": 32, "temperature": 0.5, "until": ["\n\n", "Q: 'x', y"]},
        **SEEDS,
    },
    "configs": {
        name: {
            "metadata": {
                "version": 1.0,
                "pretrained": "smollm2",
                "dtype": "float32",
                "trust_remote_code": True,
                "documents": 40,
                "recipe": "default",
                "config_source": f"/somewhere/{name}.yaml",
                "sago": {"signature": {"template": True}},
            }
        }
        for name in ("sago_demo_facts", "sago_demo_reasoning")
    },
    "n-shot": {"sago_demo_facts": 2, "sago_demo_reasoning": 2},
    "n-samples": {"sago_demo_facts": {"original": 40, "effective": 40}},
    "chat_template": "{{ messages }}",
    "fewshot_as_multiturn": False,
    "system_instruction": 'Be brief, it\'s "late".',
}


def read_back(saved: Mapping[str, Any]) -> Any:
    """Let the host's own parser read the command."""
    parts, _ = command_of(saved)
    words = shlex.split(" ".join(parts))
    assert words[:2] == ["sago", "run"]
    return _parse(words[2:])


def test_the_host_reads_back_what_it_saved() -> None:
    args = read_back(SAVED)
    config = SAVED["config"]
    for name in ("model", "model_args", "gen_kwargs", "batch_size", "device", "limit"):
        assert getattr(args, name) == config[name], name
    assert args.tasks == ["sago_demo_facts", "sago_demo_reasoning"]
    assert args.seed == list(SEEDS.values())
    assert args.num_fewshot == 2
    assert args.apply_chat_template is True
    assert args.fewshot_as_multiturn is False
    assert args.system_instruction == SAVED["system_instruction"]
    assert args.metadata == {"documents": 40, "recipe": "default"}
    assert args.log_samples is True
    assert args.output_path == "runs"


@pytest.mark.parametrize(
    "value",
    ["plain", "a b", "a,b", "a=b", "1", "1e5", "nan", "None", "true", "0x1f", "...", "it's", 'say "x"',
     "模型", "{x}", "[1]", "$HOME `id` $(id)", "~/m", "../m", "-x", "", 7, -1, 0.25, 1e-9, True, False, None,
     [1, "a"], {"b": {"c": 1}}],
)  # fmt: skip
def test_every_argument_comes_back_as_it_was(value: Any) -> None:
    given = {"pretrained": "m", "value": value}
    args = read_back({"config": {"model": "hf", "model_args": given, "gen_kwargs": given}, "configs": {}})
    assert args.model_args == given
    assert args.gen_kwargs == given


def test_what_is_not_saved_is_not_made_up() -> None:
    parts, notes = command_of({"config": {"model": "dummy", "device": "cuda:0"}, "configs": {"t": {}}})
    assert " ".join(parts) == "sago run --model dummy --tasks t --log_samples --output_path runs"
    assert notes == ()
    for strange in ({}, {"config": [1], "configs": "x", "n-shot": 3, "n-samples": []}):
        assert command_of(strange)[0] == ("sago run", "--log_samples", "--output_path runs")


def test_what_cannot_be_known_is_told() -> None:
    saved = {
        "config": {"model": "hf"},
        "configs": {"a": {}, "b": {}},
        "n-shot": {"a": 0, "b": 5},
        "n-samples": {"a": {"original": 100, "effective": 10}},
    }
    parts, notes = command_of(saved)
    assert "num_fewshot" not in " ".join(parts)
    assert any("numbers of examples" in note for note in notes)
    assert any("--samples" in note for note in notes)


def test_older_files_hold_the_arguments_as_text() -> None:
    text = "pretrained=org/m,dtype=float32,token=hf_0123456789abcdef01"
    parts, _ = command_of({"config": {"model": "hf", "model_args": text}, "configs": {}})
    assert shlex.split(" ".join(parts))[5] == "pretrained=org/m,dtype=float32,token=***"


SECRETS: tuple[tuple[str, Any], ...] = (
    ("token", "5ecret"), ("api_key", "5ecret"), ("apiKey", "5ecret"), ("OPENAI_API_KEY", "5ecret"),
    ("hf_token", "5ecret"), ("use_auth_token", "5ecret"), ("password", 5), ("access_key_id", "5ecret"),
    ("client_secret", "5ecret"), ("header", {"Authorization": "Bearer 5ecret", "X-Api-Key": "5ecret"}),
    ("header", ["Authorization: Bearer 5ecret"]), ("base_url", "https://me:5ecret@host/v1"),
    ("base_url", "https://host/v1?api_key=5ecret&x=1"), ("name", "hf_5ecret6789abcdef0123"),
    ("name", "sk-proj-5ecret6789abcdef"), ("name", "ghp_5ecret6789abcdef0123"),
    ("name", "AKIA5ECRET6789ABCDEF"), ("name", "eyJhbGciOiJIUzI1NiJ9.5ecretpayload.sig"),
    ("pass", "5ecret"), ("session_id", "5ecret"), ("jwt", "5ecret"), ("sas", "5ecret"),
    ("base_url", "https://host/v1?a=b&session=5ecret"), ("base_url", "https://me:pw/5ecret@host/v1"),
    ("model_args", "pretrained=x,token=5ecret,dtype=float32"), ("header", ["authorization: BEARER 5ecret"]),
)  # fmt: skip

HARMLESS: tuple[tuple[str, Any], ...] = (
    ("max_gen_toks", 32), ("max_tokens", 32), ("max_new_tokens", 8), ("eos_token", "</s>"),
    ("add_bos_token", True), ("think_end_token", "</think>"), ("pad_token_id", 0), ("tokenizer", "gpt2"),
    ("tokenized_requests", False),
    ("token", True), ("token", None), ("pretrained", "org/task-level-model"), ("pretrained", "hf_models/a"),
    ("base_url", "http://localhost:8000/v1"), ("author", "me"), ("bypass", "x"), ("passes", 3),
    ("model_args", "pretrained=x,add_bos_token=True,eos_token=</s>,max_tokens=8,use_auth_token=True"),
    ("until", "key = value, a=b"),
)  # fmt: skip


@pytest.mark.parametrize(("name", "value"), SECRETS)
def test_secrets_are_masked(name: str, value: Any) -> None:
    saved = {"config": {"model": "hf", "model_args": {name: value}, "gen_kwargs": {"deep": [{name: value}]}},
             "configs": {"t": {"metadata": {name: value, "more": {name: value}}}}}  # fmt: skip
    text = " ".join(command_of(saved)[0])
    assert HIDDEN in text
    assert "5ecret" not in text.lower()
    assert masked({name: value}) != {name: value}


@pytest.mark.parametrize(("name", "value"), HARMLESS)
def test_what_only_sounds_like_a_secret_stays(name: str, value: Any) -> None:
    assert masked({name: value}) == {name: value}


def test_words_with_what_cannot_be_seen_are_what_a_shell_reads() -> None:
    bash = shutil.which("bash")
    if bash is None:
        pytest.skip("there is no bash")
    for text in (
        "one\ntwo",
        "tab\there",
        "a\u202eb\u2066c",
        "it's \\n no break\n",
        "\x1b[2J",
        "\xa0\u200b",
        "\U000e0041",
        "模型\n",
    ):
        word = _word(text)
        assert word.isprintable()
        made = subprocess.run(
            [bash, "-c", f"printf %s {word}"], env={"LC_ALL": "C.UTF-8"}, capture_output=True, check=True
        )
        assert made.stdout.decode() == text
    assert _word("half \ud800") == r"$'half \ud800'"


@pytest.fixture
def study(tmp_path: Path) -> Study:
    write_runs(tmp_path, models=["one", 'a" onmouseover="x'], tasks=["p", "q"], documents=6, variants=6)
    for path in tmp_path.glob("*/results_*.json"):
        content = json.loads(path.read_text())
        content["config"]["model_args"] |= {
            "token": "hf_5ecret6789abcdef0123",
            "note": "<img src=x onerror=alert(1)>",
        }
        path.write_text(json.dumps(content))
    return read_study([tmp_path], Settings(resamples=99), with_texts=False)


def test_the_report_has_a_command_for_each_run(study: Study) -> None:
    made = rebuilt_commands(study)
    assert [one.models for one in made] == [('a" onmouseover="x',), ("one",)]
    assert all(one.tasks == ("p", "q") for one in made)
    text = build(study, drawn=[])
    assert "5ecret" not in text
    page = Page(text)
    assert not page.stray
    shown = page.by_id("origin")
    for one in made:
        assert shlex.split(str(one)) == shlex.split(" ".join(one.parts))
        assert " \\\n  ".join(one.parts) in shown
    assert "Rebuilt from what each run saved" in shown
    (stored,) = [one for one in unpacked(page, "tables").values() if one["file"] == "commands.csv"]
    assert stored["csv"] == as_csv(commands_table(made))
    assert "5ecret" not in json.dumps(unpacked(page, "tables"))


def test_a_run_without_a_results_file_says_so(tmp_path: Path) -> None:
    write_runs(tmp_path, models=["one"], tasks=["p"], documents=6, variants=6)
    next(tmp_path.glob("one/results_*.json")).unlink()
    study = read_study([tmp_path], Settings(resamples=99), with_texts=False)
    (one,) = rebuilt_commands(study)
    assert one.parts == ()
    assert "there is no results file" in one.notes[0]
    assert one.notes[0] in Page(build(study, drawn=[])).by_id("origin")


def test_a_results_file_that_was_changed_meanwhile_says_so(tmp_path: Path, study: Study) -> None:
    broken = tmp_path / "results.json"
    broken.write_text("{")
    run = RunFile("one", "p", tmp_path / "x.parquet", "", broken)
    (one,) = rebuilt_commands(Study(study.found, {("p", "one"): run}))
    assert one.parts == ()
    assert "cannot be read" in one.notes[0]
