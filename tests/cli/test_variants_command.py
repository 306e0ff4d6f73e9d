"""``sago variants build``: what it writes and says, bad input, and how it stops."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from sago_harness.variants.packs.packfile import open_pack
from tests.cli.conftest import Sago, write_jsonl

TASK = "sago_demo_facts"
DOCUMENTS = 24

LIGHT = """
import sys
from sago_harness.cli.main import main
for words in (["variants", "build", "--help"], ["variants", "verify", "--help"]):
    try:
        main(words)
    except SystemExit:
        pass
print("HEAVY", sorted({"torch", "transformers", "lm_eval", "datasets", "scipy", "spacy"} & set(sys.modules)))
"""


def test_build_writes_a_pack_and_says_what_was_made(sago: Sago, tmp_path: Path) -> None:
    out = tmp_path / "p.jsonl"
    done = sago("variants", "build", TASK, "--recipe", "quick", "--seed", "7", "--out", str(out))
    assert done.status == 0
    opened = open_pack(out)
    assert len(opened) == DOCUMENTS
    assert opened.manifest.seed == 7
    assert opened.manifest.task == TASK
    assert opened.manifest.task_version == "1.0"
    assert opened.manifest.sha256 in done.out
    assert re.search(r"^label +structure +24 +0$", done.out, re.M)
    assert done.err == "", "no progress bar where there is no terminal"


def test_workers_and_limit_change_no_line(sago: Sago, tmp_path: Path, built: Path) -> None:
    few = tmp_path / "few.jsonl"
    flags = ("--recipe", "quick", "--limit", "9", "--workers", "2")
    assert sago("variants", "build", TASK, *flags, "--out", str(few)).status == 0
    body = few.read_bytes().split(b"\n", 1)[1]
    assert body.count(b"\n") == 9
    assert set(body.split(b"\n")) <= set(built.read_bytes().split(b"\n"))


def test_documents_are_drawn_as_a_run_draws_them(sago: Sago, tmp_path: Path) -> None:
    from tests.hooks.hosts import build

    out = tmp_path / "p.jsonl"
    assert sago("variants", "build", TASK, "--documents", "5", "--out", str(out)).status == 0
    assert set(open_pack(out).ids) == set(build(TASK, {"documents": 5}).dataset["test"]["sago_id"])


def test_an_existing_file_is_kept_unless_forced(sago: Sago, tmp_path: Path) -> None:
    out = tmp_path / "p.jsonl"
    out.write_text("mine", encoding="utf-8")
    words = ("variants", "build", TASK, "--recipe", "quick", "--limit", "1", "--out", str(out))
    refused = sago(*words)
    assert refused.status == 2
    assert "exists: name another file, or replace it with --force" in refused.error
    assert out.read_text(encoding="utf-8") == "mine"
    assert sago(*words, "--force").status == 0
    assert len(open_pack(out)) == 1


def test_a_users_file_can_be_frozen_with_its_own_variants(sago: Sago, tmp_path: Path) -> None:
    rows = [
        {"id": "b", "prompt": "How many legs has a spider?", "variants": ["A spider has how many legs?"]},
        {"id": "a", "prompt": "Name a river.", "language": "en"},
        {"id": "c", "prompt": "   "},
    ]
    out = tmp_path / "p.jsonl"
    file = write_jsonl(tmp_path / "rows.jsonl", rows)
    assert sago("variants", "build", "local_sago", "--file", str(file), "--out", str(out)).status == 0
    opened = open_pack(out)
    assert opened.ids == ("a", "b", "c")
    (own,) = [variant for variant in opened.get("b").variants if variant.family == "human"]
    assert own.text == "A spider has how many legs?"
    assert opened.get("c").document.reason == "empty_prompt"
    assert len(opened.get("c").variants) == 1


def test_a_library_that_is_missing_is_said_once_with_its_remedy(
    sago: Sago, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from sago_harness.variants.operators import OPERATORS

    monkeypatch.setattr(OPERATORS.load("label"), "requires", ("lemminflect_not_here",))
    recipe = tmp_path / "r.yaml"
    recipe.write_text(
        "name: r\nversion: 1.5\nvariants: [{operator: label}, {operator: case}]\n", encoding="utf-8"
    )
    flags = ("--recipe", str(recipe), "--limit", "4", "--out", str(tmp_path / "p.jsonl"))
    done = sago("variants", "build", TASK, *flags)
    assert done.status == 0
    assert done.out.count("pip install lemminflect_not_here") == 1
    assert re.search(r"^label +structure +0 +4  missing library lemminflect_not_here 4$", done.out, re.M)
    assert open_pack(tmp_path / "p.jsonl").manifest.versions["lemminflect_not_here"] == "not installed"


CASES: dict[str, tuple[list[str], list[str]]] = {
    "task": (["build", "sago_demo_fact", "--out", "{out}"], ["unknown task", "did you mean sago_demo_facts"]),
    "group": (["build", "sago_demo", "--out", "{out}"], ["sago_demo is a group", "sago_demo_reasoning"]),
    "recipe": (
        ["build", TASK, "--recipe", "defualt", "--out", "{out}"],
        ["unknown recipe 'defualt'", "did you mean default"],
    ),
    "operator": (
        ["build", TASK, "--recipe", "{recipe:politenes}", "--out", "{out}"],
        ["unknown operator 'politenes'", "did you mean politeness"],
    ),
    "strength": (
        ["build", TASK, "--recipe", "{recipe:spaces, strength: 77}", "--out", "{out}"],
        ["operator 'spaces' has no strength", "it has"],
    ),
    "folder": (
        ["build", TASK, "--out", "/nowhere/p.jsonl"],
        ["/nowhere/p.jsonl", "its folder does not exist"],
    ),
    "seed": (["build", TASK, "--seed", "-1", "--out", "{out}"], ["variant_seed=-1", "0 or more"]),
    "data": (["build", "local_sago", "--out", "{out}"], ["local_sago", "needs your file"]),
    "language": (
        ["show", "--text", "Wer?", "--language", "e"],
        ["unknown language 'e'", "did you mean en"],
    ),
    "nothing to show": (["show"], ["name a pack or a task", "--text"]),
    "empty text": (["show", "--text", " "], ["--text is empty"]),
    "pack": (["show", "none.jsonl"], ["pack none.jsonl cannot be read"]),
    "document": (["show", TASK, "facts-0l"], ["has no document 'facts-0l'", "did you mean facts-"]),
    "verify": (["verify", "none.jsonl"], ["pack none.jsonl cannot be read"]),
}


@pytest.mark.parametrize("name", CASES)
def test_bad_input_is_one_line_that_helps(sago: Sago, tmp_path: Path, name: str) -> None:
    words, told = CASES[name]
    filled = []
    for word in words:
        if word.startswith("{recipe:"):
            path = tmp_path / "r.yaml"
            entry = word.removeprefix("{recipe:").removesuffix("}")
            path.write_text(f"name: r\nversion: 1\nvariants: [{{operator: {entry}}}]\n", encoding="utf-8")
            word = str(path)
        filled.append(word.replace("{out}", str(tmp_path / "p.jsonl")))
    done = sago("variants", *filled)
    assert done.status == 2
    for part in told:
        assert part in done.error
    assert not (tmp_path / "p.jsonl").exists()


def at_work(group: int) -> list[str]:
    """The processes of a group that have not ended (one that has may wait to be collected)."""
    states = []
    for file in Path("/proc").glob("[0-9]*/stat"):
        try:
            state, _, owner = file.read_text(encoding="utf-8").rpartition(")")[2].split()[:3]
        except OSError:
            continue
        if int(owner) == group and state != "Z":
            states.append(file.parent.name)
    return states


@pytest.mark.skipif(sys.platform != "linux", reason="looks for processes in /proc")
@pytest.mark.parametrize("kind", [signal.SIGTERM, signal.SIGKILL])
def test_a_build_that_is_stopped_leaves_no_file_and_no_process(tmp_path: Path, kind: signal.Signals) -> None:
    rows = [{"prompt": f"Where did people build bridge {k} and when was that? " * 40} for k in range(3000)]
    file = write_jsonl(tmp_path / "rows.jsonl", rows)
    folder = tmp_path / "out"
    folder.mkdir()
    words = ["build", "local_sago", "--file", str(file), "--workers", "2", "--out", str(folder / "p.jsonl")]
    child = subprocess.Popen(
        [sys.executable, "-m", "sago_harness", "variants", *words],
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    deadline = time.monotonic() + 120
    # The build, two workers, and what starts and counts them.
    while len(at_work(child.pid)) < 3 and time.monotonic() < deadline:
        time.sleep(0.1)
    time.sleep(1)
    assert child.poll() is None, "it must still be at work"
    child.send_signal(kind)
    assert child.wait(timeout=60) == (130 if kind == signal.SIGTERM else -signal.SIGKILL)
    while at_work(child.pid) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert not at_work(child.pid)
    assert not list(folder.iterdir())


def test_help_is_light() -> None:
    done = subprocess.run([sys.executable, "-c", LIGHT], capture_output=True, text=True, check=True)
    assert "HEAVY []" in done.stdout
