"""What every entry of the table of backends must be."""

from __future__ import annotations

from typing import Any

import pytest

from sago_harness.backends import BACKENDS, adapt
from sago_harness.backends.base import Backend, Prompt, Response, Wanted


class Echo:
    """Any object that generates is a model for the text backend."""

    def generate_until(self, requests: list[Any]) -> list[str]:
        return [str(request.args[0]).upper() for request in requests]


def model_for(name: str, tiny_lm: Any) -> Any:
    return tiny_lm if name == "hf" else Echo()


@pytest.mark.parametrize("name", sorted(BACKENDS))
def test_contract(name: str, tiny_lm: Any) -> None:
    """Each document once, responses in the order of its prompts, missing signals with a reason."""
    backend_class = BACKENDS.load(name)
    assert issubclass(backend_class, Backend)
    assert set(backend_class.signals) <= {"text", "own", "forced", "hidden"}
    assert "text" in backend_class.signals
    lm = model_for(name, tiny_lm)
    assert backend_class.accepts(lm)
    assert type(adapt(lm)) is backend_class
    backend = backend_class(lm)
    arguments = {"until": [], "max_gen_toks": 3, "do_sample": False}
    documents = [
        [Prompt("Hi", "canonical", arguments), Prompt("Hello there", "variant", arguments)],
        [Prompt("Name a river", "canonical", arguments)],
    ]
    steps: list[int] = []
    found = dict(backend.run(documents, Wanted(), lambda count, _step: steps.append(count)))
    assert sorted(found) == [0, 1]
    assert [len(found[index]) for index in (0, 1)] == [2, 1]
    per_prompt = 2 if "forced" in backend_class.signals else 1
    assert sum(steps) == 3 * per_prompt
    for responses in found.values():
        for response in responses:
            assert isinstance(response, Response)
            assert response.prompt_ids_digest
            held = {
                "own": response.own_logprob,
                "forced": response.forced_logprob,
                "hidden": response.hidden,
            }
            for signal, value in held.items():
                assert (value is None) == bool(response.reasons.get(signal)), signal
                assert (value is not None) == (signal in backend_class.signals), signal
    assert found[0][0].prompt_ids_digest != found[0][1].prompt_ids_digest
    described = backend.describe()
    assert described["class"]
    assert described["backend"] == name
