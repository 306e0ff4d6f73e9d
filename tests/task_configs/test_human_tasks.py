"""Tasks on variants that people made: data, columns, what a run on them says."""

from __future__ import annotations

from pathlib import Path

import pytest

from sago_harness.cli.main import main
from sago_harness.errors import SagoError
from sago_harness.hooks.dataset import Source
from sago_harness.hooks.spec import read_spec
from sago_harness.taskfiles import task_files
from sago_harness.variants.recipe import load_recipe
from tests.hooks.hosts import build, manager
from tests.people_files import save_disfl_qa

HUMAN = ("sago_noiseqa", "sago_disfl_qa", "sago_pararel", "sago_mgsm")
RECIPE = {"recipe": "human"}


@pytest.mark.parametrize("name", HUMAN)
def test_the_yaml_names_the_reader_its_folder_and_the_recipe(name: str) -> None:
    config = task_files()[name].config
    assert config["recipe"] == "human"
    assert config["local"] == {"folder": name.removeprefix("sago_"), "people": name.removeprefix("sago_")}
    assert (config["id_field"], config["cluster_field"], config["vary"]) == ("id", "cluster", "question")


def test_the_group_holds_them() -> None:
    assert task_files()["sago_human"].group == HUMAN


@pytest.mark.parametrize("name", HUMAN)
def test_data_that_is_not_at_hand_is_told_in_one_line(name: str, tmp_path: Path) -> None:
    folder = name.removeprefix("sago_")
    with pytest.raises(
        SagoError, match=f"task {name!r}: {folder} is not at hand: put .* into the folder"
    ) as caught:
        manager({"data_dir": str(tmp_path)}).load([name])
    assert "\n" not in str(caught.value)


def test_an_unknown_reader_is_answered_with_the_nearest() -> None:
    config = {"task": "t", "vary": "question", "test_split": "test", "local": {"people": "noisqa"}}
    with pytest.raises(
        SagoError, match="unknown people's variants 'noisqa' in task 't': did you mean noiseqa"
    ):
        Source.of(read_spec(config), config).rows()


def test_sago_tasks_lists_them(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["tasks"]) == 0
    out = capsys.readouterr().out
    for name in HUMAN:
        (line,) = [line for line in out.splitlines() if line.startswith(f"{name} ")]
        assert "local copy" in line
    assert "sago_human: sago_noiseqa, sago_disfl_qa, sago_pararel, sago_mgsm" in out


def test_a_wildcard_leaves_out_what_is_not_at_hand(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from argparse import Namespace

    from sago_harness.cli.run import _resolve_tasks

    args = Namespace(
        tasks=["sago_disfl*,sago_mgs*"],
        metadata={"data_dir": str(save_disfl_qa(tmp_path / "disfl_qa").parent)},
    )
    with pytest.raises(SagoError, match="none of sago_mgsm has its data at hand"):
        _resolve_tasks(args, task_files())
    args.tasks = ["sago_disfl*,sago_d*_qa"]
    assert _resolve_tasks(args, task_files()) == ["sago_disfl_qa"]
    assert "left out sago_mgsm: task 'sago_mgsm': mgsm is not at hand" in capsys.readouterr().err


def test_a_recipe_that_makes_nothing_needs_documents_that_bring_something() -> None:
    with pytest.raises(SagoError, match="only takes variants that documents bring, and these bring none"):
        manager(RECIPE).load(["sago_demo_facts"])


def test_the_human_recipe_takes_people_and_translations_at_the_literal_level() -> None:
    recipe = load_recipe("human")
    assert (recipe.entries, recipe.brought, recipe.levels) == ((), ("human", "language"), ("literal",))
    assert recipe.constraints == ("changed", "literals")
    assert recipe.varies("fr")


def test_the_passage_stays_as_it_is(shared_data: Path) -> None:
    task = build("sago_noiseqa", {"data_dir": str(shared_data), "documents": 3, **RECIPE})
    task.build_all_requests()
    for instance in task.instances:
        text, _, payload = instance.arguments
        if payload["role"] != "control":
            passage = instance.doc["context"]
            assert text == f"Passage: {passage}\nQ: {payload['text']}\nA:"


@pytest.mark.parametrize("name", HUMAN)
def test_the_published_files_make_requests(name: str, shared_data: Path) -> None:
    task = build(name, {"data_dir": str(shared_data), "documents": 5, **RECIPE})
    task.build_all_requests()
    roles: dict[str, list[str]] = {}
    clusters = {row["sago_id"]: row["cluster"] for row in task.eval_docs}
    for instance in task.instances:
        payload = instance.arguments[2]
        roles.setdefault(payload["document"], []).append(payload["role"])
        if payload["role"] == "control":
            assert clusters[payload["partner"]] != clusters[payload["document"]]
    assert len(roles) == 5
    for found in roles.values():
        assert found[0] == "canonical"
        assert "variant" in found
        assert found.count("control") == 2
