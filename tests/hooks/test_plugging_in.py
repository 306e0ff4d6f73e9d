"""How the project hangs on the host: entry points, imports, what loading changes."""

from __future__ import annotations

import ast
import importlib.metadata
import logging
import tomllib
from pathlib import Path
from typing import Any

import pytest
from lm_eval.api.filter import Filter
from lm_eval.api.model import LM

import sago_harness
from sago_harness.hooks import plugin
from sago_harness.scores.columns import all_columns

PACKAGE = Path(sago_harness.__file__).parent

#: The host's own `acc` is the same thing; own families depend on the documents.
COLUMNS = [c.name for c in all_columns() if c.name != "acc" and not c.family]

DECLARED = {
    ("lm_eval.models", "sago-hf"),
    ("lm_eval.filters", "sago"),
    ("lm_eval.tasks", "sago"),
    ("console_scripts", "sago"),
    *(("lm_eval.metrics", name) for name in COLUMNS),
    *(("lm_eval.aggregations", f"sago_{name}") for name in COLUMNS),
}


def declared() -> list[importlib.metadata.EntryPoint]:
    """Entry points as pyproject.toml declares them."""
    project = tomllib.loads((PACKAGE.parent / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    groups = {"console_scripts": project["scripts"], **project["entry-points"]}
    return [
        importlib.metadata.EntryPoint(name, value, group)
        for group, table in groups.items()
        for name, value in table.items()
    ]


def test_all_entry_points_are_declared_and_every_column_is_one() -> None:
    assert {(point.group, point.name) for point in declared()} == DECLARED


def check(point: importlib.metadata.EntryPoint) -> None:
    loaded: Any = point.load()
    if point.group == "lm_eval.models":
        assert issubclass(loaded, LM)
    elif point.group == "lm_eval.filters":
        assert issubclass(loaded, Filter)
    elif point.group == "lm_eval.tasks":
        assert list(Path(loaded.__path__[0]).rglob("sago_demo_facts.yaml"))
    else:
        assert callable(loaded)


def test_each_declared_entry_point_loads() -> None:
    for point in declared():
        check(point)


def test_each_entry_point_of_the_installed_distribution_loads() -> None:
    try:
        installed = importlib.metadata.distribution("sago-harness").entry_points
    except importlib.metadata.PackageNotFoundError:
        pytest.skip("the project is imported from its folder, not installed")
    assert {"lm_eval.models", "lm_eval.tasks", "console_scripts"} <= {point.group for point in installed}
    for point in installed:
        check(point)


def test_the_declared_aggregations_are_the_registered_ones() -> None:
    points = {p.name: p for p in declared() if p.group == "lm_eval.aggregations"}
    assert points["sago_x_bleu"].load()([1.0, None, 0.5]) == 0.75
    assert points["sago_n_scored"].load()([1, 0, 1]) == 2
    assert points["sago_stock_share"].load()(["a", "b", "a", ""]) == 0.75
    payload = {"x_act": [0.25, 1.0, None]}
    assert points["sago_sago_activation"].load()([payload, payload]) == 0.5


def imported_by(path: Path) -> set[str]:
    """Top names of every import of a file, wherever in it."""
    names = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            names.add((node.module or "").partition(".")[0])
    return names


def test_only_hooks_backends_engine_and_the_run_command_import_the_host() -> None:
    found = {
        str(path.relative_to(PACKAGE)) for path in PACKAGE.rglob("*.py") if "lm_eval" in imported_by(path)
    }
    assert {name for name in found if not name.startswith(("hooks/", "backends/", "engine/"))} == {
        "cli/run.py"
    }
    assert "hooks/task.py" in found, "the reader of imports finds what is there"


def test_statistics_and_scores_see_no_model_library() -> None:
    for stage in ("scores", "variants", "documents", "report"):
        for path in (PACKAGE / stage).rglob("*.py"):
            assert not imported_by(path) & {"torch", "transformers"}, path


def test_loading_keeps_the_hosts_own_models_metrics_and_filters() -> None:
    from lm_eval.api.registry import filter_registry, metric_registry, model_registry

    plugin.load()
    assert {"hf", "dummy", "sago-hf"} <= set(model_registry)
    assert {"acc", "exact_match", "bleu"} <= set(metric_registry)
    assert {"regex", "take_first", "sago"} <= set(filter_registry)


def test_loading_twice_changes_nothing() -> None:
    from lm_eval.api.registry import aggregation_registry, filter_registry, metric_registry, model_registry

    plugin.load()
    tables = (aggregation_registry, filter_registry, metric_registry, model_registry)
    before = [sorted(table) for table in tables]
    plugin.load.cache_clear()
    plugin.load()
    assert [sorted(table) for table in tables] == before


def test_every_column_is_registered_so_that_no_hub_is_searched() -> None:
    from lm_eval.api.registry import get_aggregation, is_higher_better

    plugin.load()
    for column in all_columns():
        assert callable(get_aggregation(f"sago_{column.name}"))
        assert callable(get_aggregation(f"sago_{column.name}_stderr"))
        assert is_higher_better(column.name) is column.higher_is_better


def test_metadata_of_the_wrong_kind_is_one_line() -> None:
    from sago_harness.errors import SagoError
    from tests.hooks.hosts import manager

    wrong: dict[str, tuple[Any, str]] = {
        "documents": ("many", "documents='many': it must be a number above 0, or all"),
        "variant_seed": ("x", "variant_seed='x' in --metadata: it must be int"),
        "controls": (-1, "controls=-1 in --metadata: it is 0 or more"),
        "canonical_repeats": (True, "canonical_repeats=True in --metadata"),
        "pooling": ("lst", "unknown pooling 'lst'.*last"),
        "states": ("attn", "unknown states 'attn'.*attention"),
        "recipe": ("quik", "unknown recipe 'quik'.*did you mean quick"),
        "encoder": ("minilmm", "unknown encoder 'minilmm'.*minilm"),
    }
    for key, (value, message) in wrong.items():
        with pytest.raises(SagoError, match=message) as caught:
            manager({key: value}).load(["sago_demo_facts"])
        assert "\n" not in str(caught.value)


def test_a_models_own_seed_is_not_taken_for_ours() -> None:
    """The host merges --model_args into the metadata; vLLM, for one, takes a seed."""
    from tests.hooks.hosts import manager

    task = manager({"seed": 7, "layers": 3}).load(["sago_demo_facts"])["tasks"]["sago_demo_facts"]
    assert task.spec.seed == 42
    assert task.spec.layers == "blocks"


def test_a_near_miss_of_an_option_is_told_once(caplog: pytest.LogCaptureFixture) -> None:
    from tests.hooks.hosts import manager

    with caplog.at_level(logging.WARNING):
        manager({"document": 3, "dtype": "float32"}).load(["sago_demo_facts", "sago_demo_reasoning"])
    told = [r.getMessage() for r in caplog.records if "did you mean" in r.getMessage()]
    assert len(told) == 1
    assert "'document'" in told[0]
    assert "'documents'" in told[0]


def test_a_message_is_written_once_where_the_root_writes_too(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """As a notebook that set up logging itself has it: the host writes its own lines and passes none on."""
    from lm_eval.utils import setup_logging

    from sago_harness.logs import warn_once

    root = logging.StreamHandler()
    logging.getLogger().addHandler(root)
    try:
        setup_logging()
        plugin.load.cache_clear()
        plugin.load()
        warn_once("a message of ours")
    finally:
        logging.getLogger().removeHandler(root)
    assert capsys.readouterr().err.count("a message of ours") == 1


def test_an_encoder_without_that_layer_is_one_line(minilm: Path, english_lm: Any) -> None:
    from sago_harness.errors import SagoError
    from tests.hooks.hosts import evaluate

    with pytest.raises(SagoError, match="layer") as caught:
        evaluate(english_lm, "sago_demo_facts", {"encoder": "minilm:60"}, limit=1)
    assert "\n" not in str(caught.value)
    assert "60" in str(caught.value)
