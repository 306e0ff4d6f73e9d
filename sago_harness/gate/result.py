"""The answer of the gate, and what it rests on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from sago_harness.gate.policy import Policy
from sago_harness.gate.treatment import Change
from sago_harness.gate.verdicts import RuleResult
from sago_harness.report.tables import Column, Table, as_html, as_text

#: Verdict -> exit status of the command; wrong input is 2.
EXIT = {"pass": 0, "fail": 1, "undecided": 3}


@dataclass(frozen=True)
class GateResult:
    """The verdict on a release.

    Attributes
    ----------
    policy : Policy
    model : str
    baseline : str
        Its model; "" without a baseline.
    rules : tuple of RuleResult
        One for each rule and data set.
    changed : tuple of Change
        Fields in which the run differs from its baseline, all of them part of the treatment.
    notes : tuple of str
    signatures : dict of str to mapping
        Data set -> what identifies the run's numbers, and ``baseline`` the baseline's.
    """

    policy: Policy
    model: str
    baseline: str
    rules: tuple[RuleResult, ...]
    changed: tuple[Change, ...] = ()
    notes: tuple[str, ...] = ()
    signatures: Mapping[str, Any] = field(default_factory=dict, repr=False)

    def blocks(self, rule: RuleResult) -> bool:
        """Say whether a rule's verdict keeps the release back."""
        if rule.verdict == "undecided":
            return rule.missing or self.policy.undecided == "block"
        return rule.verdict == "fail"

    @property
    def verdict(self) -> str:
        """Return ``pass``, ``fail`` or ``undecided``.

        Any rule that fails fails it. An undecided rule leaves it undecided where the policy says so, and
        always where data are missing.
        """
        if any(rule.verdict == "fail" for rule in self.rules):
            return "fail"
        return "undecided" if any(map(self.blocks, self.rules)) else "pass"

    @property
    def exit_status(self) -> int:
        """Return 0, 1 or 3."""
        return EXIT[self.verdict]

    @property
    def signature(self) -> str:
        """Return in one line what the verdict depends on."""
        import hashlib
        from importlib.metadata import version

        from sago_harness.jsonsafe import dumps
        from sago_harness.report.changes import escape_line

        def digest(content: object) -> str:
            return hashlib.sha256(dumps(content).encode()).hexdigest()[:16]

        parts = ["sago gate", f"model:{escape_line(self.model)}"]
        if self.baseline:
            parts += [
                f"baseline:{escape_line(self.baseline)}",
                f"treatment:{self.policy.treatment or 'none'}",
            ]
        parts += [
            f"level:{self.policy.level:g}",
            f"undecided:{self.policy.undecided}",
            f"seed:{self.policy.seed}",
            f"policy:{digest(self.policy.about())}",
            f"runs:{digest(self.signatures)}",
            f"version:{version('sago-harness')}",
        ]
        return "|".join(parts)

    @property
    def summary(self) -> str:
        """Return the verdict in one line."""
        counts = {name: sum(rule.verdict == name for rule in self.rules) for name in EXIT}
        said = ", ".join(f"{count} {name}" for name, count in counts.items() if count)
        against = f" against {self.baseline}" if self.baseline and self.policy.compares else ""
        return f"{self.verdict.upper()}: {self.model}{against}: {said}"

    def table(self) -> Table:
        """Return one row a rule and data set."""
        columns = (
            Column("verdict", kind="text"), Column("rule", kind="text"), Column("task", "data set", "text"),
            Column("value"), Column("bounds", kind="interval"), Column("documents", "n", "count"),
            Column("total", "of N", "count"), Column("p", "p (Holm)", "p"), Column("why", kind="text"),
        )  # fmt: skip
        rows = tuple(
            (
                rule.verdict, rule.rule, rule.task, rule.value, (rule.low, rule.high),
                rule.documents, rule.total,
                rule.pvalue_fails_adjusted if rule.verdict == "fail" else rule.pvalue_adjusted, rule.reason,
            )
            for rule in self.rules
        )  # fmt: skip
        return Table("gate", "Gate", columns, rows, self._told())

    def _told(self) -> tuple[str, ...]:
        notes = []
        if self.policy.compares:
            notes.append("value of rules against the baseline: run less baseline, over documents of both")
            what = "; ".join(_told_once(self.changed)) or "nothing that is part of it differs"
            notes.append(f"treatment {self.policy.treatment}: {what}")
        return (*notes, *self.notes)

    def about(self) -> dict[str, Any]:
        """Return everything, unrounded, in plain types."""
        return {
            "verdict": self.verdict,
            "exit_status": self.exit_status,
            "model": self.model,
            "baseline": self.baseline,
            "rules": [asdict(rule) | {"blocks": self.blocks(rule)} for rule in self.rules],
            "changed": [asdict(change) for change in self.changed],
            "notes": list(self.notes),
            "policy": self.policy.about(),
            "signature": self.signature,
            "signatures": self.signatures,
        }

    def _repr_html_(self) -> str:
        import html

        from sago_harness.report.changes import escape_line

        return f"<p><b>{html.escape(escape_line(self.summary))}</b></p>{as_html(self.table())}"

    def __str__(self) -> str:
        from sago_harness.report.changes import escape_line

        return f"{as_text(self.table())}\n{escape_line(self.summary)}"


def _told_once(changed: Sequence[Change]) -> list[str]:
    """Return what differs, once for all data sets where it is the same on all of them."""
    tasks = dict.fromkeys(one.task for one in changed)
    found: dict[str, list[str]] = {}
    for one in changed:
        found.setdefault(one.what, []).append(one.task)
    return [what if len(of) == len(tasks) else f"{what} ({', '.join(of)})" for what, of in found.items()]
