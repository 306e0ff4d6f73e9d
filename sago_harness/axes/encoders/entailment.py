"""A local NLI model: the probability that one text follows from another."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Any

from sago_harness.errors import SagoError


def entailment(folder: str, premise: str, hypothesis: str) -> float:
    """Return the probability that the hypothesis follows from the premise.

    Parameters
    ----------
    folder : str
        A sequence classifier in transformers' format, weights in safetensors.
    premise, hypothesis : str
        Cut together to what the model takes.

    Returns
    -------
    float
        0 to 1.

    Raises
    ------
    SagoError
        If the folder cannot be loaded, or none of the labels is ``entailment``.
    """
    import torch

    tokenizer, model, label = _load(folder)
    inputs = tokenizer(premise, hypothesis, truncation=True, return_tensors="pt")
    with torch.inference_mode():
        logits = model(**inputs).logits[0].float()
    return float(torch.softmax(logits, dim=-1)[label])


@functools.lru_cache(maxsize=2)
def _load(folder: str) -> tuple[Any, Any, int]:
    """Read the model once a process; weights in safetensors only, never code from the folder."""
    from transformers import AutoModelForSequenceClassification, AutoTokenizer

    path = str(Path(folder).expanduser())
    try:
        tokenizer = AutoTokenizer.from_pretrained(path, local_files_only=True, trust_remote_code=False)
        model = AutoModelForSequenceClassification.from_pretrained(
            path, local_files_only=True, trust_remote_code=False, use_safetensors=True
        )
    except (OSError, ValueError) as error:
        first = str(error).strip().splitlines()[0][:160]
        raise SagoError(f"the NLI model {folder} cannot be loaded: {first}") from error
    names = {str(name).lower(): int(index) for index, name in model.config.id2label.items()}
    if "entailment" not in names:
        raise SagoError(
            f"the NLI model {folder} has the labels {', '.join(sorted(names))}, "
            "and none of them is entailment"
        )
    return tokenizer, model.eval(), names["entailment"]
