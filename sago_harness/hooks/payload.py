"""What travels with a request, in strict JSON, and comes back in its record."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from sago_harness.data import CANONICAL, Document, Variant
from sago_harness.hooks.spec import TaskSpec
from sago_harness.jsonsafe import json_safe


def payload_of(
    document: Document, variant: Variant, role: str, prompt: Any, spec: TaskSpec
) -> dict[str, Any]:
    """Return a request's payload.

    Parameters
    ----------
    document : Document
    variant : Variant
    role : {"canonical", "variant", "control", "repeat"}
    prompt : str or object
        As it is sent.
    spec : TaskSpec

    Returns
    -------
    dict
    """
    payload: dict[str, Any] = json_safe(
        {
            "document": document.id,
            "variant": variant.id,
            "role": role,
            "family": variant.family if role != "canonical" else CANONICAL,
            "operator": variant.operator,
            "strength": variant.strength,
            "position": variant.position,
            "feature": variant.feature,
            "language": document.language,
            "text": variant.text,
            "prompt_hash": prompt_hash(prompt),
            "wanted": [spec.pooling, spec.layers, spec.seed, False],
        }
    )
    return payload


def keeps_states(bundles: Mapping[str, int], most: int) -> set[str]:
    """Return the documents whose hidden states are kept: the first bundles, whole.

    Bundles are numbered in the order of hash(seed, document id), so the choice is by chance
    and the same on every process. A bundle is never split: what is asked of a document
    decides what it is computed with.

    Parameters
    ----------
    bundles : mapping of str to int
        Document -> its bundle.
    most : int
        Bundles are taken until they hold so many documents; 0 = all.

    Examples
    --------
    >>> sorted(keeps_states({"a": 0, "b": 1, "c": 0, "d": 2}, 3))
    ['a', 'b', 'c']
    """
    if most == 0:
        return set(bundles)
    kept: set[str] = set()
    for bundle in sorted(set(bundles.values())):
        if len(kept) >= most:
            break
        kept |= {document for document, place in bundles.items() if place == bundle}
    return kept


def prompt_hash(prompt: Any) -> str:
    """Identify a prompt as it is sent; the host's own hash covers a document's first request only.

    Examples
    --------
    >>> prompt_hash("Hi") == prompt_hash("Hi"), prompt_hash("Hi") == prompt_hash("hi")
    (True, False)
    """
    text = prompt if isinstance(prompt, str) else json.dumps(prompt, default=str)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]
