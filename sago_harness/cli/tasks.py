"""``sago tasks``: what can be run, and where the YAML files are."""

from __future__ import annotations

import argparse

from sago_harness.taskfiles import task_files, task_folder


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the command's flags."""
    parser.add_argument(
        "--path",
        action="store_true",
        help='print the folder only, for lm_eval --include_path "$(sago tasks --path)"',
    )


def run(args: argparse.Namespace) -> int:
    """Print the folder, or a table of tasks and groups."""
    if args.path:
        print(task_folder())
        return 0
    rows = [("task", "data", "varied", "language", "documents")]
    groups = []
    for name, file in task_files().items():
        if file.group:
            groups.append(f"{name}: {', '.join(file.group)}")
            continue
        config = file.config
        local = config.get("local") or {}
        data = config.get("dataset_path") or (
            "shipped" if config.get("shipped") else "local copy" if local.get("people") else "your file"
        )
        vary = config.get("vary")
        count = str(config.get("documents", "all"))
        rows.append((name, str(data), str(vary), str(config.get("language", "en")), count))
    widths = [max(len(row[k]) for row in rows) for k in range(len(rows[0]))]
    for row in rows:
        print("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())
    print("\ngroups")
    for line in groups:
        print(f"  {line}")
    print("\na local copy of a data set: a folder of its name under $SAGO_DATA_DIR (see the task's README)")
    return 0
