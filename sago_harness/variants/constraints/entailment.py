"""The variant must follow from the canonical text and the other way round."""

from __future__ import annotations

from pathlib import Path

from sago_harness.errors import SagoError
from sago_harness.variants.base import Check, Constraint, Passage
from sago_harness.variants.constraints.options import check_number, check_text


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
        If no folder is given, it holds no such model, or the minimum is out of range.

    Examples
    --------
    >>> Entailment()
    Traceback (most recent call last):
    ...
    sago_harness.errors.SagoError: constraint 'entailment' needs a local NLI model: model: /folder
    """

    name = "entailment"

    def __init__(self, model: str = "", minimum: float = 0.5) -> None:
        if not model:
            raise SagoError("constraint 'entailment' needs a local NLI model: model: /folder")
        check_text(self.name, "model", model)
        check_number(self.name, "minimum", minimum, 0, 1)
        if not (Path(model).expanduser() / "config.json").is_file():
            raise SagoError(f"constraint 'entailment': {model} is no model folder (it has no config.json)")
        self.model = model
        self.minimum = minimum

    def check(self, canonical: Passage, variant: str) -> Check:
        """Ask the model both ways."""
        from sago_harness.axes.encoders.entailment import entailment

        value = min(
            entailment(self.model, canonical.text, variant), entailment(self.model, variant, canonical.text)
        )
        if value < self.minimum:
            return Check(False, value, f"entailment {value:.2f}, under {self.minimum:g}")
        return Check(True, value)
