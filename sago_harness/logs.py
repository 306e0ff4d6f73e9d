"""Warnings that are said once a process, however many documents they concern."""

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
