"""What the page may do: run and look as it was made, and nothing else.

Scripts and styles are named by their digests in a content security policy; no text that a model
wrote can become one, even if it got into the page as markup. Data stand in blocks that no browser runs.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import re
from collections.abc import Iterable
from typing import Any

from markupsafe import Markup

from sago_harness.jsonsafe import dumps

_ESCAPES = {char: f"\\u{ord(char):04x}" for char in "<>&\u2028\u2029"}
_ESCAPED = re.compile("[<>&\u2028\u2029]")
_ENDS = re.compile(r"<(?=/script|!--)", re.I)


def inline_script(code: str) -> Markup:
    r"""Return a program as it stands between ``<script>`` and ``</script>``.

    Examples
    --------
    >>> print(inline_script('x = "</script>";'))
    x = "\x3c/script>";
    """
    # As a browser reads it, since its digest is taken of that.
    code = code.replace("\r\n", "\n").replace("\r", "\n")
    return Markup(_ENDS.sub(lambda _: r"\x3c", code))


def inline_style(code: str) -> Markup:
    """Return a style sheet as it stands between ``<style>`` and ``</style>``.

    Raises
    ------
    ValueError
        If it would end the element.
    """
    code = code.replace("\r\n", "\n")
    if "</style" in code.lower():
        raise ValueError("a style sheet with an end tag in it")
    return Markup(code)


def embedded(value: Any) -> Markup:
    r"""Return strict JSON that cannot leave its ``<script type="application/json">``.

    Examples
    --------
    >>> print(embedded({"name": "</script>&"}))
    {"name":"\u003c/script\u003e\u0026"}
    """
    return Markup(_ESCAPED.sub(lambda found: _ESCAPES[found[0]], dumps(value)))


def packed(value: Any) -> str:
    """Return JSON, compressed, in letters that need no escape; the same for the same value.

    Examples
    --------
    >>> import base64, gzip
    >>> gzip.decompress(base64.b64decode(packed(["<a>"]))).decode()
    '["<a>"]'
    """
    data = gzip.compress(dumps(value).encode(), compresslevel=6, mtime=0)
    return base64.b64encode(data).decode("ascii")


def digest(code: str) -> str:
    """Return how a policy names a script or a style.

    Examples
    --------
    >>> digest("")
    "'sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU='"
    """
    made = base64.b64encode(hashlib.sha256(code.encode()).digest()).decode("ascii")
    return f"'sha256-{made}'"


def content_policy(scripts: Iterable[str], styles: Iterable[str]) -> str:
    """Return the policy of a page with these scripts and styles, and pictures that it makes itself.

    Examples
    --------
    >>> content_policy([], []).split(";")[0]
    "default-src 'none'"
    """
    allowed = [" ".join(map(digest, codes)) or "'none'" for codes in (scripts, styles)]
    return "; ".join(
        [
            "default-src 'none'",
            f"script-src {allowed[0]}",
            f"style-src {allowed[1]}",
            "img-src data: blob:",
            "base-uri 'none'",
            "form-action 'none'",
        ]
    )
