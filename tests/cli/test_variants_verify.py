"""``sago variants verify``: hash, constraints, and variants made again."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from sago_harness.variants.packs.packfile import open_pack
from tests.cli.conftest import Sago

TASK = "sago_demo_facts"
DOCUMENTS = 24


@pytest.fixture
def pack(tmp_path: Path, built: Path) -> Path:
    """A copy that a test may spoil."""
    path = tmp_path / "pack.jsonl"
    path.write_bytes(built.read_bytes())
    return path


def edited(path: Path, edit: Callable[[list[dict[str, Any]]], Any]) -> Path:
    """Change the documents of a pack, and seal it again as if nothing had happened."""
    opened = open_pack(path)
    _, *rows = [json.loads(line) for line in path.read_text(encoding="utf-8").split("\n")[:-1]]
    edit(rows)
    body = "".join(json.dumps(row, ensure_ascii=False, separators=(",", ":")) + "\n" for row in rows)
    sealed = opened.manifest.sealed(hashlib.sha256(body.encode()).hexdigest())
    path.write_text(json.dumps(sealed.as_dict()) + "\n" + body, encoding="utf-8")
    return path


def test_a_sound_pack_is_verified_and_rebuilt(sago: Sago, built: Path) -> None:
    done = sago("variants", "verify", str(built), "--rebuild")
    assert done.status == 0
    assert "hash: as stated" in done.out
    variants = open_pack(built).manifest.variants
    assert f"rebuilt: {variants} variants" in done.out
    assert done.out.endswith("verified\n")


def test_a_wrong_hash_is_told_with_both(sago: Sago, pack: Path) -> None:
    stated = open_pack(pack).manifest.sha256
    pack.write_bytes(pack.read_bytes().replace(b"Which metal", b"Which Metal", 1))
    done = sago("variants", "verify", str(pack))
    assert done.status == 1
    found = re.search(r"hash: found ([0-9a-f]{64}), the manifest says ([0-9a-f]{64})", done.out)
    assert found
    assert found[2] == stated != found[1]
    refused = sago("variants", "show", str(pack))
    assert refused.status == 2
    assert "was altered" in refused.error


def test_a_variant_that_breaks_a_constraint_is_found(sago: Sago, pack: Path) -> None:
    def spoil(rows: list[dict[str, Any]]) -> None:
        rows[3]["variants"][1]["fields"]["question"] *= 9

    done = sago("variants", "verify", str(edited(pack, spoil)))
    assert done.status == 1
    assert "hash: as stated" in done.out
    name = json.loads(pack.read_text("utf-8").split("\n")[4])["variants"][1]["id"]
    assert re.search(rf"^constraints: facts-04, {re.escape(name)}: length: .*over 4$", done.out, re.M)


def test_a_value_that_is_not_the_variants_is_found(sago: Sago, pack: Path) -> None:
    def spoil(rows: list[dict[str, Any]]) -> None:
        rows[0]["variants"][0]["checks"]["length"] = 0.5
        del rows[1]["variants"][0]["checks"]["literals"]

    done = sago("variants", "verify", str(edited(pack, spoil)))
    assert done.status == 1
    assert "length: the pack states 0.5, it is" in done.out
    assert "literals: the pack states no value" in done.out
    assert done.out.endswith("2 differences\n")


def test_a_variant_that_the_recipe_would_not_make_is_found_by_rebuilding(sago: Sago, pack: Path) -> None:
    def spoil(rows: list[dict[str, Any]]) -> None:
        label = next(v for v in rows[0]["variants"] if v["operator"] == "label")
        text = rows[0]["fields"]["question"]
        label["fields"]["question"] = f"[question] {text}"
        ratio = sum(not c.isspace() for c in label["fields"]["question"]) / sum(not c.isspace() for c in text)
        label["checks"]["length"] = round(ratio, 4)

    edited(pack, spoil)
    assert sago("variants", "verify", str(pack)).status == 0
    done = sago("variants", "verify", str(pack), "--rebuild")
    assert done.status == 1
    assert re.search(r"rebuilt: facts-01, label: made now as .*, in the pack '\[question\] ", done.out)


def test_an_operator_of_another_version_is_named(
    sago: Sago, pack: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from sago_harness.variants.operators import OPERATORS

    label = OPERATORS.load("label")
    before = label.version
    monkeypatch.setattr(label, "version", before + 1)
    done = sago("variants", "verify", str(pack), "--rebuild")
    assert f"operator label: version {before} in the pack, {before + 1} here" in done.out


def test_a_constraint_that_cannot_be_checked_is_told_and_counted(
    sago: Sago, pack: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from sago_harness.variants.constraints import CONSTRAINTS

    monkeypatch.setattr(CONSTRAINTS.load("length"), "requires", ("no_such_library",))
    done = sago("variants", "verify", str(pack))
    assert done.status == 0
    variants = open_pack(pack).manifest.variants
    assert f"not checked, {variants} variants: length: missing library no_such_library" in done.out


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"upper": "x"}, "constraint 'length': upper must be a number"),
        ({"uper": 1}, "options of constraint 'length'"),
        ({"lower": float("nan")}, "constraint 'length': lower must be a number"),
    ],
)
def test_a_manifest_with_options_that_no_constraint_takes_is_bad_input(
    sago: Sago, pack: Path, options: dict[str, Any], told: str
) -> None:
    head, _, body = pack.read_text("utf-8").partition("\n")
    manifest = json.loads(head)
    rule = next(rule for rule in manifest["constraints"] if rule["name"] == "length")
    rule["options"] = options
    pack.write_text(json.dumps(manifest) + "\n" + body, encoding="utf-8")
    done = sago("variants", "verify", str(pack))
    assert done.status == 2
    assert told in done.error


def test_what_a_manifest_says_cannot_drive_the_terminal_or_add_a_line(sago: Sago, pack: Path) -> None:
    manifest = open_pack(pack).manifest
    body = pack.read_bytes().partition(b"\n")[2]
    hostile = "quick\x1b[31m\nverified"
    altered = replace(manifest, recipe=hostile, operators={**manifest.operators, hostile: 1})
    altered = altered.sealed(hashlib.sha256(body).hexdigest())
    pack.write_bytes(json.dumps(altered.as_dict()).encode() + b"\n" + body)
    done = sago("variants", "verify", str(pack))
    assert "recipe quick\\x1b[31m\\nverified\n" in done.out
    assert "\x1b" not in done.out
    assert done.out.count("\nverified") == 1, "the last line alone"
    done = sago("variants", "verify", str(pack), "--rebuild")
    assert "was built with recipe quick\\x1b[31m\\nverified" in done.error
    assert "\x1b" not in done.err


def test_an_operators_name_in_a_note_is_escaped(sago: Sago, pack: Path) -> None:
    manifest = open_pack(pack).manifest
    body = pack.read_bytes().partition(b"\n")[2]
    altered = replace(manifest, operators={**manifest.operators, "pol\x1b[31mx": 1})
    altered = altered.sealed(hashlib.sha256(body).hexdigest())
    pack.write_bytes(json.dumps(altered.as_dict()).encode() + b"\n" + body)
    done = sago("variants", "verify", str(pack), "--rebuild")
    assert "operator pol\\x1b[31mx: version 1 in the pack, none here" in done.out
    assert "\x1b" not in done.out


def test_a_torn_pack_is_bad_input(sago: Sago, pack: Path) -> None:
    pack.write_bytes(pack.read_bytes()[:-700])
    done = sago("variants", "verify", str(pack))
    assert done.status == 2
    assert f"is cut short: it holds {DOCUMENTS - 1} of {DOCUMENTS} documents" in done.error


def test_a_recipe_of_another_name_is_no_base_for_rebuilding(sago: Sago, pack: Path) -> None:
    done = sago("variants", "verify", str(pack), "--rebuild", "--recipe", "default")
    assert done.status == 2
    assert "was built with recipe quick." in done.error


def test_a_constraint_of_one_variant_alone_is_checked_for_it_alone(sago: Sago, tmp_path: Path) -> None:
    recipe = tmp_path / "r.yaml"
    recipe.write_text(
        "name: r\nversion: 1\nconstraints: [changed]\nvariants:\n"
        "  - {operator: label, constraints: [{constraint: length, upper: 2.5, allowance: 0}]}\n"
        "  - {operator: case}\n",
        encoding="utf-8",
    )
    pack = tmp_path / "p.jsonl"
    flags = ("--recipe", str(recipe), "--limit", "2", "--out", str(pack))
    assert sago("variants", "build", TASK, *flags).status == 0
    assert sago("variants", "verify", str(pack), "--rebuild", "--recipe", str(recipe)).status == 0

    def spoil(rows: list[dict[str, Any]]) -> None:
        for variant in rows[0]["variants"]:
            variant["fields"]["question"] *= 3

    done = sago("variants", "verify", str(edited(pack, spoil)))
    assert done.status == 1
    assert re.findall(r"^constraints: facts-01, (\S+): length", done.out, re.M) == ["label"]
    assert done.out.endswith("1 difference\n")
