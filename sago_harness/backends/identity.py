"""Which model answers: one hash of everything that its responses and numbers depend on.

Responses are kept under it, and two models never share one. A folder can be overwritten
and an adapter merged, so that the weights themselves are read, every byte of them, not only
their name. What opens a door (keys, tokens, headers, credentials in an address) is no part of it.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

import torch

from sago_harness.jsonsafe import json_safe

#: Bytes that are hashed at once: bounds the copy of what lies on another device.
_CHUNK = 2**26

#: Threads that hash, at most: beyond, they wait for the memory.
_THREADS = 4

#: What moves rounding alone: a run may be taken up with a smaller batch, or on another device.
_ROUNDING = ("batch_size", "padding_side", "device")

#: What a model object says of itself. Nothing else is read: it may be a secret.
_SAID = (
    "sago_name",
    "sago_engine",
    "pretrained",
    "model",
    "model_name",
    "revision",
    "delta",
    "peft",
    "lora_local_path",
    "base_url",
    "url",
    "endpoint",
    "engine",
    "deployment",
    "dtype",
    "quantization",
    "max_length",
    "max_gen_toks",
    "truncation",
    "temperature",
    "top_p",
    "top_k",
    "add_bos_token",
    "custom_prefix_token_id",
    "think_end_token",
    "enable_thinking",
    "chat_template_args",
    "mixed_precision_dtype",
    "_max_length",
    "_max_gen_toks",
    "_truncate",
    "_seed",
    "_eos_string",
    "tokenizer_backend",
    "tokenized_requests",
)

_SECRET = re.compile(r"key|token|secret|sig|auth|pass|pwd|code|credential|session|cookie", re.IGNORECASE)

#: Where a configuration came from, not what it is.
_ORIGIN = {"_name_or_path", "transformers_version", "_commit_hash"}


class Unidentified(Exception):
    """A model whose weights cannot be read; says why."""


def model_identity(lm: Any, described: Mapping[str, Any]) -> str:
    """Return a hash of the model and of how it is run.

    Parameters
    ----------
    lm : LM
        The host's model.
    described : mapping
        What the backend says that its numbers depend on beside the weights.

    Returns
    -------
    str
        sha256 of name, revision, dtype, attention, adapter, quantisation, chat template,
        tokenizer, configuration and weights; for a model behind an interface, of its class,
        name and address.

    Raises
    ------
    Unidentified
        If the weights cannot be read.

    Examples
    --------
    >>> class Api:
    ...     model = "m"
    ...     def __init__(self, base_url): self.base_url = base_url
    >>> one, other = Api("https://a:b@host/v1?api-key=x"), Api("https://host/v1?api-key=y")
    >>> model_identity(one, {}) == model_identity(other, {})
    True
    """
    kind = type(lm)
    facts: dict[str, Any] = {
        "class": f"{kind.__module__}.{kind.__qualname__}",
        "described": {key: value for key, value in described.items() if key not in _ROUNDING},
        "said": _said(lm, _SAID),
        "args": _said_of_args(getattr(lm, "model_args", None)),
    }
    module = getattr(lm, "model", None)
    if isinstance(module, torch.nn.Module):
        facts["module"] = _module_facts(module)
        facts["tokenizer"] = _tokenizer_hash(getattr(lm, "tokenizer", None))
        facts["weights"] = fingerprint(module)
    else:
        names = ("pretrained", "model", "tokenizer", "lora_local_path")
        facts["adapter"] = adapter = _plain(getattr(getattr(lm, "lora_request", None), "lora_path", None))
        facts["files"] = [_files(facts[of].get(name)) for of in ("said", "args") for name in names]
        facts["files"].append(_files(adapter))
    return _hash(facts)


def fingerprint(module: torch.nn.Module) -> str:
    """Return a hash of a model's weights: name, shape, dtype and all bytes of every tensor.

    About a second of processor time for each GB (0.5 s for 135 million float32 parameters), where
    the processor has instructions for sha256. Tensors that share their memory are read once.

    Parameters
    ----------
    module : Module

    Returns
    -------
    str

    Raises
    ------
    Unidentified
        If a tensor has no values here (on the ``meta`` device) or gives no access to them,
        or a module keeps something else than tensors and plain values.

    Examples
    --------
    >>> layer = torch.nn.Linear(2, 2)
    >>> before = fingerprint(layer)
    >>> with torch.no_grad():
    ...     _ = layer.bias[0].add_(1.0)
    >>> fingerprint(layer) == before
    False
    """
    held = dict(_held("", module.state_dict()))
    tensors = {name: value.detach() for name, value in held.items() if isinstance(value, torch.Tensor)}
    places = {name: _place(name, tensor) for name, tensor in tensors.items()}
    found = hashlib.sha256()
    read: dict[tuple[Any, ...], Future[bytes]] = {}
    with ThreadPoolExecutor(min(_THREADS, os.cpu_count() or 1)) as pool:
        for name, tensor in tensors.items():
            if places[name] not in read:
                read[places[name]] = pool.submit(_content, tensor)
        for name, value in held.items():
            if name not in tensors:
                found.update(json.dumps([name, str(value)]).encode())
                continue
            found.update(json.dumps([name, list(value.shape), str(value.dtype)]).encode())
            try:
                found.update(read[places[name]].result())
            except (RuntimeError, NotImplementedError, TypeError) as error:
                raise Unidentified(f"the values of {name} cannot be read ({type(error).__name__})") from error
    return found.hexdigest()


def _held(name: str, value: Any) -> Iterator[tuple[str, Any]]:
    """Yield tensors and plain values with their names; a quantised layer packs its own together."""
    if isinstance(value, Mapping):
        for key, item in value.items():
            yield from _held(f"{name}.{key}" if name else str(key), item)
    elif isinstance(value, tuple | list):
        for number, item in enumerate(value):
            yield from _held(f"{name}[{number}]", item)
    elif value is None or isinstance(value, torch.Tensor | str | int | float | torch.dtype):
        yield name, value
    else:
        raise Unidentified(f"what {name} holds cannot be read (a {type(value).__name__})")


def _place(name: str, tensor: torch.Tensor) -> tuple[Any, ...]:
    """Return what two tensors share only if they are one: tied weights."""
    if tensor.device.type == "meta":
        raise Unidentified(f"the values of {name} are not in memory")
    if hasattr(tensor, "to_local"):
        # Processes that share a model must agree on what is there, or they wait for each other.
        raise Unidentified(f"the values of {name} are spread over processes")
    if type(tensor) is torch.Tensor and tensor.layout == torch.strided:
        return (str(tensor.device), tensor.data_ptr(), tensor.dtype, tensor.shape, tensor.stride())
    # Of other kinds an address says nothing.
    return (name,)


def _content(tensor: torch.Tensor) -> bytes:
    """Return a hash of a tensor's values, the same on every device."""
    if tensor.is_quantized:
        # Its bytes mean nothing without their scales.
        tensor = tensor.dequantize()
    flat = torch.view_as_real(tensor) if tensor.is_complex() else tensor
    held = flat.contiguous().reshape(-1).view(torch.uint8)
    found = hashlib.sha256()
    for start in range(0, held.numel(), _CHUNK):
        found.update(held[start : start + _CHUNK].cpu().numpy().data)
    return found.digest()


def _module_facts(module: torch.nn.Module) -> dict[str, Any]:
    """Return what a model computes with beside its weights: configurations and adapters."""
    facts: dict[str, Any] = {"class": type(module).__name__}
    for name in ("config", "generation_config"):
        config: Any = getattr(module, name, None)
        if hasattr(config, "to_dict"):
            facts[name] = _without_origin(config.to_dict())
    adapters = getattr(module, "peft_config", None)
    if isinstance(adapters, Mapping):
        facts["adapters"] = {name: _without_origin(adapters[name].to_dict()) for name in adapters}
        facts["active"] = str(getattr(module, "active_adapters", ""))
    return facts


def _without_origin(content: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in content.items() if key not in _ORIGIN}


def _tokenizer_hash(tokenizer: Any) -> str:
    """Return a hash of a tokenizer and its chat template, however often it has been used."""
    if tokenizer is None:
        return ""
    backend = getattr(tokenizer, "backend_tokenizer", None)
    if backend is not None:
        # Both are left over from the last call.
        content = {
            k: v for k, v in json.loads(backend.to_str()).items() if k not in ("padding", "truncation")
        }
    else:
        content = {"vocabulary": sorted(tokenizer.get_vocab().items())}
    special = {str(k): str(v) for k, v in getattr(tokenizer, "special_tokens_map", {}).items()}
    template = getattr(tokenizer, "chat_template", None)
    return _hash([type(tokenizer).__name__, content, special, template])


def _said(lm: Any, names: tuple[str, ...]) -> dict[str, Any]:
    found = {name: _plain(getattr(lm, name, None)) for name in names}
    return {name: value for name, value in found.items() if value is not None}


def _said_of_args(arguments: Any) -> dict[str, Any]:
    """Return what an engine was started with, all of it but secrets and what moves rounding alone."""
    if not isinstance(arguments, Mapping):
        return {}
    named = {
        name: _plain(arguments[name]) for name in ("tokenizer", "tokenizer_revision") if name in arguments
    }
    return named | {name: value for name, value in _plain(arguments).items() if name not in _ROUNDING}


def _plain(value: Any) -> Any:
    """Return a value that is the same in every process, None for any other."""
    if isinstance(value, str):
        return _address(value) if "://" in value else value
    if isinstance(value, bool | int | float | torch.dtype):
        return str(value)
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items() if not _SECRET.search(str(key))}
    return None


def _address(url: str) -> str:
    """Return an address without user, password and what looks like a key in its query.

    Examples
    --------
    >>> _address("https://me:pw@host:8000/v1?api-version=2&api-key=x#top")
    'https://host:8000/v1?api-version=2'
    """
    try:
        parts = urlsplit(url)
    except ValueError:
        return url.split("?")[0].rpartition("@")[2]
    query = [(key, value) for key, value in parse_qsl(parts.query) if not _SECRET.search(key)]
    return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, urlencode(query), ""))


def _files(name: Any) -> list[list[Any]]:
    """Return names, sizes and times of a model folder's files, for a server that reads it itself."""
    if not isinstance(name, str) or not name:
        return []
    try:
        paths = sorted(path for path in Path(name).iterdir() if path.is_file())
        return [[path.name, path.stat().st_size, path.stat().st_mtime_ns] for path in paths]
    except (OSError, ValueError):
        return []


def _hash(content: Any) -> str:
    return hashlib.sha256(
        json.dumps(json_safe(content), sort_keys=True, allow_nan=False).encode()
    ).hexdigest()
