"""Targets of the entry points that the coming lm-eval scans.

It looks a metric up by its name among the entry points and imports this module, whose
import registers everything: that is what such an entry point is for. Attributes are made
on demand: ``x_bleu`` is the metric of that name, ``sago_x_bleu`` its aggregation.
"""

from __future__ import annotations

from typing import Any

from lm_eval.api.registry import aggregation_registry, metric_registry

from sago_harness.hooks import plugin

plugin.load()


def __getattr__(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(name)
    # ``sago_core`` is a metric, ``sago_sago_core`` its aggregation: metrics first.
    for registry in (metric_registry, aggregation_registry):
        if name in registry:
            return registry.get(name)
    raise AttributeError(f"{__name__} has no metric or aggregation {name!r}")
