"""``--model sago-hf``: the host's model, with names of packaged models and a padding side."""

from __future__ import annotations

from pathlib import Path

import pytest
from lm_eval.models.huggingface import HFLM

from sago_harness.backends import adapt
from sago_harness.backends.hf import HFBackend
from sago_harness.backends.sago_hf import SagoHF, load_error, locate
from sago_harness.errors import SagoError
from tests.backends.plain import PROMPTS, answer, host_texts

GEN = {"until": [], "max_gen_toks": 8}


@pytest.mark.parametrize("padding_side", ["left", "right"])
def test_same_texts_as_the_stock_model(tiny_folder: Path, padding_side: str) -> None:
    lm = SagoHF(str(tiny_folder), padding_side=padding_side, device="cpu", batch_size=2)
    stock = HFLM(pretrained=str(tiny_folder), device="cpu", batch_size=2)
    assert [response.text for response in answer(lm, PROMPTS, GEN)] == host_texts(stock, PROMPTS, GEN)
    backend = adapt(lm)
    assert isinstance(backend, HFBackend)
    assert backend.describe()["padding_side"] == padding_side
    # Weights are shared, not loaded again.
    assert backend.model is lm.model


def test_an_unknown_padding_side_is_one_line(tiny_folder: Path) -> None:
    with pytest.raises(SagoError, match=r"padding_side='middle'.*left or right"):
        SagoHF(str(tiny_folder), padding_side="middle")


def test_a_packaged_model_that_is_not_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SAGO_HOME", str(tmp_path))
    with pytest.raises(SagoError, match="sago models get smollm2"):
        locate("smollm2")


def test_any_other_name_is_left_to_the_host(tiny_folder: Path) -> None:
    assert locate(str(tiny_folder)) == str(tiny_folder)
    assert locate("someone/some-model") == "someone/some-model"


def test_a_model_that_cannot_be_loaded_is_one_line_with_the_nearest_name() -> None:
    error = load_error("smolm2", OSError("no such thing\non the hub"))
    assert "did you mean pretrained=smollm2?" in str(error)
    assert "\n" not in str(error)


@pytest.mark.models
def test_the_name_of_a_packaged_model(smollm2: Path) -> None:
    assert locate("smollm2") == str(smollm2)
