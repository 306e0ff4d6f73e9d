"""Does the fast path give a model's own logits? Asked once a model, before it is relied upon.

A model may do something between embedding and logits that packed rows do not survive. A few
tokens, once through the model alone and once in two packed passes, tell.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

import torch

from sago_harness.backends.batches import out_of_memory, without_gradients
from sago_harness.engine.ragged import Piece, RaggedPass
from sago_harness.engine.slots import Slots

log = logging.getLogger(__name__)

#: Tokens of the probe.
TOKENS = 12

#: Difference of logits, as a share of their spread, that rounding explains: the largest one, or for
#: types of few digits, where the largest of half a million says little, the mean.
_TOLERANCE = {torch.float32: 1e-3, torch.float64: 1e-6}
_COARSE = 0.1


def reason_against_passes(lm: Any, make: Callable[[], RaggedPass], vocabulary: int) -> str:
    """Return why packed passes are not to be used for a model, "" if they give its own logits.

    Parameters
    ----------
    lm : HFLM
    make : callable
        Makes the passes.
    vocabulary : int

    Notes
    -----
    The same tokens whatever is run, so that a run that is taken up again goes the same way.
    """
    ids = tuple((17 + 101 * k) % vocabulary for k in range(TOKENS))
    slots = Slots(2, TOKENS + 1)
    half = TOKENS // 2
    dtype = lm.mixed_precision_dtype
    try:
        with without_gradients(lm.device.type, dtype):
            tokens = torch.tensor([list(ids)], device=lm.device)
            whole = lm.model(input_ids=tokens, attention_mask=torch.ones_like(tokens)).logits[0].float()
            passes = make()
            passes.run(slots, [Piece(1, 0, ids[:half])], "blocks", together=0)
            # The second half goes on in its slot while another row brings all at once.
            # Logits at some places only, as in every pass of a run.
            pieces = [Piece(1, half, ids[half:]), Piece(0, 0, ids, logits_from=half)]
            found = passes.run(slots, pieces, "blocks", together=1).logits.float()
            own = torch.cat([whole[half:], whole[half:]]).to(found.device)
            spread = float(own.std()) or 1.0
            differences = (found - own).abs() / spread
    except Exception as error:
        # Whatever a model's code does not bear: the plain path asks less of it.
        if out_of_memory(error):
            raise
        log.debug("packed passes do not work here", exc_info=True)
        first = (str(error).splitlines() or [type(error).__name__])[0]
        return f"packed passes do not work with this model ({first[:120]})"
    kind = getattr(lm.model, "dtype", torch.float32)
    exact = dtype is None and kind in _TOLERANCE
    off = float(differences.max() if exact else differences.mean())
    allowed = _TOLERANCE[kind] if exact else _COARSE
    if not off <= allowed and bool(torch.isfinite(own).all()):
        return f"packed passes are off by {off:.2g} of the logits' spread with this model"
    return ""
