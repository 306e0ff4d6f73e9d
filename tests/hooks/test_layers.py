"""The layer profile and the measures over the data set, from a model's states to the results file."""

from __future__ import annotations

import copy
import json
import logging
import math
import pickle
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from lm_eval.models.huggingface import HFLM

from sago_harness.axes.vectors import VectorRef
from sago_harness.errors import SagoError
from sago_harness.scores.profile import profiles_of
from tests.hooks.hosts import Scripted, build, evaluate, records, values
from tests.hooks.test_people import data as people
from tests.hooks.test_ranks import Meeting

TASK = "sago_demo_facts"
LIMIT = 20
METADATA = {"representation": "cka+procrustes+pwcca", "canonical_repeats": 1}


@pytest.fixture(scope="module")
def scored(english_lm: Any, minilm: Path) -> dict[str, Any]:
    return evaluate(english_lm, TASK, METADATA, limit=LIMIT)


def own(results: dict[str, Any], task: str = TASK) -> dict[str, Any]:
    found: dict[str, Any] = results["configs"][task]["metadata"]["sago"]
    return found


def test_the_results_hold_the_profile_that_records_give(scored: dict[str, Any]) -> None:
    found = own(scored)["layers"]
    assert [level["layer"] for level in found["profile"]] == [0, 1, 2]
    # Every prompt of this task ends alike, so that no prompt moves the last token's embedding.
    assert [level["n"] for level in found["profile"]] == [0, LIMIT, LIMIT]
    assert [level["reason"] for level in found["profile"]] == ["unmoved", "", ""]
    assert found["unscored"] == {}
    rows = [row for of in records(scored, TASK).values() for row in of]
    again = json.loads(json.dumps(profiles_of(rows)[""].as_dict()).replace("NaN", "null"))
    assert again == found
    for layer in (1, 2):
        level = found["profile"][layer]
        # The mean over families of two variants each is here the mean over all six.
        of = [r["layers"][layer] ** 2 for r in rows if r["role"] == "variant"]
        chance = [r["layers"][layer] ** 2 for r in rows if r["role"] == "control"]
        assert level["r"] == pytest.approx(math.sqrt(np.mean(of) / np.mean(chance)), abs=1e-12)
        assert 0.0 < level["stderr"] < 0.1
        assert level["noise"] < 1e-3


def states_of(lm: Any, prompt: str) -> np.ndarray:
    """Last token's states, embedding first, by the library itself."""
    ids = torch.tensor([lm.tok_encode(prompt)])
    with torch.no_grad():
        hidden = lm.model.model(ids, output_hidden_states=True).hidden_states
    # The library's last state is behind the final norm; what is measured is in front of it.
    with torch.no_grad():
        kept: list[Any] = []
        handle = lm.model.model.layers[-1].register_forward_hook(
            lambda _m, _i, out: kept.append(out[0] if isinstance(out, tuple) else out)
        )
        lm.model.model(ids)
        handle.remove()
    return np.stack([layer[0, -1].numpy() for layer in (*hidden[:-1], kept[0])])


def debiased(x: np.ndarray, y: np.ndarray) -> float:
    """1 - CKA with HSIC_1 by U-centred Gram matrices (Szekely and Rizzo 2014), another way to it."""

    def centred(states: np.ndarray) -> np.ndarray:
        k = states @ states.T
        n = len(k)
        np.fill_diagonal(k, 0.0)
        made = (
            k
            - k.sum(0, keepdims=True) / (n - 2)
            - k.sum(1, keepdims=True) / (n - 2)
            + k.sum() / ((n - 1) * (n - 2))
        )
        np.fill_diagonal(made, 0.0)
        return np.asarray(made)

    a, b = centred(x.astype(np.float64)), centred(y.astype(np.float64))
    return float(1.0 - (a * b).sum() / math.sqrt((a * a).sum() * (b * b).sum()))


def test_x_cka_is_that_of_the_models_own_states(english_lm: Any, scored: dict[str, Any]) -> None:
    found = own(scored)["representation"]["x_cka"]
    states: dict[str, list[np.ndarray]] = {}
    families: dict[str, str] = {}
    for sample in scored["samples"][TASK]:
        for (prompt, _, payload), line in zip(sample["arguments"], sample["filtered_resps"], strict=True):
            row = json.loads(line)
            states.setdefault(row["variant"], []).append(states_of(english_lm, prompt))
            families[row["variant"]] = {"control": "chance", "repeat": "repeats"}.get(
                row["role"], payload["family"]
            )
    whole = {name: np.array(of) for name, of in states.items() if len(of) == LIMIT}
    assert len(whole) >= 4
    for family, level in found["families"].items():
        names = [name for name, of in families.items() if of == family]
        if any(16 <= len(states[name]) < LIMIT for name in names):
            continue
        names = [name for name in names if name in whole]
        for layer in (1, 2):
            expected = np.mean([debiased(whole["canonical"][:, layer], whole[n][:, layer]) for n in names])
            # Half precision on disk, batches in float32.
            assert found["layers"][layer]["families"][family]["value"] == pytest.approx(expected, abs=2e-3)
        assert level["n"] == LIMIT
    assert {"chance", "repeats"} <= set(found["families"])


def test_the_table_has_one_number_and_its_error(scored: dict[str, Any]) -> None:
    table = values(scored, TASK)
    for name in ("x_cka", "x_procrustes", "x_pwcca"):
        found = own(scored)["representation"][name]
        assert table[name] == found["value"]
        assert table[f"{name}_stderr"] == found["stderr"] > 0.0
        assert found["families"]["repeats"]["value"] == pytest.approx(0.0, abs=0.01)
        assert found["value"] < found["families"]["chance"]["value"]
        assert scored["higher_is_better"][TASK][name] is False
    assert own(scored)["representation"]["documents"] == LIMIT
    assert own(scored)["signature"]["measures"]["x_cka"] == 1


def test_samples_show_hashes_and_not_states(scored: dict[str, Any]) -> None:
    for sample in scored["samples"][TASK]:
        shown = sample["x_cka"]
        assert set(shown) == {json.loads(line)["variant"] for line in sample["filtered_resps"]}
        assert {type(value) for value in shown.values()} == {str}
    assert json.loads(json.dumps(scored["samples"][TASK][0]["x_cka"])) == scored["samples"][TASK][0]["x_cka"]


class RankedModel(HFLM):  # type: ignore[misc]
    """One of several processes; what is exchanged is pickled as between real ones."""

    def __init__(self, model: Any, words: Any, rank: int, meeting: Meeting) -> None:
        super().__init__(pretrained=model, tokenizer=words, batch_size=8, device="cpu")
        self._rank, self._world_size, self._meeting = rank, meeting.size, meeting
        self.gathered: list[bytes] = []

    def all_gather(self, tensor: torch.Tensor) -> torch.Tensor:
        """One number a rank."""
        return torch.stack(self._meeting.exchange(self._rank, tensor))

    def gather_object(self, obj: Any, dst: int = 0) -> list[Any] | None:
        """All objects on rank 0."""
        self.gathered.append(pickle.dumps(obj))
        found = self._meeting.exchange(self._rank, self.gathered[-1])
        return [pickle.loads(one) for one in found] if self._rank == dst else None

    def barrier(self) -> None:
        """Wait for the others."""
        self._meeting.exchange(self._rank, None)


@pytest.fixture(scope="module")
def joined(english_lm: Any, minilm: Path) -> tuple[dict[str, Any], list[RankedModel]]:
    meeting = Meeting(2)
    # Processes share no model.
    models = [
        RankedModel(copy.deepcopy(english_lm.model), english_lm.tokenizer, rank, meeting) for rank in range(2)
    ]
    results: dict[int, Any] = {}

    def work(rank: int) -> None:
        try:
            results[rank] = evaluate(models[rank], TASK, METADATA, limit=LIMIT)
        except BaseException as error:
            results[rank] = error
            meeting.barrier.abort()

    threads = [threading.Thread(target=work, args=(rank,)) for rank in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=240)
    for rank in range(2):
        if isinstance(results[rank], BaseException):
            raise results[rank]
    return results[0], models


def test_two_processes_give_the_numbers_of_one(
    scored: dict[str, Any], joined: tuple[dict[str, Any], list[RankedModel]]
) -> None:
    together = joined[0]
    assert own(together)["layers"] == own(scored)["layers"]
    assert own(together)["representation"] == own(scored)["representation"]
    assert values(together, TASK) == values(scored, TASK)


def test_states_travel_once_and_with_the_values_alone(
    scored: dict[str, Any], joined: tuple[dict[str, Any], list[RankedModel]]
) -> None:
    for model in joined[1]:
        samples, metrics = model.gathered
        assert b"SGV1" not in samples
        refs = {
            ref
            for item in pickle.loads(metrics)[TASK]["x_cka", "none"]
            for ref in item["states"].values()
            if isinstance(ref, VectorRef)
        }
        assert len(refs) > 50
        # Three columns and their errors hold the same object; equal states are other references.
        shown = pickle.loads(samples)[TASK]
        assert metrics.count(b"SGV1") == sum(len(s["x_cka"]) for s in shown)


def test_only_the_first_bundles_are_kept(english_lm: Any) -> None:
    metadata = {"representation_documents": 16, "bundle": 4}
    found = evaluate(english_lm, TASK, metadata, limit=LIMIT)
    kept = [sample for sample in found["samples"][TASK] if sample["x_cka"] is not None]
    assert len(kept) == own(found)["representation"]["documents"] == 16
    assert isinstance(values(found, TASK)["x_cka"], float)
    assert own(found)["layers"]["profile"][1]["n"] == LIMIT
    assert own(found)["representation"]["x_cka"]["n"] == 16


def test_few_documents_are_unscored_with_reason_and_count(english_lm: Any) -> None:
    found = evaluate(english_lm, TASK, limit=5)
    assert values(found, TASK)["x_cka"] == values(found, TASK)["x_cka_stderr"] == "N/A"
    said = own(found)["representation"]["x_cka"]
    assert (said["value"], said["n"], said["reason"]) == (None, 5, "few_documents")


def wanted(task: Any) -> set[bool]:
    return {instance.arguments[2]["wanted"][3] for instance in task.instances}


def test_it_can_be_left_out(english_lm: Any) -> None:
    found = evaluate(english_lm, TASK, {"representation": "off"}, limit=4)
    assert "x_cka" not in values(found, TASK)
    assert "representation" not in own(found)
    assert own(found)["layers"]["profile"][1]["n"] == 4
    whole = evaluate(english_lm, TASK, limit=4)
    shared = {name: value for name, value in values(whole, TASK).items() if not name.startswith("x_cka")}
    assert values(found, TASK) == shared
    task = build(TASK, {"representation": "off"})
    task.build_all_requests(limit=4, rank=0, world_size=1)
    assert wanted(task) == {False}
    task = build(TASK)
    task.build_all_requests(limit=4, rank=0, world_size=1)
    assert wanted(task) == {True}


@pytest.mark.parametrize("value", ["ckaa", "cka+off", "x_cka", "cka+nothing"])
def test_an_unknown_measure_is_told_in_one_line(value: str) -> None:
    with pytest.raises(SagoError, match="representation") as error:
        build(TASK, {"representation": value})
    assert "\n" not in str(error.value)


def test_a_model_of_text_alone_has_nulls_with_the_reason(
    minilm: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING):
        found = evaluate(Scripted(str.upper), TASK, METADATA, limit=LIMIT)
    assert values(found, TASK)["x_cka"] == values(found, TASK)["x_cka_stderr"] == "N/A"
    assert own(found)["layers"] == {"profile": [], "unscored": {"no_hidden_states": LIMIT}}
    said = own(found)["representation"]
    prompts = sum(len(sample["filtered_resps"]) for sample in found["samples"][TASK])
    assert said["missing"] == {"no_hidden_states": prompts}
    assert (said["x_cka"]["value"], said["x_cka"]["reason"]) == (None, "no_hidden_states")
    names = [name for name in said if name.startswith("x_")]
    assert len(names) == 3
    assert [r for r in caplog.records if any(name in r.getMessage() for name in names)] == []


def test_where_people_brought_all_variants_theirs_are_profiled(english_lm: Any, tmp_path: Path) -> None:
    found = evaluate(english_lm, "sago_disfl_qa", people(tmp_path))
    said = own(found, "sago_disfl_qa")
    assert "layers" not in said
    rows = [row for of in records(found, "sago_disfl_qa").values() for row in of]
    level = said["layers_beside"]["human"]["profile"][1]
    squares = [row["layers"][1] ** 2 for row in rows if row["family"] == "human"]
    assert level["n"] == len(squares) == 4
    assert level["variants"] == pytest.approx(math.sqrt(np.mean(squares)), abs=1e-12)
    assert (said["representation"]["x_cka"]["n"], said["representation"]["x_cka"]["reason"]) == (
        4,
        "few_documents",
    )


def test_predictions_alone_keep_no_states(english_lm: Any) -> None:
    found = evaluate(english_lm, TASK, limit=3, predict_only=True)
    assert all("x_cka" not in sample for sample in found["samples"][TASK])
    assert all(
        payload["wanted"][3] is False for s in found["samples"][TASK] for _, _, payload in s["arguments"]
    )


def test_attention_states_have_a_profile_of_their_own(english_lm: Any) -> None:
    blocks = own(evaluate(english_lm, TASK, limit=4))["layers"]["profile"]
    attention = own(evaluate(english_lm, TASK, {"states": "attention"}, limit=4))["layers"]["profile"]
    assert len(attention) == len(blocks) == 3
    assert [a["r"] == b["r"] for a, b in zip(attention, blocks, strict=True)] == [True, False, False]
