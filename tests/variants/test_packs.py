"""Packs: the same bytes everywhere, whole or not there, and refused when they are not what they say."""

from __future__ import annotations

import hashlib
import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest

from sago_harness.data import Document, Reject, Variant, VariantSet
from sago_harness.errors import SagoError
from sago_harness.variants.packs.freeze import freeze, manifest_of
from sago_harness.variants.packs.pack import Manifest
from sago_harness.variants.packs.packfile import open_pack, write_lines, write_pack
from sago_harness.variants.packs.packline import decode_set, encode_set
from sago_harness.variants.recipe import load_recipe

#: A question with a line break, a quotation, three numbers and a name.
G04 = 'Mia sold 48 clips in April,\nthen "half as many" in May. How many did she sell in 2 months?'
MANIFEST = Manifest("demo", "1.0", "quick.2", "ab" * 32, 42)


def documents(count: int = 20) -> list[Document]:
    return [Document(f"g04-{number:02}", {"question": f"{G04} ({number})"}) for number in range(count)]


def lines(
    of: Iterable[Document], recipe: str = "default", seed: int = 42, workers: int = 1
) -> dict[str, bytes]:
    return {line.id: line.data for line in freeze(of, load_recipe(recipe), seed, workers)}


def small_set(name: str, text: str = "Who?", **facts: Any) -> VariantSet:
    document = Document(name, {"q": text}, **facts)
    variants = (
        Variant("canonical", "canonical", "", {"q": text}),
        Variant("label", "structure", "label", {"q": f"Q: {text}"}, feature="labels", checks={"length": 1.5}),
    )
    return VariantSet(document, variants, (Reject("typos2", "noise", "typos", "nothing to change"),))


@pytest.fixture
def pack(tmp_path: Path) -> Path:
    path = tmp_path / "pack.jsonl"
    write_pack(path, MANIFEST, [small_set(name) for name in ("c", "a", "b")])
    return path


def change(path: Path, edit: Callable[[list[bytes]], Any]) -> None:
    """Edit the lines of a file in place."""
    content = path.read_bytes().splitlines(keepends=True)
    edit(content)
    path.write_bytes(b"".join(content))


# ---------------------------------------------------------------------- the same bytes

BUILD = """
import sys
sys.path.insert(0, sys.argv[2])
from pathlib import Path
from sago_harness.variants.packs.freeze import freeze, manifest_of
from sago_harness.variants.packs.packfile import write_lines
from sago_harness.variants.recipe import load_recipe
from tests.variants.test_packs import documents
recipe = load_recipe("default")
manifest = manifest_of(recipe, task="g04", task_version="1", seed=42)
write_lines(Path(sys.argv[1]), manifest, freeze(documents(), recipe, 42))
"""


def test_the_interpreters_hash_seed_changes_no_byte(tmp_path: Path) -> None:
    found = set()
    for number, seed in enumerate(("0", "1", "random")):
        path = tmp_path / f"{number}.jsonl"
        subprocess.run(
            [sys.executable, "-c", BUILD, str(path), str(Path(__file__).parents[2])],
            env={**os.environ, "PYTHONHASHSEED": seed},
            check=True,
        )
        assert path.read_bytes().count(b"\n") == 21
        found.add(path.read_bytes())
    assert len(found) == 1


def test_the_number_of_workers_changes_no_byte_and_no_order() -> None:
    several = documents(40)  # more than one process takes at a time
    one, two = lines(several), lines(several, workers=2)
    assert list(one.items()) == list(two.items())
    assert list(one) == [document.id for document in several]


def test_a_documents_line_does_not_depend_on_the_other_documents() -> None:
    everything = lines(documents())
    shuffled = documents()
    random.Random(7).shuffle(shuffled)
    assert lines(shuffled) == everything
    assert lines(documents(5)) == {name: everything[name] for name in list(everything)[:5]}


def test_the_seed_the_id_and_the_text_change_variants() -> None:
    text = documents(1)[0].fields
    first = lines([Document("x", text)])["x"]
    assert lines([Document("x", text)], seed=43)["x"] != first
    assert lines([Document("y", text)])["y"].replace(b'"id":"y"', b'"id":"x"', 1) != first


def test_the_hash_covers_the_document_lines_and_the_manifest(pack: Path) -> None:
    head, *body = pack.read_bytes().splitlines(keepends=True)
    manifest = json.loads(head)
    stated = manifest["sha256"]
    manifest["sha256"] = hashlib.sha256(b"".join(body)).hexdigest()
    text = json.dumps(manifest, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    assert hashlib.sha256(text.encode()).hexdigest() == stated


def test_documents_are_sorted_by_id_whatever_order_they_come_in(tmp_path: Path, pack: Path) -> None:
    other = tmp_path / "other.jsonl"
    write_pack(other, MANIFEST, [small_set(name) for name in ("b", "c", "a")])
    assert other.read_bytes() == pack.read_bytes()
    assert open_pack(other).ids == ("a", "b", "c")


# ---------------------------------------------------------------------- what is in it


def test_a_pack_gives_back_what_was_put_in(pack: Path) -> None:
    opened = open_pack(pack)
    assert [made.document.id for made in opened] == ["a", "b", "c"]
    for made in (opened.get("b"), decode_set(encode_set(small_set("b")).data, "here")):
        assert made == small_set("b")
        assert made.variants[1].checks == {"length": 1.5}
    assert opened.manifest.documents == 3
    assert opened.manifest.variants == 3
    assert opened.manifest.rejects == 3
    assert opened.manifest.made == {"structure": 3}


@pytest.mark.parametrize(
    "text",
    ["Is\u2028it\u2029so?\x85", "naïve 🦆\u200d👩 法国", 'q"uo\\te\n\r\n', "\x00\x1b[2J\u202eabc"],
    ids=["unicode line ends", "wide", "quotes", "controls"],
)
def test_any_text_comes_back_as_it_was(tmp_path: Path, text: str) -> None:
    path = tmp_path / "p.jsonl"
    write_pack(path, MANIFEST, [small_set("x", text)])
    assert open_pack(path).get("x").document.fields["q"] == text
    assert path.read_bytes().count(b"\n") == 2


def test_a_lone_surrogate_becomes_a_replacement_character(tmp_path: Path) -> None:
    path = tmp_path / "p.jsonl"
    write_pack(path, MANIFEST, [small_set("x\ud800", "a\udfffb")])
    made = open_pack(path).get("x\ufffd")
    assert made.variants[1].text == "Q: a\ufffdb"


def test_a_variants_checks_stand_beside_it_and_a_value_that_is_none_too() -> None:
    (line,) = freeze([documents(1)[0]], load_recipe("quick"), 42)
    row = json.loads(line.data)
    names = {
        rule["name"]
        for rule in manifest_of(load_recipe("quick"), task="t", task_version="1", seed=42).constraints
    }
    assert {"changed", "literals", "length"} <= names
    assert row["variants"]
    for variant in row["variants"]:
        assert set(variant["checks"]) >= names
        assert variant["checks"]["changed"] is None
        before, after = (
            len("".join(text.split())) for text in (row["fields"]["question"], variant["fields"]["question"])
        )
        assert variant["checks"]["length"] == pytest.approx(after / before, abs=1e-4)


def test_the_manifest_names_the_versions_of_what_was_used() -> None:
    recipe = load_recipe("default")
    manifest = manifest_of(recipe, task="t", task_version="3", seed=5)
    assert manifest.recipe == f"default.{recipe.version}"
    assert manifest.seed == 5
    assert set(manifest.operators) == {entry.operator for entry in recipe.entries}
    assert {"sago-harness", "unicode"} <= set(manifest.versions)
    assert manifest.families["en"] == recipe.count("en")


def test_two_documents_of_one_name_are_no_pack(tmp_path: Path) -> None:
    with pytest.raises(SagoError, match="cannot hold document 'a' twice"):
        write_pack(tmp_path / "p.jsonl", MANIFEST, [small_set("a"), small_set("a")])
    assert not list(tmp_path.iterdir())


# ---------------------------------------------------------------------- altered and broken files


def _swap_text(content: list[bytes]) -> None:
    content[2] = content[2].replace(b"Q: Who?", b"Q: Why?")


def _swap_seed(content: list[bytes]) -> None:
    content[0] = content[0].replace(b'"seed":42', b'"seed":43')


def _drop_line(content: list[bytes]) -> None:
    del content[2]


def _repeat_line(content: list[bytes]) -> None:
    content.insert(2, content[1])


def _cut_line(content: list[bytes]) -> None:
    content[3] = content[3][:-20]


def _foreign_line(content: list[bytes]) -> None:
    content[2] = b'{"prompt": "Who?"}\n'


def _other_format(content: list[bytes]) -> None:
    content[0] = content[0].replace(b'"sago_pack":1', b'"sago_pack":2')


def _less_manifest(content: list[bytes]) -> None:
    content[0] = content[0].replace(b'"seed":42,', b"")


@pytest.mark.parametrize(
    ("edit", "told"),
    [
        (_swap_text, r"was altered: its content has sha256 [0-9a-f]{64}, its manifest says [0-9a-f]{64}"),
        (_swap_seed, "was altered"),
        (_drop_line, "is cut short: it holds 2 of 3 documents"),
        (_cut_line, "is cut short: it holds 2 of 3 documents"),
        (_repeat_line, "holds document 'a' twice, on lines 2 and 3"),
        (_foreign_line, "line 3 is no document of a pack"),
        (_other_format, "is a pack of format 2; this version of sago-harness reads format 1"),
        (_less_manifest, "the manifest lacks 'seed'"),
    ],
)
def test_an_altered_pack_is_refused_with_what_differs(
    pack: Path, edit: Callable[[list[bytes]], Any], told: str
) -> None:
    change(pack, edit)
    with pytest.raises(SagoError, match=told) as error:
        open_pack(pack)
    assert "\n" not in str(error.value)
    assert str(pack) in str(error.value)


RULE = {"name": "length", "version": 1, "options": {}}


@pytest.mark.parametrize(
    ("edit", "told"),
    [
        (
            {"constraints": [{**RULE, "options": {"upper": [1]}}]},
            "option of constraint 'length' is no number",
        ),
        ({"constraints": [{**RULE, "options": 3}]}, "lacks name, version or options"),
        ({"extra_constraints": [{"variant": 3, "languages": 4, "constraints": 5}]}, "extra constraint"),
        ({"extra_constraints": [{"variant": "x", "languages": 4, "constraints": []}]}, "extra constraint"),
        ({"extra_constraints": [{"variant": 3, "languages": [], "constraints": []}]}, "extra constraint"),
        ({"rewriter": json.loads('{"a":' * 300 + "1" + "}" * 300)}, "nested too deeply"),
    ],
)
def test_a_manifest_that_was_tampered_with_is_refused(pack: Path, edit: dict[str, Any], told: str) -> None:
    head, _, body = pack.read_bytes().partition(b"\n")
    pack.write_bytes(json.dumps({**json.loads(head), **edit}).encode() + b"\n" + body)
    with pytest.raises(SagoError, match=told) as error:
        open_pack(pack, check=False)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    "content",
    [b"", b"\n", b"\xff\xfe\x00", b'{"prompt": "Who?"}\n', b"[1]\n", b"PK\x03\x04", b"[" * 100_000],
    ids=["empty", "blank", "no text", "rows", "list", "zip", "deep"],
)
def test_other_files_are_no_packs(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "x.jsonl"
    path.write_bytes(content)
    with pytest.raises(SagoError, match="is no pack of variants"):
        open_pack(path)


def test_a_pack_that_is_not_there_and_a_document_that_is_not_in_it(tmp_path: Path, pack: Path) -> None:
    with pytest.raises(SagoError, match="cannot be read: No such file"):
        open_pack(tmp_path / "none.jsonl")
    with pytest.raises(SagoError, match="has no document 'z' among its 3"):
        open_pack(pack).get("z")
    with pytest.raises(SagoError, match=r"lacks 4 of 5 documents: 'd', 'e', 'f' \.\.\."):
        open_pack(pack).check_documents(["d", "e", "a", "f", "g"])


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        (b'"strength":null', b'"strength":"high"', "'strength' is of type str"),
        (b'"feature":"labels"', b'"feature":7', "'feature' is of type int"),
        (b'"family":"structure",', b"", "lacks 'family'"),
        (b'"q":"Q: Who?"', b'"p":"Q: Who?"', "has the fields p, the document q"),
        (b'"length":1.5', b'"length":"long"', "the value of check 'length' is no number"),
        (b'"length":1.5', b'"length":1' + b"0" * 400, "the value of check 'length' is no number"),
        (b'"strength":null', b'"strength":1' + b"0" * 400, "'strength' is no number"),
        (b'"keep":[]', b'"keep":[["a"]]', "'keep' must hold texts"),
        (b'"id":"label"', b'"id":"canonical"', "has variant 'canonical' twice"),
        (b'"q":"Who?"', b'"q":["Who?"]', "'fields' must hold texts"),
    ],
)
def test_a_line_of_the_wrong_kind_is_refused_with_its_place(old: bytes, new: bytes, told: str) -> None:
    data = encode_set(small_set("a")).data
    assert old in data
    with pytest.raises(SagoError, match=told) as error:
        decode_set(data.replace(old, new, 1), "p.jsonl line 2")
    assert "p.jsonl line 2" in str(error.value)


# ---------------------------------------------------------------------- whole or not there


def test_a_failed_build_leaves_the_old_file_and_nothing_else(pack: Path) -> None:
    before = pack.read_bytes()

    def failing() -> Any:
        yield encode_set(small_set("a"))
        raise RuntimeError("out of ideas")

    with pytest.raises(RuntimeError, match="out of ideas"):
        write_lines(pack, MANIFEST, failing())
    assert pack.read_bytes() == before
    assert list(pack.parent.iterdir()) == [pack]


def test_a_folder_that_is_not_there_is_told_in_one_line(tmp_path: Path) -> None:
    with pytest.raises(SagoError, match="could not be written: No such file"):
        write_pack(tmp_path / "none" / "p.jsonl", MANIFEST, [small_set("a")])


# A shell that runs the tests in the background lets its children ignore SIGINT.
SLOW = """
import signal, sys, time
signal.signal(signal.SIGINT, signal.default_int_handler)
sys.path.insert(0, sys.argv[2])
from pathlib import Path
from sago_harness.variants.packs.packfile import write_lines
from sago_harness.variants.packs.packline import encode_set
from tests.variants.test_packs import MANIFEST, small_set

def slow():
    for number in range(1000):
        yield encode_set(small_set(f"{number:04}", "Who? " * 20_000))
        if number == 3:
            print("going", flush=True)
        if number > 3:
            time.sleep(0.05)

write_lines(Path(sys.argv[1]), MANIFEST, slow())
"""


@pytest.mark.parametrize("kind", [signal.SIGKILL, signal.SIGINT])
def test_a_killed_build_leaves_no_file(tmp_path: Path, kind: signal.Signals) -> None:
    path = tmp_path / "p.jsonl"
    child = subprocess.Popen(
        [sys.executable, "-c", SLOW, str(path), str(Path(__file__).parents[2])],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    assert child.stdout is not None
    assert child.stdout.readline() == b"going\n"
    time.sleep(0.1)
    child.send_signal(kind)
    child.wait(timeout=30)
    assert child.returncode != 0
    assert not list(tmp_path.iterdir())


def test_what_a_killed_process_left_at_the_last_moment_is_swept_away(tmp_path: Path) -> None:
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    left = tmp_path / f".sago-unfinished-{gone.pid}.pack"
    at_work = tmp_path / f".sago-unfinished-{os.getppid()}.pack"
    left.touch()
    at_work.touch()
    write_pack(tmp_path / "p.jsonl", MANIFEST, [small_set("a")])
    assert not left.exists()
    assert at_work.exists()


PEAK = """
import resource, sys
sys.path.insert(0, sys.argv[2])
from pathlib import Path
from sago_harness.variants.packs.freeze import freeze, manifest_of
from sago_harness.variants.packs.packfile import open_pack, write_lines
from sago_harness.variants.recipe import parse_recipe
from sago_harness.data import Document

def documents(count):
    for number in range(count):
        text = f"Where did the {number} men of the old town build their bridge, and when was it? " * 4
        yield Document(f"{number:06}", {"question": text.strip()})

entries = [{"operator": name} for name in ("label", "request", "separators", "punctuation", "politeness")]
content = {"name": "r", "version": 1, "levels": ["literal"], "constraints": ["changed"], "variants": entries}
recipe = parse_recipe(content, "here")
manifest = manifest_of(recipe, task="t", task_version="1", seed=42)
path = Path(sys.argv[1])
write_lines(path, manifest, freeze(documents(20), recipe, 42))
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
write_lines(path, manifest, freeze(documents(10_000), recipe, 42))
held = sum(len(made.variants) for made in open_pack(path))
print(held, (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) // 1024)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="the unit of the peak is Linux's")
def test_ten_thousand_documents_are_written_and_read_in_little_memory(tmp_path: Path) -> None:
    path = tmp_path / "p.jsonl"
    done = subprocess.run(
        [sys.executable, "-c", PEAK, str(path), str(Path(__file__).parents[2])],
        check=True,
        capture_output=True,
        text=True,
    )
    held, megabytes = map(int, done.stdout.split())
    assert held == 60_000
    # A build or a reader that held its lines would need more than the file's size.
    assert path.stat().st_size > 25e6
    assert megabytes < 20
