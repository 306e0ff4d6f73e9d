"""`sago-model.json`: what a model folder holds and where every byte came from.

It is written last, so a folder without it is not a model.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from .catalogue import Entry
from .wheel import inside, sha256_of

NAME = "sago-model.json"
_LAYOUT = 1


def _pinned(entry: Entry) -> dict[str, Any]:
    """Return the part of the manifest that must match the catalogue."""
    return {
        "layout": _LAYOUT,
        "name": entry.name,
        "packages": [
            {"name": package.name, "version": package.version, "sha256": package.sha256}
            for package in entry.packages
        ],
        "weights_sha256": entry.weights_sha256,
        "pre_tokenizer": entry.pre_tokenizer,
    }


def write(folder: Path, entry: Entry, versions: Mapping[str, str]) -> None:
    """Write the manifest of a finished folder.

    Parameters
    ----------
    folder : pathlib.Path
        The folder, complete but for the manifest.
    entry : Entry
        What it holds.
    versions : mapping of str to str
        Packages that converted the weights; empty where nothing was converted.
    """
    files = {
        path.relative_to(folder).as_posix(): {"bytes": path.stat().st_size, "sha256": sha256_of(path)}
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }
    record = {
        **_pinned(entry),
        "kind": entry.kind,
        "source": entry.source,
        "licence": entry.licence,
        "licence_files": list(entry.licence_files),
        "terms": entry.terms,
        "converted_with": dict(versions),
        "files": files,
    }
    text = json.dumps(record, indent=1, ensure_ascii=False) + "\n"
    (folder / NAME).write_text(text, encoding="utf-8")


def complete(folder: Path, entry: Entry) -> bool:
    """Tell whether ``folder`` holds the whole of ``entry``, as pinned in the catalogue.

    Names and sizes are compared, not hashes: this runs at every start.
    """
    try:
        record = json.loads((folder / NAME).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        # No manifest, or a broken one: by definition not a complete model.
        return False
    if not isinstance(record, dict) or any(record.get(key) != want for key, want in _pinned(entry).items()):
        return False
    files = record.get("files")
    if not isinstance(files, dict) or not files:
        return False
    for name, facts in files.items():
        path = inside(folder, name)
        size = facts.get("bytes") if isinstance(facts, dict) else None
        if not path.is_file() or path.stat().st_size != size:
            return False
    return True
