"""Checks a pack again: its constraints from its own data, its variants from the recipe."""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from sago_harness.data import CANONICAL, Variant, VariantSet
from sago_harness.errors import SagoError
from sago_harness.variants.base import Constraint, Passage
from sago_harness.variants.build import build, holds_for, whole_passage
from sago_harness.variants.constraints import CONSTRAINTS
from sago_harness.variants.needs import missing
from sago_harness.variants.operators import OPERATORS
from sago_harness.variants.packs.pack import Manifest
from sago_harness.variants.recipe import Recipe

#: Difference of a value that counts: a pack rounds, and models differ between machines.
_TOLERANCE = 1e-3
#: Reasons for which this machine cannot make a variant; no difference of the pack's.
_UNABLE = ("missing library ", "missing model ", "no rewriter")


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that does not hold: of a variant of a document."""

    document: str
    variant: str
    text: str


@dataclass(slots=True)
class Recheck:
    """Checks the variants of a pack one document at a time.

    Attributes
    ----------
    manifest : Manifest
    where : str
        Names the pack in messages.
    checked : int
        Constraints that were checked.
    unchecked : Counter
        Reason -> number of variants whose constraint could not be checked here.
    notes : list of str
        Versions that differ from those of the pack.
    """

    manifest: Manifest
    where: str
    checked: int = 0
    unchecked: Counter[str] = field(default_factory=Counter)
    notes: list[str] = field(default_factory=list)
    _made: dict[str, Constraint | None] = field(default_factory=dict)
    _lacking: dict[str, str] = field(default_factory=dict)

    def check(self, made: VariantSet) -> Iterator[Finding]:
        """Yield what does not hold of a document's variants.

        Raises
        ------
        SagoError
            If the manifest names a constraint that there is not.
        """
        whole = whole_passage(made.document, self.manifest.levels)
        texts = {made.document.text: CANONICAL}
        for variant in made.variants[1:]:
            if variant.text in texts:
                yield Finding(made.document.id, variant.id, f"same text as {texts[variant.text]}")
            texts[variant.text] = variant.id
            for rule in self._rules(variant.id, made.document.language):
                if not holds_for(rule["name"], variant.family, variant.operator):
                    continue
                for text in self._check(rule, whole, variant):
                    yield Finding(made.document.id, variant.id, text)

    def _check(self, rule: Mapping[str, Any], whole: Passage, variant: Variant) -> Iterator[str]:
        constraint = self._constraint(rule)
        name = rule["name"]
        if constraint is None:
            self.unchecked[f"{name}: {self._lacking[name]}"] += 1
            return
        self.checked += 1
        check = constraint.check(whole, variant.text)
        if not check.passed:
            yield f"{name}: {check.reason or 'not held'}"
        elif name not in variant.checks:
            yield f"{name}: the pack states no value"
        elif not _close(variant.checks[name], check.value):
            yield f"{name}: the pack states {variant.checks[name]}, it is {check.value}"

    def _rules(self, variant: str, language: str) -> Iterator[Mapping[str, Any]]:
        yield from self.manifest.constraints
        for extra in self.manifest.extra_constraints:
            if extra["variant"] == variant and language in extra["languages"]:
                yield from extra["constraints"]

    def _constraint(self, rule: Mapping[str, Any]) -> Constraint | None:
        name, key = rule["name"], repr(sorted(rule.items(), key=str))
        if key not in self._made:
            kind = CONSTRAINTS.load(name, self.where)
            self._lacking[name] = missing(kind.requires)
            if kind.version != rule["version"]:
                stated = rule["version"]
                self.notes.append(f"constraint {name}: version {stated} in the pack, {kind.version} here")
            try:
                self._made[key] = None if self._lacking[name] else kind(**rule["options"])
            except TypeError as error:
                raise SagoError(f"{self.where}: options of constraint {name!r}: {error}") from error
            except SagoError as error:
                raise SagoError(f"{self.where}: {error}") from error
        return self._made[key]


def _close(stated: float | None, found: float | None) -> bool:
    if stated is None or found is None:
        return stated is None and found is None
    return abs(stated - found) <= _TOLERANCE * max(1.0, abs(found))


def recipe_of(manifest: Manifest, recipe: Recipe, where: str) -> tuple[Recipe, list[str]]:
    """Return the recipe with which to make a pack again, and how it differs from the pack's.

    Parameters
    ----------
    manifest : Manifest
    recipe : Recipe
        As it is on this machine.
    where : str
        Names the pack in messages.

    Raises
    ------
    SagoError
        If the recipe has another name or version.
    """
    if f"{recipe.name}.{recipe.version}" != manifest.recipe:
        raise SagoError(
            f"{where} was built with recipe {manifest.recipe}, here is {recipe.name}.{recipe.version}: "
            "name the file of the former with --recipe"
        )
    if manifest.negatives:
        recipe = recipe.with_negatives()
    notes = []
    for name, version in manifest.operators.items():
        here = OPERATORS.load(name).version if name in OPERATORS else None
        if here != version:
            notes.append(f"operator {name}: version {version} in the pack, {here or 'none'} here")
    unicode = manifest.versions.get("unicode")
    if unicode not in (None, unicodedata.unidata_version):
        notes.append(f"unicode: version {unicode} in the pack, {unicodedata.unidata_version} here")
    if recipe.digest != manifest.recipe_digest and not notes:
        notes.append(
            f"recipe {manifest.recipe}: digest {manifest.recipe_digest[:16]} in the pack, "
            f"{recipe.digest[:16]} here (its content, a word list or a constraint)"
        )
    return recipe, notes


@dataclass(slots=True)
class Rebuild:
    """Makes the variants of a pack again, one document at a time.

    Attributes
    ----------
    recipe : Recipe
    seed : int
    rebuilt : int
        Variants that were made again.
    unable : Counter
        Reason -> number of variants that this machine cannot make.
    """

    recipe: Recipe
    seed: int
    rebuilt: int = 0
    unable: Counter[str] = field(default_factory=Counter)

    def compare(self, packed: VariantSet) -> Iterator[Finding]:
        """Yield how a document's variants in the pack differ from those made now."""
        document = packed.document
        by_recipe = (
            {operator.variant_id for operator in self.recipe.for_language(document.language)}
            if self.recipe.varies(document.language)
            else set()
        )
        own = tuple(variant for variant in packed.variants[1:] if variant.id not in by_recipe)
        again = build(replace(document, own=own), self.recipe, self.seed)
        now = {variant.id: variant for variant in again.variants[1:]}
        reasons = {reject.id: reject.reason for reject in again.rejects}
        for variant in packed.variants[1:]:
            found = now.pop(variant.id, None)
            reason = reasons.get(variant.id, "the recipe has none")
            if found is None and reason.startswith(_UNABLE):
                self.unable[reason] += 1
                continue
            self.rebuilt += 1
            if found is None:
                yield Finding(document.id, variant.id, f"not made now: {reason}")
            elif found != variant:
                yield Finding(document.id, variant.id, _differs(variant, found))
        for name in now:
            yield Finding(document.id, name, "made now, not in the pack")


def _differs(packed: Variant, found: Variant) -> str:
    if packed.text != found.text:
        return f"made now as {_short(found.text)}, in the pack {_short(packed.text)}"
    return "made now with another family, operator, strength, position or feature"


def _short(text: str, width: int = 60) -> str:
    return repr(text if len(text) <= width else f"{text[: width - 1]}…")
