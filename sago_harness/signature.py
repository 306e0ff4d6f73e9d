"""What identifies a number: everything that must be equal for two values to be compared."""

from __future__ import annotations

import hashlib
import importlib.metadata
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from sago_harness.axes import MEASURES
from sago_harness.axes.encoders import Encoder, Missing
from sago_harness.axes.representation import REPRESENTATIONS
from sago_harness.jsonsafe import dumps
from sago_harness.variants.features import FEATURES
from sago_harness.variants.packs.pack import pack_digest

if TYPE_CHECKING:
    from sago_harness.data import VariantSet
    from sago_harness.hooks.origin import Origin
    from sago_harness.hooks.spec import TaskSpec

_PACKAGES = ("sago-harness", "lm_eval", "transformers", "torch", "sacrebleu")


@dataclass(frozen=True, slots=True)
class Signature:
    """Identifies the values of one task in one run.

    Attributes
    ----------
    task, version : str
    recipe : str
        Name and version.
    recipe_digest : str
        Hash of the recipe's content, the operators' versions and their word lists.
    variants : str
        Hash over all documents and their variants, word for word.
    pack : str
        sha256 of the pack that the variants were read from; empty if they were made.
    documents : int
    families : dict
        Variants of the recipe in each family.
    seed, controls, canonical_repeats, shots : int
    template : bool
        Chat template applied.
    prompts : str
        Hash of everything the prompts depend on beside the model's own template.
    scoring : str
        Hash of the gold answers and of how answers are taken out and compared.
    generation : dict
        Generation arguments.
    encoder : str
        Encoder, layer, kind, weights and b.
    pooling, layers : str
    representation_documents : int
        Documents whose states measures over the data set look at; 0 = all.
    measures : dict
        Measure -> version, those over the data set, and the features that mirroring reads with theirs.
    versions : dict
        Package -> version.
    """

    task: str
    version: str
    recipe: str
    recipe_digest: str
    variants: str
    pack: str
    documents: int
    families: dict[str, int]
    seed: int
    controls: int
    canonical_repeats: int
    shots: int
    template: bool
    prompts: str
    scoring: str
    generation: dict[str, Any]
    encoder: str
    pooling: str
    layers: str
    representation_documents: int
    measures: dict[str, int]
    versions: dict[str, str]

    def as_dict(self) -> dict[str, Any]:
        """Return plain JSON types."""
        return asdict(self)

    def __str__(self) -> str:
        parts = [
            f"task:{self.task}",
            f"v:{self.version}",
            f"recipe:{self.recipe}",
            f"variants:{self.variants}",
            *([f"pack:{self.pack[:16]}"] if self.pack else []),
            f"n:{self.documents}",
            f"seed:{self.seed}",
            f"ctl:{self.controls}",
            f"rep:{self.canonical_repeats}",
            f"shots:{self.shots}",
            f"tpl:{'yes' if self.template else 'no'}",
            f"enc:{self.encoder}",
            f"pool:{self.pooling}/{self.layers}",
            f"sago:{self.versions.get('sago-harness', '?')}",
            f"sig:{_hash(self.as_dict())}",
        ]
        return "|".join(parts)


def task_signature(
    spec: TaskSpec,
    origin: Origin,
    sets: Sequence[VariantSet],
    *,
    families: Mapping[str, int],
    version: Any,
    shots: int,
    template: bool,
    generation: Mapping[str, Any],
    prompts: Any,
    scoring: Any,
    encoder: str,
) -> Signature:
    """Build the signature of a task's run.

    Parameters
    ----------
    spec : TaskSpec
    origin : Origin
        Where the variants come from: a recipe or a pack.
    sets : sequence of VariantSet
        Of all documents that are evaluated, on all ranks.
    families : mapping of str to int
        Variants of the recipe in each family.
    version : object
        The task's.
    shots : int
        Few-shot examples.
    template : bool
        Chat template applied.
    generation : mapping
        Generation arguments.
    prompts : object
        Everything else that the prompts depend on and the model does not; hashed.
    scoring : object
        Gold answers and how they are compared; hashed.
    encoder : str
        Of :func:`encoder_label`.

    Returns
    -------
    Signature
    """
    variants = pack_digest(sets)[:16]
    return Signature(
        task=spec.task,
        version=str(version),
        recipe=origin.recipe,
        recipe_digest=origin.digest[:16],
        variants=variants,
        pack=origin.pack,
        documents=len(sets),
        families=dict(families),
        seed=spec.seed,
        controls=spec.controls,
        canonical_repeats=spec.canonical_repeats,
        shots=shots,
        template=template,
        prompts=_hash([variants, shots, template, dict(generation), prompts]),
        scoring=_hash(scoring),
        generation=json.loads(dumps(dict(generation))),
        encoder=encoder,
        pooling=spec.pooling,
        layers=spec.layers,
        representation_documents=spec.representation_documents,
        measures=_measure_versions(origin),
        versions=package_versions(),
    )


def _measure_versions(origin: Origin) -> dict[str, int]:
    """Return the versions of the measures, and of the features that the recipe's operators move."""
    measures = {name: MEASURES.load(name).version for name in MEASURES}
    measures |= {name: REPRESENTATIONS.load(name).version for name in REPRESENTATIONS}
    features = {f"feature:{name}": FEATURES.load(name).version for name in origin.features}
    return measures | features


def encoder_label(encoder: Encoder | Missing, b: float | None) -> str:
    """Return what a semantic distance depends on, in one word: encoder, layer, kind, weights, b.

    A local folder goes by its weights, never by where it lies.
    """
    if isinstance(encoder, Missing):
        return f"none({encoder.reason})"
    layer = f":{encoder.layer}" if encoder.layer is not None else ""
    weights = encoder.weights.partition(":")[2][:8] or encoder.weights[:8]
    return f"{encoder.name}{layer}/{encoder.kind}/{weights}/b={b:.6g}"


def package_versions() -> dict[str, str]:
    """Return the versions of the packages that numbers depend on."""
    versions = {}
    for name in _PACKAGES:
        try:
            versions[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            versions[name] = "not installed"
    return versions


def _hash(content: Any) -> str:
    return hashlib.sha256(dumps(content).encode()).hexdigest()[:16]
