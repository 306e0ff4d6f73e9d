"""Finds what must survive every variant byte for byte.

One pattern per kind, each found by position. Finding too much only leaves less to vary;
finding too little changes what is asked, so the patterns err on the wide side. What could begin
at any character has an upper length, far above what is met, so that no text takes quadratic time.
"""

from __future__ import annotations

import bisect
import re
from collections.abc import Callable, Iterable, Iterator

from sago_harness.variants.base import Passage, Span
from sago_harness.variants.text.graphemes import widen

_HAN = "\u3400-\u9fff"
_UNITS = (
    r"%|‰|°[CF]?|℃|℉|km/h|m/s²?|mph|[kmcµμn]?m[²³]?|[kmµμ]?g|lbs?|oz|[mcd]?l|L|[kMGT]i?B|[kMG]?Hz|[kMG]?W|kWh|[kM]?J|[kM]?Pa"
    r"|[kM]?V|m?A|mol|K|ft|in|yd|mi|s|ms|h|min|[ap]\.m\.|[ap]m|AM|PM"
    r"|percent|dollars?|euros?|pounds?|cents?|met(?:er|re)s?|kilomet(?:er|re)s?|miles?|feet|foot|inch(?:es)?"
    r"|kilograms?|grams?|kilos?|tons?|tonnes?|lit(?:er|re)s?|gallons?|degrees?|seconds?|minutes?|hours?|days?"
    r"|weeks?|months?|years?|million|billion|trillion|thousand|hundred|dozen"
)
_MONTHS = (
    r"(?:Jan(?:uary)?|Feb(?:ruary)?|Mar(?:ch)?|Apr(?:il)?|May|June?|July?|Aug(?:ust)?|Sept?(?:ember)?"
    r"|Oct(?:ober)?|Nov(?:ember)?|Dec(?:ember)?)\.?"
)
_VERBS = (
    r"(?:say|answer|reply|respond|write|output|print|return|type|state|choose|select|pick|label|classify|mark"
    r"|decide|judge|whether|either|between|one\s+of|options?|labels?|choices|categories|classes)"
)
_WORD = r"(?:(?:not|no)\s)?[^\W\d_][\w\-]*"

#: kind -> pattern; where two overlap they become one span with the earlier kind.
PATTERNS: dict[str, re.Pattern[str]] = {
    # Fenced code first: everything inside belongs to it. An unclosed fence runs to the end.
    "code": re.compile(r"```.*?(?:```|\Z)|~~~.*?(?:~~~|\Z)|`[^`\n]+`", re.S),
    # Dollar signs count as mathematics only hugging their content, so "$5 and $6" is money.
    "latex": re.compile(
        r"\$\$.+?\$\$|(?<![\\$\w])\$(?=[^\s$])[^$\n]{0,500}?(?<=[^\s\\])\$(?![\d$])|\\\(.{1,1000}?\\\)|\\\[.{1,2000}?\\\]"
        r"|\\begin\{(\w{1,40}\*?)\}.{1,4000}?\\end\{\1\}|\\[A-Za-z]+(?:\[[^\]\n]{0,200}\])?(?:\{[^{}\n]*\})*",
        re.S,
    ),
    # Before web addresses, whose host names it contains.
    "email": re.compile(r"[\w.+\-]{1,64}+@[\w\-]+(?:\.[\w\-]+)+", re.A),
    # A stop or a bracket after an address belongs to the sentence.
    "url": re.compile(
        rf"(?:\b[a-zA-Z][a-zA-Z0-9+.\-]{{0,30}}+://|\bwww\.)[^\s<>\"“”「」{_HAN}，。；！？]*[^\s<>\"“”「」{_HAN}，。；！？.,;:!?)\]']"
        r"|\b[A-Za-z0-9\-]{1,63}+(?:\.[A-Za-z0-9\-]{1,63}+){0,20}\.(?:com|org|net|edu|gov|io|cn|uk|de|eu)\b(?:/[\w./?=&%#\-]*[\w/])?",
        re.A,
    ),
    # A path begins at a root, at a drive or at a dot folder; a lone name needs a known ending.
    "path": re.compile(
        r"(?<![\w/.])(?:[A-Za-z]:\\|~/|\.{1,2}/|/(?=[A-Za-z.]))[\w.\-~/\\]*[\w/\\]"
        r"|\b[\w\-]{1,100}+\.(?:py|txt|csv|tsv|jsonl?|md|ya?ml|toml|xml|html?|pdf|docx?|xlsx?|png|jpe?g|gif|zip|gz|sh|js|ts|c|h"
        r"|cpp|java|rs|go|ini|cfg|log)\b",
        re.A,
    ),
    # What a template or the reader fills in.
    "placeholder": re.compile(
        r"\{\{[^{}\n]*\}\}|\$?\{[^{}\n]*\}|\[[A-Z][A-Z0-9_ \-]*\]|<\|[^|<>\n]+\|>|</?[A-Za-z][^<>\n]*>"
        r"|%\(\w+\)[sdrif]|%[sdrif]\b|_+(?![^\W_])|\[(?:MASK|BLANK|blank|mask|X|Y)\]"
    ),
    # Opening and closing marks must hug a phrase on one line; an apostrophe has a letter on its left.
    "quote": re.compile(
        r"\"[^\"\n]+\"|“[^“”\n]+”|「[^「」\n]+」|『[^『』\n]+』|《[^《》\n]+》|〈[^〈〉\n]+〉|«[^«»\n]+»|„[^„“\n]+“"
        r"|(?<!\w)‘[^‘’\n]+’(?!\w)|(?<!\w)'(?=\S)[^'\n]+(?<=\S)'(?!\w)"
    ),
    # Words that the answer must use: the alternatives after an instruction's verb.
    "label": re.compile(
        rf"(?<=\b)(?i:{_VERBS})(?:\s+(?i:with|as|by|from|using|either|only|just|it|them|exactly|the\s+\w+)){{0,9}}(?:\s*+[:：])?\s++"
        rf"(?P<keep>{_WORD}(?:\s*+[,/|]\s*+{_WORD})*(?:(?:\s*+,)?\s++(?:or|and)\s++|\s*+[,/|]\s*+){_WORD})"
        rf"|(?:回答|作答|答|输出|选择|填写|写出|写|说|判断|选)(?:出|为|是)?[:：]?\s*(?P<keep2>[{_HAN}]{{1,4}}(?:、[{_HAN}]{{1,4}})*"
        rf"(?:、|或者|还是|或)[{_HAN}]{{1,4}})(?![{_HAN}])"
        r"|\b(?i:yes\s*(?:or|/)\s*no|true\s*(?:or|/)\s*false|positive\s*(?:or|/)\s*negative)\b"
        # Letters of options named in the running text.
        r"|(?<![A-Za-z0-9_])\(?[A-Z]\)?(?:\s*[,、/]\s*\(?[A-Z]\)?)*(?:,?\s*(?:or|and|或者|或|和|还是)\s*|\s*[,、/]\s*)\(?[A-Z]\)?(?![A-Za-z0-9_])"
        # The one letter that an instruction names.
        rf"|\b(?i:answer|reply|respond|choose|option|choice|select)(?:\s+(?i:with|is))?\s+(?P<keep3>\(?[A-Z]\)?)(?![A-Za-z0-9_])"
    ),
    # Addresses and versions look like dates with too many or too large parts, so they come first.
    "ip": re.compile(
        r"\b\d{1,3}(?:\.\d{1,3}){3}(?:/\d{1,2})?(?::\d{1,5})?\b|\b(?:[0-9a-fA-F]{0,4}:){2,7}[0-9a-fA-F]{1,4}\b",
        re.A,
    ),
    "version": re.compile(r"\bv?\d+(?:\.\d+){2,}(?:-?[A-Za-z]+\.?\d*)?\b|\bv\d+(?:\.\d+)*\b", re.A),
    # Digits in groups, with a month's name, or with Chinese units.
    "date": re.compile(
        r"\b\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}(?:T[\d:.]+Z?)?\b"
        rf"|\b\d{{1,2}}(?:st|nd|rd|th)?\s+(?:of\s+)?{_MONTHS}(?:,?\s+\d{{2,4}})?\b"
        rf"|\b{_MONTHS}\s+\d{{1,4}}(?:st|nd|rd|th)?(?:,?\s+\d{{4}})?\b"
        r"|\d{1,4}\s*年(?:\s*\d{1,2}\s*月)?(?:\s*\d{1,2}\s*[日号])?|\d{1,2}\s*月(?:\s*\d{1,2}\s*[日号])?",
        re.A,
    ),
    # A clock with a colon, or Chinese hours.
    "time": re.compile(
        r"\b\d{1,2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:\s?[aApP](?:[mM]\b|\.[mM]\.))?"
        r"|(?:(?:凌晨|早上|上午|中午|下午|晚上)\s*)?\d{1,2}\s*[点时](?:\s*\d{1,2}\s*分|半)?",
        re.A,
    ),
    # A number with its sign, currency, thousands, decimals, exponent and the unit that follows.
    "number": re.compile(
        r"(?:(?<![\w.])[+\-−±])?[$€£¥￥]?\s?\d+(?:[.,:/×^\-–']\d+)*(?:[eE][+\-]?\d+)?"
        rf"(?:(?:st|nd|rd|th)\b|[\s-]?(?:{_UNITS})(?![A-Za-z])"
        r"|[ \u00a0]?(?:元|美元|欧元|米|公里|千米|厘米|克|千克|公斤|斤|吨"
        r"|升|度|岁|个|名|位|人|年|天|小时|分钟|秒|周|倍|次|万|亿|千|百|%|％))?"
    ),
    # Any other token with a digit in it: names such as H2O, GPT-4, A380.
    "token": re.compile(
        r"(?<![A-Za-z])(?<![A-Za-z]-)[A-Za-z]++(?:-[A-Za-z]++)*-?\d[A-Za-z0-9\-]*|(?<!\d)\d++[A-Za-z][A-Za-z0-9\-]*"
    ),
    # Chinese numerals; a single one is mostly part of a word, so two, or one that counts
    # (except that of "一个", mostly an article) or orders.
    "numeral": re.compile(
        r"第[零〇一二三四五六七八九十百千万亿两]+|百分之[零〇一二三四五六七八九十百千点两]+|[零〇一二三四五六七八九十百千万亿两]{2,}"
        r"|[二两三四五六七八九十百千万亿](?=[个名位只条张本块元米岁年月天])"
    ),
}

# A line that begins with an option's letter: "A. hen", "(B) cow", "C) ant", "A、鸡".
_OPTION_LINE = re.compile(r"^[ \t]*(?:\(([A-Z])\)|（([A-Z])）|([A-Z])[.)．、:：）])[ \t]*\S.*$", re.M)
# Options in the running text: the first letter, in brackets or before a mark, and the second.
_OPTION_A = re.compile(r"[(（]A(?P<closed>[)）])|(?<![A-Za-z0-9_])A[.)．、]\s*+\S")
_OPTION_B = {True: re.compile(r"[(（]B[)）]"), False: re.compile(r"(?<![A-Za-z0-9_])B[.)．、]")}

# A last line such as "Answer:" from which the model goes on.
_CUE = re.compile(r"(?:\A|\n)([^\n]{1,40}[:：])\s*\Z")


def find_spans(text: str, language: str = "en", extra: Iterable[str] = ()) -> tuple[Span, ...]:
    """Find the literal spans of a text.

    Parameters
    ----------
    text : str
        Any Unicode text.
    language : str
        ISO 639-1 code; the patterns of all languages are always tried, because texts mix them.
    extra : iterable of str
        Literal strings that the task names; every occurrence is kept, as kind ``"task"``.

    Returns
    -------
    tuple of Span
        Sorted, non-overlapping, ends on visible characters' borders.

    Examples
    --------
    >>> text = "Ping 10.0.0.7, at 3.5% on 2031-04-05."
    >>> [text[span.start : span.end] for span in find_spans(text)]
    ['10.0.0.7', '3.5%', '2031-04-05']
    >>> text = "Say positive or negative."
    >>> [text[span.start : span.end] for span in find_spans(text)]
    ['positive or negative']
    """
    del language
    found: list[tuple[int, int, int, str]] = []
    for rank, (kind, finder) in enumerate(_finders(extra)):
        for start, end in finder(text):
            while start < end and text[start].isspace():
                start += 1
            while end > start and text[end - 1].isspace():
                end -= 1
            if start < end:
                found.append((*widen(text, start, end), rank, kind))
    found.sort()
    merged: list[tuple[int, int, int, str]] = []
    for start, end, rank, kind in found:
        if merged and start < merged[-1][1]:
            first, last, best, name = merged[-1]
            if rank < best:
                best, name = rank, kind
            merged[-1] = (first, max(last, end), best, name)
        else:
            merged.append((start, end, rank, kind))
    return tuple(Span(start, end, kind) for start, end, _, kind in merged)


def keeps_order(passage: Passage, variant: str) -> bool:
    """Say whether every kept span stands in ``variant``, byte for byte and in order.

    Examples
    --------
    >>> keeps_order(Passage("3 and 4", keep=(Span(0, 1, "number"), Span(6, 7, "number"))), "4 and 3")
    False
    """
    at = 0
    for span in passage.keep:
        literal = passage.text[span.start : span.end]
        at = variant.find(literal, at)
        if at < 0:
            return False
        at += len(literal)
    return True


def _finders(extra: Iterable[str]) -> Iterator[tuple[str, Callable[[str], Iterator[tuple[int, int]]]]]:
    literals = sorted(
        {literal for literal in extra if literal.strip()}, key=lambda literal: (-len(literal), literal)
    )
    if literals:
        yield "task", lambda text: _positions(text, literals)
    yield "option", _options
    yield "cue", lambda text: (match.span(1) for match in _CUE.finditer(text))
    for kind, pattern in PATTERNS.items():
        yield kind, lambda text, pattern=pattern: _matches(text, pattern)  # type: ignore[misc]


def _matches(text: str, pattern: re.Pattern[str]) -> Iterator[tuple[int, int]]:
    for match in pattern.finditer(text):
        name = match.lastgroup
        yield match.span(name) if name else match.span()


def _positions(text: str, literals: list[str]) -> Iterator[tuple[int, int]]:
    for literal in literals:
        at = text.find(literal)
        while at >= 0:
            if not (_splits_word(text, at) or _splits_word(text, at + len(literal))):
                yield at, at + len(literal)
            at = text.find(literal, at + 1)


def _splits_word(text: str, at: int) -> bool:
    """Say whether ``at`` lies inside a run of letters of a script that writes words apart."""
    return 0 < at < len(text) and all(char.isalnum() and char < "\u0e00" for char in text[at - 1 : at + 1])


def _options(text: str) -> Iterator[tuple[int, int]]:
    lines = list(_OPTION_LINE.finditer(text))
    letters = ["".join(match.groups(default="")) for match in lines]
    for index, match in enumerate(lines):
        # One lone "A. Lincoln" is no option: a neighbour in the alphabet must stand beside it.
        follows = index > 0 and ord(letters[index]) - ord(letters[index - 1]) == 1
        leads = index + 1 < len(lines) and ord(letters[index + 1]) - ord(letters[index]) == 1
        if follows or leads:
            yield match.span()
    yield from _option_runs(text)


def _option_runs(text: str) -> Iterator[tuple[int, int]]:
    """Yield what stands from an option A to the end of its line, if an option B follows there."""
    seconds = {kind: [match.start() for match in _OPTION_B[kind].finditer(text)] for kind in (True, False)}
    lines = [at for at, char in enumerate(text) if char == "\n"] if any(seconds.values()) else []
    at = 0
    while any(seconds.values()) and (match := _OPTION_A.search(text, at)):
        at = match.start() + 1
        places = seconds[match["closed"] is not None]
        following = bisect.bisect_left(places, match.end())
        line = bisect.bisect_left(lines, match.end())
        end = lines[line] if line < len(lines) else len(text)
        if following < len(places) and places[following] < end:
            yield match.start(), end
            at = end
