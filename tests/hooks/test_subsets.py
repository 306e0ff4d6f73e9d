"""Subsets, ranks and caches act on whole documents, known by their own ids."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from sago_harness.errors import SagoError
from tests.hooks.hosts import Scripted, build, evaluate, manager, prompts, records, write_yaml

TASK = "sago_demo_facts"


def own(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The records without the chance controls, and without what names the whole run."""
    kept = [row for row in rows if row["role"] != "control"]
    return [{k: v for k, v in row.items() if k != "signature"} for row in kept]


def hf_same(one: list[dict[str, Any]], other: list[dict[str, Any]]) -> None:
    """Other batches round differently: texts and ids equal, numbers close."""
    for a, b in zip(one, other, strict=True):
        assert {k: a[k] for k in ("variant", "text", "response_hash", "flags")} == {
            k: b[k] for k in ("variant", "text", "response_hash", "flags")
        }
        for name, value in a["distances"].items():
            assert b["distances"][name] == pytest.approx(value, abs=1e-4), name


@pytest.fixture(scope="module")
def everything(english_lm: Any) -> dict[str, list[dict[str, Any]]]:
    return records(evaluate(english_lm, TASK, limit=6), TASK)


def test_limit_counts_documents(everything: dict[str, list[dict[str, Any]]]) -> None:
    assert list(everything) == [f"facts-{k:02}" for k in range(1, 7)]
    assert {len(rows) for rows in everything.values()} == {1 + 6 + 2}


def test_a_limit_changes_no_number_of_a_document(
    english_lm: Any, everything: dict[str, list[dict[str, Any]]]
) -> None:
    fewer = records(evaluate(english_lm, TASK, limit=2), TASK)
    assert list(fewer) == ["facts-01", "facts-02"]
    for document, rows in fewer.items():
        hf_same(own(rows), own(everything[document]))
        partners = [row["partner"] for row in rows if row["role"] == "control"]
        assert set(partners) == set(fewer) - {document}


def test_samples_in_any_order_keep_ids_and_numbers(
    english_lm: Any, everything: dict[str, list[dict[str, Any]]]
) -> None:
    found = evaluate(english_lm, TASK, samples={TASK: [4, 1]})
    picked = records(found, TASK)
    assert set(picked) == {"facts-02", "facts-05"}
    for document, rows in picked.items():
        hf_same(own(rows), own(everything[document]))
    # The document's own id stands in the sample, whatever the host's doc_id says.
    for sample in found["samples"][TASK]:
        assert sample["doc"]["sago_id"] == json.loads(sample["filtered_resps"][0])["document"]


def test_documents_by_metadata_are_drawn_by_name_and_only_grow() -> None:
    few = [row["sago_id"] for row in build(TASK, {"documents": 4}).eval_docs]
    more = [row["sago_id"] for row in build(TASK, {"documents": 9}).eval_docs]
    every = [row["sago_id"] for row in build(TASK, {"documents": "all"}).eval_docs]
    assert (len(few), len(more), len(every)) == (4, 9, 24)
    assert set(few) < set(more) < set(every)
    assert more == [name for name in every if name in set(more)]
    other = [row["sago_id"] for row in build(TASK, {"documents": 4, "variant_seed": 7}).eval_docs]
    assert other != few


def test_another_seed_makes_other_variants_and_the_same_one_the_same() -> None:
    def texts(seed: int) -> dict[str, dict[str, Any]]:
        task = build(TASK, {"variant_seed": seed})
        task.build_all_requests(limit=8)
        return prompts(task)

    assert texts(1) == texts(1)
    assert texts(1) != texts(2)


@pytest.mark.parametrize("world", [2, 3])
def test_ranks_make_together_what_one_process_makes(world: int) -> None:
    def requests(rank: int, size: int) -> list[Any]:
        task = build(TASK)
        task.build_all_requests(limit=7, rank=rank, world_size=size)
        return [(i.doc_id, i.idx, i.arguments) for i in task.instances]

    alone = requests(0, 1)
    parts = [requests(rank, world) for rank in range(world)]
    # Whole bundles, each on one rank: what shares a batch does not depend on the number of ranks.
    places = [{arguments[2]["bundle"] for _, _, arguments in part} for part in parts]
    assert all(places)
    assert len(set.union(*places)) == sum(map(len, places))

    def in_order(items: list[Any]) -> list[Any]:
        found = sorted(items, key=lambda item: item[:2])
        if world > 2:  # fewer than two bundles' worth a rank: only then they are cut smaller
            for _, _, arguments in found:
                arguments[2].pop("bundle")
        return found

    assert in_order([item for part in parts for item in part]) == in_order(alone)


def test_ranks_share_their_few_shot_examples() -> None:
    def requests(rank: int, size: int) -> dict[str, dict[str, Any]]:
        task = build(TASK)
        task.set_config(key="num_fewshot", value=2)
        task.build_all_requests(limit=4, rank=rank, world_size=size)
        return prompts(task)

    assert requests(0, 2) | requests(1, 2) == requests(0, 1)


def test_more_processes_than_documents_are_refused() -> None:
    with pytest.raises(SagoError, match="4 processes for 3 documents"):
        build(TASK).build_all_requests(limit=3, rank=0, world_size=4)


def test_the_hosts_repeats_are_refused(tmp_path: Path) -> None:
    body = 'vary: prompt\ndoc_to_text: "{{prompt}}"\ndoc_to_target: ""\nrepeats: 3\n'
    folder = write_yaml(tmp_path / "again", "again", body, [{"prompt": "Is it raining?"}])
    with pytest.raises(SagoError, match="canonical_repeats"):
        manager(None, folder).load(["again"])


def test_canonical_repeats_are_requests_of_the_document(english_lm: Any, minilm: Path) -> None:
    found = evaluate(english_lm, TASK, {"canonical_repeats": 2}, limit=2)
    for rows in records(found, TASK).values():
        repeats = [row for row in rows if row["role"] == "repeat"]
        assert [row["variant"] for row in repeats] == ["repeat1", "repeat2"]
        assert [row["repeat"] for row in repeats] == [1, 2]
        # Greedy, float32: the same text and, up to rounding, the same states.
        for row in repeats:
            assert row["response_hash"] == rows[0]["response_hash"]
            assert row["distances"]["x_bleu"] == 0.0
            assert row["distances"]["x_act"] == pytest.approx(0.0, abs=1e-4)


def test_no_controls_on_request() -> None:
    task = build(TASK, {"controls": 0})
    task.build_all_requests(limit=3)
    assert {i.arguments[2]["role"] for i in task.instances} == {"canonical", "variant"}


def test_controls_are_other_documents_prompts_as_those_render_them() -> None:
    task = build(TASK)
    task.set_config(key="num_fewshot", value=2)
    task.build_all_requests(limit=5)
    made = prompts(task)
    for instance in task.instances:
        text, _, payload = instance.arguments
        if payload["role"] == "control":
            assert payload["partner"] != payload["document"]
            assert text == made[payload["partner"]]["canonical"]


def test_a_shared_cluster_or_an_equal_text_is_no_partner(tmp_path: Path) -> None:
    body = 'vary: prompt\nid_field: id\ncluster_field: page\ndoc_to_text: "{{prompt}}"\ndoc_to_target: ""\n'
    rows = [
        {"id": "a", "page": "p", "prompt": "Who built the tower by the sea?"},
        {"id": "b", "page": "p", "prompt": "When was the tower by the sea built?"},
        {"id": "c", "page": "q", "prompt": "Who wrote the long letter?"},
        {"id": "d", "page": "r", "prompt": "Who wrote the long letter?"},
    ]
    task = build("twins", None, write_yaml(tmp_path / "twins", "twins", body, rows))
    task.build_all_requests()
    partners: dict[str, set[str]] = {}
    for instance in task.instances:
        payload = instance.arguments[2]
        if payload["role"] == "control":
            partners.setdefault(payload["document"], set()).add(payload["partner"])
    assert partners["c"] == partners["d"] == {"a", "b"}
    assert len(partners["a"]) == len(partners["b"]) == 1
    assert partners["a"] | partners["b"] <= {"c", "d"}


# ---------------------------------------------------------------------- request cache


@pytest.fixture
def request_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    import lm_eval.caching.cache as host

    folder = tmp_path / "requests"
    monkeypatch.setattr(host, "PATH", str(folder))
    return folder


@pytest.fixture
def contexts(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Names of documents whose requests are constructed anew."""
    from sago_harness.hooks.task import SagoTask

    made: list[str] = []
    construct = SagoTask.construct_requests

    def counting(self: Any, doc: Any, ctx: Any, **kwargs: Any) -> Any:
        made.append(doc["sago_id"])
        return construct(self, doc, ctx, **kwargs)

    monkeypatch.setattr(SagoTask, "construct_requests", counting)
    return made


def test_the_second_run_is_served_from_the_request_cache(request_cache: Path, contexts: list[str]) -> None:
    def run() -> dict[str, Any]:
        return evaluate(Scripted(str.lower), TASK, {"encoder": "minilm"}, limit=3, cache_requests=True)

    first = run()
    assert contexts
    contexts.clear()
    second = run()
    assert contexts == []
    assert second["results"] == first["results"]
    assert second["samples"] == first["samples"]
    plain = evaluate(Scripted(str.lower), TASK, {"encoder": "minilm"}, limit=3)
    assert plain["samples"] == first["samples"]


CHANGES: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "recipe": ({"recipe": "default"}, {}),
    "seed": ({"variant_seed": 5}, {}),
    "controls": ({"controls": 1}, {}),
    "pooling": ({"pooling": "span"}, {}),
    "encoder": ({"encoder": "use-multilingual"}, {}),
    "limit": ({}, {"limit": 4}),
    "shots": ({}, {"num_fewshot": 2}),
    "few-shot seed": ({}, {"num_fewshot": 1, "fewshot_random_seed": 99}),
    "system": ({}, {"system_instruction": "Be brief."}),
    "template": ({}, {"apply_chat_template": True}),
}


@pytest.mark.parametrize("change", sorted(CHANGES))
def test_whatever_changes_the_requests_is_not_served_from_the_cache(
    change: str, request_cache: Path, contexts: list[str]
) -> None:
    metadata, options = CHANGES[change]
    if change == "few-shot seed":
        evaluate(Scripted(str.lower), TASK, limit=3, cache_requests=True, num_fewshot=1)
    else:
        evaluate(Scripted(str.lower), TASK, limit=3, cache_requests=True)
    contexts.clear()
    cached = evaluate(Scripted(str.lower), TASK, metadata, **{"limit": 3, "cache_requests": True, **options})
    assert contexts, f"another {change} was served the old requests"
    plain = evaluate(Scripted(str.lower), TASK, metadata, **{"limit": 3, **options})
    assert cached["samples"] == plain["samples"]


@pytest.mark.parametrize("rank", [0, 1])
def test_cached_requests_are_those_of_the_rank_that_evaluates(rank: int, request_cache: Path) -> None:
    # The host builds without its limit here, and evaluates with it.
    for _ in range(2):
        task = build(TASK)
        task.build_all_requests(limit=5, rank=rank, world_size=2, cache_requests=True, tokenizer_name="x")
        evaluated = {doc_id for doc_id, _ in task.doc_iterator(rank=rank, limit=5, world_size=2)}
        assert {instance.doc_id for instance in task.instances} == evaluated
        assert evaluated


def test_a_changed_file_is_not_served_from_the_cache(
    tmp_path: Path, request_cache: Path, contexts: list[str]
) -> None:
    """Own variants and fields around the varied one are part of the prompts too."""

    def run(name: str, extra: dict[str, Any]) -> dict[str, Any]:
        rows = [{"prompt": f"How many legs has a {animal}?", **extra} for animal in ("cat", "hen", "bee")]
        file = tmp_path / f"{name}.jsonl"
        file.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
        found = evaluate(Scripted(str.lower), "local_sago", {"file": str(file)}, cache_requests=True)
        return records(found, "local_sago")

    before = run("one", {"variants": ["Legs?"]})
    contexts.clear()
    after = run("two", {"variants": ["Please count the legs."]})
    assert contexts
    assert before.keys() == after.keys()
    for rows in after.values():
        assert [row["text"] for row in rows if row["family"] == "human"] == ["Please count the legs."]
