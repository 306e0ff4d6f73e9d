"""What identifies a set of variants: its digest, and what a pack says of itself."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields
from typing import Any

from sago_harness.data import VariantSet
from sago_harness.errors import SagoError
from sago_harness.jsonsafe import dumps

#: Number of the file format, the first thing in a pack.
FORMAT = 1
MARK = "sago_pack"


@dataclass(frozen=True, slots=True)
class Manifest:
    """The first line of a pack: what its variants were made of, and with what.

    Attributes
    ----------
    task, task_version : str
    recipe : str
        Name and version.
    recipe_digest : str
        :attr:`Recipe.digest`.
    seed : int
    negatives : bool
        Negative controls were asked for beside the recipe.
    levels : tuple of str
        What was kept: ``"literal"``, ``"semantic"``.
    constraints : tuple of dict
        ``name``, ``version`` and ``options`` of each, in the order in which they were checked.
    extra_constraints : tuple of dict
        ``variant``, ``languages`` and ``constraints`` of those that must pass more.
    families : dict
        Language -> scored family -> number of variants that the recipe asks for.
    operators, features : dict
        Name -> version.
    versions : dict
        Package -> version, of those that the variants depend on, and Unicode's.
    models : dict
        Packaged model -> sha256 of its weights.
    rewriter : dict or None
        Settings of the rewriter.
    documents, variants, rejects : int
    made : dict
        Family -> number of variants in the pack.
    sha256 : str
        Over the document lines and this manifest without the hash itself.

    Examples
    --------
    >>> Manifest("t", "1.0", "quick.1", "00", 42).sealed("0" * 64).as_dict()["sago_pack"]
    1
    """

    task: str
    task_version: str
    recipe: str
    recipe_digest: str
    seed: int
    negatives: bool = False
    levels: tuple[str, ...] = ()
    constraints: tuple[dict[str, Any], ...] = ()
    extra_constraints: tuple[dict[str, Any], ...] = ()
    families: dict[str, dict[str, int]] = field(default_factory=dict)
    operators: dict[str, int] = field(default_factory=dict)
    features: dict[str, int] = field(default_factory=dict)
    versions: dict[str, str] = field(default_factory=dict)
    models: dict[str, str] = field(default_factory=dict)
    rewriter: dict[str, Any] | None = None
    documents: int = 0
    variants: int = 0
    rejects: int = 0
    made: dict[str, int] = field(default_factory=dict)
    sha256: str = ""

    def as_dict(self) -> dict[str, Any]:
        """Return plain JSON types, the format's number first."""
        content: dict[str, Any] = {MARK: FORMAT}
        for item in fields(self):
            value = getattr(self, item.name)
            content[item.name] = list(value) if isinstance(value, tuple) else value
        return content

    def sealed(self, body: str) -> Manifest:
        """Return the manifest with its hash.

        Parameters
        ----------
        body : str
            sha256 of the document lines.
        """
        content = {**self.as_dict(), "sha256": body}
        # Sorted, so that only what the manifest says counts.
        text = dumps(dict(sorted(content.items())))
        values = {item.name: getattr(self, item.name) for item in fields(self)}
        return Manifest(**{**values, "sha256": hashlib.sha256(text.encode()).hexdigest()})

    @classmethod
    def of(cls, content: Mapping[str, Any], where: str) -> Manifest:
        """Read a manifest.

        Parameters
        ----------
        content : mapping
            First line of a file.
        where : str
            Names the file in messages.

        Raises
        ------
        SagoError
            If it is no manifest, of another format, or lacks something.
        """
        if MARK not in content:
            raise SagoError(f"{where} is no pack of variants: its first line lacks {MARK!r}")
        if content[MARK] != FORMAT:
            raise SagoError(
                f"{where} is a pack of format {content[MARK]!r}; this version of sago-harness reads "
                f"format {FORMAT}: build the pack again, or install the version that made it"
            )
        values: dict[str, Any] = {}
        for item in fields(cls):
            if item.name not in content:
                raise SagoError(f"{where}: the manifest lacks {item.name!r}")
            value = content[item.name]
            kinds = _KINDS[str(item.type).partition("[")[0].partition(" ")[0]]
            if item.name == "rewriter":
                kinds = (dict, type(None))
            if not isinstance(value, kinds) or (isinstance(value, bool) and bool not in kinds):
                raise SagoError(f"{where}: {item.name} of the manifest is of type {type(value).__name__}")
            values[item.name] = tuple(value) if isinstance(value, list) else value
        _check_rules(values["constraints"], where)
        for extra in values["extra_constraints"]:
            if not (
                isinstance(extra, dict)
                and isinstance(extra.get("variant"), str)
                and isinstance(extra.get("languages"), list)
                and isinstance(extra.get("constraints"), list)
            ):
                raise SagoError(
                    f"{where}: an extra constraint of the manifest lacks variant, languages or constraints"
                )
            _check_rules(extra["constraints"], where)
        if not all(isinstance(counts, dict) for counts in values["families"].values()):
            raise SagoError(f"{where}: families of the manifest must be counts by language")
        return cls(**values)


def _check_rules(rules: Iterable[Any], where: str) -> None:
    for rule in rules:
        if not (
            isinstance(rule, dict)
            and isinstance(rule.get("name"), str)
            and isinstance(rule.get("version"), int)
            and isinstance(rule.get("options"), dict)
        ):
            raise SagoError(f"{where}: a constraint of the manifest lacks name, version or options")
        if not all(isinstance(value, str | int | float) for value in rule["options"].values()):
            raise SagoError(f"{where}: an option of constraint {rule['name']!r} is no number or text")


#: Type of a field as written above -> what JSON gives.
_KINDS: dict[str, tuple[type, ...]] = {
    "str": (str,),
    "int": (int,),
    "bool": (bool,),
    "tuple": (list,),
    "dict": (dict,),
}


def pack_digest(sets: Iterable[VariantSet]) -> str:
    """Return the sha256 of the variants of many documents.

    It covers each variant's id, family, operator, strength, position and fields with the
    document's id and language. The order of the documents does not matter, that of the
    variants and fields of one document does.

    Parameters
    ----------
    sets : iterable of VariantSet
        Read once; only one hash per document is held.

    Returns
    -------
    str
        64 hexadecimal digits.

    Examples
    --------
    >>> from sago_harness.data import Document, Variant
    >>> def one(name: str) -> VariantSet:
    ...     fields = {"q": name}
    ...     return VariantSet(Document(name, fields), (Variant("canonical", "canonical", "", fields),))
    >>> pack_digest([one("a"), one("b")]) == pack_digest([one("b"), one("a")])
    True
    """
    digests = sorted(_set_digest(variants) for variants in sets)
    return hashlib.sha256("\n".join(digests).encode()).hexdigest()


def _set_digest(made: VariantSet) -> str:
    content = [
        made.document.id,
        made.document.language,
        [
            [
                variant.id,
                variant.family,
                variant.operator,
                None if variant.strength is None else float(variant.strength),
                variant.position,
                list(variant.fields.items()),
            ]
            for variant in made.variants
        ],
    ]
    return hashlib.sha256(json.dumps(content).encode()).hexdigest()
