"""A writer behind an OpenAI-compatible endpoint, asked with the standard library alone."""

from __future__ import annotations

import http.client
import ipaddress
import json
import os
import re
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable
from typing import Any

from sago_harness.errors import SagoError, nearest
from sago_harness.variants.rewriter.deadline import DeadlineHandler, SecureDeadlineHandler
from sago_harness.variants.rewriter.writer import NoText, Writer

#: Bytes of an answer that are read at most.
MAX_BYTES = 4 * 2**20
#: Calls for one answer where the endpoint is busy or fails.
CALLS = 5
_WAIT = 1.0
_LONGEST_WAIT = 60.0
_OPTIONS = ("model", "key", "timeout")
_KEY_VARIABLE = "OPENAI_API_KEY"
_VARIABLE = re.compile(r"[A-Za-z_]\w*", re.ASCII)
#: Shorter keys are placeholders, such as endpoints on one's own machine take; a text may hold them.
_SECRET = 8


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """Follows nothing: a redirect would take the key and the texts to somebody else."""

    def redirect_request(self, *_: Any) -> None:
        return None


class EndpointWriter(Writer):
    """Asks ``POST BASE/chat/completions``.

    The key is read from an environment variable when a call is made; it is in no cache,
    error or log.

    Parameters
    ----------
    spec : str
        ``"https://host/v1,model=NAME"``, and where wanted ``,key=VARIABLE`` (the name of the
        environment variable, OPENAI_API_KEY by default) and ``,timeout=SECONDS`` (60).
    sleep : callable
        Waits between calls.

    Raises
    ------
    SagoError
        If the address or an option is wrong.

    Examples
    --------
    >>> EndpointWriter("https://example.org/v1/,model=m").identity
    'endpoint:https://example.org/v1#m'
    >>> EndpointWriter("http://example.org/v1,model=m")
    Traceback (most recent call last):
        ...
    sago_harness.errors.SagoError: rewriter endpoint http://example.org: only https leaves this machine
    """

    def __init__(self, spec: str, sleep: Callable[[float], None] = time.sleep) -> None:
        address, *words = spec.strip().split(",")
        options = _read_options(words)
        self._base, local = _check_address(address)
        self._model = options["model"]
        self._variable = options.get("key", _KEY_VARIABLE)
        if not _VARIABLE.fullmatch(self._variable):
            # It may be the key itself, put in the place of its variable.
            raise SagoError(
                "--rewriter endpoint: key= takes the name of an environment variable that holds the key"
            )
        self._timeout = _seconds(options.get("timeout", "60"))
        self._sleep = sleep
        # A proxy named in the environment cannot reach this machine's own addresses.
        proxies = [urllib.request.ProxyHandler({})] if local else []
        self._opener = urllib.request.build_opener(
            _NoRedirect(), DeadlineHandler(), SecureDeadlineHandler(), *proxies
        )

    @property
    def identity(self) -> str:
        """The address and the model's name."""
        return f"endpoint:{self._base}#{self._model}"

    def write(
        self, messages: list[dict[str, str]], seed: int, max_tokens: int, temperature: float, top_p: float
    ) -> str:
        """Ask for one answer; see :meth:`Writer.write`."""
        content = {
            "model": self._model,
            "messages": messages,
            "seed": seed,
            "max_tokens": max_tokens,
            "temperature": temperature,
            "top_p": top_p,
            "n": 1,
            "stream": False,
        }
        key = self._key()
        text = self._read_answer(self._ask(json.dumps(content).encode("ascii"), key))
        if len(key) >= _SECRET and key.casefold() in text.casefold():
            # What is written goes into caches and packs.
            raise NoText("the answer quotes the key")
        return text

    def _ask(self, body: bytes, key: str) -> bytes:
        headers = {"Content-Type": "application/json", "Accept": "application/json"}
        if key:
            headers["Authorization"] = f"Bearer {key}"
        problem = ""
        for call in range(CALLS):
            request = urllib.request.Request(f"{self._base}/chat/completions", body, headers, method="POST")
            wait = _WAIT * 2**call
            try:
                return self._fetch(request)
            except urllib.error.HTTPError as error:
                # What the endpoint says is not repeated: some put the key into it.
                status, told = error.code, error.headers.get("Retry-After", "")
                filtered = status == 400 and _is_filtered(error)
                error.close()
                if filtered:
                    raise NoText("content filter") from None
                problem = f"answered HTTP {status}"
                if 300 <= status < 400:
                    raise self._stop(
                        "wants to redirect, which is not followed: give the final address"
                    ) from None
                if status != 429 and status < 500:
                    raise self._stop(f"{problem}{_advice(status, self._variable)}") from None
                if told.isascii() and told.isdigit():
                    wait = float(told)
            except (urllib.error.URLError, http.client.HTTPException, OSError) as error:
                cause = getattr(error, "reason", error)
                problem = f"cannot be reached ({type(cause).__name__})"
            if call + 1 < CALLS:
                self._sleep(min(wait, _LONGEST_WAIT))
        raise self._stop(f"{problem}, {CALLS} times: what is in the cache is kept, try again later")

    def _fetch(self, request: urllib.request.Request) -> bytes:
        """Read an answer; the opener's handlers see to the time-out."""
        parts, size = [], 0
        with self._opener.open(request, timeout=self._timeout) as response:
            while part := response.read1(2**16):
                parts.append(part)
                size += len(part)
                if size > MAX_BYTES:
                    raise self._stop(f"sent more than {MAX_BYTES >> 20} MiB for one answer")
        return b"".join(parts)

    def _key(self) -> str:
        """Return the key, "" where none is set."""
        key = os.environ.get(self._variable, "").strip()
        if not (key.isascii() and key.isprintable()):
            # The library's own message would quote the key.
            raise SagoError(f"the key in ${self._variable} has a character that no HTTP header may hold")
        return key

    def _read_answer(self, body: bytes) -> str:
        try:
            choice = json.loads(body)["choices"][0]
            text, end = choice["message"]["content"], choice.get("finish_reason")
        except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
            raise self._stop("gave no chat completion: is the address that of its /v1?") from None
        if end in ("length", "content_filter"):
            raise NoText("cut at max_tokens" if end == "length" else "content filter")
        if text is None:
            raise NoText("empty")
        if not isinstance(text, str):
            raise self._stop("gave no chat completion: its content is no text")
        return text

    def _stop(self, problem: str) -> SagoError:
        return SagoError(f"rewriter endpoint {self._base} {problem}")


def _read_options(words: list[str]) -> dict[str, str]:
    options = {}
    for word in words:
        name, _, value = word.partition("=")
        if name.strip() not in _OPTIONS:
            # It may be a key put in the wrong place: it is not repeated.
            close = nearest(name.strip(), _OPTIONS)
            hint = f"did you mean {' or '.join(close)}? " if close else ""
            raise SagoError(
                f"unknown option in --rewriter endpoint: {hint}Known: {', '.join(sorted(_OPTIONS))}"
            )
        options[name.strip()] = value.strip()
    if not options.get("model"):
        raise SagoError("--rewriter endpoint lacks its model: https://host/v1,model=NAME")
    return options


def _check_address(address: str) -> tuple[str, bool]:
    """Return the base address without a closing slash, and whether it is on this machine."""
    try:
        parts = urllib.parse.urlsplit(address.strip())
        host, port = parts.hostname or "", parts.port
    except ValueError:
        raise SagoError("--rewriter endpoint: the address cannot be read; write https://host/v1") from None
    if parts.username or parts.password or parts.query or parts.fragment:
        raise SagoError(
            f"rewriter endpoint at {host}: no user, password, '?' or '#' in the address; "
            "a key goes into an environment variable"
        )
    if (
        parts.scheme not in ("http", "https")
        or not host
        or not address.isprintable()
        or " " in address.strip()
    ):
        raise SagoError("--rewriter endpoint: the address must be https://host[:port]/path")
    local = _is_local(host)
    if parts.scheme == "http" and not local:
        raise SagoError(f"rewriter endpoint http://{host}: only https leaves this machine")
    name = f"[{host}]" if ":" in host else host
    place = name if port is None else f"{name}:{port}"
    return f"{parts.scheme}://{place}{parts.path.rstrip('/')}", local


def _is_local(host: str) -> bool:
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _seconds(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0 < value <= 3600:
        raise SagoError("--rewriter endpoint: timeout= is not a number of seconds up to 3600")
    return value


def _is_filtered(error: urllib.error.HTTPError) -> bool:
    """Say whether a refusal concerns this text only, as a content filter's does."""
    try:
        content = json.loads(error.read(2**16))
        return bool(content["error"]["code"] == "content_filter")
    except (ValueError, LookupError, TypeError, OSError, http.client.HTTPException, RecursionError):
        return False


def _advice(status: int, variable: str) -> str:
    if status in (401, 403):
        if variable == _KEY_VARIABLE or variable in os.environ:
            return f": the key is read from ${variable}"
        # A key may look like a name; one that is set is a name.
        return ": key= names an environment variable that is not set"
    if status == 404:
        return ": check the address and the model's name"
    return ": check the model's name, and that it takes seed, max_tokens, temperature and top_p"
