"""What is said once a process, however many documents it concerns."""

from __future__ import annotations

import logging
from functools import cache

log = logging.getLogger("sago_harness")


@cache
def warn_once(message: str) -> None:
    """Log a warning the first time it is given.

    Examples
    --------
    >>> warn_once("no log-probabilities from this model")
    """
    log.warning(message)


@cache
def say_once(message: str) -> None:
    """Log a fact the first time it is given.

    Examples
    --------
    >>> say_once("the plain path is taken: sampling")
    """
    log.info(message)
