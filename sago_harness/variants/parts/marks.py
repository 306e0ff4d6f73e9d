"""Which punctuation marks of an English text can go without changing how it is read."""

from __future__ import annotations

import re

from sago_harness.variants.base import Passage

_ASKS_ANYWHERE = re.compile(r"\b(?:what|who|whom|whose|which|why|how)(?:['’]\w+)?\b", re.I)
_AUXILIARY = (
    r"(?:when|where|is|are|am|was|were|do|does|did|can|could|will|would|shall|should|has|have|had|may|might|must"
    r"|isn['’]t|aren['’]t|wasn['’]t|weren['’]t|don['’]t|doesn['’]t|didn['’]t|can['’]t|won['’]t)"
)
_ASKS_AT_HEAD = re.compile(rf"(?:\A|,\s)[\s\"'“‘(]*{_AUXILIARY}\b", re.I)
_SENTENCE_BREAK = re.compile(r"(?<=[.!?])\s+|\n")
# A stop that belongs to the word before it.
_ABBREVIATION = re.compile(
    r"(?:(?<![^\W_])[A-Za-z]"
    r"|\b(?:Mr|Mrs|Ms|Dr|Prof|St|vs|etc|e\.g|i\.e|No|Nos|Jr|Sr|Inc|Ltd|Co|Corp|Fig|Vol|cf|al|approx|dept|est))\Z"
)
_COUNT = "one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|twenty|half|a third|twice"
_SHORT = r"(?:[^\s,;.!?]+\s){0,3}[^\s,;.!?]+"
_ITEM_BEFORE = re.compile(
    rf"(?:[,;:]|\b(?:and|or))\s{_SHORT}\Z"
    r"|(?:\A|[.!?\n]\s*)(?!(?:In|On|At|For|By|During|After|Before|If|When|Today|However|So|Then|Now)\b)"
    r"(?:[^\s,;.!?]+\s)?[^\s,;.!?]+\Z"
)
_ITEM_AFTER = re.compile(
    rf",\s(?:(?:and|or|nor|not|yes|no|{_COUNT})\b|[$€£]?\d|{_SHORT}(?:[,;]|\s(?:and|or)\b))", re.I
)
_OPENING = re.compile(
    r"\s*(?:If|When|While|As|Since|Because|Although|Though|Once|Until|After|Before|During|In|On|At|By"
    r"|For|From|To|With|Without|Under|According|Given|Instead|Next|Last|This|Now|Then|Today|Yesterday|However"
    r"|Finally|Later|Suppose|Assuming)\b[^,;:]*\Z"
)
# "After the game Ann has 3 points, Bob 5 less, and Cy none": the first comma closes no opening clause.
_LISTS_LATER = re.compile(r",[^.!?\n]*,\s(?:and|or)\b")
_LINKED = re.compile(r",\s(?:who|which|where|so|because|since|but|if|when|while|what|how)\b")
_RUNS_ON = re.compile(
    rf"\s+(?:(?:in|on|at|for|after|before|by|during|with|from|of|to|until|when|while|as|since|per|and|or|not|{_COUNT}"
    r")\b|[$€£]?\d)",
    re.I,
)
_REPLY = re.compile(r"(?:\A|[.!?\n]\s*)(?:yes|no|not|well|oh|right|sorry)\Z", re.I)


def asks_without_mark(sentence: str) -> bool:
    """Say whether a sentence is still read as a question when its question mark is gone.

    Examples
    --------
    >>> asks_without_mark("If it rains, do they go?"), asks_without_mark("You like it?")
    (True, False)
    """
    return bool(_ASKS_ANYWHERE.search(sentence) or _ASKS_AT_HEAD.search(sentence))


def sentences(text: str) -> list[str]:
    """Return the sentences of a text, roughly: they end at a line's end or at a mark before white space.

    Examples
    --------
    >>> sentences("Is Dr. Who here? Yes.")
    ['Is Dr. Who here?', 'Yes.']
    """
    parts, at = [], 0
    for match in _SENTENCE_BREAK.finditer(text):
        stop = match.start() - 1
        if text[match.start()] != "\n" and text[stop] == "." and is_abbreviation(text, stop):
            continue
        parts.append(text[at : match.start()])
        at = match.end()
    parts.append(text[at:])
    return [part for part in parts if part.strip()]


def is_abbreviation(text: str, at: int) -> bool:
    """Say whether the stop at ``at`` belongs to an abbreviation or stands inside a word.

    Examples
    --------
    >>> [is_abbreviation(text, text.index(".")) for text in ("Dr. No", "U.S.", "the end.", "a.out")]
    [True, True, False, True]
    """
    if at + 1 < len(text) and text[at + 1].isalnum():
        return True
    return bool(_ABBREVIATION.search(text, max(0, at - 8), at))


def parts_items(text: str, at: int) -> bool:
    """Say whether the comma at ``at`` may part the items of a list, a name or a short reply.

    Wide on purpose: "A, B and C", "Paris, France,", "No, I did" and "it, not them" all count.

    Examples
    --------
    >>> parts_items("Ann, Bob and Cy eat", 3), parts_items("If you eat a whole melon, what happens", 24)
    (True, False)
    """
    before, after = text[max(0, at - 60) : at], text[at : at + 60]
    return bool(_ITEM_AFTER.match(after) or _ITEM_BEFORE.search(before) or _REPLY.search(before))


def may_go(text: str, at: int) -> bool:
    """Say whether the comma at ``at`` only marks where a clause ends: an opening one, or one before "which".

    Examples
    --------
    >>> may_go("If it rains, do they go?", 11), may_go("He is old, the girl is young.", 9)
    (True, False)
    """
    opens = bool(_LINKED.match(text, at))
    if not opens:
        head = max(text.rfind(mark, 0, at) for mark in ".!?\n") + 1
        opens = bool(_OPENING.match(text, head, at)) and not _LISTS_LATER.match(text, at)
    return opens and not parts_items(text, at)


def runs_on(text: str, at: int) -> bool:
    """Say whether the words after the sentence that ends at ``at`` could be read as a part of it.

    Examples
    --------
    >>> runs_on("He is 5. In 3 years he is 8.", 7), runs_on("He is 5. How old is she?", 7)
    (True, False)
    """
    return bool(_RUNS_ON.match(text, at + 1))


def joins_numbers(passage: Passage, at: int) -> bool:
    """Say whether two numbers would stand side by side without the mark at ``at``.

    Examples
    --------
    >>> joins_numbers(Passage("He has 3. 5 are red."), 8)
    True
    """
    before, after = at - 1, at + 1
    while before > 0 and passage.text[before].isspace():
        before -= 1
    while after < len(passage.text) - 1 and passage.text[after].isspace():
        after += 1
    left, right = passage.text[before : before + 1], passage.text[after : after + 1]
    return left.isdigit() and (right.isdigit() or right in ("$", "€", "£", "-", "+"))
