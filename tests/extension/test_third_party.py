"""A miniature package adds an operator, a feature, a measure and a backend; a run uses all four."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

HERE = Path(__file__).parent
ROOT = HERE.parents[1]

RUN = """
import json, sys
import lm_eval
from lm_eval.tasks import TaskManager
from sago_harness.axes import MEASURES
from sago_harness.backends import BACKENDS
from sago_harness.taskfiles import task_folder
from sago_harness.variants.features import FEATURES
from sago_harness.variants.operators import OPERATORS

before = [name for name in sys.modules if name.startswith("sago_pirate")]
tables = {"operators": OPERATORS, "features": FEATURES, "measures": MEASURES, "backends": BACKENDS}
names = {table: sorted(content) for table, content in tables.items()}
manager = TaskManager(
    include_path=str(task_folder()), include_defaults=False, metadata={"recipe": sys.argv[1]}
)
found = lm_eval.simple_evaluate(
    model="dummy", tasks=["sago_demo_facts"], task_manager=manager, limit=4
)
print(json.dumps({
    "before": before,
    "names": names,
    "results": found["results"]["sago_demo_facts"],
    "better": found["higher_is_better"]["sago_demo_facts"],
    "records": [[json.loads(r) for r in s["filtered_resps"]] for s in found["samples"]["sago_demo_facts"]],
    "signature": found["configs"]["sago_demo_facts"]["metadata"]["sago"]["signature"],
}, default=str))
"""

RECIPE = """
name: pirates
version: 1
variants:
  - {operator: pirate, strength: 3, position: prefix}
  - {operator: pirate, strength: 1, position: suffix}
  - {operator: spaces, strength: 5, position: throughout}
  - {operator: label}
constraints: [changed, literals]
"""


def install(folder: Path) -> Path:
    """Lay the package out as pip does, from its own pyproject.toml."""
    project = tomllib.loads((HERE / "package" / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    shutil.copytree(HERE / "package" / "sago_pirate", folder / "sago_pirate")
    info = folder / "sago_pirate-0.1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(
        f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: 0.1\n", encoding="utf-8"
    )
    sections = [
        f"[{group}]\n" + "".join(f"{name} = {value}\n" for name, value in table.items())
        for group, table in project["entry-points"].items()
    ]
    (info / "entry_points.txt").write_text("\n".join(sections), encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    site = install(tmp_path_factory.mktemp("site"))
    recipe = site / "pirates.yaml"
    recipe.write_text(RECIPE, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-c", RUN, str(recipe)],
        env={**os.environ, "PYTHONPATH": os.pathsep.join((str(site), str(ROOT))), "OMP_NUM_THREADS": "1"},
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    report: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return report


def test_each_is_found_by_name_and_nothing_is_imported_before_it_is_used(found: dict[str, Any]) -> None:
    assert found["before"] == []
    assert "pirate" in found["names"]["operators"]
    assert "arrs" in found["names"]["features"]
    assert "x_len" in found["names"]["measures"]
    assert "parrot" in found["names"]["backends"]


def test_the_operator_makes_variants_at_its_strengths_and_positions(found: dict[str, Any]) -> None:
    for rows in found["records"]:
        made = {row["variant"]: row for row in rows if row["operator"] == "pirate"}
        assert set(made) == {"pirate3@prefix", "pirate1@suffix"}
        assert made["pirate3@prefix"]["text"].count("!") == 3
        assert made["pirate3@prefix"]["text"].endswith(rows[0]["text"])
        assert made["pirate1@suffix"]["text"].startswith(rows[0]["text"])
    assert found["signature"]["families"] == {"register": 2, "noise": 1, "structure": 1}


def test_the_feature_is_what_mirroring_reads(found: dict[str, Any]) -> None:
    """The parrot repeats an arr at the end of the prompt, one at the front is out of its sight."""
    for rows in found["records"]:
        by_id = {row["variant"]: row for row in rows}
        assert by_id["pirate1@suffix"]["feature"] == "arrs"
        assert by_id["pirate1@suffix"]["prompt_change"] > 0
        assert by_id["pirate1@suffix"]["distances"]["x_mr"] == 1.0
        assert by_id["pirate3@prefix"]["distances"]["x_mr"] == 0.0


def test_the_measure_has_a_column_and_is_part_of_its_axis(found: dict[str, Any]) -> None:
    results = found["results"]
    assert isinstance(results["x_len,none"], float)
    assert isinstance(results["x_len_stderr,none"], float)
    assert found["better"]["x_len"] is False
    assert found["signature"]["measures"]["x_len"] == 1
    for rows in found["records"]:
        canonical = next(row for row in rows if row["role"] == "canonical")
        assert canonical["measures"].count("x_len") == 1
        assert all(0.0 <= row["distances"]["x_len"] <= 1.0 for row in rows)


def test_the_backend_gives_the_host_model_all_signals(found: dict[str, Any]) -> None:
    for rows in found["records"]:
        assert rows[0]["model"]["backend"] == "parrot"
        for row in rows:
            assert row["distances"]["x_act"] is not None
            assert row["distances"]["x_prob"] is not None
            assert len(row["layers"]) == 2
    assert isinstance(found["results"]["sago_activation,none"], float)
    assert isinstance(found["results"]["sago_confidence,none"], float)


def test_a_name_that_is_taken_is_refused_in_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    import importlib.metadata

    from sago_harness.errors import SagoError
    from sago_harness.registry import Table

    clash = importlib.metadata.EntryPoint("spaces", "sago_pirate.operator:Pirate", "sago_harness.operators")
    monkeypatch.setattr(
        importlib.metadata, "entry_points", lambda group: [clash] if "operators" in group else []
    )
    table: Table[Any] = Table("operators", "operator", {"spaces": "here:Spaces"})
    with pytest.raises(
        SagoError, match="'spaces' is registered twice: here:Spaces and sago_pirate"
    ) as caught:
        table.load("spaces")
    assert "\n" not in str(caught.value)
