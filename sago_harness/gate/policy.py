"""What a release must meet: rules, their error rate, and what is being changed."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from dataclasses import asdict, dataclass, field
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any

from sago_harness.errors import SagoError, nearest
from sago_harness.gate.level import check_level, plain_number
from sago_harness.gate.policy_file import Mapped, parse_yaml, read_policy_file
from sago_harness.stats.overall import OVERALL

#: What may differ between a run and its baseline.
TREATMENTS = ("model", "template", "settings")

#: Whether rules that the data do not decide let a release through.
UNDECIDED = ("block", "allow")

#: More rules than this are no policy.
MOST_RULES = 200

_TOP = ("version", "level", "undecided", "unscored", "treatment", "seed", "rules")
_RULE = ("metric", "task", "operator", "max", "min", "margin", "equivalence", "unscored", "name")
_LONGEST = 200
#: Longer numbers are not written out in a message.
_DIGITS = 20


@dataclass(frozen=True)
class Rule:
    """One thing that must hold.

    Attributes
    ----------
    metric : str
    kind : {"max", "min", "margin", "equivalence"}
        ``max``, ``min``: of the run alone. ``margin``: no worse than the baseline by that much;
        ``equivalence``: neither worse nor better by that much.
    threshold : float
    tasks : tuple of str
        Data sets; all of the run where there are none. ``overall`` is the mean over the run's.
    operator : str
        Over the variants of this operator alone; "" = over all.
    unscored : float or None
        Share of documents that may be without the metric, in place of the policy's.
    name : str
        Shown in place of the rule itself.
    line : int
        In the policy's file; 0 where it has none.
    """

    metric: str
    kind: str
    threshold: float
    tasks: tuple[str, ...] = ()
    operator: str = ""
    unscored: float | None = None
    name: str = ""
    line: int = field(default=0, compare=False)

    @property
    def compares(self) -> bool:
        """Say whether it needs a baseline."""
        return self.kind in ("margin", "equivalence")

    def __str__(self) -> str:
        of = f"{self.metric} of {self.operator}" if self.operator else self.metric
        how = {
            "max": f"at most {self.threshold:g}",
            "min": f"at least {self.threshold:g}",
            "margin": f"worse by less than {self.threshold:g}",
            "equivalence": f"within {self.threshold:g} of the baseline",
        }[self.kind]
        return f"{of} {how}"


@dataclass(frozen=True)
class Policy:
    """Rules and what they share.

    Attributes
    ----------
    rules : tuple of Rule
    level : float
        Chance that any rule passes wrongly, and that any fails wrongly, at most.
    undecided : {"block", "allow"}
    unscored : float
        Share of documents that may be without a rule's metric; above it the rule is undecided.
    treatment : str
        One of :data:`TREATMENTS`; "" where no rule compares with a baseline.
    seed : int
        Of the random draws.
    where : str
        Names the policy in messages.

    Examples
    --------
    >>> made = Policy.of("rules: [{metric: sago_core, min: 0.4}]")
    >>> print(made.rules[0], made.level, made.undecided)
    sago_core at least 0.4 0.05 block
    """

    rules: tuple[Rule, ...]
    level: float = 0.05
    undecided: str = "block"
    unscored: float = 0.1
    treatment: str = ""
    seed: int = 0
    where: str = field(default="policy", compare=False)

    @property
    def compares(self) -> bool:
        """Say whether any rule needs a baseline."""
        return any(rule.compares for rule in self.rules)

    @classmethod
    def of(cls, content: str | Mapping[str, Any], where: str = "policy") -> Policy:
        """Return a policy from YAML text, or from what such a text holds.

        Raises
        ------
        SagoError
            Names line, key and what to do.
        """
        if not isinstance(content, str):
            return _policy(content, where)
        try:
            found = parse_yaml(content)
        except (ValueError, RecursionError) as error:
            raise SagoError(f"{where} cannot be read: {error}") from error
        return _policy(found, where)

    def about(self) -> dict[str, Any]:
        """Return plain types for JSON; where it was written does not belong to it."""
        plain = asdict(self)
        del plain["where"]
        for rule in plain["rules"]:
            del rule["line"]
        return plain


def read_policy(path: Path) -> Policy:
    """Return the policy of a YAML file.

    Parameters
    ----------
    path : Path

    Raises
    ------
    SagoError
        If it cannot be read, or is no policy: one line with the file's line, the key, and what to do.
    """
    return _policy(read_policy_file(path), str(path))


def _policy(content: object, where: str) -> Policy:
    if not isinstance(content, Mapping):
        kind = "empty" if content is None else f"a {type(content).__name__}"
        raise SagoError(
            f"{where} is {kind}: a policy is a mapping with 'rules' (`sago gate --init RUN` writes one)"
        )
    top = _Reader(content, where, "")
    top.known(_TOP)
    version = content.get("version", 1)
    if isinstance(version, bool) or version != 1:
        raise top.wrong("version", f"{version!r} is not known: this release reads version 1")
    rules = content.get("rules")
    if not isinstance(rules, list) or not rules:
        raise top.wrong("rules", "there is no rule: write a list such as '- {metric: sago_core, min: 0.4}'")
    if len(rules) > MOST_RULES:
        raise top.wrong("rules", f"{len(rules)} rules are too many: at most {MOST_RULES}")
    made: list[Rule] = []
    for place, one in enumerate(rules, start=1):
        rule = _rule(one, where, place, top)
        for before, other in enumerate(made, start=1):
            same = (rule.metric, rule.kind) == (other.metric, other.kind)
            if same and _one_operator(rule, other) and _meet(rule.tasks, other.tasks):
                raise _at(
                    where, rule.line, f"rule {place} asks for the same as rule {before} ({rule}): keep one"
                )
        made.append(rule)
    level = top.number("level", 0.05, 0.0, 0.5)
    line = top.line("level")
    check_level(level, len(made), f"{where} line {line}" if line else where)
    policy = Policy(
        tuple(made),
        level=level,
        undecided=top.choice("undecided", "block", UNDECIDED),
        unscored=top.number("unscored", 0.1, 0.0, 1.0, low_in=True),
        treatment=top.choice("treatment", "", TREATMENTS),
        seed=top.whole("seed", 0),
        where=where,
    )
    if policy.compares and not policy.treatment:
        raise SagoError(
            f"{where}: 'treatment' is missing: rules compare with a baseline, so say what is being changed: "
            f"{', '.join(TREATMENTS)}"
        )
    return policy


def _meet(some: tuple[str, ...], others: tuple[str, ...]) -> bool:
    """Say whether two rules are about one data set; the mean over them is one of its own."""
    if (OVERALL in some) != (OVERALL in others):
        return False
    return not some or not others or bool(set(some) & set(others))


def _one_operator(some: Rule, other: Rule) -> bool:
    """Say whether two rules are about one operator, whose family may be left out."""
    names = some.operator, other.operator
    if all("/" in name for name in names):
        return names[0] == names[1]
    return names[0].rpartition("/")[2] == names[1].rpartition("/")[2]


def _rule(content: object, where: str, place: int, top: _Reader) -> Rule:
    named = f"rule {place}"
    if not isinstance(content, Mapping):
        raise top.wrong("rules", f"{named} must be a mapping such as {{metric: sago_core, min: 0.4}}")
    reader = _Reader(content, where, named)
    reader.known(_RULE)
    metric = reader.word("metric")
    if not metric:
        raise reader.wrong("metric", "is missing: name what is looked at, such as sago_core")
    kinds = [kind for kind in ("max", "min", "margin") if kind in content]
    if len(kinds) != 1:
        said = f"has {' and '.join(kinds)}" if kinds else "has no threshold"
        raise reader.wrong(kinds[-1] if kinds else "metric", f"{metric} {said}: give one of max, min, margin")
    (kind,) = kinds
    equivalence = content.get("equivalence", False)
    if not isinstance(equivalence, bool):
        raise reader.wrong("equivalence", "must be true or false")
    if equivalence and kind != "margin":
        raise reader.wrong("equivalence", f"goes with margin, not with {kind}")
    low = 0.0 if kind == "margin" else -math.inf
    threshold = reader.number(kind, math.nan, low, math.inf)
    unscored = reader.number("unscored", 0.0, 0.0, 1.0, low_in=True) if "unscored" in content else None
    tasks = reader.words("task")
    if "task" in content and not tasks:
        raise reader.wrong("task", "names no data set: leave it out for every one of the run")
    if OVERALL in tasks and len(tasks) > 1:
        raise reader.wrong("task", f"{OVERALL} is the mean over all data sets and stands alone")
    return Rule(
        metric,
        "equivalence" if equivalence else kind,
        threshold,
        tasks,
        reader.word("operator"),
        unscored,
        reader.word("name"),
        reader.line(),
    )


class _Reader:
    """Takes values out of one mapping; every complaint names file, line and key."""

    def __init__(self, content: Mapping[Any, Any], where: str, named: str) -> None:
        self.content, self.where, self.named = content, where, named

    def line(self, key: str | None = None) -> int:
        return self.content.at(key) if isinstance(self.content, Mapped) else 0

    def wrong(self, key: str, said: str) -> SagoError:
        named = f"{self.named}: " if self.named else ""
        return _at(self.where, self.line(key), f"{named}{key!r}: {said}")

    def known(self, keys: Collection[str]) -> None:
        for key in self.content:
            if key not in keys:
                close = nearest(str(key), keys)
                hint = f"did you mean {' or '.join(close)}? " if close else ""
                named = f" in {self.named}" if self.named else ""
                shown = repr(str(key)[:_LONGEST])
                raise _at(
                    self.where, self.line(key), f"unknown key {shown}{named}: {hint}Known: {', '.join(keys)}"
                )

    def number(self, key: str, default: float, low: float, high: float, *, low_in: bool = False) -> float:
        if key not in self.content:
            return default
        value = self.content[key]
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise self.wrong(key, f"must be a number, it is {_kind(value)}{_as_number(value)}")
        try:
            number = float(value)
        except OverflowError:
            number = math.inf
        inside = math.isfinite(number) and (low < number < high or (low_in and number == low))
        if not inside:
            span = f"between {low:g} and {high:g}" if math.isfinite(high) else f"above {low:g}"
            said = "must be a finite number" if not math.isfinite(low) else f"must be a number {span}"
            raise self.wrong(key, f"{said}, it is {value!r:.40}")
        return number

    def whole(self, key: str, default: int) -> int:
        value = self.content.get(key, default)
        if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < 2**63:
            raise self.wrong(key, f"must be a whole number from 0 on, it is {value!r:.40}")
        return value

    def choice(self, key: str, default: str, known: Collection[str]) -> str:
        if key not in self.content:
            return default
        value = self.content[key]
        if not isinstance(value, str) or value not in known:
            close = nearest(str(value)[:_LONGEST], known)
            hint = f"did you mean {' or '.join(close)}? " if close else ""
            raise self.wrong(key, f"{value!r:.40} is not known: {hint}choose {' or '.join(known)}")
        return value

    def word(self, key: str) -> str:
        value = self.content.get(key, "")
        if not isinstance(value, str):
            raise self.wrong(key, f"must be a text, it is {_kind(value)}")
        if len(value) > _LONGEST:
            raise self.wrong(key, f"is longer than {_LONGEST} characters")
        return value.strip()

    def words(self, key: str) -> tuple[str, ...]:
        value = self.content.get(key, "")
        if not isinstance(value, list):
            word = self.word(key)
            return (word,) if word else ()
        found = []
        for one in value:
            if not isinstance(one, str) or not one.strip() or len(one) > _LONGEST:
                raise self.wrong(key, "must be a name or a list of names")
            if one.strip() in found:
                raise self.wrong(key, f"{one!r} stands there twice")
            found.append(one.strip())
        return tuple(found)


def _as_number(value: object) -> str:
    """Return a hint for what YAML takes for text though it is a number to people, such as 1e-3."""
    try:
        number = Decimal(value) if isinstance(value, str) else Decimal("nan")
    except InvalidOperation:
        return ""
    written = (
        number.is_finite() and abs(number.adjusted()) <= _DIGITS and len(number.as_tuple().digits) <= _DIGITS
    )
    return f": write {plain_number(number)}" if written else ""


def _kind(value: object) -> str:
    names = {
        bool: "true or false",
        str: "a text",
        list: "a list",
        type(None): "empty",
        int: "a number",
        float: "a number",
    }
    return names.get(type(value), "a mapping" if isinstance(value, Mapping) else f"a {type(value).__name__}")


def _at(where: str, line: int, said: str) -> SagoError:
    return SagoError(f"{where}{f' line {line}' if line else ''}: {said}")
