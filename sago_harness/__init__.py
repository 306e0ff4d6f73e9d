"""Sago harness: does a language model behave the same when people say the same thing differently?

The public names below are imported on first use; importing the package itself costs nothing.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sago_harness.data import Document, Variant, VariantSet
    from sago_harness.errors import SagoError
    from sago_harness.scores.table import read_parquet, read_samples, rescore, write_parquet
    from sago_harness.taskfiles import task_folder
    from sago_harness.variants.build import build
    from sago_harness.variants.recipe import load_recipe

__all__ = [
    "Document",
    "SagoError",
    "Variant",
    "VariantSet",
    "build",
    "load_recipe",
    "read_parquet",
    "read_samples",
    "rescore",
    "task_folder",
    "write_parquet",
]

_MODULES = {
    "Document": "data",
    "SagoError": "errors",
    "Variant": "data",
    "VariantSet": "data",
    "build": "variants.build",
    "load_recipe": "variants.recipe",
    "read_parquet": "scores.table",
    "read_samples": "scores.table",
    "rescore": "scores.table",
    "task_folder": "taskfiles",
    "write_parquet": "scores.table",
}


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_MODULES[name]}"), name)
