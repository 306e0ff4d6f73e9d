"""Says what an operator or a constraint needs and this machine lacks."""

from __future__ import annotations

import functools
import importlib.util
from collections.abc import Iterable

_MODEL = "model:"


def missing(requires: Iterable[str]) -> str:
    """Return the first thing that is missing, in words, or "" if all is there.

    Parameters
    ----------
    requires : iterable of str
        Importable modules, and packaged models as ``"model:<name>"``.

    Examples
    --------
    >>> missing(["json"]), missing(["json", "no_such_module"])
    ('', 'missing library no_such_module')
    """
    for name in requires:
        if not _present(name):
            if name.startswith(_MODEL):
                return f"missing model {name.removeprefix(_MODEL)}"
            return f"missing library {name.partition('.')[0]}"
    return ""


@functools.cache
def _present(name: str) -> bool:
    """Look once a process: a look-up costs more than most operators."""
    if name.startswith(_MODEL):
        from sago_harness.models import fetch

        return fetch.resolve(name.removeprefix(_MODEL)) is not None
    return importlib.util.find_spec(name.partition(".")[0]) is not None
