"""The versions of transformers: names that differ, and nothing of ours that is about to go."""

from __future__ import annotations

import json
import logging
import warnings
from collections.abc import Callable, Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest
import torch
import transformers.utils.logging

from sago_harness.backends.compat import cache_argument
from sago_harness.backends.sago_hf import SagoHF
from sago_harness.errors import SagoError
from sago_harness.models import convert
from tests import tiny
from tests.backends.plain import PROMPTS, answer

WORDS = tiny.tokenizer()
OLD = {"past_key_values", "cache_params"}


Complaints = Callable[[], list[str]]


@pytest.fixture
def complaints() -> Iterator[Complaints]:
    """What has been logged or warned of as deprecated since the test began."""
    logged: list[str] = []

    class Handler(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            logged.append(record.getMessage())

    library = logging.getLogger("transformers")
    handler = Handler()
    library.addHandler(handler)
    # What an earlier test has seen once would not be said again.
    transformers.utils.logging.warning_once.cache_clear()
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            yield lambda: deprecated([*logged, *map(_said, caught)])
    finally:
        library.removeHandler(handler)


def _said(warning: warnings.WarningMessage) -> str:
    """A warning's words, and that it is one of deprecation where its kind alone says so."""
    kind = "deprecated: " if issubclass(warning.category, (DeprecationWarning, FutureWarning)) else ""
    return f"{kind}{warning.message} ({warning.filename}:{warning.lineno})"


def deprecated(lines: list[str]) -> list[str]:
    return [line for line in lines if "deprecat" in line.lower() or "will be removed" in line.lower()]


@pytest.mark.parametrize("name", sorted(tiny.ARCHITECTURES))
def test_the_cache_goes_in_under_its_name(name: str, complaints: Complaints) -> None:
    if name == "t5":
        pytest.skip("its decoder alone has a cache")
    model = tiny.architecture(name, len(WORDS))
    ids = torch.tensor([WORDS(PROMPTS[0])["input_ids"]])
    key = cache_argument(model)
    if name == "mamba" and key == "cache_params":
        pytest.skip("transformers 4 asks for positions of its own beside Mamba's cache")
    with torch.no_grad():
        whole = model(input_ids=ids).logits[:, -1]
        first = model(input_ids=ids[:, :-1], use_cache=True)
        kept = next(getattr(first, at) for at in (key, *OLD, "cache") if getattr(first, at, None) is not None)
        last = model(input_ids=ids[:, -1:], use_cache=True, **{key: kept}).logits[:, -1]
    torch.testing.assert_close(last, whole, atol=1e-4, rtol=1e-4)
    assert complaints() == []


@pytest.mark.skipif(int(version("transformers").split(".")[0]) < 5, reason="nothing is deprecated there")
def test_the_old_name_is_complained_of(complaints: Complaints) -> None:
    # Shows that the other tests would see it.
    model = tiny.architecture("llama", len(WORDS))
    if cache_argument(model) != "cache":
        pytest.skip("this version has no other name yet")
    model(input_ids=torch.tensor([[3, 4]]), past_key_values=None)
    assert complaints()


@pytest.mark.parametrize(
    "say",
    [
        lambda: warnings.warn("use the other one", DeprecationWarning, stacklevel=1),
        lambda: warnings.warn("use the other one", FutureWarning, stacklevel=1),
        lambda: warnings.warn("this will be removed in 5.9", UserWarning, stacklevel=1),
        lambda: logging.getLogger("transformers.models.llama").warning("`x` is deprecated"),
        lambda: logging.getLogger("transformers.models.llama").warning_once("`x` is deprecated"),  # type: ignore
    ],
)
@pytest.mark.parametrize("time", ["first", "again"])
def test_every_kind_of_complaint_is_seen(say: Callable[[], None], time: str, complaints: Complaints) -> None:
    warnings.warn("nothing of the kind", UserWarning, stacklevel=1)
    assert complaints() == []
    say()
    assert len(complaints()) == 1


def test_a_model_without_a_cache() -> None:
    with pytest.raises(ValueError, match=r"Linear\.forward takes no cache"):
        cache_argument(torch.nn.Linear(1, 1))


GENERATIONS: dict[str, dict[str, Any]] = {
    "greedy": {},
    "sampling": {"do_sample": True, "temperature": 0.7},
    "beams": {"num_beams": 2},
}


@pytest.mark.skipif(int(version("transformers").split(".")[0]) < 5, reason="the newest is what counts")
@pytest.mark.parametrize("engine", ["auto", "plain"])
@pytest.mark.parametrize("name", sorted(tiny.ARCHITECTURES))
def test_a_run_uses_nothing_that_is_about_to_go(name: str, engine: str, complaints: Complaints) -> None:
    """From the model's own loading on; with hooks for blocks and for attention, all ways to generate."""
    lm = tiny.host(tiny.architecture(name, len(WORDS)), WORDS, batch_size=2)
    lm.sago_engine = engine
    for gen in GENERATIONS.values() if engine == "plain" else [GENERATIONS["greedy"]]:
        for layers in ("blocks", "attention"):
            found = answer(lm, PROMPTS[:3], {"until": ["\n\n"], "max_gen_toks": 4, **gen}, layers=layers)
            assert all(response.hidden is not None for response in found)
    assert complaints() == []


@pytest.mark.skipif(int(version("transformers").split(".")[0]) < 5, reason="the newest is what counts")
@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "auto"])
def test_loading_from_a_folder_uses_nothing_that_is_about_to_go(
    tiny_folder: Path, dtype: str, complaints: Complaints
) -> None:
    lm = SagoHF(str(tiny_folder), device="cpu", dtype=dtype, batch_size=2)
    answer(lm, PROMPTS[:2], {"until": ["\n\n"], "max_gen_toks": 2})
    assert complaints() == []


def test_a_gguf_file_needs_version_5(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(convert, "version", lambda name: "4.56.0")
    with pytest.raises(SagoError, match=r"needs transformers 5 \(this is 4\.56\.0"):
        convert.gguf_to_folder(tmp_path / "some.gguf", tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_settings_for_both_versions(tmp_path: Path) -> None:
    rope = {"rope_theta": 5e5, "rope_type": "default"}
    (tmp_path / "config.json").write_text(json.dumps({"rope_parameters": rope, "model_type": "llama"}))
    (tmp_path / "tokenizer_config.json").write_text('{"tokenizer_class": "TokenizersBackend"}')
    convert._write_for_both(tmp_path)
    config = json.loads((tmp_path / "config.json").read_text())
    assert config == {"rope_parameters": rope, "model_type": "llama", "rope_theta": 5e5}
    words = json.loads((tmp_path / "tokenizer_config.json").read_text())
    assert words == {"tokenizer_class": "PreTrainedTokenizerFast"}
