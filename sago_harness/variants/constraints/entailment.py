"""The variant must follow from the canonical text and the other way round."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Any

from sago_harness.errors import SagoError
from sago_harness.variants.base import Check, Constraint, Passage


class Entailment(Constraint):
    """Passes if a local NLI model finds entailment in both directions.

    The value is the smaller of the two probabilities of entailment.

    Parameters
    ----------
    model : str
        Folder of a sequence classifier (``transformers`` format, safetensors) whose labels
        hold ``entailment``.
    minimum : float
        Smallest probability that passes.

    Raises
    ------
    SagoError
        If no folder is given, or it holds no such model.

    Examples
    --------
    >>> Entailment()
    Traceback (most recent call last):
    ...
    sago_harness.errors.SagoError: constraint 'entailment' needs a local NLI model: model: /folder
    """

    name = "entailment"
    requires = ("torch", "transformers")

    def __init__(self, model: str = "", minimum: float = 0.5) -> None:
        if not model:
            raise SagoError("constraint 'entailment' needs a local NLI model: model: /folder")
        if not (Path(model).expanduser() / "config.json").is_file():
            raise SagoError(f"constraint 'entailment': {model} is no model folder (it has no config.json)")
        self.model = model
        self.minimum = minimum

    def check(self, canonical: Passage, variant: str) -> Check:
        """Ask the model both ways."""
        value = min(
            entailment(self.model, canonical.text, variant), entailment(self.model, variant, canonical.text)
        )
        if value < self.minimum:
            return Check(False, value, f"entailment {value:.2f}, under {self.minimum:g}")
        return Check(True, value)


def entailment(folder: str, premise: str, hypothesis: str) -> float:
    """Return the probability that the hypothesis follows from the premise, 0 to 1."""
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
        raise SagoError(f"constraint 'entailment': {folder} cannot be loaded: {first}") from error
    names = {str(name).lower(): int(index) for index, name in model.config.id2label.items()}
    if "entailment" not in names:
        raise SagoError(
            f"constraint 'entailment': {folder} has the labels {', '.join(sorted(names))}, "
            "and none of them is entailment"
        )
    return tokenizer, model.eval(), names["entailment"]
