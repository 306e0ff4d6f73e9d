"""Chat templates that refuse a system turn.

The host drops the system turn when a template refuses it, and the instruction is lost.
Here it moves to the front of the first user turn, for all variants alike.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sago_harness.logs import warn_once

ChatTemplate = Callable[..., Any]

_PROBE = "sago-probe-7f3a"


def keeps_system(chat_template: ChatTemplate) -> bool:
    """Render a probe and see whether a system turn survives."""
    turns = [{"role": "system", "content": _PROBE}, {"role": "user", "content": "x"}]
    return _PROBE in str(chat_template(turns, add_generation_prompt=True))


def merge_system(turns: list[dict[str, Any]]) -> list[dict[str, Any]]:
    r"""Move a leading system turn to the front of the first user turn.

    Examples
    --------
    >>> merge_system([{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Hi"}])
    [{'role': 'user', 'content': 'Be brief.\n\nHi'}]
    """
    if len(turns) < 2 or turns[0]["role"] != "system" or turns[1]["role"] != "user":
        return turns
    first = {**turns[1], "content": f"{turns[0]['content']}\n\n{turns[1]['content']}"}
    return [first, *turns[2:]]


def system_safe(chat_template: ChatTemplate) -> ChatTemplate:
    """Return a template that never loses the instruction.

    Parameters
    ----------
    chat_template : callable
        The host's ``lm.apply_chat_template``.

    Returns
    -------
    callable
        The same, or one that merges the system turn where the template refuses it.
    """
    state: dict[str, bool] = {}

    def render(turns: list[dict[str, Any]], **kwargs: Any) -> Any:
        if turns and turns[0]["role"] == "system":
            if "keeps" not in state:
                # A model without any template renders nothing at all; leave that to the host.
                blank = str(chat_template([{"role": "user", "content": _PROBE}], add_generation_prompt=True))
                state["keeps"] = _PROBE not in blank or keeps_system(chat_template)
            if not state["keeps"]:
                warn_once(
                    "the chat template refuses a system turn: the instruction goes into the first user turn"
                )
                turns = merge_system(turns)
        return chat_template(turns, **kwargs)

    return render
