"""The variant's sentence embedding must be near the canonical one."""

from __future__ import annotations

from sago_harness.errors import SagoError
from sago_harness.variants.base import Check, Constraint, Passage
from sago_harness.variants.constraints.options import check_number, check_text


class Similarity(Constraint):
    """Passes if the cosine of the sentence embeddings reaches a minimum.

    A cosine is no check of meaning: it hardly moves when a number or a negation changes
    (docs/variants.md), and is meant for synonyms and rewriting, beside the other constraints.

    Parameters
    ----------
    minimum : float
        Smallest cosine that passes.
    encoder : str
        As of ``--metadata encoder=``: a packaged sentence encoder, or ``sentence:/folder``.

    Raises
    ------
    SagoError
        If an option is out of range.

    Examples
    --------
    >>> Similarity(minimum=0.8).minimum
    0.8
    """

    name = "similarity"

    def __init__(self, minimum: float = 0.75, encoder: str = "sentence:minilm") -> None:
        check_number(self.name, "minimum", minimum, -1, 1)
        check_text(self.name, "encoder", encoder)
        self.minimum = minimum
        self.encoder = encoder

    def check(self, canonical: Passage, variant: str) -> Check:
        """Compare the two texts; one that the encoder cannot read is not held against the variant.

        Raises
        ------
        SagoError
            If the encoder cannot be had.
        """
        from sago_harness.axes.encoders import Missing, load_encoder

        encoder = load_encoder(self.encoder, canonical.language)
        if isinstance(encoder, Missing):
            raise SagoError(f"constraint 'similarity': {encoder.message}")
        (result,) = encoder.compare([(canonical.text, variant)])
        if result.value is None:
            return Check(True, None, result.reason)
        if result.value < self.minimum:
            return Check(False, result.value, f"cosine {result.value:.2f}, under {self.minimum:g}")
        return Check(True, result.value)
