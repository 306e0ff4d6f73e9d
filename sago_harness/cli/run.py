"""``sago run``: lm-eval's command line, with the plugin loaded and the task folder added.

Nothing of the host is written again. Around its call this adds what a user of the tasks
needs: names of packaged models, one-line errors, wildcards that leave out data sets that
are not at hand, result files that are whole or not there, and the records as Parquet.
"""

from __future__ import annotations

import argparse
import atexit
import contextlib
import difflib
import fnmatch
import os
import shutil
import signal
import sys
import tempfile
import traceback
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from sago_harness.backends.ranks import leave, lost, place
from sago_harness.errors import SagoError, unknown
from sago_harness.taskfiles import TaskFile, task_files, task_folder


def run(words: Sequence[str]) -> int:
    """Run lm-eval.

    Parameters
    ----------
    words : sequence of str
        lm-eval's flags.

    Returns
    -------
    int
        Exit status.

    Raises
    ------
    SagoError
        For an unknown task or model, data that is not at hand, a model that cannot be
        loaded, results that could not be written.
    """
    # Before torch is imported: progress bars and tables belong to this process alone.
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    ours = place()
    if ours.first:
        return _run(words)
    # Tables are the first process's; an error is that of the process that met it.
    try:
        with Path(os.devnull).open("w") as nowhere, contextlib.redirect_stdout(nowhere):
            return _run(words)
    except SagoError as error:
        raise SagoError(f"{ours}: {error}") from error


def _run(words: Sequence[str]) -> int:
    args = _parse(words)
    _read_config(args)
    if getattr(args, "limit", None) is not None and args.limit <= 0:
        raise SagoError(f"--limit {args.limit:g}: it is a number of documents above 0, or a share under 1")
    _check_metadata(args)
    files = task_files()
    if getattr(args, "tasks", None):
        args.tasks = _resolve_tasks(args, files)
    from lm_eval.utils import setup_logging

    from sago_harness.hooks import plugin

    setup_logging()
    plugin.load()
    _check_model(args)
    ours = str(task_folder())
    theirs = getattr(args, "include_path", None)
    args.include_path = [ours, theirs] if theirs else ours
    if getattr(args, "output_path", None):
        args.log_samples = True
        _run_with_files(args, Path(args.output_path))
    else:
        _execute(args)
    # At the end of the process: another run may follow in it.
    atexit.register(leave)
    return 0


def _parse(words: Sequence[str]) -> argparse.Namespace:
    """Let the host read its own flags."""
    from lm_eval._cli.harness import HarnessCLI

    before = sys.argv
    sys.argv = ["sago", "run", *words]
    try:
        parser = HarnessCLI()
        args: argparse.Namespace = parser.parse_args()
        return args
    finally:
        sys.argv = before


def _check_metadata(args: argparse.Namespace) -> None:
    """Stop at a near miss of an option: a run with the default instead is not what was wanted."""
    from sago_harness.hooks.spec import OPTIONS

    for key in getattr(args, "metadata", None) or {}:
        if key in OPTIONS:
            continue
        # A short word has a low ratio for one wrong letter.
        if difflib.get_close_matches(key, OPTIONS, n=1, cutoff=0.7):
            raise unknown("option", key, OPTIONS, "--metadata")
        _say(f"--metadata {key}: no option of sago tasks, left to the host's tasks")


def _say(line: str) -> None:
    """Tell a line on the first process: the others would tell it again."""
    if place().first:
        print(f"sago: {line}", file=sys.stderr)


def _read_config(args: argparse.Namespace) -> None:
    """Take from ``--config`` what is looked at before the host reads it; flags win over the file."""
    if not getattr(args, "config", None):
        return
    from lm_eval.config.evaluate_config import EvaluatorConfig

    try:
        content = EvaluatorConfig.load_yaml_config(args.config)
    except (FileNotFoundError, ValueError, TypeError) as error:
        raise SagoError(f"--config: {error}") from error
    for key in ("tasks", "model", "model_args", "metadata", "include_path", "output_path"):
        if key in content and not getattr(args, key, None):
            value = content[key]
            setattr(args, key, value.split(",") if key == "tasks" and isinstance(value, str) else value)


# ---------------------------------------------------------------------- tasks


def _resolve_tasks(args: argparse.Namespace, files: dict[str, TaskFile]) -> list[str]:
    """Expand wildcards over our tasks, leaving out those without data; named ones must have it."""
    names: list[str] = []
    for entry in args.tasks:
        for pattern in str(entry).split(","):
            if not any(mark in pattern for mark in "*?["):
                names.append(pattern)
                continue
            matches = sorted(fnmatch.filter(files, pattern))
            if not matches:
                names.append(pattern)  # the host's own tasks, perhaps
                continue
            names += _at_hand(matches, files, args)
    return list(dict.fromkeys(names))


def _at_hand(matches: list[str], files: dict[str, TaskFile], args: argparse.Namespace) -> list[str]:
    """Return the matches whose data is there, one line for each that is left out."""
    grouped = {member for name in matches for member in files[name].group}
    kept = []
    for name in matches:
        members = files[name].group or (name,)
        lacking = [(m, why) for m in members if (why := _lacks_data(files[m], args))]
        if not lacking:
            # A member comes with its group, unless the group is left out.
            kept.append(name)
        elif name not in grouped or files[name].group:
            for member, why in lacking:
                _say(f"left out {name}: {why if member == name else f'{member}: {why}'}")
    inside = {member for name in kept for member in files[name].group}
    kept = [name for name in kept if name not in inside]
    if not kept:
        raise SagoError(f"none of {', '.join(matches)} has its data at hand (see the lines above)")
    return kept


def _lacks_data(file: TaskFile, args: argparse.Namespace) -> str:
    """Say why a task's data is not at hand, "" if it is."""
    from sago_harness.hooks.dataset import Source
    from sago_harness.hooks.spec import read_spec

    config = {k: v for k, v in file.config.items() if k != "class"}
    config["metadata"] = {
        **(config.get("metadata") or {}),
        **(args.metadata if isinstance(args.metadata, dict) else {}),
        "config_source": str(file.path),
    }
    try:
        spec = read_spec(config)
        Source.of(spec, config).rows()
    except SagoError as error:
        return str(error)
    return ""


# ---------------------------------------------------------------------- model


def _check_model(args: argparse.Namespace) -> None:
    """Take ``sago-hf`` by default, and turn names of packaged models into folders."""
    from lm_eval.api.registry import model_registry

    from sago_harness.backends.sago_hf import locate

    if not getattr(args, "model", None) and not getattr(args, "config", None):
        args.model = "sago-hf"
    model = getattr(args, "model", None)
    if model and model not in model_registry:
        raise unknown(
            "model",
            model,
            model_registry,
            "--model (try: sago run --model sago-hf --model_args pretrained=smollm2 ...)",
        )
    model_args = getattr(args, "model_args", None) or {}
    if isinstance(model_args, dict) and "pretrained" in model_args:
        located = locate(model_args["pretrained"])
        if model != "sago-hf":
            # The host's own wrapper knows no packaged names.
            model_args["pretrained"] = located


def _execute(args: argparse.Namespace) -> None:
    """Call the host, and say its ordinary failures in one line."""
    from sago_harness.backends.sago_hf import load_error

    try:
        args.func(args)
    except SagoError:
        raise
    except OSError as error:
        model_args = getattr(args, "model_args", None)
        pretrained = model_args.get("pretrained") if isinstance(model_args, dict) else None
        if pretrained and _while_loading(error):
            raise load_error(str(pretrained), error) from error
        if error.strerror:
            place = f" ({error.filename})" if error.filename else ""
            raise SagoError(f"the run stopped: {error.strerror}{place}") from error
        raise
    except ValueError as error:
        message = str(error)
        if message.startswith("Tasks not found: "):
            raise _unknown_task(message.removeprefix("Tasks not found: ")) from error
        if message.startswith("No tasks specified"):
            raise SagoError(
                "no task was named: --tasks sago_demo, for example (`sago tasks` lists them)"
            ) from error
        if message.startswith(("Specify --output_path", "When `fewshot_as_multiturn`", "If --samples")):
            raise SagoError(message) from error
        raise
    except RuntimeError as error:
        if lost(error):
            reason = " ".join(str(error).split())[:200]
            raise SagoError(
                f"stopped, because another process did and says why, or cannot be reached ({reason})"
            ) from error
        raise


def _while_loading(error: BaseException) -> bool:
    """Say whether an error came up while the host's model class looked for the model's files."""
    steps = {"_get_config", "_create_tokenizer", "_create_model"}
    return any(frame.name in steps for frame in traceback.extract_tb(error.__traceback__))


def _unknown_task(names: str) -> SagoError:
    from lm_eval.tasks import TaskManager

    known = TaskManager(include_path=str(task_folder())).all_tasks
    error = unknown("task", names, known)
    # The host knows thousands of tasks: the nearest names are enough.
    return SagoError(str(error).split(" Known: ")[0].rstrip() + " (`sago tasks` lists this project's)")


# ---------------------------------------------------------------------- files


def _run_with_files(args: argparse.Namespace, out: Path) -> None:
    """Let the host write into a folder of its own, and put whole files in place at the end."""
    from sago_harness.report.files import publish, sweep, unfinished

    single = out.suffix == ".json"
    if not place().first:
        # The host writes once a machine where all processes work on the same documents.
        with _stoppable(), tempfile.TemporaryDirectory(prefix="sago-") as nowhere:
            args.output_path = str(Path(nowhere) / out.name) if single else nowhere
            _execute(args)
        return
    target = out.parent if single else out
    staging = unfinished(target)
    try:
        target.mkdir(parents=True, exist_ok=True)
        sweep(target)
        shutil.rmtree(staging, ignore_errors=True)
        staging.mkdir()
    except OSError as error:
        raise SagoError(
            f"--output_path {out}: {target} cannot be written to ({error.strerror}): name another folder"
        ) from error
    args.output_path = str(staging / out.name) if single else str(staging)
    with _stoppable():
        try:
            _execute(args)
            for path in publish(staging, target):
                print(f"wrote {path}", file=sys.stderr)
        finally:
            shutil.rmtree(staging, ignore_errors=True)


@contextlib.contextmanager
def _stoppable() -> Iterator[None]:
    """Take a request to stop as Ctrl-C, so that the unfinished folder goes."""
    before = signal.signal(signal.SIGTERM, _stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _stop(_signal: int, _frame: Any) -> None:
    raise KeyboardInterrupt
