"""A writer on this machine: a causal language model of transformers."""

from __future__ import annotations

import functools
import hashlib
from pathlib import Path
from typing import Any

from sago_harness.errors import SagoError
from sago_harness.hub import hub_errors
from sago_harness.models.fetch import lookup, names, resolve
from sago_harness.variants.rewriter.writer import NoText, Writer


class LocalWriter(Writer):
    """A packaged model, a folder or a hub id; safetensors only, no code from the hub.

    The draws come from the seed of the call alone and leave PyTorch's global generator as it was.

    Parameters
    ----------
    spec : str
        ``"smollm2"``, ``"folder"``, ``"owner/name"`` or ``"owner/name@revision"``.

    Examples
    --------
    >>> LocalWriter("smollm2").identity.startswith("local:smollm2@sha256:")
    True
    """

    def __init__(self, spec: str) -> None:
        self._name = spec.strip()
        if not self._name:
            raise SagoError(
                "--rewriter local: lacks a model: a name of `sago models list`, a folder or hub id"
            )

    @functools.cached_property
    def identity(self) -> str:
        """The name with the hash of the weights, or the commit of a hub model."""
        if self._name in names():
            return f"local:{self._name}@sha256:{lookup(self._name).weights_sha256[:8]}"
        folder = Path(self._name)
        if folder.is_dir():
            return f"local:{folder.resolve().name}@sha256:{_hash_folder(folder)[:8]}"
        name, _, revision = self._name.partition("@")
        return f"local:{name}@{_commit(name, revision or 'main')}"

    @functools.cached_property
    def _loaded(self) -> tuple[Any, Any]:
        import torch
        from transformers import AutoModelForCausalLM, AutoTokenizer

        place, revision = self._place()
        options: dict[str, Any] = {"revision": revision, "trust_remote_code": False}
        try:
            words = AutoTokenizer.from_pretrained(place, **options)
            model = AutoModelForCausalLM.from_pretrained(
                place, use_safetensors=True, dtype="float32", **options
            )
        except _load_errors() as error:
            raise _cannot_load(self._name, error) from error
        return words, model.to("cuda" if torch.cuda.is_available() else "cpu").eval()

    def _place(self) -> tuple[str, str]:
        if self._name in names():
            folder = resolve(self._name)
            if folder is None:
                raise SagoError(
                    f"rewriter {self._name!r} is not here yet: run `sago models get {self._name}`"
                )
            return str(folder), "main"
        if Path(self._name).is_dir():
            return self._name, "main"
        name, _, revision = self._name.partition("@")
        return name, revision or "main"

    def write(
        self, messages: list[dict[str, str]], seed: int, max_tokens: int, temperature: float, top_p: float
    ) -> str:
        """Sample one answer; see :meth:`Writer.write`."""
        import torch
        from transformers import GenerationConfig

        words, model = self._loaded
        ids = self._encode(words, messages)
        limit = getattr(model.config, "max_position_embeddings", None)
        if isinstance(limit, int) and len(ids) + max_tokens > limit:
            raise NoText("too long for the model")
        stops = _as_list(model.generation_config.eos_token_id) or _as_list(words.eos_token_id)
        # Nothing of the model's own defaults may change what is drawn.
        config = GenerationConfig(
            do_sample=temperature > 0,
            max_new_tokens=max_tokens,
            num_beams=1,
            repetition_penalty=1.0,
            eos_token_id=stops or None,
            pad_token_id=words.pad_token_id if words.pad_token_id is not None else (stops or [0])[0],
            **({"temperature": temperature, "top_p": top_p, "top_k": 0} if temperature > 0 else {}),
        )
        prompt = torch.tensor([ids], device=model.device)
        with torch.random.fork_rng(), torch.inference_mode():
            torch.manual_seed(seed)
            made = model.generate(prompt, attention_mask=torch.ones_like(prompt), generation_config=config)[
                0, len(ids) :
            ].tolist()
        if len(made) >= max_tokens and made[-1] not in stops:
            raise NoText("cut at max_tokens")
        return str(words.decode(made, skip_special_tokens=True))

    @staticmethod
    def _encode(words: Any, messages: list[dict[str, str]]) -> list[int]:
        if getattr(words, "chat_template", None):
            text = words.apply_chat_template(messages, tokenize=False, add_generation_prompt=True)
            return list(words(text, add_special_tokens=False)["input_ids"])
        text = "\n\n".join(message["content"] for message in messages) + "\n"
        return list(words(text)["input_ids"])


def _as_list(value: Any) -> list[int]:
    return [] if value is None else list(value) if isinstance(value, list | tuple) else [int(value)]


def _hash_folder(folder: Path) -> str:
    """Hash what decides on the text: weights, configuration, tokenizer and template."""
    digest = hashlib.sha256()
    files = sorted(file for file in folder.iterdir() if file.suffix in (".safetensors", ".json", ".jinja"))
    if not any(file.suffix == ".safetensors" for file in files):
        raise SagoError(f"rewriter folder {folder} has no .safetensors file: only those are read")
    for file in files:
        with file.open("rb") as stream:
            digest.update(f"{file.name}\n{hashlib.file_digest(stream, 'sha256').hexdigest()}\n".encode())
    return digest.hexdigest()


def _commit(name: str, revision: str) -> str:
    from transformers import AutoConfig

    try:
        config = AutoConfig.from_pretrained(name, revision=revision, trust_remote_code=False)
    except _load_errors() as error:
        raise _cannot_load(name, error) from error
    return str(getattr(config, "_commit_hash", None) or revision)


def _load_errors() -> tuple[type[Exception], ...]:
    return (ValueError, KeyError, *hub_errors())


def _cannot_load(name: str, error: Exception) -> SagoError:
    first = (str(error).strip().splitlines() or [type(error).__name__])[0]
    return SagoError(
        f"rewriter {name!r} cannot be loaded: not one of `sago models list`, not a folder of safetensors, "
        f"and the hub did not give it ({first[:160]}); leave --rewriter out to work from the cache alone"
    )
