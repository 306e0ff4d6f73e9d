"""What `sago variants` needs of a task: its documents and recipe, read without the host."""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sago_harness.errors import SagoError, unknown
from sago_harness.hooks.dataset import Source
from sago_harness.hooks.documents import TaskDocuments
from sago_harness.hooks.spec import TaskSpec, read_spec
from sago_harness.taskfiles import TaskFile, task_files
from sago_harness.variants.recipe import Recipe, load_recipe


@dataclass(frozen=True, slots=True)
class OpenTask:
    """A task with the recipe that is asked for.

    Attributes
    ----------
    spec : TaskSpec
    version : str
    recipe : Recipe
    documents : TaskDocuments
    """

    spec: TaskSpec
    version: str
    recipe: Recipe
    documents: TaskDocuments


def add_task_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the flags that say which documents and which variants."""
    parser.add_argument("--recipe", metavar="R", help="name or YAML file (default: the task's)")
    parser.add_argument("--seed", type=int, default=42, metavar="S", help="seed of all choices (42)")
    parser.add_argument(
        "--negatives", action="store_true", help="add edits that change the meaning, as family control"
    )
    parser.add_argument("--data-dir", metavar="FOLDER", help="folder of local copies (or SAGO_DATA_DIR)")
    parser.add_argument("--file", metavar="FILE", help="your rows, for the task local_sago (or SAGO_FILE)")


def open_task(
    name: str, args: argparse.Namespace, documents: Any = "all", limit: int | None = None
) -> OpenTask:
    """Read a task, its documents and the recipe.

    Parameters
    ----------
    name : str
        A task of ``sago tasks``, or a task's YAML file.
    args : argparse.Namespace
        With the flags of :func:`add_task_arguments`.
    documents : int or "all"
        Drawn by their names, as a run draws them.
    limit : int or None
        The first ones of those.

    Raises
    ------
    SagoError
        For an unknown task or recipe, data that is not at hand, a language without variants.
    """
    file = find_task(name)
    # A pack that a run would read is no source for another.
    config = {key: value for key, value in file.config.items() if key not in ("class", "pack")}
    options = {
        "recipe": args.recipe,
        "variant_seed": args.seed,
        "documents": documents,
        "data_dir": args.data_dir,
        "file": args.file,
    }
    metadata = config.get("metadata") or {}
    config["metadata"] = {
        **metadata,
        **{key: value for key, value in options.items() if value is not None},
        "config_source": str(file.path),
    }
    spec = read_spec(config)
    recipe = load_recipe(spec.recipe)
    if args.negatives:
        recipe = recipe.with_negatives()
    recipe.for_language(spec.language)
    source = Source.of(spec, config)
    # "Yaml" is the host's word for a task that states no version.
    version = str(metadata.get("version", "Yaml"))
    return OpenTask(spec, version, recipe, TaskDocuments.of(source, recipe.varies, limit))


def find_task(name: str) -> TaskFile:
    """Return a task's YAML.

    Raises
    ------
    SagoError
        If there is no such task, or it is a group.

    Examples
    --------
    >>> find_task("sago_demo_facts").path.name
    'sago_demo_facts.yaml'
    """
    path = Path(name).expanduser()
    if path.suffix in (".yaml", ".yml"):
        if not path.is_file():
            raise SagoError(f"there is no task file {name}")
        known = {file.name: file for file in task_files(path.parent).values() if file.path == path}
        if not known:
            raise SagoError(f"{name} is no task: it has no `task:`")
        file = next(iter(known.values()))
    else:
        known = task_files()
        if name not in known:
            raise unknown("task", name, known)
        file = known[name]
    if file.group:
        raise SagoError(f"{name} is a group: name one of its tasks, {', '.join(file.group)}")
    return file
