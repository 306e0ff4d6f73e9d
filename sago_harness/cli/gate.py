"""``sago gate``: may this be released? Holds a run against a policy, and against a baseline."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from sago_harness.errors import SagoError
from sago_harness.whole import what_is, write_all

if TYPE_CHECKING:
    from sago_harness.gate.result import GateResult
    from sago_harness.stats.table import ScoreTable

#: Exit status of an error that nobody foresaw: Python's own, 1, would say that the rules fail.
BROKEN = 70

_EPILOG = """\
examples:
  sago gate --init runs/new > policy.yaml                       a first policy, from a run
  sago gate runs/new --policy policy.yaml                       thresholds on the run alone
  sago gate runs/new --policy policy.yaml --baseline runs/old   and against another run
  sago gate runs/new --policy policy.yaml --json gate.json --junit gate.xml

exit status: 0 pass, 1 fail, 2 wrong input, 3 undecided, 70 an error of sago itself (docs/gate.md)
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the command's flags."""
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.epilog = _EPILOG
    parser.add_argument("run", metavar="RUN", help="run folder or file")
    parser.add_argument("--policy", type=Path, metavar="FILE", help="YAML; with --init, the file to write")
    parser.add_argument("--baseline", metavar="RUN", help="run that rules with a margin compare with")
    parser.add_argument("--init", action="store_true", help="write a commented policy from the run")
    parser.add_argument("--model", default="", help="model, where RUN holds several")
    parser.add_argument("--baseline-model", default="", metavar="MODEL", help="the same of the baseline")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write everything, unrounded")
    parser.add_argument("--junit", type=Path, metavar="FILE", help="write JUnit XML")
    parser.add_argument(
        "--github",
        action="store_true",
        help="annotations for GitHub Actions (on by itself there)",
    )


def run(args: argparse.Namespace) -> int:
    """Check the run, print the table, write the files.

    Returns
    -------
    int
        0 pass, 1 fail, 3 undecided; 70 for an error of the program itself, after its traceback.

    Raises
    ------
    SagoError
        For a policy, a run or a baseline that cannot be used.
    """
    github = args.github or os.environ.get("GITHUB_ACTIONS") == "true"
    try:
        try:
            return _init(args) if args.init else _gate(args, github=github)
        except OSError as error:
            if error.filename is None:
                raise
            raise SagoError(f"{error.filename} cannot be used: {error.strerror or error}") from error
    except SagoError as error:
        if github:
            from sago_harness.gate.github import command

            print(command("error", str(error), title="sago gate: wrong input"))
        raise
    except BrokenPipeError:
        raise
    except Exception as error:
        _traceback(error)
        return BROKEN


def _traceback(error: Exception) -> None:
    import traceback

    from sago_harness.report.changes import escape_line

    for line in "".join(traceback.format_exception(error)).splitlines():
        # A message of several lines could hold a command to GitHub Actions, which may be indented.
        mark = "| " if line.lstrip().startswith("::") or "##[" in line else ""
        print(mark + escape_line(line).replace("##[", "## ["), file=sys.stderr)


def _init(args: argparse.Namespace) -> int:
    from sago_harness.gate.init import write_policy

    for flag in ("json", "junit"):
        if getattr(args, flag):
            raise SagoError(f"--{flag} holds a verdict, and --init gives none: leave one of them out")
    _check_baseline_model(args)
    if args.policy and what_is(args.policy) in ("file", "folder"):
        raise SagoError(f"{args.policy} is there already: remove it, or write another file (--policy FILE)")
    if args.policy:
        _check_place("--policy", args.policy)
    table, _ = _table(args.run, args.model, "the run", "--model")
    before = None
    if args.baseline:
        before, _ = _table(args.baseline, args.baseline_model, "the baseline", "--baseline-model")
    text = write_policy(table, before, file=str(args.policy or "policy.yaml"))
    if not args.policy:
        print(text, end="")
        return 0
    write_all([(args.policy, text)])
    print(f"a policy is in {args.policy}: set its thresholds to what a release must be")
    return 0


def _gate(args: argparse.Namespace, *, github: bool) -> int:
    from sago_harness.gate.check import check
    from sago_harness.gate.policy import read_policy

    if not args.policy:
        raise SagoError("--policy FILE is missing: `sago gate --init RUN` writes one to begin with")
    _check_baseline_model(args)
    written = {f"--{flag}": getattr(args, flag) for flag in ("json", "junit") if getattr(args, flag)}
    for flag, path in written.items():
        _check_place(flag, path)
    if args.json and args.junit and _same(args.json, args.junit) and what_is(args.json) != "other":
        raise SagoError(f"--json and --junit both name {args.json}: one would replace the other")
    if named := os.environ.get("GITHUB_STEP_SUMMARY"):
        written["GITHUB_STEP_SUMMARY"] = Path(named)
    policy = read_policy(args.policy)
    table, read = _table(args.run, args.model, "the run", "--model")
    before = None
    if args.baseline:
        before, more = _table(args.baseline, args.baseline_model, "the baseline", "--baseline-model")
        read = [*read, *more]
    for flag, path in written.items():
        for one in (args.policy, *read):
            if _same(path, one) and what_is(path) != "other":
                raise SagoError(f"{flag} {path} is read by this call ({one}): name another file")
    result = check(policy, table, before)
    _write(args, result)
    _show(result, github=github)
    return result.exit_status


def _check_baseline_model(args: argparse.Namespace) -> None:
    if args.baseline_model and not args.baseline:
        raise SagoError(
            "--baseline-model names a model of a baseline, and there is none: give --baseline RUN"
        )


def _check_place(flag: str, path: Path) -> None:
    if what_is(path) == "folder" or what_is(path.parent) != "folder":
        raise SagoError(f"{flag} {path} cannot be written: name a file in a folder that is there")


def _same(some: Path, other: Path) -> bool:
    """Say whether two paths are one file, by whatever link."""
    if what_is(some) and what_is(other):
        return some.samefile(other)
    return os.path.realpath(some) == os.path.realpath(other)


def _table(word: str, model: str, what: str, flag: str) -> tuple[ScoreTable, Sequence[Path]]:
    """Read one run, of several models the one that is named; return its files, too."""
    from sago_harness.errors import unknown
    from sago_harness.runs.find import find_runs
    from sago_harness.runs.read import read_table

    runs = find_runs([word])
    known = sorted({one.model for one in runs})
    if model and model not in known:
        raise unknown("model", model, known, f"{what} ({flag})")
    if not model and len(known) > 1:
        named = ", ".join(known[:5]) + (", ..." if len(known) > 5 else "")
        raise SagoError(f"{what} holds {len(known)} models ({named}): choose one with {flag}")
    files = [path for one in runs for path in (one.path, one.results) if path]
    return read_table(runs, models=[model or known[0]]), files


def _write(args: argparse.Namespace, result: GateResult) -> None:
    """Write all files, or none."""
    from sago_harness.gate.github import append_summary
    from sago_harness.gate.junit import as_junit
    from sago_harness.jsonsafe import dumps

    texts = []
    if args.json:
        texts.append((args.json, dumps(result.about()) + "\n"))
    if args.junit:
        texts.append((args.junit, as_junit(result)))
    named = os.environ.get("GITHUB_STEP_SUMMARY")
    write_all(texts, (lambda: append_summary(result, Path(named))) if named else lambda: None)


def _show(result: GateResult, *, github: bool) -> None:
    from sago_harness.gate.github import annotate, without_commands

    text = f"{result}\n{result.signature}"
    lines = [without_commands(text), *annotate(result)] if github else [text]
    try:
        print("\n".join(lines), flush=True)
    except BrokenPipeError:
        # A reader who has seen enough (`| head`) does not change the verdict.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
