"""``sago layers``: in which layers do variants move the representation?"""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from sago_harness.cli.variants import table
from sago_harness.errors import SagoError
from sago_harness.jsonsafe import dumps, json_safe
from sago_harness.report.changes import escape_line
from sago_harness.report.files import UNFINISHED
from sago_harness.report.layer_plot import ENDINGS, draw_layers
from sago_harness.runs.layers import FILE, LayersOfRun, layers_of_records, layers_of_results
from sago_harness.scores.profile import LayerProfile


@dataclass(frozen=True, slots=True)
class Told:
    """The profile of one task of one run; ``family`` is empty for the score's own families."""

    model: str
    task: str
    family: str
    profile: LayerProfile
    cka: Mapping[int, Mapping[str, Any]]

    @property
    def title(self) -> str:
        """Heading."""
        return f"{self.model} on {self.task}" + (f", {self.family}" if self.family else "")


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the command's flags.

    Examples
    --------
    >>> parser = argparse.ArgumentParser()
    >>> configure(parser)
    >>> parser.parse_args(["runs", "--json"]).json
    True
    """
    parser.add_argument(
        "run",
        nargs="+",
        type=Path,
        metavar="RUN",
        help="folder that --output_path named, a results file, or records (samples_*.jsonl, *.parquet)",
    )
    parser.add_argument("--task", metavar="NAME", help="this task alone")
    parser.add_argument("--json", action="store_true", help="print JSON in place of tables")
    parser.add_argument(
        "--plot", type=Path, metavar="FILE", help="draw them too: svg, png or pdf (needs matplotlib)"
    )


def run(args: argparse.Namespace) -> int:
    """Print the layer profile of the newest results of each model and task.

    Raises
    ------
    SagoError
        If a path holds no such profile, or the figure cannot be drawn.
    """
    if args.plot and args.plot.suffix.lower() not in ENDINGS:
        raise SagoError(f"--plot {args.plot}: the name must end in {', '.join(ENDINGS)}")
    told = [one for path in args.run for one in _profiles(path) if args.task in (None, one.task)]
    if not told:
        raise SagoError(f"no results of a task {args.task!r} there")
    if args.json:
        print(dumps([_plain(one) for one in told]))
    else:
        print("\n\n".join(_text(one) for one in told))
    if args.plot:
        drawn = [(one.task, one.title, one.profile) for one in told if one.profile.layers]
        if not drawn:
            raise SagoError("--plot: none of these has a layer that is scored")
        draw_layers(drawn, args.plot)
    return 0


def _profiles(path: Path) -> list[Told]:
    """Return the profiles of a folder or a file; never none."""
    if path.is_dir():
        found = list(_folder(path))
    elif path.is_file():
        found = list(_of_file(path))
    else:
        raise SagoError(f"there is no file or folder {path}")
    if not found:
        raise SagoError(
            f"{path} holds no results of sago tasks (run with --output_path, and not --predict_only)"
        )
    return found


def _folder(folder: Path) -> Iterator[Told]:
    """Yield the newest of each model and task; records where results hold no profile."""
    newest: dict[tuple[Path, str], list[Told]] = {}
    # The time in the name sorts as text.
    for path in sorted(_finished(folder, "results_*.json"), key=lambda path: path.name):
        found: dict[tuple[Path, str], list[Told]] = {}
        for one in _of_file(path):
            found.setdefault((path.parent, one.task), []).append(one)
        newest |= found
    for path in sorted(_finished(folder, "samples_*.jsonl"), key=lambda path: path.name, reverse=True):
        match = FILE.search(path.name)
        if match and (path.parent, match["task"]) not in newest:
            newest[path.parent, match["task"]] = list(_of_file(path))
    for told in newest.values():
        yield from told


def _of_file(path: Path) -> Iterator[Told]:
    read: Iterable[LayersOfRun] = (
        layers_of_results(path) if path.suffix == ".json" else layers_of_records(path)
    )
    return (Told(path.parent.name, one.task, one.family, one.profile, one.cka) for one in read)


def _finished(folder: Path, pattern: str) -> Iterator[Path]:
    return (
        path for path in folder.rglob(pattern) if not any(part.startswith(UNFINISHED) for part in path.parts)
    )


def _plain(one: Told) -> dict[str, Any]:
    layers = [
        {**asdict(level), "x_cka": dict(one.cka[level.layer]) if level.layer in one.cka else None}
        for level in one.profile.layers
    ]
    made: dict[str, Any] = json_safe(
        {
            "model": one.model,
            "task": one.task,
            "family": one.family,
            "layers": layers,
            "unscored": one.profile.unscored,
        }
    )
    return made


def _text(one: Told) -> str:
    """Return the table of one task."""
    levels = one.profile.layers
    count = max((level.n for level in levels), default=0)
    lines = [escape_line(f"{one.title}: {count} documents")]
    if one.profile.unscored:
        reasons = ", ".join(f"{reason} {number}" for reason, number in one.profile.unscored.items())
        lines.append(escape_line(f"  unscored documents: {reasons}"))
    if not levels:
        return "\n".join(lines)
    repeats = any(level.noise == level.noise for level in levels)
    rows = [["layer", "r", "variants", "controls", *(["repeats"] if repeats else []), "x_cka"]]
    for level in levels:
        cka = one.cka.get(level.layer) or {"value": None, "stderr": None, "reason": ""}
        noise = [_number(level.noise)] if repeats else []
        rows.append(
            [
                str(level.layer),
                _with_error(level.r, level.stderr, level.reason),
                _number(level.variants),
                _number(level.controls),
                *noise,
                _with_error(cka["value"], cka["stderr"], cka["reason"]),
            ]
        )
    drawn = table(rows, range(len(rows[0])))
    return "\n".join([*lines, *(f"  {line}" for line in drawn.splitlines())])


def _number(value: float | None) -> str:
    return "-" if value is None or value != value else f"{value:.4f}"


def _with_error(value: float | None, stderr: float | None, reason: str) -> str:
    if value is None or value != value:
        return reason or "-"
    return _number(value) + (f" ± {stderr:.4f}" if stderr is not None and stderr == stderr else "")
