"""Any model of ``sago run`` as a writer of variants."""

from __future__ import annotations

import functools
import inspect
import json
import random
from typing import Any

import numpy as np
import torch
from lm_eval.api.instance import Instance
from lm_eval.models.api_models import TemplateAPI

from sago_harness.backends.sago_hf import locate
from sago_harness.errors import SagoError, unknown
from sago_harness.variants.rewriter.writer import NoText, Writer

# Arguments that say how and where a model runs, not which one it is.
_NO_IDENTITY = (
    *("device", "batch_size", "max_batch_size", "parallelize", "num_concurrent", "timeout", "max_retries"),
    *("header", "api_key", "token", "cache_dir", "tokenizer", "gpu_memory_utilization", "padding_side"),
)


class HostWriter(Writer):
    """Writes with the host's ``generate_until``, under the model's chat template where it has one.

    Models that run here are pinned by the seeds of PyTorch, NumPy and ``random``, which are put
    back afterwards; models behind an interface get the seed with the request.

    Parameters
    ----------
    spec : str
        ``"model=NAME,argument=value,..."``, as ``--model`` and ``--model_args`` take them.

    Raises
    ------
    SagoError
        If no model is named.

    Examples
    --------
    >>> HostWriter("model=sago-hf,pretrained=smollm2,device=cpu").identity
    'host:sago-hf,pretrained=smollm2'
    """

    def __init__(self, spec: str) -> None:
        from lm_eval.utils import simple_parse_args_string

        first, _, rest = spec.strip().partition(",")
        key, _, name = first.partition("=")
        if key.strip() != "model" or not name.strip():
            raise SagoError("--rewriter host: names its model first: model=sago-hf,pretrained=smollm2")
        if any("=" not in word for word in rest.split(",") if word):
            raise SagoError(f"--rewriter model={name.strip()}: every argument is NAME=VALUE")
        self._model = name.strip()
        self._arguments: dict[str, Any] = simple_parse_args_string(rest)

    @property
    def identity(self) -> str:
        """The model's class and the arguments that say which model it is; a folder by its last part."""
        words = []
        for key, value in sorted(self._arguments.items()):
            if key not in _NO_IDENTITY:
                text = str(value)
                is_path = text.startswith(("/", ".", "~"))
                words.append(f"{key}={text.rstrip('/').rpartition('/')[2] if is_path else text}")
        return ",".join([f"host:{self._model}", *words])

    @functools.cached_property
    def _lm(self) -> Any:
        import lm_eval.models  # noqa: F401
        from lm_eval.api.registry import get_model, model_registry

        if self._model not in model_registry:
            raise unknown("model", self._model, model_registry, "--rewriter model=")
        arguments = dict(self._arguments)
        if "pretrained" in arguments:
            arguments["pretrained"] = locate(arguments["pretrained"])
        try:
            return get_model(self._model).create_from_arg_obj(arguments)
        except (OSError, TypeError, ValueError, ImportError, ModuleNotFoundError) as error:
            first = (str(error).strip().splitlines() or [type(error).__name__])[0]
            raise SagoError(f"rewriter model={self._model} cannot be loaded: {first[:200]}") from error

    def write(
        self, messages: list[dict[str, str]], seed: int, max_tokens: int, temperature: float, top_p: float
    ) -> str:
        """Ask for one answer; see :meth:`Writer.write`."""
        lm = self._lm
        options: dict[str, Any] = {"until": [], "max_gen_toks": max_tokens, "do_sample": temperature > 0}
        if temperature > 0:
            options |= {"temperature": temperature, "top_p": top_p}
        if isinstance(lm, TemplateAPI):
            options["seed"] = seed
        request = Instance(
            request_type="generate_until",
            doc={},
            arguments=(self._prompt(lm, messages), options),
            idx=0,
            metadata=("sago", 0, 1),
        )
        quiet = "disable_tqdm" in inspect.signature(lm.generate_until).parameters
        state, state_numpy = random.getstate(), np.random.get_state()
        try:
            with torch.random.fork_rng():
                torch.manual_seed(seed)
                random.seed(seed)
                np.random.seed(seed)
                answers = lm.generate_until([request], **({"disable_tqdm": True} if quiet else {}))
        except OSError as error:
            # The message may hold an address with a key in it.
            name = type(error).__name__
            raise SagoError(
                f"rewriter model={self._model} gave no answer ({name}): try again later"
            ) from None
        finally:
            random.setstate(state)
            np.random.set_state(state_numpy)
        if not answers or answers[0] is None:
            raise NoText("empty")
        return str(answers[0])

    @staticmethod
    def _prompt(lm: Any, messages: list[dict[str, str]]) -> Any:
        try:
            words = getattr(lm, "tokenizer", None)
        except OSError:
            words = None  # one class fetches a tokenizer when it is asked for
        chat = isinstance(lm, TemplateAPI) or bool(getattr(words, "chat_template", None))
        if chat:
            try:
                return lm.apply_chat_template(json.loads(json.dumps(messages)))
            except (NotImplementedError, AttributeError):
                pass  # a model for completions only
        return "\n\n".join(message["content"] for message in messages) + "\n"
