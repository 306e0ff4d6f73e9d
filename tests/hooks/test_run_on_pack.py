"""A run on a pack: its variants byte for byte, its hash in the signature, and refusals that say why."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sago_harness.cli.main import main
from sago_harness.data import Variant, VariantSet
from sago_harness.errors import SagoError
from sago_harness.variants.packs.packfile import open_pack, write_pack
from tests.hooks.hosts import Scripted, build, evaluate, prompts, records, values, write_yaml

TASK = "sago_demo_facts"


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("packs") / "facts.jsonl"
    assert main(["variants", "build", TASK, "--recipe", "quick", "--out", str(path)]) == 0
    return path


def rewritten(
    path: Path, target: Path, change: Callable[[VariantSet], VariantSet | None], **facts: Any
) -> Path:
    """Write a sound pack with other content."""
    from dataclasses import replace

    opened = open_pack(path)
    sets = [made for made in map(change, opened) if made is not None]
    write_pack(target, replace(opened.manifest, **facts), sets)
    return target


def by_hand(made: VariantSet) -> VariantSet:
    """One variant that no operator would make."""
    name = next(iter(made.document.fields))
    text = f"Psst \u2028 {made.document.fields[name]} (no tool wrote this)"
    variant = Variant("label", "structure", "label", {name: text}, feature="labels")
    return VariantSet(made.document, (made.variants[0], variant))


def asked(metadata: dict[str, Any], *folders: Path, task: str = TASK, **options: Any) -> Any:
    made = build(task, metadata, *folders)
    made.build_all_requests(**options)
    return made


def test_a_pack_gives_the_prompts_that_its_recipe_gives(built: Path) -> None:
    made, read = asked({}, limit=4), asked({"pack": str(built)}, limit=4)
    assert prompts(read) == prompts(made)
    assert [column.name for column in read.columns] == [column.name for column in made.columns]
    assert read.families == made.families


def test_the_texts_are_the_packs_byte_for_byte(tmp_path: Path, built: Path) -> None:
    pack = rewritten(built, tmp_path / "p.jsonl", by_hand)
    found = prompts(asked({"pack": str(pack)}, limit=3))
    assert len(found) == 3
    for name, texts in found.items():
        packed = open_pack(pack).get(name).variants[1].text
        assert texts["label"] == f"Q: {packed}\nA:"
        assert set(texts) == {"canonical", "label", "control1", "control2"}


def test_the_packs_hash_is_in_signature_records_and_results(built: Path, no_encoder: None) -> None:
    sha = open_pack(built).manifest.sha256
    found = evaluate(Scripted(lambda prompt: prompt[:9]), TASK, {"pack": str(built)}, limit=2)
    signature = found["configs"][TASK]["metadata"]["sago"]["signature"]
    assert signature["pack"] == sha
    assert signature["recipe"] == open_pack(built).manifest.recipe
    for rows in records(found, TASK).values():
        assert f"|pack:{sha[:16]}|" in rows[0]["signature"]
    plain = evaluate(Scripted(lambda prompt: prompt[:9]), TASK, {}, limit=2)
    other = plain["configs"][TASK]["metadata"]["sago"]["signature"]
    assert other["pack"] == ""
    assert {key for key in other if other[key] != signature[key]} == {"pack"}
    assert values(plain, TASK) == values(found, TASK), "the same variants give the same numbers"


def test_the_documents_own_variants_come_from_the_pack(tmp_path: Path, built: Path) -> None:
    rows = [
        {"id": name, "prompt": f"How many legs has a {name}?", "variants": [f"A {name} has how many legs?"]}
        for name in ("spider", "hen", "cow")
    ]
    file = tmp_path / "rows.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    pack = tmp_path / "p.jsonl"
    words = ["variants", "build", "local_sago", "--recipe", "quick", "--file", str(file), "--out", str(pack)]
    assert main(words) == 0
    given = {"file": str(file)}
    read = asked({**given, "pack": str(pack)}, task="local_sago")
    assert prompts(read) == prompts(asked(given, task="local_sago"))
    assert prompts(read)["hen"]["own1"].count("A hen has how many legs?") == 1
    assert "human" in read.own_families


def test_a_yaml_can_name_a_pack_that_lies_beside_it(tmp_path: Path) -> None:
    rows = [{"id": str(k), "q": f"Who wrote book {k}?", "a": "someone"} for k in range(3)]
    body = 'vary: q\nid_field: id\ndoc_to_text: "{{q}}"\ndoc_to_target: "{{a}}"\n'
    folder = write_yaml(tmp_path / "tasks", "own_task", body, rows)
    yaml = folder / "own_task.yaml"
    pack = folder / "own.jsonl"
    assert main(["variants", "build", str(yaml), "--out", str(pack)]) == 0
    yaml.write_text(yaml.read_text("utf-8") + "pack: own.jsonl\n", encoding="utf-8")
    made = asked({}, folder, task="own_task")
    assert made.signature.pack == open_pack(pack).manifest.sha256


def test_documents_are_drawn_as_usual(built: Path) -> None:
    read = asked({"pack": str(built), "documents": 5})
    assert set(prompts(read)) == set(prompts(asked({"documents": 5})))


# ---------------------------------------------------------------------- refusals


def refused(metadata: dict[str, Any], *folders: Path, **options: Any) -> str:
    with pytest.raises(SagoError) as error:
        asked(metadata, *folders, **options)
    assert "\n" not in str(error.value)
    return str(error.value)


def test_another_tasks_pack_is_refused(tmp_path: Path, built: Path) -> None:
    told = refused({"pack": str(built)}, task="sago_demo_reasoning")
    assert "was built for task sago_demo_facts, this run has task sago_demo_reasoning" in told


def test_a_pack_of_another_version_of_the_task_is_refused(tmp_path: Path, built: Path) -> None:
    pack = rewritten(built, tmp_path / "p.jsonl", lambda made: made, task_version="0.9")
    assert "was built for task version 0.9, this run has task version 1.0" in refused({"pack": str(pack)})


def test_a_recipe_that_is_not_the_packs_is_refused(built: Path) -> None:
    told = refused({"pack": str(built), "recipe": "default"})
    assert "was built for recipe quick." in told
    assert "this run has recipe default." in told


def test_missing_documents_are_named_and_counted(tmp_path: Path, built: Path) -> None:
    gone = {f"facts-{k:02}" for k in (1, 2, 3, 4, 9)}
    pack = rewritten(built, tmp_path / "p.jsonl", lambda made: None if made.document.id in gone else made)
    told = refused({"pack": str(pack)})
    assert "lacks 5 of 24 documents: 'facts-01', 'facts-02', 'facts-03' ..." in told
    assert "lacks 4 of 4 documents" in refused({"pack": str(pack)}, limit=4)
    kept = asked({"pack": str(pack)}, samples=[4, 5])
    assert set(prompts(kept)) == {"facts-05", "facts-06"}, "what is not evaluated may be missing"


def test_a_document_that_says_something_else_is_shown_with_both_texts(tmp_path: Path, built: Path) -> None:
    from dataclasses import replace

    def change(made: VariantSet) -> VariantSet:
        if made.document.id != "facts-02":
            return made
        fields = {name: text.replace("Cairo", "Khartoum") for name, text in made.document.fields.items()}
        document = replace(made.document, fields=fields)
        return VariantSet(document, (Variant("canonical", "canonical", "", fields), *made.variants[1:]))

    told = refused({"pack": str(rewritten(built, tmp_path / "p.jsonl", change))})
    assert "fields of document 'facts-02' differ" in told
    here, packed = told.split(", in the pack ")
    assert "Cairo" in here
    assert "Khartoum" in packed


def test_an_altered_pack_is_refused_with_both_hashes(tmp_path: Path, built: Path) -> None:
    pack = tmp_path / "p.jsonl"
    pack.write_bytes(built.read_bytes().replace(b"Which metal", b"Which Metal", 1))
    told = refused({"pack": str(pack)})
    assert open_pack(built).manifest.sha256 in told
    assert open_pack(pack, check=False).found in told
    assert hashlib.sha256(pack.read_bytes()).hexdigest() not in told, "the hash of a file holds its own"


def test_an_unknown_feature_in_a_pack_is_refused_with_the_nearest(tmp_path: Path, built: Path) -> None:
    pack = rewritten(built, tmp_path / "p.jsonl", lambda made: made, features={"label": 1})
    assert "unknown feature 'label'" in refused({"pack": str(pack)})


def test_negatives_that_a_pack_has_not_are_refused(built: Path) -> None:
    assert "built without negative controls" in refused({"pack": str(built), "negatives": True})


def test_a_pack_that_is_not_there_is_told(tmp_path: Path) -> None:
    assert "cannot be read: No such file" in refused({"pack": str(tmp_path / "none.jsonl")})


def test_under_a_request_cache_documents_beside_the_pack_do_not_stop_the_run(
    tmp_path: Path, built: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import lm_eval.caching.cache

    monkeypatch.setattr(lm_eval.caching.cache, "PATH", str(tmp_path / "cache"))
    pack = rewritten(
        built, tmp_path / "p.jsonl", lambda made: made if made.document.id < "facts-04" else None
    )
    found = prompts(asked({"pack": str(pack)}, limit=3, cache_requests=True, rewrite_requests_cache=True))
    assert set(found) == {"facts-01", "facts-02", "facts-03"}
    assert found == prompts(asked({"pack": str(built)}, limit=3))
