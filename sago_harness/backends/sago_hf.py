"""``--model sago-hf``: the host's Hugging Face model, with names of packaged models.

The same weights and the same texts as ``--model hf``; it adds ``pretrained=smollm2`` (any
name of ``sago models``), the options of the stability signals, and runs that are shared
out over processes on processors, GPUs and several machines (docs/scale.md).
"""

from __future__ import annotations

from typing import Any

from lm_eval.models.huggingface import HFLM

from sago_harness.backends.ranks import Place, in_document_order, join
from sago_harness.errors import SagoError, nearest
from sago_harness.models import names, resolve


class SagoHF(HFLM):  # type: ignore[misc]
    """``HFLM`` with packaged models, a choice of padding side, and documents shared over processes.

    Started by torchrun or ``accelerate launch``, each process takes its share of the
    documents: on its machine's GPU of the same index, or on the processor. With ``tp_plan``
    all of them work on the same documents, and a model that is handed over loaded knows of
    no other process, as in the host.

    Parameters
    ----------
    pretrained : str or PreTrainedModel
        A name of ``sago models``, a folder, a hub id, or a loaded model.
    padding_side : {"left", "right"}
        Side that the plain path's forward pass pads on (generation always pads left).
    engine : {"auto", "plain"}
        The fast path where the model can take it, or always the plain one.
    **kwargs
        Everything that ``HFLM`` takes.

    Raises
    ------
    SagoError
        If the padding side or the engine is unknown, the packaged model is not here yet, or the processes
        cannot be joined.
    """

    def __init__(
        self, pretrained: Any, padding_side: str = "left", engine: str = "auto", **kwargs: Any
    ) -> None:
        if padding_side not in ("left", "right"):
            raise SagoError(f"padding_side={padding_side!r} in --model_args: it is left or right")
        if engine not in ("auto", "plain"):
            raise SagoError(f"engine={engine!r} in --model_args: it is auto or plain")
        self.sago_padding_side = padding_side
        self.sago_engine = engine
        self.sago_name = pretrained if isinstance(pretrained, str) else type(pretrained).__name__
        shared = isinstance(pretrained, str) and kwargs.get("tp_plan") is None
        # Before the host asks accelerate, which joins no processes without a GPU.
        ours = join(kwargs.get("device", "cuda")) if shared else Place()
        super().__init__(pretrained=locate(pretrained), **kwargs)
        self._rank, self._world_size = ours.rank, ours.world

    def _get_accelerate_args(self, *args: Any, **kwargs: Any) -> dict[str, Any]:
        found: dict[str, Any] = super()._get_accelerate_args(*args, **kwargs)
        places = found.get("device_map")
        if isinstance(places, dict):
            # Joined processes have a processor with a number, "cpu:0", which transformers 4 hands on to
            # safetensors, which knows none.
            found["device_map"] = {
                part: "cpu" if str(at).startswith("cpu:") else at for part, at in places.items()
            }
        return found

    def gather_object(self, obj: Any, dst: int = 0) -> list[Any] | None:
        """Gather one object a process on ``dst``; samples come in the order of documents.

        Parameters
        ----------
        obj : object
            This process's; it must pickle.
        dst : int
            The process that gets them.

        Returns
        -------
        list or None
            One object a process on ``dst``, None elsewhere.
        """
        found = super().gather_object(obj, dst)
        return None if found is None else in_document_order(found)


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
