"""What a writer is asked: the versioned templates of ``tables/rewriter.json``."""

from __future__ import annotations

from sago_harness.variants.base import Passage
from sago_harness.variants.phrases import read_table
from sago_harness.variants.text.spans import find_spans


def prompt_version() -> int:
    """Return the version of the templates; raise it in the table with every change of wording."""
    return int(read_table("rewriter")["version"])


def make_messages(task: str, passage: Passage, factor: float = 1.0) -> list[dict[str, str]]:
    r"""Return the chat that asks for a rewritten passage.

    Parameters
    ----------
    task : str
        ``"longer"``, ``"shorter"``, ``"imperative"``, ``"interrogative"``, ``"declarative"`` or
        ``"free"``.
    passage : Passage
        Its kept spans and its semantic spans are named to the writer.
    factor : float
        How many times as long; read by the first two tasks.

    Returns
    -------
    list of dict
        A user turn and its answer for each example of the table, then the user turn that asks;
        no system turn, which some templates refuse.

    Examples
    --------
    >>> turns = make_messages("free", Passage("Who wrote it?"))
    >>> [turn["role"] for turn in turns]
    ['user', 'assistant', 'user', 'assistant', 'user']
    >>> turns[-1]["content"].endswith("---\nWho wrote it?\n---")
    True
    """
    turns = []
    for source, rewritten in read_table("rewriter")["examples"][passage.language][task]:
        example = Passage(source, passage.language, find_spans(source, passage.language))
        turns.append({"role": "user", "content": _ask(task, example, factor)})
        turns.append({"role": "assistant", "content": rewritten})
    return [*turns, {"role": "user", "content": _ask(task, passage, factor)}]


def _ask(task: str, passage: Passage, factor: float) -> str:
    wording = read_table("rewriter")["prompts"][passage.language]
    size = _size(passage)
    asked = wording[task].format(factor=f"{factor:g}", words=size, target=max(1, round(size * factor)))
    spans = sorted((*passage.keep, *passage.leave), key=lambda span: span.start)
    literals = dict.fromkeys(passage.text[span.start : span.end] for span in spans)
    kept = wording["kept"].format(literals=" | ".join(literals)) if literals else ""
    return str(wording["frame"].format(task=asked, rules=wording["rules"], kept=kept, text=passage.text))


def _size(passage: Passage) -> int:
    """Count words, or characters where words are not written apart."""
    if passage.language == "zh":
        return sum(not char.isspace() for char in passage.text)
    return len(passage.text.split())
