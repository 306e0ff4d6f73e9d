"""Finds a model's blocks and collects pooled hidden states from them with hooks.

Hooks see each block's output as it appears and keep one pooled vector a prompt, so that
no (layers, batch, tokens, width) array exists at any time. The state of the last layer is
the last block's output; the library's own ``hidden_states[-1]`` is that after the final
norm.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
import numpy.typing as npt
import torch


class NoBlocks(ValueError):
    """The model's blocks cannot be found; it gives no hidden states."""


_ATTENTION_NAMES = ("self_attn", "attn", "attention", "self_attention", "mixer")


def text_config(config: Any) -> Any:
    """Return the part of a model's configuration that its text model reads: mostly all of it."""
    return config.get_text_config() if hasattr(config, "get_text_config") else config


def find_blocks(model: torch.nn.Module) -> list[torch.nn.Module]:
    """Return the blocks of a transformer, in order.

    The ``ModuleList`` whose length is the config's number of layers; of an
    encoder-decoder model the encoder's, since the prompt is read there.

    Raises
    ------
    NoBlocks
        If there is none.
    """
    root: Any = model.get_base_model() if hasattr(model, "get_base_model") else model  # type: ignore[operator]
    config = root.config
    text = text_config(config)
    if getattr(config, "is_encoder_decoder", False) and hasattr(root, "get_encoder"):
        root = root.get_encoder()
    wanted = {
        getattr(text, name, None) for name in ("num_hidden_layers", "num_layers", "n_layer", "n_layers")
    } - {None}
    for _, module in root.named_modules():
        # Outermost first: blocks may themselves hold lists (experts).
        if isinstance(module, torch.nn.ModuleList) and len(module) in wanted and len(module) > 0:
            return list(module)
    raise NoBlocks(f"no list of {sorted(map(str, wanted))} blocks in {type(root).__name__}")


def attention_of(block: torch.nn.Module) -> torch.nn.Module:
    """Return a block's attention sub-block (or what stands in its place).

    Raises
    ------
    NoBlocks
        If the block has none.
    """
    for name in _ATTENTION_NAMES:
        found = getattr(block, name, None)
        if isinstance(found, torch.nn.Module):
            return found
    for child in block.modules():
        # The innermost: T5 wraps its attention, with norm and residual, in another of that name.
        kinds = [type(module).__name__.endswith("Attention") for module in child.modules()]
        if kinds[0] and not any(kinds[1:]):
            return child
    raise NoBlocks(f"no attention sub-block in {type(block).__name__}")


class Pool:
    """Collects, during one forward pass, one vector a row and layer.

    Parameters
    ----------
    columns : sequence of sequence of int
        For each row the columns to average over; empty = not pooled (NaN).
    """

    def __init__(self, columns: Sequence[Sequence[int]]) -> None:
        self.columns = columns
        self.layers: list[npt.NDArray[np.float32]] = []

    def add(self, states: torch.Tensor) -> None:
        """Pool one layer's output of shape (rows, tokens, D)."""
        pooled = []
        for row, columns in enumerate(self.columns):
            if len(columns) == 1:
                pooled.append(states[row, columns[0]].float())
            elif columns:
                pooled.append(states[row, list(columns)].float().mean(dim=0))
            else:
                pooled.append(torch.full_like(states[row, 0].float(), float("nan")))
        self.layers.append(torch.stack(pooled).cpu().numpy())

    def states(self) -> npt.NDArray[np.float32]:
        """Return the pooled states, shape (rows, L + 1, D)."""
        return np.stack(self.layers, axis=1)


@contextmanager
def collecting(model: torch.nn.Module, pool: Pool, layers: str = "blocks") -> Iterator[None]:
    """Fill ``pool`` during the forward passes made inside the context.

    Parameters
    ----------
    model : Module
    pool : Pool
    layers : {"blocks", "attention"}
        Outputs of the blocks, or of their attention sub-blocks. The embedding (layer 0) is
        what enters the first block.
    """
    blocks = find_blocks(model)
    modules = [attention_of(block) if layers == "attention" else block for block in blocks]
    handles = []

    def before(_module: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        pool.add(args[0] if args else kwargs["hidden_states"])

    def after(_module: Any, _args: Any, output: Any) -> None:
        pool.add(output[0] if isinstance(output, tuple) else output)

    try:
        handles.append(blocks[0].register_forward_pre_hook(before, with_kwargs=True))
        handles.extend(module.register_forward_hook(after) for module in modules)
        yield
    finally:
        for handle in handles:
            handle.remove()
