"""How many sentences of a Chinese text end with a soft particle."""

from __future__ import annotations

import functools
import re

from sago_harness.variants.base import Feature
from sago_harness.variants.phrases import read_table

_SENTENCE = re.compile(r"[^。！？!?…~～\n]*[^\s。！？!?…~～](?=\s*(?:[。！？!?…~～\n]|\Z))")


class FinalParticles(Feature):
    """Share of the sentences that end with 啊, 呀, 呢, 嘛, 哦 or the like (吗 and 吧 not counted).

    Examples
    --------
    >>> FinalParticles().value("谁写的呢？曹雪芹。", "zh")
    0.5
    """

    name = "final_particles"
    minimum = 0.1
    unit = "share of sentences"

    def value(self, text: str, language: str = "zh") -> float:
        """Look at the last character before each closing mark or line's end."""
        ends = [match.group()[-1] for match in _SENTENCE.finditer(text)]
        return sum(char in _soft() for char in ends) / len(ends) if ends else 0.0


@functools.cache
def _soft() -> frozenset[str]:
    return frozenset(read_table("zh_particles")["soft"])
