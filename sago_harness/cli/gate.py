"""``sago gate``: may this be released? Holds a run against a policy, and against a baseline."""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from typing import TYPE_CHECKING

from sago_harness.errors import SagoError

if TYPE_CHECKING:
    from sago_harness.gate.result import GateResult
    from sago_harness.stats.table import ScoreTable

_EPILOG = """\
examples:
  sago gate --init runs/new > policy.yaml                       a first policy, from a run
  sago gate runs/new --policy policy.yaml                       thresholds on the run alone
  sago gate runs/new --policy policy.yaml --baseline runs/old   and against another run
  sago gate runs/new --policy policy.yaml --json gate.json --junit gate.xml

exit status: 0 pass, 1 fail, 2 wrong input, 3 undecided (docs/gate.md)
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
        0 pass, 1 fail, 3 undecided.

    Raises
    ------
    SagoError
        For a policy, a run or a baseline that cannot be used.
    """
    github = args.github or os.environ.get("GITHUB_ACTIONS") == "true"
    try:
        if args.init:
            return _init(args)
        return _gate(args, github=github)
    except SagoError as error:
        if github:
            from sago_harness.gate.github import command

            print(command("error", str(error), title="sago gate: wrong input"))
        raise


def _init(args: argparse.Namespace) -> int:
    from sago_harness.gate.init import write_policy
    from sago_harness.whole import whole

    for flag in ("json", "junit"):
        if getattr(args, flag):
            raise SagoError(f"--{flag} holds a verdict, and --init gives none: leave one of them out")
    if args.policy and args.policy.exists():
        raise SagoError(f"{args.policy} is there already: remove it, or write another file (--policy FILE)")
    table = _table(args.run, args.model, "the run", "--model")
    before = None
    if args.baseline:
        before = _table(args.baseline, args.baseline_model, "the baseline", "--baseline-model")
    text = write_policy(table, before, file=str(args.policy or "policy.yaml"))
    if not args.policy:
        print(text, end="")
        return 0
    with whole(args.policy) as partial:
        partial.write_text(text, encoding="utf-8", errors="replace")
    print(f"a policy is in {args.policy}: set its thresholds to what a release must be")
    return 0


def _gate(args: argparse.Namespace, *, github: bool) -> int:
    from sago_harness.gate.check import check
    from sago_harness.gate.policy import read_policy

    if not args.policy:
        raise SagoError("--policy FILE is missing: `sago gate --init RUN` writes one to begin with")
    for flag in ("json", "junit"):
        path = getattr(args, flag)
        if path and (path.is_dir() or not path.parent.is_dir()):
            raise SagoError(f"--{flag} {path} cannot be written: name a file in a folder that is there")
    if args.json and args.junit and args.json.resolve() == args.junit.resolve():
        raise SagoError(f"--json and --junit both name {args.json}: one would replace the other")
    policy = read_policy(args.policy)
    table = _table(args.run, args.model, "the run", "--model")
    before = None
    if args.baseline:
        before = _table(args.baseline, args.baseline_model, "the baseline", "--baseline-model")
    result = check(policy, table, before)
    _write(args, result)
    _show(result, github=github)
    return result.exit_status


def _table(word: str, model: str, what: str, flag: str) -> ScoreTable:
    """Read one run; of several models the one that is named."""
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
    return read_table(runs, models=[model or known[0]])


def _write(args: argparse.Namespace, result: GateResult) -> None:
    """Write all files, or none that is half there."""
    from sago_harness.gate.github import append_summary
    from sago_harness.gate.junit import as_junit
    from sago_harness.jsonsafe import dumps
    from sago_harness.whole import whole

    texts = []
    if args.json:
        texts.append((args.json, dumps(result.about()) + "\n"))
    if args.junit:
        texts.append((args.junit, as_junit(result)))
    for path, text in texts:
        with whole(path) as partial:
            partial.write_text(text, encoding="utf-8", errors="replace")
    if named := os.environ.get("GITHUB_STEP_SUMMARY"):
        append_summary(result, Path(named))


def _show(result: GateResult, *, github: bool) -> None:
    from sago_harness.gate.github import annotate, without_commands

    text = f"{result}\n{result.signature}"
    if not github:
        print(text)
        return
    print(without_commands(text))
    for line in annotate(result):
        print(line)
