"""Which variants are made: a short YAML file, checked when it is read."""

from __future__ import annotations

import functools
import hashlib
import inspect
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from sago_harness.errors import SagoError, unknown
from sago_harness.variants.base import OTHER_FAMILIES, SCORED_FAMILIES, Constraint, Operator
from sago_harness.variants.constraints import CONSTRAINTS
from sago_harness.variants.needs import missing
from sago_harness.variants.operators import OPERATORS
from sago_harness.variants.phrases import table_hash
from sago_harness.variants.recipe_file import plain, read_yaml, scalar

FOLDER = Path(__file__).parent / "recipes"
#: What is kept: byte-identical, or left alone by generators and forgiven small edits.
LEVELS = ("literal", "semantic")
#: Families of variants that documents bring and that a recipe may take.
BROUGHT = OTHER_FAMILIES[:2]
_KEYS = ("name", "version", "variants", "constraints", "levels", "brought")
#: Of a recipe that names none.
DEFAULT_CONSTRAINTS: tuple[str, ...] = (
    "changed", "literals", "semantic", "length", "edits", "language", "answer_type",
)  # fmt: skip
_ENTRY_KEYS = ("operator", "strength", "position", "languages", "constraints")


@dataclass(frozen=True, slots=True)
class Rule:
    """A constraint of a recipe with its options, sorted by name."""

    name: str
    options: tuple[tuple[str, Any], ...] = ()

    def make(self) -> Constraint:
        """Return the constraint, ready to check."""
        constraint = CONSTRAINTS.load(self.name)
        if lacking := missing(constraint.requires):
            raise SagoError(f"constraint {self.name!r} cannot be checked: {lacking}")
        return constraint(**dict(self.options))


@dataclass(frozen=True, slots=True)
class Entry:
    """One variant of a recipe: an operator at one strength and position.

    Attributes
    ----------
    operator : str
        Name in the table of operators.
    strength : float or None
    position : str or None
        ``None`` takes the operator's first.
    languages : tuple of str
        ISO 639-1 codes for which it is used.
    rules : tuple of Rule
        Constraints that only this variant must pass, beside the recipe's.
    """

    operator: str
    strength: float | None
    position: str | None
    languages: tuple[str, ...]
    rules: tuple[Rule, ...] = ()

    def make(self) -> Operator:
        """Return the operator, ready to apply."""
        operator = OPERATORS.load(self.operator)(self.strength, self.position)
        operator.constraints = _constraints(self.rules)
        return operator


@dataclass(frozen=True, slots=True)
class Recipe:
    """A list of variants with the constraints they must pass.

    Attributes
    ----------
    name, version : str
    families : tuple of str
        Families of the entries, in the order of every table.
    entries : tuple of Entry
        May be empty where the recipe takes the documents' own variants only.
    rules : tuple of Rule
        The constraints, in the order in which they are checked.
    levels : tuple of str
        What is kept: ``"literal"``, ``"semantic"``.
    brought : tuple of str
        Families of the documents' own variants that are taken: ``"human"``, ``"language"``.
    digest : str
        sha256 over content, versions of operators and constraints, and their word lists.

    Examples
    --------
    >>> recipe = load_recipe("quick")
    >>> recipe.count("en")
    {'register': 2, 'noise': 2, 'structure': 2}
    """

    name: str
    version: str
    families: tuple[str, ...]
    entries: tuple[Entry, ...]
    rules: tuple[Rule, ...]
    levels: tuple[str, ...] = LEVELS
    brought: tuple[str, ...] = BROUGHT
    digest: str = field(default="", compare=False)

    @property
    def constraints(self) -> tuple[str, ...]:
        """Names of the constraints."""
        return tuple(rule.name for rule in self.rules)

    @property
    def languages(self) -> tuple[str, ...]:
        """Languages for which the recipe has at least one variant that keeps the meaning, sorted."""
        return _languages(self)

    def varies(self, language: str) -> bool:
        """Say whether documents of a language can be varied: brought variants fit any."""
        return not self.languages or language in self.languages

    def for_language(self, language: str) -> tuple[Operator, ...]:
        """Return the operators of a language, in the recipe's order.

        Raises
        ------
        SagoError
            If the recipe has no variant for the language.
        """
        if not self.varies(language):
            raise SagoError(
                f"recipe {self.name!r} has no variant for language {language!r}: "
                f"it has {', '.join(self.languages)}"
            )
        return _operators(self, language)

    def make_constraints(self) -> tuple[Constraint, ...]:
        """Return the constraints, ready to check."""
        return _constraints(self.rules)

    def count(self, language: str) -> dict[str, int]:
        """Return the number of variants of each family that forms a score, for a language."""
        families = [operator.family for operator in self.for_language(language)]
        return {family: families.count(family) for family in SCORED_FAMILIES if family in families}

    def with_negatives(self) -> Recipe:
        """Return the recipe with every operator of family ``control`` added, at its first strength."""
        named = {entry.operator for entry in self.entries}
        extra = tuple(
            Entry(name, operator.strengths[0] if operator.strengths else None, None, operator.languages)
            for name in OPERATORS
            if (operator := OPERATORS.load(name)).family == "control" and name not in named
        )
        return _sealed(replace(self, entries=self.entries + extra))


@functools.lru_cache(maxsize=64)
def _languages(recipe: Recipe) -> tuple[str, ...]:
    """Leave out negative controls: they alone vary no document."""
    keeping = [entry for entry in recipe.entries if OPERATORS.load(entry.operator).family != "control"]
    return tuple(sorted({language for entry in keeping for language in entry.languages}))


@functools.lru_cache(maxsize=64)
def _operators(recipe: Recipe, language: str) -> tuple[Operator, ...]:
    return tuple(entry.make() for entry in recipe.entries if language in entry.languages)


@functools.lru_cache(maxsize=64)
def _constraints(rules: tuple[Rule, ...]) -> tuple[Constraint, ...]:
    return tuple(rule.make() for rule in rules)


def base_language(code: str) -> str:
    """Return a language code without region or script, in lower case.

    Examples
    --------
    >>> base_language("en-US"), base_language("zh_Hans_CN")
    ('en', 'zh')
    """
    return code.strip().replace("_", "-").partition("-")[0].lower()


def load_recipe(name_or_path: str | Path) -> Recipe:
    """Read a recipe that comes with the package, or a file.

    Parameters
    ----------
    name_or_path : str or Path
        ``"quick"``, ``"default"``, or a path that ends with ``.yaml`` or ``.yml``.

    Returns
    -------
    Recipe

    Raises
    ------
    SagoError
        If there is no such recipe, or a key, operator, strength, position, language or
        constraint in it is unknown.

    Examples
    --------
    >>> load_recipe("default").families
    ('register', 'noise', 'structure')
    """
    builtin = {file.stem: file for file in FOLDER.glob("*.yaml")}
    path = builtin.get(str(name_or_path), Path(name_or_path))
    if not path.is_file():
        if path.suffix in (".yaml", ".yml"):
            raise SagoError(f"recipe file {path} does not exist")
        raise unknown("recipe", str(name_or_path), builtin)
    return parse_recipe(read_yaml(path), str(path.name if path in builtin.values() else path))


def parse_recipe(content: object, where: str) -> Recipe:
    """Check the content of a recipe file; ``where`` names it in messages.

    Raises
    ------
    SagoError
        As :func:`load_recipe`.
    """
    if not isinstance(content, Mapping):
        raise SagoError(f"recipe {where} must hold keys ({', '.join(_KEYS)}), it is {_kind(content)}")
    _check_keys(content, _KEYS, f"recipe {where}")
    for key in ("name", "version", "variants"):
        # A recipe that only takes what documents bring says so.
        if content.get(key) in (None, "", []) and not (key == "variants" and content.get("brought")):
            raise SagoError(f"recipe {where} lacks {key!r}")
    entries = tuple(
        _parse_entry(item, f"{where}, variant {index}")
        for index, item in enumerate(_items(content, "variants", where, []), 1)
    )
    rules = tuple(
        _parse_rule(item, where) for item in _items(content, "constraints", where, list(DEFAULT_CONSTRAINTS))
    )
    for entry in entries:
        _check_needs(entry, rules, where)
    _check_unique(entries, where)
    return _sealed(
        Recipe(
            name=scalar(content, "name", where),
            version=scalar(content, "version", where),
            families=(),
            entries=entries,
            rules=rules,
            levels=_chosen(content, "levels", where, LEVELS),
            brought=_chosen(content, "brought", where, BROUGHT),
        )
    )


def _chosen(content: Mapping[Any, Any], key: str, where: str, known: tuple[str, ...]) -> tuple[str, ...]:
    kind = "level" if key == "levels" else key
    items = _items(content, key, where, list(known))
    chosen = tuple(plain(item, f"recipe {where}: a {kind}") for item in items)
    for item in chosen:
        if item not in known:
            raise unknown(kind, item, known, f"recipe {where}")
    return chosen


def _parse_rule(item: object, where: str) -> Rule:
    """Read a constraint: its name, or an object with the name and its options."""
    if not isinstance(item, Mapping):
        item = {"constraint": item}
    if "constraint" not in item:
        raise SagoError(f"recipe {where}: a constraint with options lacks 'constraint', its name")
    name = scalar(item, "constraint", where)
    constraint = CONSTRAINTS.load(name, f"recipe {where}")
    known = tuple(inspect.signature(constraint).parameters)
    options = {key: value for key, value in item.items() if key != "constraint"}
    for key, value in options.items():
        if key not in known:
            shown = plain(key, f"recipe {where}: an option of constraint {name!r}")
            raise unknown(f"option of constraint {name!r}", shown, known, f"recipe {where}")
        if isinstance(value, bool) or not isinstance(value, int | float | str):
            raise SagoError(f"recipe {where}: {key} of constraint {name!r} is no number or text")
    try:
        constraint(**options)
    except SagoError as error:
        raise SagoError(f"recipe {where}: {error}") from error
    return Rule(name, tuple(sorted(options.items())))


def _sealed(recipe: Recipe) -> Recipe:
    """Fill in what follows from the entries: families and digest."""
    present = {OPERATORS.load(entry.operator).family for entry in recipe.entries}
    families = tuple(family for family in SCORED_FAMILIES + OTHER_FAMILIES if family in present)
    return replace(recipe, families=families, digest=_digest(recipe))


def _parse_entry(item: object, where: str) -> Entry:
    if not isinstance(item, Mapping):
        raise SagoError(f"recipe {where} must hold keys ({', '.join(_ENTRY_KEYS)}), it is {_kind(item)}")
    _check_keys(item, _ENTRY_KEYS, f"recipe {where}")
    if "operator" not in item:
        raise SagoError(f"recipe {where} lacks 'operator'")
    name = scalar(item, "operator", where)
    operator = OPERATORS.load(name, f"recipe {where}")
    strength, position = item.get("strength"), item.get("position")
    if strength is not None:
        shown = scalar(item, "strength", where)
        if isinstance(strength, bool) or not isinstance(strength, int | float):
            raise SagoError(f"recipe {where}: strength {shown!r} is not a number")
    if position is not None:
        position = scalar(item, "position", where)
    languages = tuple(
        plain(code, f"recipe {where}: a language")
        for code in _items(item, "languages", where, list(operator.languages))
    )
    for language in languages:
        if language not in operator.languages:
            raise unknown(f"language of operator {name!r}", language, operator.languages, f"recipe {where}")
    try:
        operator(strength, position)
    except SagoError as error:
        raise SagoError(f"recipe {where}: {error}") from error
    rules = tuple(_parse_rule(rule, where) for rule in _items(item, "constraints", where, []))
    return Entry(name, None if strength is None else float(strength), position, languages, rules)


def _check_needs(entry: Entry, rules: tuple[Rule, ...], where: str) -> None:
    named = {rule.name for rule in (*rules, *entry.rules)}
    for constraint in OPERATORS.load(entry.operator).needs_constraints:
        if constraint not in named:
            raise SagoError(
                f"recipe {where}: operator {entry.operator!r} needs constraint {constraint!r}: "
                f"add `constraints: [{constraint}]` to its entry"
            )


def _check_unique(entries: Iterable[Entry], where: str) -> None:
    seen: set[tuple[str, str]] = set()
    for entry in entries:
        for language in entry.languages:
            key = (entry.make().variant_id, language)
            if key in seen:
                raise SagoError(f"recipe {where} asks for {key[0]!r} twice in language {language!r}")
            seen.add(key)


def _check_keys(content: Mapping[Any, Any], known: tuple[str, ...], where: str) -> None:
    for key in content:
        if key not in known:
            raise unknown("key", plain(key, f"{where}: a key"), known, where)


def _items(content: Mapping[Any, Any], key: str, where: str, default: list[Any] | None = None) -> list[Any]:
    value = content.get(key, default)
    if not isinstance(value, list) or (key in ("languages", "levels") and not value):
        raise SagoError(f"recipe {where}: {key!r} must be a list, it is {_kind(value)}")
    return value


def _kind(value: object) -> str:
    return "empty" if value in (None, [], "") else f"of type {type(value).__name__}"


def _digest(recipe: Recipe) -> str:
    operators = {entry.operator: OPERATORS.load(entry.operator) for entry in recipe.entries}
    tables = {table for operator in operators.values() for table in operator.tables}
    if "semantic" in recipe.levels:
        tables.add("meaning")
    content = {
        "name": recipe.name,
        "version": recipe.version,
        "variants": [
            [
                entry.operator,
                entry.strength,
                entry.position,
                sorted(entry.languages),
                _facts(entry.rules),
            ]
            for entry in recipe.entries
        ],
        "constraints": _facts(recipe.rules),
        "levels": recipe.levels,
        "brought": recipe.brought,
        "operators": {key: operator.version for key, operator in operators.items()},
        "tables": {table: table_hash(table) for table in tables},
    }
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


def _facts(rules: tuple[Rule, ...]) -> list[list[Any]]:
    return [[rule.name, CONSTRAINTS.load(rule.name).version, rule.options] for rule in rules]
