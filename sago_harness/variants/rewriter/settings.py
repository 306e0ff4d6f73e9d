"""How variants are rewritten: the settings and their flags on the command line."""

from __future__ import annotations

import argparse
import math
from dataclasses import dataclass
from pathlib import Path

from sago_harness.errors import SagoError


@dataclass(frozen=True, slots=True)
class RewriterSettings:
    """Who rewrites, where answers are kept, and how they are sampled.

    Attributes
    ----------
    writer : str
        As :func:`~sago_harness.variants.rewriter.writer.make_writer` reads it; ``""`` = from the
        cache alone, ``"cache:NAME"`` = what a writer of that name has in it.
    cache : Path or None
        File of JSON lines; None keeps nothing.
    retries : int
        Tries after the first one, where an output is rejected.
    temperature, top_p : float
    max_tokens : int

    Raises
    ------
    SagoError
        If a number is out of range, or there is neither a writer nor a cache.

    Examples
    --------
    >>> RewriterSettings("smollm2").retries
    3
    >>> RewriterSettings()
    Traceback (most recent call last):
        ...
    sago_harness.errors.SagoError: the rewriter has no model and no cache: give --rewriter or --rewriter-cache
    """

    writer: str = ""
    cache: Path | None = None
    retries: int = 3
    temperature: float = 0.7
    top_p: float = 0.95
    max_tokens: int = 512

    def __post_init__(self) -> None:
        if not self.writer and self.cache is None:
            raise SagoError("the rewriter has no model and no cache: give --rewriter or --rewriter-cache")
        if not 0 <= self.retries <= 100:
            raise SagoError(f"--rewriter-retries {self.retries}: it is 0 to 100")
        if not (math.isfinite(self.temperature) and 0 <= self.temperature <= 2):
            raise SagoError(f"--rewriter-temperature {self.temperature}: it is 0 to 2")
        if not 0 < self.top_p <= 1:
            raise SagoError(f"--rewriter-top-p {self.top_p}: it is above 0, at most 1")
        if not 1 <= self.max_tokens <= 100_000:
            raise SagoError(f"--rewriter-max-tokens {self.max_tokens}: it is 1 to 100000")


def add_rewriter_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the flags that :func:`settings_from` reads.

    Examples
    --------
    >>> parser = argparse.ArgumentParser()
    >>> add_rewriter_arguments(parser)
    >>> settings_from(parser.parse_args(["--rewriter", "smollm2"])).writer
    'smollm2'
    """
    default = RewriterSettings("-")
    group = parser.add_argument_group("rewriting by a language model")
    group.add_argument(
        "--rewriter",
        default="",
        metavar="SPEC",
        help="a packaged model, folder or hub id; https://host/v1,model=NAME[,key=VARIABLE][,timeout=S]; "
        "a model of `sago run`: model=NAME,pretrained=...; cache:NAME picks a writer from the cache",
    )
    group.add_argument(
        "--rewriter-cache",
        type=Path,
        metavar="FILE",
        help="keep what it wrote in this file; without --rewriter, take variants from it alone",
    )
    group.add_argument(
        "--rewriter-retries",
        type=int,
        default=default.retries,
        metavar="N",
        help=f"further tries where an output is rejected ({default.retries})",
    )
    group.add_argument("--rewriter-temperature", type=float, default=default.temperature, metavar="T")
    group.add_argument("--rewriter-top-p", type=float, default=default.top_p, metavar="P")
    group.add_argument("--rewriter-max-tokens", type=int, default=default.max_tokens, metavar="N")


def settings_from(args: argparse.Namespace) -> RewriterSettings | None:
    """Return the settings that the flags give; None where neither a model nor a cache is named.

    Raises
    ------
    SagoError
        If a number is out of range.
    """
    if not args.rewriter and args.rewriter_cache is None:
        return None
    return RewriterSettings(
        args.rewriter,
        args.rewriter_cache,
        args.rewriter_retries,
        args.rewriter_temperature,
        args.rewriter_top_p,
        args.rewriter_max_tokens,
    )
