"""Find an encoder and load it once per process."""

from __future__ import annotations

import functools
import hashlib
import json
import re
from pathlib import Path
from typing import Any

from sago_harness.axes.encoders.base import Encoder, Missing
from sago_harness.axes.encoders.spec import PACKAGED, Spec, default_spec, parse_spec
from sago_harness.errors import SagoError
from sago_harness.hub import hub_errors

UNAVAILABLE = "encoder_unavailable"

#: What a model folder needs; never pickled weights, never code.
_HUB_FILES = ["*.json", "*.txt", "*.model", "*.safetensors"]

_loaded: dict[tuple[str, Spec, str], Encoder] = {}


def load_encoder(spec: str | None, language: str, device: str = "cpu") -> Encoder | Missing:
    """Return an encoder, or what stands for one that cannot be had.

    Parameters
    ----------
    spec : str or None
        ``minilm``, ``minilm:6``, ``roberta-large:17``, ``/path/to/folder:9``,
        ``use-multilingual``, ``sentence:/path``. None takes MiniLM's layer 6 for languages
        in Latin letters and ``use-multilingual`` for all others.
    language : str
        ISO 639-1 code of the texts; only used where ``spec`` is None.
    device : str
        Of torch; without effect on ``use-multilingual``.

    Returns
    -------
    Encoder or Missing
        In evaluation mode and float32. The same object for the same request, for as long
        as the process lives.

    Raises
    ------
    SagoError
        If the name is misspelt, the folder does not hold an encoder, or the encoder has
        no such layer.

    Examples
    --------
    >>> load_encoder(":3", "en")
    Traceback (most recent call last):
    ...
    sago_harness.errors.SagoError: encoder ':3' has no name: write for example minilm:6 or use-multilingual
    """
    parsed = parse_spec(default_spec(language) if spec is None else spec)
    folder = _locate(parsed.source)
    if isinstance(folder, Missing):
        return folder
    key = (str(folder), parsed, device)
    if key not in _loaded:
        _loaded[key] = _build(parsed, folder, device)
    return _loaded[key]


def _locate(source: str) -> Path | Missing:
    """Return the folder of a packaged model, of a path, or of a model on the hub."""
    if source in PACKAGED:
        from sago_harness.models.fetch import resolve

        packaged = resolve(source)
        if packaged is None:
            return Missing(UNAVAILABLE, f"encoder {source} is not here: run `sago models get {source}`")
        return packaged
    path = Path(source).expanduser()
    if path.is_dir():
        if not (path / "config.json").is_file():
            raise SagoError(f"encoder folder {source} has no config.json: give a transformers model folder")
        return path.resolve()
    if path.is_absolute() or source.startswith((".", "~")):
        raise SagoError(f"encoder folder {source} does not exist: check the path")
    return _from_hub(source)


def _from_hub(source: str) -> Path | Missing:
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import HFValidationError

    try:
        return Path(snapshot_download(source, allow_patterns=_HUB_FILES))
    except HFValidationError as error:
        raise SagoError(f"encoder {source!r} is neither a folder nor a hub id: check the name") from error
    except hub_errors() as error:
        # Offline, not in the local cache, no such repository, no permission.
        return Missing(
            UNAVAILABLE,
            f"encoder {source} is neither here nor could it be downloaded ({type(error).__name__}): "
            "go online once, give a local folder, or run `sago models get minilm` and use minilm",
        )


def _build(spec: Spec, folder: Path, device: str) -> Encoder:
    name = _name(spec.source, folder)
    if spec.source == "use-multilingual":
        from sago_harness.axes.encoders.use import UseEncoder
        from sago_harness.models.fetch import lookup
        from sago_harness.models.use import load_use

        # load_use has compared every file with this hash.
        return UseEncoder(name, load_use(folder), f"sha256:{lookup(spec.source).weights_sha256}")
    from sago_harness.axes.encoders.transformer import Transformer

    tokenizer, model = _load_transformer(spec.source, folder)
    limit = _pooling_limit(spec.source, folder) if spec.kind == "sentence" else None
    try:
        transformer = Transformer(tokenizer, model, spec.layer, limit, device)
    except SagoError as error:
        raise SagoError(f"encoder {spec.source}: {error}") from error
    if spec.kind == "sentence":
        from sago_harness.axes.encoders.sentence import PooledEncoder

        return PooledEncoder(name, transformer, weights_identity(folder))
    from sago_harness.axes.encoders.token import TokenEncoder

    return TokenEncoder(name, transformer, weights_identity(folder))


def _name(source: str, folder: Path) -> str:
    """Name for signatures: a local folder goes by its weights, never by where it lies."""
    if source in PACKAGED:
        return PACKAGED[source]
    if Path(source).expanduser().is_dir():
        return f"{folder.name}@{weights_identity(folder).rpartition(':')[2][:12]}"
    return source


def _load_transformer(source: str, folder: Path) -> tuple[Any, Any]:
    import torch
    from transformers import AutoModel, AutoTokenizer, GPT2Tokenizer, RobertaTokenizer

    local = {"local_files_only": True, "trust_remote_code": False}
    try:
        tokenizer = AutoTokenizer.from_pretrained(folder, **local)
        if isinstance(tokenizer, GPT2Tokenizer | RobertaTokenizer):
            tokenizer = AutoTokenizer.from_pretrained(folder, add_prefix_space=True, **local)
        model = AutoModel.from_pretrained(folder, use_safetensors=True, dtype=torch.float32, **local)
    except (OSError, ValueError, KeyError) as error:
        first = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
        raise SagoError(
            f"encoder {source} cannot be loaded ({first}): it needs a transformers encoder with its "
            "tokenizer and weights as safetensors, and no code of its own"
        ) from error
    return tokenizer, model


def _pooling_limit(source: str, folder: Path) -> int | None:
    """Check that the folder means plain mean pooling; return its stated limit in tokens."""
    modules = folder / "modules.json"
    if modules.is_file():
        kinds = [str(module["type"]).rpartition(".")[2] for module in json.loads(modules.read_text("utf-8"))]
        other = sorted(set(kinds) - {"Transformer", "Pooling", "Normalize"})
        if other:
            raise SagoError(
                f"sentence encoder {source} has a step {other[0]}: only mean pooling is supported"
            )
    pooling = folder / "1_Pooling" / "config.json"
    if pooling.is_file() and not json.loads(pooling.read_text("utf-8")).get("pooling_mode_mean_tokens", True):
        raise SagoError(
            f"sentence encoder {source} does not pool by the mean: only mean pooling is supported"
        )
    stated = folder / "sentence_bert_config.json"
    limit = json.loads(stated.read_text("utf-8")).get("max_seq_length") if stated.is_file() else None
    return limit if isinstance(limit, int) else None


@functools.cache
def weights_identity(folder: Path) -> str:
    """Return what tells these weights from others: the hub's commit, else a sha256.

    Parameters
    ----------
    folder : Path
        Model folder with ``*.safetensors``.

    Returns
    -------
    str
        ``"commit:<40 hex>"`` for a folder of the hub's cache, else ``"sha256:<64 hex>"``
        over the weight files and the configuration.
    """
    if folder.parent.name == "snapshots" and re.fullmatch("[0-9a-f]{40}", folder.name):
        return f"commit:{folder.name}"
    digest = hashlib.sha256()
    for path in [*sorted(folder.glob("*.safetensors")), folder / "config.json"]:
        digest.update(f"{path.name}\0".encode())
        with path.open("rb") as file:
            digest.update(hashlib.file_digest(file, "sha256").digest())
    return f"sha256:{digest.hexdigest()}"
