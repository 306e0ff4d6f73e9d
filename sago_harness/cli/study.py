"""Flags and reading that the commands on several runs share: compare, report, plot."""

from __future__ import annotations

import argparse
import re
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from sago_harness.errors import SagoError, unknown

if TYPE_CHECKING:
    from sago_harness.report.study import Study


def add_study_flags(parser: argparse.ArgumentParser) -> None:
    """Add RUN and the flags that choose runs and settings.

    Examples
    --------
    >>> parser = argparse.ArgumentParser()
    >>> add_study_flags(parser)
    >>> parser.parse_args(["runs", "--seed", "3"]).seed
    3
    """
    parser.add_argument("run", nargs="+", metavar="RUN", help="run folder or file, or NAME=PATH")
    parser.add_argument("--tasks", metavar="LIST", help="these data sets alone")
    parser.add_argument("--models", metavar="LIST", help="these models alone")
    parser.add_argument("--scheme", default="sago", metavar="NAME", help="sago, or a published scheme")
    parser.add_argument("--control", metavar="MODEL", help="compare with this model, not all pairs")
    parser.add_argument("--epsilon", type=_share, default=0.05, metavar="SHARE",
                        help="instability, as a share of chance, that is no finding")  # fmt: skip
    parser.add_argument("--correction", default="holm", choices=("holm", "bh"), help="for many tests")
    parser.add_argument("--level", type=_level, default=0.05, help="error rate of tests (default .05)")
    parser.add_argument("--resamples", type=_resamples, default=9999, metavar="N", help="default 9999")
    parser.add_argument("--seed", type=int, default=0, help="of the random draws")
    parser.add_argument(
        "--every", action="store_true", help="all runs of a model and task, not the newest alone"
    )
    parser.add_argument("--allow-mixed", action="store_true", help="compare runs that differ, marked")
    parser.add_argument(
        "--skip-damaged", action="store_true", help="leave out lines that cannot be read, counted"
    )


def study_of(args: argparse.Namespace, *, worst: int = 5, with_texts: bool = True) -> Study:
    """Return the study that the flags ask for.

    Parameters
    ----------
    args : argparse.Namespace
        With the flags of :func:`add_study_flags`; ``words`` is the command line, if there was one.
    worst : int
        Documents of each model that are named as the worst ones.
    with_texts : bool
        Read their texts.

    Raises
    ------
    SagoError
        For bad flags, runs that cannot be read, or that must not be compared.
    """
    from sago_harness.report.study import read_study
    from sago_harness.stats.resampling import Settings
    from sago_harness.stats.schemes import scheme_names

    if args.control == "":
        raise SagoError("--control names no model")
    if args.scheme not in scheme_names():
        raise unknown("scheme", args.scheme, scheme_names(), "--scheme")
    settings = Settings(
        level=args.level,
        correction=args.correction,
        resamples=args.resamples,
        seed=args.seed,
        epsilon=args.epsilon,
        control=args.control or "",
        scheme=args.scheme,
    )
    return read_study(
        args.run,
        settings,
        models=_some("--models", args.models),
        tasks=_some("--tasks", args.tasks),
        every=args.every,
        allow_mixed=args.allow_mixed,
        skip_damaged=args.skip_damaged,
        worst=worst,
        with_texts=with_texts,
        command=shlex.join(["sago", *args.words]) if "words" in args else "",
        progress=sys.stderr.isatty(),
    )


def listed(words: str) -> list[str]:
    """Return the words of a list; a comma inside brackets is part of a name.

    Examples
    --------
    >>> listed("a, b (dtype=float32, revision=1)")
    ['a', 'b (dtype=float32, revision=1)']
    """
    return [word.strip() for word in re.split(r",(?![^()]*\))", words) if word.strip()]


def _some(flag: str, words: str | None) -> list[str] | None:
    """Return the words of a flag's list, None without the flag."""
    if words is None:
        return None
    found = listed(words)
    if not found:
        raise SagoError(f"{flag} {words!r} names nothing")
    return found


def place(text: str) -> Path:
    """Read the name of a file or folder to write; an empty one would be the folder one is in."""
    if not text:
        raise argparse.ArgumentTypeError("an empty name")
    return Path(text)


def count(text: str) -> int:
    """Read a whole number from 0 on."""
    if not text.isascii() or not text.isdigit():
        raise argparse.ArgumentTypeError(f"{text!r} is no whole number from 0 on")
    return int(text)


def _share(text: str) -> float:
    return _number(text, 0.0, 1.0, low_in=True)


def _level(text: str) -> float:
    return _number(text, 0.0, 0.5)


def _number(text: str, low: float, high: float, *, low_in: bool = False) -> float:
    try:
        value = float(text)
    except ValueError:
        value = float("nan")
    if not (low < value < high or (low_in and value == low)):
        raise argparse.ArgumentTypeError(f"{text!r} is no number between {low:g} and {high:g}")
    return value


def _resamples(text: str) -> int:
    if not text.isascii() or not text.isdigit() or not 99 <= int(text) <= 1_000_000:
        raise argparse.ArgumentTypeError(f"{text!r} is no whole number from 99 to 1000000")
    return int(text)
