"""What ``sago gate`` writes when something is wrong: one line, one exit status, and no file."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import threading
from pathlib import Path

import pytest
import yaml

from sago_harness.cli.main import main
from sago_harness.errors import SagoError
from sago_harness.gate.check import check
from sago_harness.gate.init import write_policy
from sago_harness.gate.level import check_level
from sago_harness.gate.policy import Policy
from tests.gate.made_gate import policy, run, task_table
from tests.runs.made_runs import write_runs

FIRM = "rules:\n  - {metric: sago, min: 0.3}\n  - {metric: flip, max: 0.4}\n"
LONG = "n" * 300


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("runs")
    for name, tasks in {"new": ["p", "q"], "old": ["p"]}.items():
        write_runs(folder / name, models=["m"], tasks=tasks, documents=60, variants=6, levels=0.4)
    return folder


@pytest.fixture(autouse=True)
def _outside_github(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("GITHUB_ACTIONS", "GITHUB_STEP_SUMMARY"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def firm(tmp_path: Path) -> str:
    (tmp_path / "p.yaml").write_text(FIRM)
    return str(tmp_path / "p.yaml")


def refused(words: list[str], capsys: pytest.CaptureFixture[str]) -> str:
    assert main(words) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert re.fullmatch("sago: error: [^\n]+\n", err), err
    return err


@pytest.mark.parametrize("github", [False, True])
@pytest.mark.parametrize("hostile", ["a\n::add-mask::b", "a\r::error::b", "a\x1b[2Jb", "a\u2028::error::b"])
def test_no_name_is_a_command_on_the_error_stream(
    hostile: str, github: bool, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    if github:
        monkeypatch.setenv("GITHUB_ACTIONS", "true")
    assert main(["gate", hostile, "--policy", hostile]) == 2
    err = capsys.readouterr().err
    assert len(err.splitlines()) == 1
    assert err[:-1].isprintable()
    with pytest.raises(SystemExit) as caught:
        main(["gate", "new", f"--no{hostile}"])
    assert caught.value.code == 2
    assert not [line for line in capsys.readouterr().err.splitlines() if line.strip().startswith("::")]


def test_the_old_form_of_a_command_is_broken_up(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    assert main(["##[add-mask]a"]) == 2
    assert "##[" not in capsys.readouterr().err


@pytest.mark.parametrize(
    "words",
    [
        ["gate", "{runs}/new", "--policy", "{firm}", "--json", LONG],
        ["gate", "{runs}/new", "--policy", "{firm}", "--junit", f"{LONG}/x"],
        ["gate", "{runs}/new", "--policy", LONG],
        ["gate", LONG, "--policy", "{firm}"],
        ["gate", "{runs}/new", "--policy", "{firm}", "--baseline", LONG],
        ["gate", "{runs}/new", "--init", "--policy", LONG],
        ["gate", "{runs}/new", "--init", "--policy", "{tmp}/no/p.yaml"],
        ["report", "{runs}/new", "--without-documents", "--out", f"{LONG}.html"],
    ],
)
def test_what_cannot_be_used_is_told_in_one_line(
    words: list[str],
    runs: Path,
    firm: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    refused([word.format(runs=runs, firm=firm, tmp=tmp_path) for word in words], capsys)
    assert [path.name for path in tmp_path.iterdir()] == ["p.yaml"]


def test_an_error_of_the_program_is_no_verdict(
    runs: Path, firm: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> None:
        raise RuntimeError("odd\n  ::add-mask::x\n##[error]y")

    monkeypatch.setattr("sago_harness.gate.check.check", broken)
    assert main(["gate", str(runs / "new"), "--policy", firm]) == 70
    err = capsys.readouterr().err
    assert "Traceback" in err
    assert "RuntimeError: odd" in err
    assert not [line for line in err.splitlines() if line.strip().startswith("::") or "##[" in line]


def test_a_reader_who_leaves_does_not_change_the_verdict(runs: Path, tmp_path: Path) -> None:
    (tmp_path / "p.yaml").write_text("rules: [{metric: sago_core, min: 0.9}]")
    code = "from sago_harness.cli.main import main; import sys; sys.exit(main(sys.argv[1:]))"
    reading, writing = os.pipe()
    os.close(reading)
    words = [sys.executable, "-c", code, "gate", str(runs / "new"), "--policy", str(tmp_path / "p.yaml")]
    with os.fdopen(writing, "wb") as closed:
        assert subprocess.run(words, stdout=closed, check=False).returncode == 1


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (f"level: 1.0e-9\n{FIRM}", "'level': 1e-09 is too small: 0.0001 is the least"),
        (f"level: 1e-9\n{FIRM}", "must be a number, it is a text: write 0.000000001"),
        (f"level: 1e-99999999\n{FIRM}", "must be a number, it is a text"),
        ('rules: !!int ""', "cannot be read: a value is not of the kind that its tag"),
        ("rules: !!timestamp foo", "cannot be read: a value is not of the kind that its tag"),
        ("rules: [{metric: sago, min: 0.1, task: []}]", "rule 1: 'task': names no data set"),
        ("rules: [{metric: sago, min: 0.1, task: ' '}]", "rule 1: 'task': names no data set"),
        (
            "rules: [{metric: sago, min: 0.1, operator: typos}, "
            "{metric: sago, min: 0.1, operator: noise/typos}]",
            "rule 2 asks for the same as rule 1",
        ),
    ],
)
def test_what_is_no_policy(text: str, said: str) -> None:
    with pytest.raises(SagoError) as caught:
        Policy.of(text)
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 300


def test_operators_of_two_families_are_two() -> None:
    rules = [{"metric": "sago", "min": 0.1, "operator": f"{family}/typos"} for family in ("noise", "style")]
    assert len(Policy.of({"rules": rules}).rules) == 2


def test_a_level_is_shared_by_what_can_be_drawn() -> None:
    """Ten of a million draws lie beyond a bound at .00001."""
    check_level(0.0001, 10)
    check_level(0.05, 5000)
    with pytest.raises(SagoError, match=r"write 0\.0011 or more, or ask for at most 10$"):
        check_level(0.0001, 110)
    many = [{"metric": f"m{i}", "max": 0.5} for i in range(11)]
    with pytest.raises(SagoError, match="shared by 11 tests"):
        Policy.of({"level": 0.0001, "rules": many})


def test_data_sets_count_as_tests(runs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rules = [{"metric": "sago", "min": 0.1}, {"metric": "x_act", "max": 0.9}] + [
        {"metric": name, "max": 0.9} for name in ("flip", "empty", "truncated", "stock")
    ]
    (tmp_path / "p.yaml").write_text(yaml.safe_dump({"level": 0.0001, "rules": rules}))
    words = ["gate", str(runs / "new"), "--policy", str(tmp_path / "p.yaml")]
    assert "shared by 12 tests" in refused(words, capsys)


def test_with_exit_status_2_there_are_no_files(
    runs: Path, firm: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(tmp_path))
    words = ["gate", str(runs / "new"), "--policy", firm]
    words += ["--json", str(tmp_path / "x.json"), "--junit", str(tmp_path / "x.xml")]
    refused(words, capsys)
    assert [path.name for path in tmp_path.iterdir()] == ["p.yaml"]


@pytest.mark.parametrize("link", ["", "symbolic", "hard"])
@pytest.mark.parametrize("flag", ["--json", "--junit", "GITHUB_STEP_SUMMARY"])
def test_what_is_read_is_not_written(
    link: str,
    flag: str,
    runs: Path,
    firm: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for read in (Path(firm), next((runs / "new").rglob("*.parquet"))):
        before, target = read.read_bytes(), read
        if link:
            target = read.with_name(f"link to {read.name}")
            target.symlink_to(read) if link == "symbolic" else target.hardlink_to(read)
        words = ["gate", str(runs / "new"), "--policy", firm]
        if flag.startswith("--"):
            words += [flag, str(target)]
        else:
            monkeypatch.setenv(flag, str(target))
        assert "is read by this call" in refused(words, capsys)
        assert read.read_bytes() == before
        if link:
            target.unlink()


def test_a_verdict_into_a_pipe(runs: Path, firm: str, tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    got: list[str] = []
    reader = threading.Thread(target=lambda: got.append(pipe.read_text()), daemon=True)
    reader.start()
    assert main(["gate", str(runs / "new"), "--policy", firm, "--json", str(pipe)]) == 0
    assert pipe.is_fifo()
    reader.join(timeout=30)
    assert json.loads(got[0])["verdict"] == "pass"


@pytest.mark.parametrize("more", [["--policy", "{firm}"], ["--init"]])
def test_a_model_of_no_baseline(
    more: list[str], runs: Path, firm: str, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["gate", str(runs / "new"), *(word.format(firm=firm) for word in more), "--baseline-model", "m"]
    assert "--baseline-model names a model of a baseline" in refused(words, capsys)


def test_margins_are_of_the_shared_data_sets(
    runs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["--policy", str(tmp_path / "p.yaml"), "--baseline", str(runs / "old")]
    assert main(["gate", str(runs / "new"), "--init", *words]) == 0
    rules = yaml.safe_load((tmp_path / "p.yaml").read_text())["rules"]
    margins = [rule for rule in rules if "margin" in rule]
    assert margins
    assert all(rule["task"] == ["p"] for rule in margins)
    assert main(["gate", str(runs / "new"), *words]) in (0, 1, 3)


def labels(text: str) -> dict[tuple[str, str], str]:
    """Return what stands above each rule, by metric and whether it is a margin."""
    found = {}
    for said, rule in re.findall(r"((?:^  # now .*\n)*)(^  - metric.*\n(?:^    .*\n)+)", text, re.M):
        (made,) = yaml.safe_load(rule)
        found[made["metric"], "margin" if "margin" in made else ""] = said
    return found


def test_rules_that_do_not_pass_now_say_so() -> None:
    new, old = run(task_table(level=0.8)), run(task_table(model="old", level=0.3, seed=1))
    text = write_policy(new, old)
    found, made = labels(text), Policy.of(text)
    results = check(made, new, old).rules
    assert len(found) == len(results) == len(made.rules)
    for rule, result in zip(made.rules, results, strict=True):
        said = found[rule.metric, rule.kind if rule.compares else ""]
        assert said.startswith(f"  # now {result.verdict} on p: ") == (result.verdict != "pass"), rule
        assert bool(said) == (result.verdict != "pass"), rule
    assert {result.verdict for result in results} > {"pass"}


def test_runs_that_are_unlike_are_labelled() -> None:
    changed = {"shots": 3, "prompts": "other", "decoding": "other"}
    old = run(task_table(model="old", changes=changed, documents=60))
    found = labels(write_policy(run(task_table()), old))
    margins = [said for (_, kind), said in found.items() if kind]
    assert margins
    assert all("now refused: " in said for said in margins)


def test_few_scored_documents_are_few() -> None:
    from dataclasses import replace

    import numpy as np

    table = task_table(documents=60)
    distances = {name: values.copy() for name, values in table.distances.items()}
    for values in distances.values():
        values[:, 30:] = np.nan
    text = write_policy(run(task_table("q"), replace(table, distances=distances)))
    assert "# p: 60 documents, 30 of them scored\n  # (under 40 scored: rules on its scores are" in text
    assert "# q: 60 documents, 60 of them scored" in text
    assert text.count("(under 40") == 1


def test_a_policy_is_not_said_to_be_met() -> None:
    text = write_policy(run(task_table()))
    assert "Every max and min" in text
    assert check(policy(*yaml.safe_load(text)["rules"]), run(task_table())).verdict == "pass"
