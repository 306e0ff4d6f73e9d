"""The verdicts as JUnit XML, which CI systems show as test results."""

from __future__ import annotations

import re
from xml.sax.saxutils import escape

from sago_harness.gate.result import GateResult
from sago_harness.gate.verdicts import RuleResult
from sago_harness.report.changes import escape_line

#: What no XML 1.0 file may hold, in any form.
_FORBIDDEN = re.compile("[^\\t\\n\\r\\u0020-\\ud7ff\\ue000-\\ufffd\\U00010000-\\U0010ffff]")


def as_junit(result: GateResult) -> str:
    """Return the verdicts as JUnit XML.

    Parameters
    ----------
    result : GateResult

    Returns
    -------
    str
        A test case for each rule and data set. A rule that fails is a ``failure``, an undecided one an
        ``error`` where it blocks and ``skipped`` where it does not. Characters that XML forbids are removed,
        those that cannot be seen are written out.
    """
    cases = [_case(rule, result.blocks(rule)) for rule in result.rules]
    failures = sum(rule.verdict == "fail" for rule in result.rules)
    undecided = [rule for rule in result.rules if rule.verdict == "undecided"]
    errors = sum(map(result.blocks, undecided))
    counts = (
        f'tests="{len(cases)}" failures="{failures}" errors="{errors}" skipped="{len(undecided) - errors}"'
    )
    properties = {
        "verdict": result.verdict,
        "model": result.model,
        "baseline": result.baseline,
        "treatment": result.policy.treatment,
        "signature": result.signature,
        **{f"changed {place}": str(change) for place, change in enumerate(result.changed, start=1)},
        **{f"note {place}": note for place, note in enumerate(result.notes, start=1)},
    }
    lines = [
        '<?xml version="1.0" encoding="UTF-8"?>',
        f'<testsuites name="sago gate" {counts}>',
        f"  <testsuite name={_attribute(f'sago gate {result.model}')} {counts}>",
        "    <properties>",
        *(
            f"      <property name={_attribute(name)} value={_attribute(value)}/>"
            for name, value in properties.items()
            if value
        ),
        "    </properties>",
        *cases,
        "  </testsuite>",
        "</testsuites>",
    ]
    return "\n".join(lines) + "\n"


def _case(rule: RuleResult, blocks: bool) -> str:
    head = f"    <testcase classname={_attribute(f'sago.gate.{rule.task}')} name={_attribute(rule.rule)}"
    if rule.verdict == "pass":
        return f"{head}/>"
    message = _attribute(f"{rule.verdict}: {rule.reason}")
    if rule.verdict == "undecided" and not blocks:
        return f"{head}>\n      <skipped message={message}/>\n    </testcase>"
    tag = "failure" if rule.verdict == "fail" else "error"
    inside = f'<{tag} type="{rule.verdict}" message={message}>{_text(str(rule))}</{tag}>'
    return f"{head}>\n      {inside}\n    </testcase>"


def _attribute(text: str) -> str:
    return '"' + escape(_clean(text), {'"': "&quot;"}) + '"'


def _text(text: str) -> str:
    return escape(_clean(text))


def _clean(text: str) -> str:
    r"""Return one line that every XML file may hold.

    Examples
    --------
    >>> _clean("a\x00b\ud800c\ufffe")
    'a\\x00b\\ud800c\\ufffe'
    """
    return _FORBIDDEN.sub("", escape_line(text))
