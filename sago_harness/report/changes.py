"""Shows what changed between two texts, safely: no text can drive the terminal."""

from __future__ import annotations

import difflib
import os
import re
import unicodedata
from typing import TextIO

# Words, runs of one white space, and any other character by itself; Chinese has no words apart.
_TOKEN = re.compile(r"[^\W_\u3400-\u9fff\u3040-\u30ff]+(?:['’][^\W_]+)?|[ ]+|.", re.S)
_EASILY_MISSED = re.compile(r"^ +| +$|  +", re.M)
_RED, _GREEN, _PLAIN = "\x1b[31;9m", "\x1b[32;1m", "\x1b[0m"
_BLANK = "\u115f\u1160\u2800\u3164\uffa0"
#: More tokens than this are compared as one block: the comparison takes their square.
_LONGEST = 2000


def wants_colour(stream: TextIO, refused: bool = False) -> bool:
    """Say whether to write colours: on a terminal, unless they are refused.

    Examples
    --------
    >>> import io
    >>> wants_colour(io.StringIO())
    False
    """
    return stream.isatty() and not refused and not os.environ.get("NO_COLOR")


def show_changes(before: str, after: str, colour: bool = False) -> str:
    r"""Return ``after`` with what is new marked, and what is gone shown in its place.

    Parameters
    ----------
    before, after : str
        Any text; control characters, bidirectional marks and other invisible ones are escaped.
    colour : bool
        Use ANSI colours, else ``[-gone-]`` and ``{+new+}``.

    Examples
    --------
    >>> show_changes("Who wrote it?", "Who  wrote this?")
    'Who {+␣+}wrote [-it-]{+this+}?'
    >>> show_changes("hi", "hi\x1b[2J")
    'hi{+\\x1b[2J+}'
    """
    old, new = _TOKEN.findall(before), _TOKEN.findall(after)
    old, new = _split_spaces(old), _split_spaces(new)
    parts = []
    for kind, a, b, c, d in _steps(old, new):
        if kind == "equal":
            parts.append(escape("".join(new[c:d])))
            continue
        for text, marks, paint in (
            ("".join(old[a:b]), ("[-", "-]"), _RED),
            ("".join(new[c:d]), ("{+", "+}"), _GREEN),
        ):
            if text:
                shown = _visible(text)
                parts.append(f"{paint}{shown}{_PLAIN}" if colour else f"{marks[0]}{shown}{marks[1]}")
    return "".join(parts)


def escape(text: str) -> str:
    r"""Return a text in which every character can be seen, line breaks apart.

    Examples
    --------
    >>> escape("a\u202eb\tc\x07\u00a0d")
    'a\\u202eb\\tc\\x07\\xa0d'
    """
    return "".join(char if char == "\n" or _seen(char) else _code(char) for char in text)


def escape_line(text: str) -> str:
    r"""Return a text in one line in which every character can be seen.

    Examples
    --------
    >>> escape_line("a\nb\x1b[31m")
    'a\\nb\\x1b[31m'
    """
    return escape(text).replace("\n", "\\n")


def _seen(char: str) -> bool:
    category = unicodedata.category(char)
    # The ideographic space is the ordinary one of Chinese text; the others are blank letters.
    return (category[0] not in "CZ" and char not in _BLANK) or char in " \u3000"


def _code(char: str) -> str:
    return ascii(char)[1:-1]


def _visible(text: str) -> str:
    """Return changed text with white space visible where it is easily missed: at the ends, and in runs."""
    shown = _EASILY_MISSED.sub(lambda match: "␣" * len(match[0]), escape(text))
    return shown.replace("\u3000", "\\u3000").replace("\n", "⏎\n")


def _split_spaces(tokens: list[str]) -> list[str]:
    """Take runs of blanks apart, so that an added blank is an addition and no replacement."""
    return [char for token in tokens for char in (token if token.isspace() else [token])]


def _steps(old: list[str], new: list[str]) -> list[tuple[str, int, int, int, int]]:
    """Return the steps from one list to the other, equal ends first taken off."""
    head = 0
    while head < min(len(old), len(new)) and old[head] == new[head]:
        head += 1
    tail = 0
    while tail < min(len(old), len(new)) - head and old[-1 - tail] == new[-1 - tail]:
        tail += 1
    a, b = old[head : len(old) - tail], new[head : len(new) - tail]
    if len(a) * len(b) > _LONGEST**2:
        middle = [("replace", 0, len(a), 0, len(b))]
    else:
        middle = [tuple(step) for step in difflib.SequenceMatcher(None, a, b, autojunk=False).get_opcodes()]  # type: ignore[misc]
    steps = [(kind, i + head, j + head, k + head, m + head) for kind, i, j, k, m in middle]
    return [
        ("equal", 0, head, 0, head),
        *steps,
        ("equal", len(old) - tail, len(old), len(new) - tail, len(new)),
    ]
