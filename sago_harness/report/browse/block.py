"""A block of data as it stands in a page: packed, and of no character that means anything there."""

from __future__ import annotations

import base64
import gzip
import json
from dataclasses import dataclass, field
from typing import Any

from sago_harness.jsonsafe import clean_text

#: Half as slow as the best there is, for two parts in a hundred more.
_LEVEL = 6


@dataclass(frozen=True, slots=True)
class DataBlock:
    """Data for one script of the page.

    Attributes
    ----------
    id : str
        Of the element that holds it, unique in the page.
    text : str
        Base64 of gzip of JSON in UTF-8.
    """

    id: str
    text: str = field(repr=False)


def packed(id: str, content: Any) -> DataBlock:
    r"""Return JSON types as a block, the same characters for the same content.

    Parameters
    ----------
    id : str
    content : object
        Of dict, list, str, finite numbers, bool and None; lone surrogates become U+FFFD.

    Examples
    --------
    >>> unpacked(packed("a", ["</script>", "\ud800", None, 0.5]))
    ['</script>', '�', None, 0.5]
    """
    text = clean_text(json.dumps(content, ensure_ascii=False, allow_nan=False, separators=(",", ":")))
    # Without the time of day, which would make each report another one.
    return DataBlock(id, base64.b64encode(gzip.compress(text.encode(), _LEVEL, mtime=0)).decode("ascii"))


def unpacked(block: DataBlock) -> Any:
    """Return what a block holds, as the page reads it."""
    return json.loads(gzip.decompress(base64.b64decode(block.text)))
