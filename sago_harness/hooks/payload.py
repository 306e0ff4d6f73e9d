"""What travels with a request, in strict JSON, and comes back in its record."""

from __future__ import annotations

import hashlib
import json
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


def prompt_hash(prompt: Any) -> str:
    """Identify a prompt as it is sent; the host's own hash covers a document's first request only.

    Examples
    --------
    >>> prompt_hash("Hi") == prompt_hash("Hi"), prompt_hash("Hi") == prompt_hash("hi")
    (True, False)
    """
    text = prompt if isinstance(prompt, str) else json.dumps(prompt, default=str)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]
