"""Groups and wildcards in the host."""

from __future__ import annotations

from typing import Any

import pytest
from lm_eval.tasks import TaskManager

from sago_harness.hooks.task import SagoTask
from tests.hooks.hosts import DEMO, Scripted, evaluate, manager, values


def test_a_group_is_the_unweighted_mean(tiny_lm: Any, no_encoder: None) -> None:
    """Sets of different size count alike."""
    found = evaluate(
        tiny_lm,
        "sago_demo",
        samples={DEMO[0]: [0, 1, 2, 3], DEMO[1]: [0, 1], DEMO[2]: [0, 1], DEMO[3]: [0, 1, 2]},
    )
    group = {key.removesuffix(",none"): v for key, v in found["groups"]["sago_demo"].items()}
    for name in ("x_bleu", "x_act", "x_prob", "x_ent", "sago_activation", "sago_confidence"):
        members = [values(found, task)[name] for task in DEMO]
        assert group[name] == pytest.approx(sum(members) / 4, abs=1e-12), name
        assert isinstance(group[f"{name}_stderr"], float)
    assert found["group_subtasks"]["sago_demo"] == list(DEMO)


def test_a_group_with_an_unscored_member_is_not_the_mean_of_the_rest(minilm: Any) -> None:
    """x_bert can be had for English, but one member's documents have no partner."""

    def answer(prompt: str) -> str:
        return f"I was asked about {prompt.rsplit('Q:', 1)[-1][:40]}"

    few = {DEMO[0]: [0, 1, 2], DEMO[1]: [0, 1, 2], DEMO[2]: [5], DEMO[3]: [0, 1, 2]}
    found = evaluate(Scripted(answer), "sago_demo", samples=few)
    members = {task: values(found, task)["sago_text"] for task in DEMO}
    assert members[DEMO[2]] == "N/A"
    assert isinstance(members[DEMO[0]], float)
    assert found["groups"]["sago_demo"]["sago_text,none"] == "N/A"
    assert found["groups"]["sago_demo"]["sago,none"] == "N/A"
    assert isinstance(found["groups"]["sago_demo"]["x_bleu,none"], float)


def test_the_groups_table_is_printed(minilm: Any) -> None:
    from lm_eval.utils import make_table

    found = evaluate(Scripted(str.lower), "sago_demo", limit=2)
    lines = [line for line in make_table(found, "groups").splitlines() if "sago_demo" in line]
    assert len(lines) >= 1
    assert "N/A" in make_table(found, "groups")


def test_a_wildcard_names_a_group_and_its_members_in_one_call() -> None:
    names = manager().match_tasks(["sago_demo*"])
    assert set(names) == {"sago_demo", *DEMO}
    loaded = manager().load(names)
    assert set(loaded["tasks"]) == set(DEMO)
    assert list(loaded["groups"]) == ["sago_demo"]


def test_the_hosts_check_for_duplicates_still_works_for_its_own(tmp_path: Any) -> None:
    from tests.hooks.test_beside_stock import STOCK

    (tmp_path / "rows.jsonl").write_text(
        '{"question": "?", "choices": ["a", "b"], "gold": 0}\n', encoding="utf-8"
    )
    (tmp_path / "stock.yaml").write_text(
        STOCK.replace("FILE", str(tmp_path / "rows.jsonl")), encoding="utf-8"
    )
    (tmp_path / "group.yaml").write_text("group: colours\ntask: [stock_colours]\n", encoding="utf-8")
    with pytest.raises(ValueError, match="stock_colours"):
        manager(None, tmp_path).load(["colours", "stock_colours"])


def test_a_task_is_built_by_the_hosts_own_manager() -> None:
    loaded = manager().load(["sago_demo_facts"])
    assert isinstance(loaded["tasks"]["sago_demo_facts"], SagoTask)
    assert isinstance(manager(), TaskManager)
