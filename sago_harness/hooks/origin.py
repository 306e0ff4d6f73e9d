"""Where a task's variants come from: made with a recipe, or read from a pack byte for byte."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

from sago_harness import pipeline
from sago_harness.data import CANONICAL, Document, Variant, VariantSet
from sago_harness.errors import SagoError
from sago_harness.hooks.dataset import brought_families
from sago_harness.hooks.spec import TaskSpec
from sago_harness.jsonsafe import clean_text
from sago_harness.logs import warn_once
from sago_harness.variants.base import OTHER_FAMILIES, SCORED_FAMILIES
from sago_harness.variants.features import FEATURES
from sago_harness.variants.operators import OPERATORS
from sago_harness.variants.packs.packfile import Pack, open_pack
from sago_harness.variants.recipe import load_recipe


class Origin(Protocol):
    """Gives a document's variants, and says what identifies them."""

    #: Name of the recipe, for messages.
    name: str
    #: Name and version of the recipe.
    recipe: str
    #: The recipe's digest.
    digest: str
    #: sha256 of the pack; "" for variants that are made.
    pack: str
    #: Surface features that the recipe's operators move, sorted.
    features: tuple[str, ...]

    def families(self, language: str) -> dict[str, int]:
        """Return the number of variants of each scored family, for a language."""

    def varies(self, language: str) -> bool:
        """Say whether documents of a language can be varied."""

    def beside(self, rows: Sequence[Mapping[str, Any]], language: str) -> tuple[str, ...]:
        """Return the families with values beside the score: people's, and edits of the meaning."""

    def check(self, documents: Sequence[Document]) -> None:
        """Refuse documents whose variants cannot be given."""

    def variants(self, document: Document) -> VariantSet:
        """Return a document's variants."""


class FromRecipe:
    """Variants are made, document by document.

    Parameters
    ----------
    name : str
        As :func:`load_recipe` reads it.
    seed : int
    negatives : bool
        Edits that change the meaning are made too.
    """

    pack = ""

    def __init__(self, name: str, seed: int, negatives: bool = False) -> None:
        recipe = load_recipe(name)
        self._recipe = recipe.with_negatives() if negatives else recipe
        self._seed = seed
        self.name = self._recipe.name
        self.recipe = f"{self._recipe.name}.{self._recipe.version}"
        self.digest = self._recipe.digest
        moved = {OPERATORS.load(entry.operator).feature for entry in self._recipe.entries}
        self.features = tuple(sorted(filter(None, moved)))

    def families(self, language: str) -> dict[str, int]:
        """See :class:`Origin`."""
        return self._recipe.count(language)

    def varies(self, language: str) -> bool:
        """See :class:`Origin`."""
        return self._recipe.varies(language)

    def beside(self, rows: Sequence[Mapping[str, Any]], language: str) -> tuple[str, ...]:
        """See :class:`Origin`."""
        found = brought_families(rows) & set(self._recipe.brought)
        if self._recipe.varies(language):
            found |= {operator.family for operator in self._recipe.for_language(language)}
        return tuple(family for family in OTHER_FAMILIES if family in found)

    def check(self, documents: Sequence[Document]) -> None:
        """Do nothing: variants of any document can be made."""

    def variants(self, document: Document) -> VariantSet:
        """See :class:`Origin`."""
        return pipeline.expand(document, self._recipe, self._seed)


class FromPack:
    """Variants are read.

    Parameters
    ----------
    pack : Pack
    spec : TaskSpec
    version : str
        The task's.

    Raises
    ------
    SagoError
        If the pack is of another task, version or recipe.
    """

    def __init__(self, pack: Pack, spec: TaskSpec, version: str) -> None:
        manifest = pack.manifest
        self._pack = pack
        self._task = spec.task
        self.name = self.recipe = manifest.recipe
        self.digest = manifest.recipe_digest
        self.pack = manifest.sha256
        for name in manifest.features:
            FEATURES.load(name, f"pack {pack.path}")
        self.features = tuple(sorted(manifest.features))
        wanted = {"task": spec.task, "task version": version}
        found = {"task": manifest.task, "task version": manifest.task_version}
        if spec.recipe:
            asked = load_recipe(spec.recipe)
            wanted["recipe"] = f"{asked.name}.{asked.version}"
            found["recipe"] = manifest.recipe
        if spec.seed != manifest.seed:
            warn_once(
                f"task {spec.task!r}: the variants of pack {pack.path} were made with seed {manifest.seed}; "
                f"variant_seed={spec.seed} chooses documents and partners only"
            )
        if spec.negatives and not manifest.negatives:
            raise SagoError(
                f"task {spec.task!r}: pack {pack.path} was built without negative controls: "
                "build it with --negatives, or leave `negatives` out"
            )
        for kind, value in wanted.items():
            if found[kind] != value:
                raise SagoError(
                    f"task {spec.task!r}: pack {pack.path} was built for {kind} {found[kind]}, this run has "
                    f"{kind} {value}; build a pack for it: sago variants build {spec.task} "
                    f"--recipe {spec.recipe} --out FILE"
                )

    def families(self, language: str) -> dict[str, int]:
        """See :class:`Origin`.

        Raises
        ------
        SagoError
            If the pack has variants of other languages only.
        """
        known = self._pack.manifest.families
        if known and language not in known:
            raise SagoError(
                f"pack {self._pack.path} has no variant for language {language!r}: it has {', '.join(known)}"
            )
        # JSON keeps the order in which a recipe counts, another tool may not.
        counts = known.get(language, {})
        return {family: int(counts[family]) for family in SCORED_FAMILIES if family in counts}

    def varies(self, language: str) -> bool:
        """See :class:`Origin`."""
        known = self._pack.manifest.families
        return not known or language in known

    def beside(self, rows: Sequence[Mapping[str, Any]], language: str) -> tuple[str, ...]:
        """See :class:`Origin`: what the pack holds counts, not what the rows bring."""
        return tuple(family for family in OTHER_FAMILIES if self._pack.manifest.made.get(family))

    def check(self, documents: Sequence[Document]) -> None:
        """Refuse a pack that lacks documents, or whose documents say something else.

        Raises
        ------
        SagoError
            Names the missing documents, or shows both texts of the first that differs.
        """
        self._pack.check_documents([document.id for document in documents])
        for document in documents:
            packed = self._pack.get(clean_text(document.id)).document
            for kind, ours, theirs in (
                ("fields", dict(document.fields), dict(packed.fields)),
                ("language", document.language, packed.language),
                ("kept literals", ", ".join(document.keep), ", ".join(packed.keep)),
            ):
                if ours != theirs:
                    raise SagoError(
                        f"task {self._task!r}: {kind} of document {document.id!r} differ from pack "
                        f"{self._pack.path}: {_difference(ours, theirs)}; build the pack again"
                    )

    def variants(self, document: Document) -> VariantSet:
        """See :class:`Origin`; the canonical variant alone for a document that is not evaluated."""
        if document.id not in self._pack:
            return VariantSet(document, (Variant(CANONICAL, CANONICAL, "", dict(document.fields)),))
        packed = self._pack.get(document.id)
        return VariantSet(document, packed.variants, packed.rejects)


def origin_of(spec: TaskSpec, version: str, config: Mapping[str, Any]) -> Origin:
    """Return where a task's variants come from.

    Parameters
    ----------
    spec : TaskSpec
    version : str
        The task's.
    config : mapping
        Its YAML; a pack may lie beside it.

    Raises
    ------
    SagoError
        If the recipe or the pack cannot be read, or the pack is another task's.
    """
    if not spec.pack:
        return FromRecipe(spec.recipe, spec.seed, spec.negatives)
    path = Path(spec.pack).expanduser()
    yaml = (config.get("metadata") or {}).get("config_source")
    if not path.exists() and yaml and (Path(yaml).parent / path).is_file():
        path = Path(yaml).parent / path
    return FromPack(open_pack(path), spec, version)


def _difference(ours: str | Mapping[str, str], theirs: str | Mapping[str, str], width: int = 60) -> str:
    """Show two values around the place where they part."""
    left, right = str(ours), str(theirs)
    at = next(
        (k for k, (a, b) in enumerate(zip(left, right, strict=False)) if a != b), min(len(left), len(right))
    )
    start = max(0, at - width // 2)
    shown = [
        ("…" if start else "") + text[start : start + width] + ("…" if start + width < len(text) else "")
        for text in (left, right)
    ]
    return f"here {shown[0]!r}, in the pack {shown[1]!r}"
