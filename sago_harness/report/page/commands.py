"""How the runs were made: each one's command, rebuilt from what it saved in its results file."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from sago_harness.report.changes import escape_line
from sago_harness.report.page.markup import line
from sago_harness.report.page.masks import HIDDEN, masked
from sago_harness.report.tables import Cell, Column, Table

if TYPE_CHECKING:
    from sago_harness.report.study import Study

#: Where the results of a repetition are to go: a run does not save where its own went.
OUTPUT = "runs"

#: What a task's metadata holds beside what ``--metadata`` said.
_OWN_METADATA = frozenset({"version", "config_source", "sago", "config"})

#: The host's device where none is named.
_DEVICE = "cuda:0"

#: Characters of one flag that are shown.
_LONGEST = 4000

_SEEDS = ("random_seed", "numpy_seed", "torch_seed", "fewshot_seed")

#: How a word in dollar quotes has some characters.
_CODES = {"\\": "\\\\", "'": "\\'", "\n": "\\n", "\t": "\\t", "\r": "\\r"}

_NAME = re.compile(r"[A-Za-z_][\w.-]*")

#: Texts that the host's ``key=value`` reads back as they are: no number, no list, no comma.
_TEXT = re.compile(r"(?:[A-Za-z/~]|\.{1,2}/)[\w./:@+~-]*")
_NO_TEXT = frozenset({"true", "false", "none", "nan", "inf", "infinity"})


@dataclass(frozen=True)
class Rebuilt:
    """The command of one run.

    Attributes
    ----------
    models, tasks : tuple of str
        What the report takes from this run.
    parts : tuple of str
        The command and its flags, quoted for a shell; empty where it is not known.
    file : str
        Results file, or where there is none the records.
    notes : tuple of str
        What is not known of it.
    """

    models: tuple[str, ...]
    tasks: tuple[str, ...]
    parts: tuple[str, ...]
    file: str
    notes: tuple[str, ...] = ()

    @property
    def html(self) -> Markup:
        """Return the command as a page shows it, a flag a line."""
        return Markup(" \\\n  ").join(line(part, _LONGEST) for part in self.parts)

    def __str__(self) -> str:
        return " ".join(self.parts)


def rebuilt_commands(study: Study) -> list[Rebuilt]:
    """Return the commands of a study's runs, one for each results file, in the order of the sources.

    Parameters
    ----------
    study : Study
        Its runs' results files are read; one that cannot be read is told in the notes.
    """
    of: dict[Path, list[tuple[str, str]]] = {}
    for key, run in study.runs.items():
        of.setdefault(run.results or run.path, []).append(key)
    results = {run.results for run in study.runs.values()}
    return [_rebuilt(path, keys, path in results) for path, keys in of.items()]


def commands_table(given: Sequence[Rebuilt]) -> Table:
    """Return the commands as a table."""
    columns = (
        Column("models", kind="text"),
        Column("tasks", "data sets", "text"),
        Column("command", kind="text"),
        Column("notes", kind="text"),
        Column("file", kind="text"),
    )
    rows: list[tuple[Cell, ...]] = [
        (", ".join(one.models), ", ".join(one.tasks), str(one), "; ".join(one.notes), one.file)
        for one in given
    ]
    return Table("commands", "Commands of the runs, rebuilt from what they saved", columns, tuple(rows))


def _rebuilt(path: Path, keys: Sequence[tuple[str, str]], results: bool) -> Rebuilt:
    tasks, models = (tuple(dict.fromkeys(of)) for of in zip(*keys, strict=True))
    parts: tuple[str, ...] = ()
    if not results:
        notes: tuple[str, ...] = ("there is no results file beside the records: its command is not known",)
    else:
        try:
            read = json.loads(path.read_text(encoding="utf-8"))
            parts, notes = command_of(_mapping(read))
        except (OSError, ValueError, RecursionError) as error:
            notes = (f"its results file cannot be read ({type(error).__name__}): its command is not known",)
    return Rebuilt(models, tasks, parts, str(path), notes)


def command_of(read: Mapping[str, Any]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    r"""Return the command that would make a run again, flag by flag, and what is not known of it.

    Parameters
    ----------
    read : mapping
        A results file of lm-eval. What it lacks, or holds in another shape, is left out.

    Returns
    -------
    parts : tuple of str
        Quoted for a shell; secrets are masked.
    notes : tuple of str

    Examples
    --------
    >>> config = {"model": "hf", "model_args": {"pretrained": "a b", "token": "x"}, "limit": 12.0}
    >>> print(*command_of({"config": config, "configs": {"facts": {}}})[0], sep="\n")
    sago run
    --model hf
    --model_args '{"pretrained": "a b", "token": "***"}'
    --tasks facts
    --limit 12
    --log_samples
    --output_path runs
    """
    config, configs = _mapping(read.get("config")), _mapping(read.get("configs"))
    notes: list[str] = []
    flags = list(_model(config))
    if configs:
        flags.append(("--tasks", ",".join(map(str, configs))))
    flags += _prompts(read, configs, notes)
    flags += _settings(config)
    metadata = _metadata(config, configs)
    if metadata:
        flags.append(("--metadata", json.dumps(masked(metadata), ensure_ascii=False)))
    if config.get("limit") is None and _fewer(_mapping(read.get("n-samples"))):
        notes.append("not all documents were asked: a list of samples (--samples) is not saved")
    words = [f"{flag} {_word(value)}" if value is not None else flag for flag, value in flags]
    return ("sago run", *words, "--log_samples", f"--output_path {OUTPUT}"), tuple(notes)


Flag = tuple[str, str | None]


def _model(config: Mapping[str, Any]) -> Iterator[Flag]:
    if config.get("model"):
        yield "--model", str(config["model"])
    if config.get("model_args"):
        yield "--model_args", _pairs(config["model_args"])


def _prompts(read: Mapping[str, Any], configs: Mapping[str, Any], notes: list[str]) -> Iterator[Flag]:
    """Yield what shapes the prompts: examples, template, instruction."""
    known = _mapping(read.get("n-shot"))
    shots = {known[task] for task in configs if isinstance(known.get(task), int)}
    if len(shots) == 1:
        yield "--num_fewshot", str(shots.pop())
    elif shots:
        notes.append("tasks have different numbers of examples (num_fewshot): the tasks' own, as it seems")
    template = read.get("chat_template") is not None or any(map(_templated, configs.values()))
    if template:
        yield "--apply_chat_template", None
        notes.append("whether a template was chosen by its name is not saved")
    turns = read.get("fewshot_as_multiturn")
    if isinstance(turns, bool) and template:
        yield "--fewshot_as_multiturn", str(turns).lower()
    if read.get("system_instruction"):
        yield "--system_instruction", str(masked(str(read["system_instruction"])))


def _settings(config: Mapping[str, Any]) -> Iterator[Flag]:
    if config.get("gen_kwargs"):
        yield "--gen_kwargs", _pairs(config["gen_kwargs"])
    if config.get("batch_size") is not None:
        yield "--batch_size", str(config["batch_size"])
    if config.get("device") not in (None, "", _DEVICE):
        yield "--device", str(config["device"])
    limit = config.get("limit")
    if isinstance(limit, int | float) and not isinstance(limit, bool):
        yield "--limit", f"{limit:.12g}"
    if all(name in config for name in _SEEDS):
        yield "--seed", ",".join(str(config[name]) for name in _SEEDS)


def _metadata(config: Mapping[str, Any], configs: Mapping[str, Any]) -> dict[str, Any]:
    """Return what ``--metadata`` said: what all tasks have alike, and neither they nor the model bring."""
    arguments = config.get("model_args")
    given = arguments if isinstance(arguments, Mapping) else dict(_split(str(arguments or "")))
    each = [_mapping(_mapping(one).get("metadata")) for one in configs.values()]
    if not each:
        return {}
    first, *others = each
    return {
        str(key): value
        for key, value in first.items()
        if key not in _OWN_METADATA
        and (key not in given or (isinstance(arguments, Mapping) and given[key] != value))
        and all(key in one and one[key] == value for one in others)
    }


def _templated(config: Any) -> bool:
    own = _mapping(_mapping(_mapping(config).get("metadata")).get("sago"))
    return _mapping(own.get("signature")).get("template") is True


def _fewer(samples: Mapping[str, Any]) -> bool:
    counts = [_mapping(one) for one in samples.values()]
    return any(one.get("effective") != one.get("original") for one in counts)


def _mapping(value: Any) -> Mapping[str, Any]:
    """Return a mapping, an empty one in the place of anything else: the file may hold what it likes."""
    return value if isinstance(value, Mapping) else {}


def _pairs(given: Any) -> str:
    """Return arguments as the host reads them: ``key=value``, or JSON where that would change one."""
    if not isinstance(given, Mapping):
        return ",".join(f"{key}={masked(value, key)}" for key, value in _split(str(given)))
    hidden = masked(given)
    if all(_NAME.fullmatch(key) and _plain(value) for key, value in hidden.items()):
        return ",".join(f"{key}={value}" for key, value in hidden.items())
    return json.dumps(hidden, ensure_ascii=False)


def _split(text: str) -> list[tuple[str, str]]:
    """Return the pairs of ``key=value,key=value``; what is no pair belongs to the one before it."""
    found: list[tuple[str, str]] = []
    for part in text.split(",") if text else ():
        key, equals, value = part.partition("=")
        if equals or not found:
            found.append((key, value))
        else:
            found[-1] = (found[-1][0], f"{found[-1][1]},{part}")
    return found


def _plain(value: Any) -> bool:
    if isinstance(value, str):
        return value == HIDDEN or (bool(_TEXT.fullmatch(value)) and value.lower() not in _NO_TEXT)
    return value is None or isinstance(value, bool | int | float)


def _word(text: str) -> str:
    r"""Return a text as one word of a shell, every character of which can be seen.

    Examples
    --------
    >>> print(_word("a b"), _word("it's"), _word("one\ntwo\u202e"))
    'a b' 'it'"'"'s' $'one\ntwo\u202e'
    """
    if escape_line(text) == text:
        return shlex.quote(text)
    # As bash and zsh have it; a surrogate that is alone is no character anywhere.
    return f"$'{''.join(map(_code, text))}'"


def _code(char: str) -> str:
    if char in _CODES:
        return _CODES[char]
    if escape_line(char) == char:
        return char
    return f"\\u{ord(char):04x}" if ord(char) < 0x10000 else f"\\U{ord(char):08x}"
