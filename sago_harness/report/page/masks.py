"""Secrets in settings: what looks like one is masked before it is shown."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

#: Stands in the place of a secret.
HIDDEN = "***"

#: Names whose value is a secret: ``token``, ``api_key``, ``Authorization``, ``OPENAI_API_KEY`` ...
_SECRET = re.compile(
    r"(?:token|key|secret|password|passwd|passphrase|pwd|credential|authorization|auth|bearer|cookie"
    r"|passcode|signature|jwt|session|(?:^|[_-])(?:pass|sig|sas))s?"
    r"(?:[_-]?(?:id|value))?$",
    re.I,
)

#: Names that only sound so: special tokens of a tokenizer, and counts.
_PLAIN = re.compile(
    r"^(?:.*[_-])?(?:bos|eos|pad|unk|sep|cls|mask|eot|stop|start|end|image|prefix|suffix|special)[_-]tokens?"
    r"(?:[_-]id)?$|tokens$|tokens?[_-]ids?$",
    re.I,
)

#: Values that are secrets under any name, as their makers mark them.
_MARKED = re.compile(
    r"\bhf_[A-Za-z0-9]{16,}"
    r"|\bsk-(?=[\w-]*\d)[\w-]{16,}"
    r"|\bgh[pousr]_[A-Za-z0-9]{16,}|\bgithub_pat_\w{16,}|\bglpat-[\w-]{16,}"
    r"|\b(?:AKIA|ASIA)[0-9A-Z]{12,}|\bAIza[\w-]{20,}|\bxox[abeoprs]-[\w-]{8,}"
    r"|\beyJ[\w-]{8,}\.[\w-]{4,}(?:\.[\w-]*)?"
    r"|(?<=(?i:bearer) )\S+|(?<=(?i:basic) )[\w+/=-]{12,}"
    r"|(?<=://)[^/\s@]+(?=@)|(?<=://)[^/\s@:]+:[^\s@]+(?=@)"
)

#: ``name=value`` inside a text: the query of an address, a list of arguments.
_INSIDE = re.compile(r"(?P<lead>^|[?&;,\s])(?P<name>[\w.-]+)=(?P<value>[^&;,\s'\"]+)")


def masked(value: Any, name: str = "") -> Any:
    """Return a setting with what looks like a secret masked.

    Parameters
    ----------
    value : object
        Of JSON's types; masked in every depth.
    name : str
        What it is called.

    Returns
    -------
    object
        Of the same shape. Truth values and counts of tokens stay.

    Examples
    --------
    >>> masked({"pretrained": "gpt2", "token": "abc", "max_tokens": 8, "add_bos_token": True})
    {'pretrained': 'gpt2', 'token': '***', 'max_tokens': 8, 'add_bos_token': True}
    >>> masked({"header": {"Authorization": "Bearer x"}, "base_url": "https://me:pw@host/v1?key=1&a=b"})
    {'header': {'Authorization': '***'}, 'base_url': 'https://***@host/v1?key=***&a=b'}
    """
    if isinstance(value, Mapping):
        return {str(key): masked(one, str(key)) for key, one in value.items()}
    if isinstance(value, list):
        return [masked(one, name) for one in value]
    if value is None or isinstance(value, bool):
        return value
    if _secret(name):
        return HIDDEN
    return _INSIDE.sub(_inside, _MARKED.sub(HIDDEN, value)) if isinstance(value, str) else value


def _secret(name: str) -> bool:
    return bool(_SECRET.search(name)) and not _PLAIN.search(name)


def _inside(found: re.Match[str]) -> str:
    plain = found["value"] in ("True", "False", "None") or not _secret(found["name"])
    return found[0] if plain else f"{found['lead']}{found['name']}={HIDDEN}"
