"""Nothing large is made or kept on the plain path: logits within the budget, no states of all tokens."""

from __future__ import annotations

import gc
from typing import Any

import pytest
import torch

from sago_harness.axes.confidence import FORCED_TOKENS
from sago_harness.backends import hf
from sago_harness.backends.base import Wanted
from sago_harness.backends.own import OwnSignals
from tests import tiny
from tests.backends.plain import PROMPTS, document

VOCABULARY = 30_011
WORDS = tiny.tokenizer()
GEN = {"until": [], "max_gen_toks": 6}
LONG = " ".join(PROMPTS)


def wide(layers: int) -> Any:
    """A model with a large vocabulary, of which it writes only what the tokenizer knows."""
    model = tiny.llama(VOCABULARY, layers=layers)
    with torch.no_grad():
        model.lm_head.weight[len(WORDS) :] *= 0.01
    return model


def alive() -> list[torch.Tensor]:
    gc.collect()
    # By type: asking some lazy modules for their class makes them warn.
    return [thing for thing in gc.get_objects() if issubclass(type(thing), torch.Tensor)]


@pytest.mark.parametrize("padding_side", ["left", "right"])
@pytest.mark.parametrize("rows", [1, 3])
def test_logits_stay_within_the_budget(padding_side: str, rows: int, monkeypatch: pytest.MonkeyPatch) -> None:
    # Padded on the right, a short and a long prompt have their responses far apart.
    budget = rows * 6 * VOCABULARY * 4
    monkeypatch.setattr(hf, "LOGITS_BUDGET", budget)
    lm = tiny.host(wide(1), WORDS, batch_size=8)
    lm.sago_engine = "plain"
    lm.sago_padding_side = padding_side
    made: list[torch.Size] = []

    def watch(_module: Any, _args: Any, kwargs: dict[str, Any], output: Any) -> None:
        if not kwargs.get("use_cache"):
            made.append(output.logits.shape)

    lm.model.register_forward_hook(watch, with_kwargs=True)
    prompts = document([*PROMPTS, LONG], GEN)
    list(hf.HFBackend(lm).run([prompts], Wanted(), lambda *_: None))
    assert sum(shape[0] for shape in made) == len(prompts)
    assert all(shape[2] == VOCABULARY for shape in made)
    for shape in made:
        assert shape[0] == 1 or shape.numel() * 4 <= budget
        # No logits for the prompt's own positions.
        if padding_side == "left":
            assert shape[1] <= 6
    if padding_side == "left":
        assert max(shape[0] for shape in made) == rows


def test_what_is_held_between_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    documents = [document([text, text + " please", LONG], GEN) for text in PROMPTS]
    one = FORCED_TOKENS * VOCABULARY * 4
    monkeypatch.setattr(hf, "HELD_BUDGET", 2 * one)
    lm = tiny.host(wide(3), WORDS, batch_size=4)
    lm.sago_engine = "plain"
    weights = {parameter.data_ptr() for parameter in lm.model.parameters()}
    held: list[int] = []

    def look(_count: int, _step: str) -> None:
        found = [t for t in alive() if t.data_ptr() not in weights and t.dim() > 0]
        distributions = [t for t in found if t.shape[-1] == VOCABULARY]
        assert all(t.dim() == 2 and t.shape[0] <= FORCED_TOKENS for t in distributions)
        # No view keeps more alive than it shows.
        assert all(t.untyped_storage().nbytes() == t.numel() * 4 for t in distributions)
        held.append(sum(t.numel() * 4 for t in distributions))
        # No states of more than one layer or of all tokens.
        assert not [t for t in found if t.dim() >= 3 and t.shape[-1] == 32]

    found = dict(hf.HFBackend(lm).run(documents, Wanted(), look))
    assert len(found) == len(documents)
    # Two documents' distributions at a time, over 6 tokens here.
    assert 0 < max(held) <= 2 * 6 * VOCABULARY * 4


def test_a_step_of_generation_keeps_one_position() -> None:
    class Whole(torch.nn.Module):
        """Gives logits for every position of the prompt, as models without ``logits_to_keep`` do."""

        def forward(self, input_ids: torch.Tensor) -> Any:
            output = type("Output", (), {})()
            output.logits = torch.zeros(*input_ids.shape, VOCABULARY)
            return output

    model = Whole()
    before = {id(t) for t in alive()}
    with OwnSignals(model) as own:
        model(input_ids=torch.zeros(2, 20, dtype=torch.long))
        kept = [t for t in alive() if id(t) not in before and t.shape[-1:] == (VOCABULARY,)]
        assert sum(t.untyped_storage().nbytes() for t in kept) == 2 * VOCABULARY * 4
        logprob, entropy = own.values(torch.zeros(2, 21, dtype=torch.long))
    expected = torch.log(torch.tensor(float(VOCABULARY)))
    assert logprob == pytest.approx(-float(expected), abs=1e-4)
    assert entropy == pytest.approx(float(expected), abs=1e-3)
    assert logprob.shape == entropy.shape == (2, 1)
