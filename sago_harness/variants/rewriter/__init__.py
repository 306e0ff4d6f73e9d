"""Variants written by a language model: its writers, prompts, cache and the settings of a process.

Importing this loads no model library.
"""

from __future__ import annotations

from sago_harness.variants.rewriter.session import describe, use_rewriter
from sago_harness.variants.rewriter.settings import (
    RewriterSettings,
    add_rewriter_arguments,
    settings_from,
)
from sago_harness.variants.rewriter.writer import WRITERS, NoText, Writer, make_writer

__all__ = [
    "WRITERS",
    "NoText",
    "RewriterSettings",
    "Writer",
    "add_rewriter_arguments",
    "describe",
    "make_writer",
    "settings_from",
    "use_rewriter",
]
