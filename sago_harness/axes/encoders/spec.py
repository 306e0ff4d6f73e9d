"""How an encoder is named: ``minilm``, ``minilm:6``, ``roberta-large:17``, ``sentence:/path``."""

from __future__ import annotations

import difflib
import functools
import importlib.resources
import json
import re
from dataclasses import dataclass
from typing import Literal

from sago_harness.errors import SagoError, unknown

#: Names of the packaged encoders and the names they go by in signatures.
PACKAGED: dict[str, str] = {"minilm": "all-MiniLM-L6-v2", "use-multilingual": "use-multilingual"}

#: Layers that bert-score 0.3.13 takes for a model (tuned there on WMT16 judgements), and for
#: MiniLM its last. A model that is not named here takes its last layer.
DEFAULT_LAYERS: dict[str, int] = {
    "minilm": 6,
    "bert-base-uncased": 9,
    "bert-large-uncased": 18,
    "bert-base-multilingual-cased": 9,
    "distilbert-base-uncased": 5,
    "distilbert-base-multilingual-cased": 5,
    "roberta-base": 10,
    "roberta-large": 17,
    "xlm-roberta-base": 9,
    "xlm-roberta-large": 17,
    "microsoft/deberta-xlarge-mnli": 40,
}

_LAYER = re.compile(r":([+-]?\d+)$")


@dataclass(frozen=True, slots=True)
class Spec:
    """A parsed encoder name.

    Attributes
    ----------
    source : str
        Packaged name, folder or hub id.
    kind : {"token", "sentence"}
    layer : int or None
        None takes the default or last layer; always None for sentence encoders.
    """

    source: str
    kind: Literal["token", "sentence"]
    layer: int | None


@functools.cache
def _latin() -> frozenset[str]:
    table = importlib.resources.files("sago_harness.axes") / "tables" / "latin.json"
    return frozenset(json.loads(table.read_text(encoding="utf-8"))["languages"])


def default_spec(language: str) -> str:
    """Return the encoder used for a language where none is named.

    Parameters
    ----------
    language : str
        ISO 639-1 code; a region (``zh-CN``) is without effect.

    Examples
    --------
    >>> default_spec("en"), default_spec("zh-CN")
    ('minilm:6', 'use-multilingual')
    """
    code = re.split("[-_]", language.strip().lower())[0]
    return "minilm:6" if code in _latin() else "use-multilingual"


def parse_spec(text: str) -> Spec:
    """Read an encoder name.

    Parameters
    ----------
    text : str
        ``[sentence:]NAME|FOLDER|HUB_ID[:LAYER]``.

    Returns
    -------
    Spec

    Raises
    ------
    SagoError
        If the name is empty, looks like a misspelt packaged one, or gives a layer to a
        sentence encoder.

    Examples
    --------
    >>> parse_spec("roberta-large:17")
    Spec(source='roberta-large', kind='token', layer=17)
    >>> parse_spec("use-multilingual").kind
    'sentence'
    """
    source = text.strip()
    sentence = source.startswith("sentence:")
    source = source.removeprefix("sentence:")
    found = _LAYER.search(source)
    layer = int(found.group(1)) if found else None
    source = source[: found.start()] if found else source
    source = next((name for name, alias in PACKAGED.items() if source == alias), source)
    if not source:
        raise SagoError(f"encoder {text!r} has no name: write for example minilm:6 or use-multilingual")
    # Only a near miss of these is refused: any other bare name may be a model on the hub.
    if (
        source not in PACKAGED
        and "/" not in source
        and difflib.get_close_matches(source.lower(), PACKAGED, 1, 0.7)
    ):
        raise unknown("encoder", source, PACKAGED)
    sentence = sentence or source == "use-multilingual"
    if sentence and layer is not None:
        raise SagoError(f"encoder {text!r}: a sentence encoder has no layers; leave out :{layer}")
    if not sentence and layer is None:
        layer = DEFAULT_LAYERS.get(source)
    return Spec(source, "sentence" if sentence else "token", layer)
