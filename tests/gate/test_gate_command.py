"""``sago gate`` as a user calls it."""

from __future__ import annotations

import json
import re
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import pytest
import yaml

from sago_harness.cli.main import main
from tests.runs.made_runs import write_runs

PAGE = Path(__file__).parents[2] / "docs" / "gate.md"


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("runs")
    write_runs(folder / "new", models=["m"], tasks=["p", "q"], documents=60, variants=6, levels=0.4)
    write_runs(
        folder / "old",
        models=["m"],
        tasks=["p", "q"],
        documents=60,
        variants=6,
        levels=0.4,
        seed=1,
        prompts="bb",
    )
    write_runs(folder / "worse", models=["m"], tasks=["p", "q"], documents=60, variants=6, levels=0.8, seed=2)
    write_runs(folder / "small", models=["m"], tasks=["p"], documents=20, variants=6)
    write_runs(folder / "two", models=["m", "n"], tasks=["p"], documents=60, variants=6)
    return folder


@pytest.fixture(autouse=True)
def _outside_github(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("GITHUB_ACTIONS", "GITHUB_STEP_SUMMARY"):
        monkeypatch.delenv(name, raising=False)


def write(path: Path, text: str) -> str:
    path.write_text(text, encoding="utf-8")
    return str(path)


FIRM = "rules:\n  - {metric: sago, min: 0.3}\n  - {metric: flip, max: 0.4}\n"


@pytest.mark.parametrize(
    ("rules", "status", "said"),
    [
        (FIRM, 0, "PASS: m: 4 pass"),
        ("rules: [{metric: sago_core, min: 0.9}]", 1, "FAIL: m: 2 fail"),
        ("rules: [{metric: sago_cor, min: 0.9}]", 2, ""),
        ("rules: [{metric: empty, max: 0.01}]", 3, "UNDECIDED: m: 2 undecided"),
        ("undecided: allow\nrules: [{metric: empty, max: 0.01}]", 0, "PASS: m: 2 undecided"),
    ],
)
def test_the_four_outcomes(
    rules: str, status: int, said: str, runs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = write(tmp_path / "policy.yaml", rules)
    files = ["--json", str(tmp_path / "gate.json"), "--junit", str(tmp_path / "gate.xml")]
    assert main(["gate", str(runs / "new"), "--policy", path, *files]) == status
    out, err = capsys.readouterr()
    assert said in out
    if status == 2:
        assert re.fullmatch(r"sago: error: .*policy.yaml line 1: rule 1.*did you mean sago_core.*\n", err)
        assert not (tmp_path / "gate.json").exists(), "no verdict, no file"
        assert not (tmp_path / "gate.xml").exists()
        return
    assert "sago gate|model:m|level:0.05" in out
    assert json.loads((tmp_path / "gate.json").read_text())["exit_status"] == status
    assert ET.parse(tmp_path / "gate.xml").getroot().get("tests") in ("2", "4")
    assert not list(tmp_path.glob("*.part"))


def test_a_changed_template_against_the_baseline(
    runs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rules = "treatment: template\nrules: [{metric: sago_core, margin: 0.15}, {metric: flip, margin: 0.15}]"
    path = write(tmp_path / "policy.yaml", rules)
    words = ["gate", str(runs / "new"), "--policy", path, "--baseline", str(runs / "old")]
    assert main(words) == 0
    assert "treatment template: prompts: bb -> 996f7d75105b2c4e\n" in capsys.readouterr().out
    worse = ["gate", str(runs / "worse"), *words[2:]]
    assert main(worse) == 1
    assert "FAIL: m against m: " in capsys.readouterr().out
    write(tmp_path / "policy.yaml", rules.replace("template", "model"))
    assert main(words) == 2
    assert "prompts differs, which treatment model does not change" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["{runs}/new"], "--policy FILE is missing"),
        (["{runs}/none", "--policy", "{policy}"], "there is no folder or file"),
        (["{runs}/new", "--policy", "{policy}.none"], "cannot be read: No such file"),
        (["{runs}/two", "--policy", "{policy}"], "the run holds 2 models (m, n): choose one with --model"),
        (["{runs}/two", "--policy", "{policy}", "--model", "o"], "unknown model 'o'"),
        (["{runs}/new", "--policy", "{policy}", "--json", "{tmp}/no/gate.json"], "cannot be written"),
        (["{runs}/new", "--policy", "{policy}", "--junit", "{tmp}"], "cannot be written"),
        (["{runs}/new", "--policy", "{policy}", "--junit", "{tmp}/a", "--json", "{tmp}/a"], "both name"),
        (["{runs}/new", "--init", "--policy", "{policy}"], "is there already"),
        (["{runs}/new", "--init", "--json", "{tmp}/a"], "--json holds a verdict"),
    ],
)
def test_bad_input_is_one_line(
    words: list[str], said: str, runs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = write(tmp_path / "policy.yaml", FIRM)
    before = sorted(tmp_path.iterdir())
    assert main(["gate", *(word.format(runs=runs, policy=path, tmp=tmp_path) for word in words)]) == 2
    out, err = capsys.readouterr()
    assert err.startswith("sago: error: ")
    assert err.count("\n") == 1
    assert said in err
    assert out == ""
    assert sorted(tmp_path.iterdir()) == before


def test_one_of_several_models(runs: Path, tmp_path: Path) -> None:
    path = write(tmp_path / "policy.yaml", FIRM)
    assert main(["gate", str(runs / "two"), "--policy", path, "--model", "n"]) == 0


def test_a_policy_from_a_run_is_met_by_it(
    runs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "policy.yaml"
    assert main(["gate", "--init", str(runs / "new"), "--policy", str(path)]) == 0
    assert main(["gate", "--init", str(runs / "new")]) == 0
    text = capsys.readouterr().out.partition("\n")[2]
    assert text == path.read_text().replace(str(path), "policy.yaml")
    content = yaml.safe_load(text)
    assert {(rule["metric"], rule["task"]) for rule in content["rules"]} >= {
        (metric, task) for metric in ("sago", "acc", "flip", "empty", "stock", "unscored") for task in "pq"
    }
    assert main(["gate", str(runs / "new"), "--policy", str(path)]) == 0
    # Every line of a commented rule is a rule once its mark is gone.
    full = re.sub(r"(?m)^  # (- metric|  (?:max|min|margin|task))", r"  \1", text).replace(
        "# treatment", "treatment"
    )
    assert "margin" in {key for rule in yaml.safe_load(full)["rules"] for key in rule}


def test_a_policy_with_a_baseline_names_the_treatment(
    runs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "policy.yaml"
    words = ["--policy", str(path), "--baseline", str(runs / "old")]
    assert main(["gate", "--init", str(runs / "new"), *words]) == 0
    content = yaml.safe_load(path.read_text())
    assert content["treatment"] == "template"
    assert {rule["metric"] for rule in content["rules"] if "margin" in rule} == {"sago", "flip"}
    assert main(["gate", str(runs / "new"), *words]) in (0, 3)
    assert "prompts: bb -> 996f" in capsys.readouterr().out


def test_a_small_run_gives_a_policy_that_says_so(runs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["gate", "--init", str(runs / "small")]) == 0
    assert "under 40" in capsys.readouterr().out


HOSTILE = 'p"\n- metric: x\n#\x7f\u202e😀'


def test_hostile_names_in_a_policy_stay_names(tmp_path: Path) -> None:
    from sago_harness.gate.init import write_policy
    from sago_harness.gate.policy import Policy
    from tests.gate.made_gate import run, task_table

    text = write_policy(run(task_table(HOSTILE, model=f"m\nrules: []\n{HOSTILE}")), file="a\nb")
    made = Policy.of(text)
    assert {rule.tasks for rule in made.rules} == {(HOSTILE,)}


def test_on_github(
    runs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(tmp_path / "summary.md"))
    path = write(tmp_path / "policy.yaml", "rules: [{metric: sago_core, min: 0.9, task: p}]")
    assert main(["gate", str(runs / "new"), "--policy", path]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("::stop-commands::")
    assert lines[-2].startswith("::error title=sago gate%3A fail::fail sago_core at least 0.9 on p: ")
    assert lines[-1].startswith("::error title=sago gate::FAIL: m: 1 fail")
    assert "| fail | sago_core at least 0.9 | p |" in (tmp_path / "summary.md").read_text(encoding="utf-8")
    write(tmp_path / "policy.yaml", "rules: [{metric: nothing, min: 0.9}]")
    assert main(["gate", str(runs / "new"), "--policy", path]) == 2
    out = capsys.readouterr().out
    assert out.startswith("::error title=sago gate%3A wrong input::")


def blocks(kind: str) -> list[str]:
    return re.findall(rf"```{kind}\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.S)


def test_the_pages_policies_are_policies() -> None:
    from sago_harness.gate.policy import Policy

    found = blocks("yaml")
    assert found
    for block in found:
        assert Policy.of(block).rules


def test_the_pages_python_runs(runs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(runs)
    write(tmp_path / "policy.yaml", "treatment: template\nrules: [{metric: sago, margin: 0.3}]")
    names: dict[str, Any] = {}
    for block in blocks("python"):
        exec(compile(block.replace("policy.yaml", str(tmp_path / "policy.yaml")), str(PAGE), "exec"), names)
    assert names["result"].exit_status == 0


def test_the_page_has_each_outcome() -> None:
    text = PAGE.read_text(encoding="utf-8")
    assert {int(status) for status in re.findall(r"^\$ echo \$\?\n(\d)$", text, re.M)} == {0, 1, 2, 3}
    assert not re.search(r"/(tmp|work|home)/", text), "no path of anybody's machine"
