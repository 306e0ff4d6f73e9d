"""The one error a user is meant to see: a single line, no traceback."""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterable


class SagoError(ValueError):
    """Bad input, told in one line: what is wrong, where, and what to do.

    The command line prints the message and exits with status 2. Anything else
    that is raised is a bug of ours or of the host and keeps its traceback.
    """


def nearest(name: str, known: Iterable[str], n: int = 3) -> list[str]:
    """Return the known names that look most like ``name``, best first.

    Parameters
    ----------
    name : str
        What the user wrote.
    known : iterable of str
        What would have been right.
    n : int
        At most this many.

    Returns
    -------
    list of str

    Examples
    --------
    >>> nearest("smolm2", ["smollm2", "minilm"])
    ['smollm2', 'minilm']
    """
    names = sorted(set(known))
    return difflib.get_close_matches(name, names, n=n, cutoff=0.45)


def unknown(kind: str, name: object, known: Iterable[str], where: str = "") -> SagoError:
    """Build the error for a name that is not in a table.

    Examples
    --------
    >>> str(unknown("operator", "politenes", ["politeness", "spaces"]))
    "unknown operator 'politenes': did you mean politeness? Known: politeness, spaces"
    """
    names = sorted(set(known))
    close = nearest(str(name), names)
    hint = f"did you mean {' or '.join(close)}? " if close else ""
    place = f" in {where}" if where else ""
    return SagoError(f"unknown {kind} {str(name)!r}{place}: {hint}Known: {', '.join(names)}")


def flaw(error: Exception) -> str:
    """Say what is wrong with a JSON file, from the error that reading it raised.

    Examples
    --------
    >>> flaw(KeyError("configs")), flaw(TypeError("'int' object is not iterable"))
    ("it lacks 'configs'", 'its parts are of other types')
    """
    if isinstance(error, KeyError):
        return f"it lacks {error.args[0]!r}" if error.args else "it lacks a key"
    if isinstance(error, json.JSONDecodeError):
        return f"it is no whole JSON ({error})"
    if isinstance(error, UnicodeDecodeError):
        return "it is no text in UTF-8"
    return "its parts are of other types"
