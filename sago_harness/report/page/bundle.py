"""The plotting library, as one program that needs nothing from outside the page."""

from __future__ import annotations

from functools import cache

from sago_harness.figures.theme import VEGA_LITE

#: The one name by which the page's own program finds it; it takes the name away.
_SNIPPET = "window.vegaEmbed = vegaEmbed;"


@cache
def plotting_library() -> str:
    """Return Vega, Vega-Lite and vega-embed with the interpreter of expressions, 0.9 MB.

    It takes a second or two, and is made again by every process: nothing is kept on the disk.
    """
    import vl_convert

    code = vl_convert.javascript_bundle(_SNIPPET, VEGA_LITE)
    # The names inside are the library's own; as a plain script they would be the page's.
    return f'(() => {{"use strict";\n{code}\n}})();'


def plotting_versions() -> str:
    """Return the versions of what draws, in one line."""
    import vl_convert

    return f"Vega {vl_convert.get_vega_version()}, Vega-Lite {VEGA_LITE}"
