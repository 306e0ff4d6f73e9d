"""The folder of task configurations, and what is in it, read without the host."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any


@dataclass(frozen=True, slots=True)
class TaskFile:
    """One YAML of the folder.

    Attributes
    ----------
    name : str
    path : Path
    group : tuple of str
        Members, for a group; empty for a task.
    config : dict
        The YAML with its includes, functions unresolved.
    """

    name: str
    path: Path
    group: tuple[str, ...]
    config: dict[str, Any]


def task_folder() -> Path:
    """Return the folder for ``lm_eval --include_path``."""
    return Path(str(files("sago_harness.task_configs"))).resolve()


def task_files(folder: Path | None = None) -> dict[str, TaskFile]:
    """Return every task and group of the folder by name.

    Parameters
    ----------
    folder : Path, optional
        :func:`task_folder` by default.

    Examples
    --------
    >>> "sago_demo_facts" in task_files()
    True
    """
    found = {}
    for path in sorted((folder or task_folder()).glob("**/*.yaml")):
        config = _read(path)
        name = config.get("task") if isinstance(config.get("task"), str) else config.get("group")
        if not isinstance(name, str):
            continue
        members = config["task"] if isinstance(config.get("task"), list) else []
        found[name] = TaskFile(name, path, tuple(str(m) for m in members), config)
    return found


def _read(path: Path) -> dict[str, Any]:
    import yaml

    class Loader(yaml.SafeLoader):
        """Reads the host's ``!function`` tag as plain text."""

    Loader.add_constructor("!function", lambda _loader, node: str(node.value))
    config: dict[str, Any] = yaml.load(path.read_text(encoding="utf-8"), Loader=Loader) or {}
    include = config.pop("include", None)
    if include:
        return {**_read((path.parent / include).resolve()), **config}
    return config
