"""``--model sago-hf``: the host's Hugging Face model, with names of packaged models.

The same weights and the same texts as ``--model hf``; it adds ``pretrained=smollm2`` (any
name of ``sago models``) and the options of the stability signals.
"""

from __future__ import annotations

from typing import Any

from lm_eval.models.huggingface import HFLM

from sago_harness.errors import SagoError, nearest
from sago_harness.models import names, resolve


class SagoHF(HFLM):  # type: ignore[misc]
    """``HFLM`` with packaged models and a choice of padding side.

    Parameters
    ----------
    pretrained : str or PreTrainedModel
        A name of ``sago models``, a folder, a hub id, or a loaded model.
    padding_side : {"left", "right"}
        Side that the forward pass pads on (generation always pads left).
    **kwargs
        Everything that ``HFLM`` takes.

    Raises
    ------
    SagoError
        If the padding side is unknown, or the packaged model is not here yet.
    """

    def __init__(self, pretrained: Any, padding_side: str = "left", **kwargs: Any) -> None:
        if padding_side not in ("left", "right"):
            raise SagoError(f"padding_side={padding_side!r} in --model_args: it is left or right")
        self.sago_padding_side = padding_side
        self.sago_name = pretrained if isinstance(pretrained, str) else type(pretrained).__name__
        super().__init__(pretrained=locate(pretrained), **kwargs)


def locate(pretrained: Any) -> Any:
    """Turn the name of a packaged model into its folder; leave anything else alone.

    Raises
    ------
    SagoError
        If the name is a packaged model's and the model has not been fetched.
    """
    if not isinstance(pretrained, str) or pretrained not in names():
        return pretrained
    folder = resolve(pretrained)
    if folder is None:
        raise SagoError(f"model {pretrained!r} is not here yet: run `sago models get {pretrained}` once")
    return str(folder)


def load_error(pretrained: str, error: Exception) -> SagoError:
    """Build the one line for a model that could not be loaded."""
    close = [name for name in nearest(pretrained, names()) if name != pretrained]
    hint = f"; did you mean pretrained={close[0]}?" if close else ""
    first = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
    return SagoError(
        f"cannot load model {pretrained!r}: not a folder here, not one of `sago models list`, "
        f"and the hub did not give it ({first[:160]}){hint}"
    )
