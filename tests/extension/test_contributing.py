"""The recipes of CONTRIBUTING.md are run as they stand there."""

from __future__ import annotations

import configparser
import doctest
import importlib
import json
import math
import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
import yaml

from sago_harness.axes import MEASURES
from sago_harness.axes.base import Context
from sago_harness.backends import BACKENDS, adapt
from sago_harness.backends.base import Prompt, Response, Wanted
from sago_harness.data import CANONICAL, Document
from sago_harness.errors import SagoError
from sago_harness.hooks.spec import KEYS, read_spec
from sago_harness.registry import Table
from sago_harness.taskfiles import task_files, task_folder
from sago_harness.variants.base import Passage
from sago_harness.variants.build import build
from sago_harness.variants.constraints import CONSTRAINTS
from sago_harness.variants.features import FEATURES
from sago_harness.variants.operators import OPERATORS
from sago_harness.variants.recipe import load_recipe, parse_recipe
from tests.axes.test_measures import response
from tests.variants import test_operators as operator_tests

ROOT = Path(__file__).resolve().parents[2]
TEXT = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
#: Block of a named file -> its content.
BLOCKS = dict(re.findall(r"^(?:File|In) `([^`]+)`:\n\n```\w+\n(.*?)^```$", TEXT, re.M | re.S))
#: Lines for the tables of this project: name -> target.
LINES = {
    name: target
    for block in re.findall(r"^```text\n(.*?)^```$", TEXT, re.M | re.S)
    for name, target in re.findall(r'"(\w+)": f?"([^"]+)",', block)
}
PROJECT = tomllib.loads(BLOCKS["pyproject.toml"])["project"]
TABLES: dict[str, Table[Any]] = {
    table.name: table for table in (OPERATORS, FEATURES, CONSTRAINTS, MEASURES, BACKENDS)
}
GROUPS = {group.removeprefix("sago_harness."): points for group, points in PROJECT["entry-points"].items()}


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that holds the package of the recipes."""
    folder = tmp_path_factory.mktemp("site")
    package = folder / "my_sago"
    package.mkdir()
    (package / "__init__.py").write_text("")
    for path, content in BLOCKS.items():
        if path.endswith(".py") and not path.startswith("tests/"):
            (package / Path(path).name).write_text(content, encoding="utf-8")
    return folder


@pytest.fixture
def entry_points(tmp_path: Path) -> Path:
    """A folder with what pip leaves of the package's entry points.

    Apart from the code: on the path of this process a table would take them in for good.
    """
    info = tmp_path / "installed" / "my_sago-0.1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(
        f"Metadata-Version: 2.1\nName: {PROJECT['name']}\nVersion: {PROJECT['version']}\n"
    )
    points = configparser.ConfigParser()
    points.read_dict(PROJECT["entry-points"])
    with (info / "entry_points.txt").open("w") as handle:
        points.write(handle)
    return info.parent


@contextmanager
def registered(wanted: Mapping[str, Mapping[str, str]]) -> Iterator[None]:
    """Register names for a while; other tests go over the tables as they are."""
    added: list[tuple[Table[Any], str]] = []
    try:
        for table_name, points in wanted.items():
            for name, target in points.items():
                table = TABLES[table_name]
                assert name not in table, f"{name} is in the table by now: the recipe needs another example"
                table.register(name, target)
                added.append((table, name))
        yield
    finally:
        for table, name in added:
            table._targets.pop(name, None)
            table._loaded.pop(name, None)


@pytest.fixture
def tables(site: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Everything of the recipes in its table; gone after the test."""
    monkeypatch.syspath_prepend(str(site))
    with registered(GROUPS):
        yield
    for name in [name for name in sys.modules if name.partition(".")[0] == "my_sago"]:
        del sys.modules[name]


def test_there_is_one_recipe_for_every_table() -> None:
    assert set(GROUPS) == set(TABLES)
    assert {name for points in GROUPS.values() for name in points} == {
        *("smile", "smile_rate", "one_line", "x_length", "remote")
    }


@pytest.mark.parametrize(("name", "target"), sorted(LINES.items()))
def test_a_table_line_points_at_the_file_above_it(name: str, target: str) -> None:
    (group,) = (table for table, points in GROUPS.items() if name in points)
    if "{_HERE}" in target:
        target = target.replace("{_HERE}", next(iter(TABLES[group].values())).rsplit(".", 1)[0])
    module, _, attribute = target.partition(":")
    assert f"class {attribute}(" in BLOCKS[module.replace(".", "/") + ".py"]
    assert GROUPS[group][name].partition(":")[2] == attribute


def test_every_path_that_the_text_names_exists() -> None:
    named = set(re.findall(r"`((?:sago_harness|tests|task_configs|\.ci)/[\w./]*)`", TEXT))
    named |= set(re.findall(r"pytest ([\w/.]+)", TEXT)) | set(re.findall(r"\]\(([\w.]+)\)", TEXT))
    assert len(named) > 30
    assert {path for path in named - set(BLOCKS) if not (ROOT / path).exists()} == set()


def test_every_make_target_and_marker_that_the_text_names_exists() -> None:
    makefile = (ROOT / "Makefile").read_text()
    targets = re.findall(r"^make ([\w-]+)", TEXT, re.M)
    assert targets == ["lint", "test", "test-browser"]
    assert [target for target in targets if not re.search(rf"^{target}:", makefile, re.M)] == []
    options = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["pytest"]["ini_options"]
    assert {mark.partition(":")[0] for mark in options["markers"]} == {"models", "slow", "browser"}


@pytest.mark.usefixtures("tables")
def test_the_tables_know_the_names_and_the_classes_say_the_same() -> None:
    for table, points in GROUPS.items():
        for name, target in points.items():
            loaded = TABLES[table].load(name)
            assert f"{loaded.__module__}:{loaded.__qualname__}" == target
            assert getattr(loaded, "name", name) == name


def test_the_tables_are_as_before() -> None:
    """Clean-up after the tests above, whatever their order."""
    assert not any(name in TABLES[table] for table, points in GROUPS.items() for name in points)


@pytest.mark.usefixtures("tables")
@pytest.mark.parametrize("module", ["smile", "smile_rate", "length", "remote", "one_line"])
def test_docstring_examples(module: str) -> None:
    loaded: ModuleType = importlib.import_module(f"my_sago.{module}")
    found = doctest.testmod(loaded)
    assert found.failed == 0
    assert found.attempted == {"smile": 1, "smile_rate": 1}.get(module, 0)


@pytest.mark.usefixtures("tables")
def test_the_operators_own_test_passes() -> None:
    space = dict(vars(operator_tests))
    exec(compile(BLOCKS["tests/variants/test_operators.py"], "CONTRIBUTING.md", "exec"), space)
    space["test_smile_offers_every_face_after_the_text"]()


@pytest.mark.usefixtures("tables")
def test_the_recipe_makes_the_variant(tmp_path: Path) -> None:
    path = tmp_path / "smile.yaml"
    path.write_text(BLOCKS["smile.yaml"], encoding="utf-8")
    made = build(Document("1", {"question": "Who wrote it?"}), load_recipe(path), seed=0)
    assert [variant.id for variant in made.variants] == [CANONICAL, "smile2", "spaces5@throughout"]
    made_smile = made.variants[1]
    assert made_smile.text in {"Who wrote it? 🙂🙂", "Who wrote it? 😀😀", "Who wrote it? 🙏🙏"}
    assert (made_smile.family, made_smile.feature) == ("register", "smile_rate")
    # Two emoji in 16 characters.
    assert FEATURES.load("smile_rate")().value(made_smile.text) == pytest.approx(100 * 2 / 16)


@pytest.mark.usefixtures("tables")
def test_the_constraint_refuses_a_longer_form_in_a_recipe() -> None:
    constraint = CONSTRAINTS.load("one_line")()
    assert constraint.check(Passage("a\nb"), "b\na").passed
    failed = constraint.check(Passage("a"), "a\nb")
    assert (failed.passed, failed.value, failed.reason) == (False, 1.0, "has more lines")
    content = {
        "name": "t",
        "version": 1,
        "variants": [{"operator": "request", "position": "prefix"}, {"operator": "smile"}],
        "constraints": ["changed", "one_line"],
    }
    # A body that ends without a mark gets the emoji on a new line.
    made = build(Document("1", {"q": "the capital of Peru"}), parse_recipe(content, "t"), seed=0)
    assert ("smile1", "one_line") in {(reject.id, reject.reason) for reject in made.rejects}


@pytest.mark.usefixtures("tables")
def test_the_golden_value_and_the_claims_of_the_measure() -> None:
    (line,) = re.findall(r"^```json\n(.*?)^```$", TEXT, re.M | re.S)
    case = json.loads(line)
    golden = json.loads((ROOT / "tests" / "golden" / "measures.json").read_text(encoding="utf-8"))
    assert set(case) == {"measure", "canonical", "other", "value", "derivation"} <= set(golden[0])
    measure = MEASURES.load(case["measure"])()
    pair = (response(case["canonical"]), response(case["other"]))
    assert measure.distances([pair], Context())[0].value == pytest.approx(case["value"], abs=1e-12)
    # A text and k copies of it are 1 - 1/k apart, in both directions.
    for k in range(1, 6):
        one, copies = Response(text="abc"), Response(text="abc" * k)
        there, back = measure.distances([(one, copies), (copies, one)], Context())
        assert there.value == back.value == pytest.approx(1 - 1 / k, abs=1e-12)
    empty, lost = Response(), Response(reasons={"text": "noop_tokens"})
    values = [s.value for s in measure.distances([(empty, empty), (empty, Response(text="a"))], Context())]
    assert values == [0.0, 1.0]
    missing = measure.distances([(empty, lost)], Context())[0]
    assert math.isnan(missing.value)
    assert missing.reason == "noop_tokens"


class Halving:
    """Writes the same text always and gives each token .5 after a prompt that ends with a dot, else .25."""

    def write(self, prompt: str, gen_kwargs: Mapping[str, Any]) -> tuple[str, list[int]]:
        return ("", []) if prompt == "nothing." else (f"yes {gen_kwargs['max_gen_toks']}", [7, 8, 9])

    def score(self, prompt: str, ids: list[int]) -> tuple[list[float], list[float]]:
        chance = 0.5 if prompt.endswith(".") else 0.25
        return [math.log(chance)] * len(ids), [1.0] * len(ids)


@pytest.mark.usefixtures("tables")
def test_the_backend_is_chosen_and_gives_what_the_measures_need() -> None:
    backend = adapt(Halving())
    assert type(backend).__name__ == "RemoteBackend"
    kwargs = {"max_gen_toks": 3}
    texts = [["Who.", "Who!", "Where."], ["nothing.", "Nothing"]]
    prompts = [[Prompt(t, "variant" if k else "canonical", kwargs) for k, t in enumerate(d)] for d in texts]
    steps: list[tuple[int, str]] = []
    answers = dict(backend.run(prompts, Wanted(), lambda count, step: steps.append((count, step))))
    assert steps == [(3, "generate"), (3, "force"), (2, "generate"), (2, "force")]
    assert [len(answers[index]) for index in (0, 1)] == [3, 2]
    canonical, louder, other = answers[0]
    assert canonical.text == "yes 3"
    assert louder.forced_logprob is not None
    assert louder.forced_logprob.dtype == np.float32
    assert len({r.prompt_ids_digest for r in answers[0]}) == 3
    scored = {
        name: MEASURES.load(name)().distances([(canonical, louder), (canonical, other)], Context())
        for name in ("x_prob", "x_ent", "x_act")
    }
    # Every token's probability halves: 1 - .25 / .5.
    assert [s.value for s in scored["x_prob"]] == pytest.approx([0.5, 0.0], abs=1e-6)
    assert [s.value for s in scored["x_ent"]] == [0.0, 0.0]
    assert {s.reason for s in scored["x_act"]} == {"no_hidden_states"}
    assert {r.reasons["forced"] for r in answers[1]} == {"empty_canonical"}
    assert adapt(type("Plain", (), {"generate_until": None})()).describe()["backend"] == "text"


def parsed(folder: Path, path: str) -> dict[str, Any]:
    """Write a task's YAML as the text says and read it with its includes."""
    target = folder / path.removeprefix("task_configs/")
    target.parent.mkdir(parents=True)
    target.write_text(BLOCKS[path], encoding="utf-8")
    (folder / "_sago.yaml").write_bytes((task_folder() / "_sago.yaml").read_bytes())
    return task_files(folder)[target.stem].config


def test_the_data_sets_yaml_has_the_needed_keys(tmp_path: Path) -> None:
    config = parsed(tmp_path, "task_configs/sciq/sago_sciq.yaml")
    assert config["class"] == "sago_harness.hooks.task.SagoTask"
    assert {"dataset_path", "test_split", "doc_to_text", "doc_to_target", "generation_kwargs"} <= set(config)
    assert len(BLOCKS["task_configs/sciq/sago_sciq.yaml"].splitlines()) <= 12
    spec = read_spec(config)
    assert not set(KEYS) & set(config)
    assert [vary.field for vary in spec.vary] == ["question"]
    assert (spec.documents, spec.answers, spec.match) == (16, "answer", "contains")
    assert spec.local["folder"] == "sciq"
    assert spec.vary[0].field in spec.columns
    assert spec.answers in spec.columns


def test_the_data_set_is_built_from_a_local_copy(tmp_path: Path) -> None:
    from tests.hooks.hosts import build as build_task

    parsed(tmp_path / "tasks", "task_configs/sciq/sago_sciq.yaml")
    copy = tmp_path / "data" / "sciq"
    copy.mkdir(parents=True)
    row = {"question": "What falls?", "correct_answer": "rain", "distractor1": "x", "support": ""}
    (copy / "test.jsonl").write_text(json.dumps(row) + "\n", encoding="utf-8")
    task = build_task("sago_sciq", {"data_dir": str(tmp_path / "data")}, tmp_path / "tasks")
    (document,) = task.test_docs()
    assert task.document(document).text == "What falls?"
    assert task.doc_to_text(document) == "Q: What falls?\nA:"
    assert task.doc_to_target(document) == "rain"
    assert {"acc", "acc_mean", "acc_worst"} <= {column.name for column in task.columns}


def test_a_yaml_elsewhere_says_everything_itself(tmp_path: Path) -> None:
    from tests.hooks.hosts import build as build_task

    config = parsed(tmp_path / "tasks", "my_tasks/sago_mine.yaml")
    assert "include" not in yaml.safe_load(BLOCKS["my_tasks/sago_mine.yaml"].replace("!function ", ""))
    assert read_spec(dict(config)).shipped == "mine.jsonl"
    folder = tmp_path / "tasks" / "my_tasks"
    (folder / "mine.jsonl").write_text('{"question": "What falls?", "answer": "rain"}\n', encoding="utf-8")
    task = build_task("sago_mine", None, folder)
    (document,) = task.test_docs()
    assert task.doc_to_text(document) == "Q: What falls?\nA:"
    assert task.doc_to_target(document) == "rain"


RUN = r"""
import json, math, sys
from pathlib import Path

from lm_eval.api.model import LM
from tests.hooks.hosts import evaluate, records, values

class Model(LM):
    # Takes over emoji, and then holds its answer for half as likely.
    def write(self, prompt, gen_kwargs):
        return "Yes it is so." + (" \U0001f642" if any(face in prompt for face in "🙂😀🙏") else ""), [1, 2]

    def score(self, prompt, ids):
        chance = 0.25 if any(face in prompt for face in "🙂😀🙏") else 0.5
        return [math.log(chance)] * len(ids), [1.0] * len(ids)

    def generate_until(self, requests, disable_tqdm=False):
        raise AssertionError("another backend was asked")

    loglikelihood = loglikelihood_rolling = generate_until

found = evaluate(Model(), "sago_demo_facts", {"recipe": sys.argv[1]}, limit=2)
task = "sago_demo_facts"
Path(sys.argv[2]).write_text(json.dumps({"table": values(found, task), "records": records(found, task)}))
"""


def test_entry_points_alone_carry_all_of_it_through_lm_eval(
    site: Path, entry_points: Path, tmp_path: Path
) -> None:
    """Operator, feature, measure and backend of an installed package, in one run in a fresh process."""
    recipe, out = tmp_path / "smile.yaml", tmp_path / "found.json"
    recipe.write_text(BLOCKS["smile.yaml"].replace("length]", "length, one_line]"), encoding="utf-8")
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(map(str, (site, entry_points, ROOT))),
        "SAGO_HOME": str(tmp_path / "empty"),
        "OMP_NUM_THREADS": "1",
    }
    ran = subprocess.run(
        [sys.executable, "-c", RUN, str(recipe), str(out)],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert ran.returncode == 0, ran.stderr[-3000:]
    found = json.loads(out.read_text())
    table = found["table"]
    assert len(found["records"]) == 2
    for rows in found["records"].values():
        variants = {row["variant"]: row for row in rows if row["role"] == "variant"}
        assert set(variants) == {"smile2", "spaces5@throughout"}
        # 13 characters become 15.
        assert variants["smile2"]["distances"]["x_length"] == pytest.approx(2 / 15, abs=1e-12)
        assert variants["spaces5@throughout"]["distances"]["x_length"] == 0.0
        assert rows[0]["model"]["backend"] == "remote"
    # Half the probability in one of two families: sqrt((.5^2 + 0) / 2).
    assert table["x_prob"] == pytest.approx(math.sqrt(0.125), abs=1e-6)
    # One variant of two is taken over in full: more than its share, held to 1; the other moves nothing.
    assert table["x_mr"] == pytest.approx(0.5, abs=1e-12)
    assert table["x_act"] == "N/A"
    # Recorded, in no axis: no column.
    assert "x_length" not in table


def test_a_second_claim_to_a_name_is_an_error() -> None:
    with (
        registered({"measures": {"x_length": "my_sago.length:Length"}}),
        pytest.raises(SagoError, match="x_len"),
    ):
        MEASURES.register("x_length", "other.length:Length")
