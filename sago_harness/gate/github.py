"""What GitHub Actions shows: annotations on the run, and a summary page."""

from __future__ import annotations

import secrets
from pathlib import Path

from sago_harness.errors import SagoError
from sago_harness.gate.result import GateResult
from sago_harness.gate.verdicts import RuleResult
from sago_harness.report.changes import escape_line
from sago_harness.report.tables import as_markdown

#: GitHub shows no more annotations of a kind than this in a step.
MOST = 10


def annotate(result: GateResult) -> list[str]:
    """Return workflow commands: an error for each rule that keeps the release back, else a warning.

    Parameters
    ----------
    result : GateResult

    Returns
    -------
    list of str
        Lines for the standard output; the last one is the verdict. No name can end its line, or begin
        another command.
    """
    shown = [rule for rule in result.rules if rule.verdict != "pass"]
    # Those that matter most first: what comes after the tenth of a kind is not shown.
    shown.sort(key=lambda rule: (rule.verdict != "fail", not result.blocks(rule)))
    lines = [_of_rule(rule, blocks=result.blocks(rule)) for rule in shown]
    kind = "notice" if result.verdict == "pass" else "error"
    return [*lines, command(kind, result.summary, title="sago gate")]


def _of_rule(rule: RuleResult, *, blocks: bool) -> str:
    title = f"sago gate: {rule.verdict}"
    return command("error" if blocks else "warning", str(rule), title=title)


def command(kind: str, message: str, *, title: str = "") -> str:
    r"""Return a workflow command with its message escaped as GitHub asks for.

    Examples
    --------
    >>> print(command("error", "50% of a\n::add-mask::x", title="a,b:c"))
    ::error title=a%2Cb%3Ac::50%25 of a\n::add-mask::x
    """
    data = escape_line(message).replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
    if not title:
        return f"::{kind}::{data}"
    named = escape_line(title).replace("%", "%25").replace(":", "%3A").replace(",", "%2C")
    return f"::{kind} title={named}::{data}"


def without_commands(text: str) -> str:
    """Return a text between marks that keep GitHub from taking any line of it for a command.

    A table holds names of models and data sets; one that begins with ``::`` would be obeyed.
    """
    token = secrets.token_hex(16)
    return f"::stop-commands::{token}\n{text}\n::{token}::"


def summary(result: GateResult) -> str:
    """Return the step summary in Markdown."""
    verdict = {"pass": "passed", "fail": "failed", "undecided": "undecided"}[result.verdict]
    mark = {"pass": "✅", "fail": "❌", "undecided": "❔"}[result.verdict]
    signature = escape_line(result.signature).replace("`", "'")
    return f"## {mark} sago gate: {verdict}\n\n{as_markdown(result.table())}\n\n`{signature}`\n"


def append_summary(result: GateResult, path: Path) -> None:
    """Add the summary to the file that GitHub names in ``GITHUB_STEP_SUMMARY``.

    Raises
    ------
    SagoError
        If it cannot be written.
    """
    try:
        with path.open("a", encoding="utf-8", errors="replace") as file:
            file.write(summary(result))
    except OSError as error:
        raise SagoError(f"the step summary {path} cannot be written: {error.strerror or error}") from error
