"""What identifies a number: everything that must be equal for two values to be compared."""

from __future__ import annotations

import hashlib
import importlib.metadata
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from sago_harness.axes import MEASURES
from sago_harness.jsonsafe import dumps
from sago_harness.variants.features import FEATURES
from sago_harness.variants.operators import OPERATORS

if TYPE_CHECKING:
    from sago_harness.hooks.spec import TaskSpec
    from sago_harness.variants.recipe import Recipe

_PACKAGES = ("sago-harness", "lm_eval", "transformers", "torch", "sacrebleu")


@dataclass(frozen=True, slots=True)
class Signature:
    """Identifies the values of one task in one run.

    Attributes
    ----------
    task, version : str
    recipe : str
        Name and version.
    variants : str
        Hash of the recipe's content, the operators' versions and tables, the seed and the
        documents: the same variants have the same hash.
    documents : int
    families : dict
        Variants of the recipe in each family.
    seed, controls, canonical_repeats, shots : int
    template : bool
        Chat template applied.
    prompts : str
        Hash of everything the prompts depend on.
    generation : dict
        Generation arguments.
    encoder : str
        Encoder, layer and kind.
    pooling, layers : str
    measures : dict
        Measure -> version, and the features that mirroring reads with theirs.
    versions : dict
        Package -> version.
    """

    task: str
    version: str
    recipe: str
    variants: str
    documents: int
    families: dict[str, int]
    seed: int
    controls: int
    canonical_repeats: int
    shots: int
    template: bool
    prompts: str
    generation: dict[str, Any]
    encoder: str
    pooling: str
    layers: str
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
            f"n:{self.documents}",
            f"seed:{self.seed}",
            f"ctl:{self.controls}",
            f"rep:{self.canonical_repeats}",
            f"shots:{self.shots}",
            f"tpl:{'yes' if self.template else 'no'}",
            f"enc:{self.encoder}",
            f"pool:{self.pooling}/{self.layers}",
            f"sago:{self.versions.get('sago-harness', '?')}",
        ]
        return "|".join(parts)


def task_signature(
    spec: TaskSpec,
    recipe: Recipe,
    documents: Sequence[tuple[str, str]],
    *,
    families: Mapping[str, int],
    version: Any,
    num_fewshot: int,
    generation: Mapping[str, Any],
    template: bool,
    system_instruction: str | None,
    doc_to_text: Any,
) -> Signature:
    """Build the signature of a task's run.

    Parameters
    ----------
    spec : TaskSpec
    recipe : Recipe
    documents : sequence of (id, text)
        All that are evaluated, on all ranks.
    """
    variants = _hash([recipe.digest, spec.seed, spec.language, sorted(documents)])
    prompts = _hash(
        {
            "variants": variants,
            "shots": num_fewshot,
            "template": template,
            "system": system_instruction,
            "text": str(doc_to_text),
            "controls": [spec.controls, spec.canonical_repeats],
            "generation": dict(generation),
            "signals": [spec.pooling, spec.layers],
        }
    )
    return Signature(
        task=spec.task,
        version=str(version),
        recipe=f"{recipe.name}.{recipe.version}",
        variants=variants,
        documents=len(documents),
        families=dict(families),
        seed=spec.seed,
        controls=spec.controls,
        canonical_repeats=spec.canonical_repeats,
        shots=num_fewshot,
        template=template,
        prompts=prompts,
        generation=json.loads(dumps(dict(generation))),
        encoder=encoder_label(spec.encoder, spec.language),
        pooling=spec.pooling,
        layers=spec.layers,
        measures=_measure_versions(recipe),
        versions=package_versions(),
    )


def _measure_versions(recipe: Recipe) -> dict[str, int]:
    """Return the versions of the measures, and of the features that the recipe's operators move."""
    measures = {name: MEASURES.load(name).version for name in MEASURES}
    moved = {OPERATORS.load(entry.operator).feature for entry in recipe.entries} - {None}
    features = {f"feature:{name}": FEATURES.load(name).version for name in sorted(filter(None, moved))}
    return measures | features


def encoder_label(encoder: str | None, language: str) -> str:
    """Return encoder, layer and kind in one word."""
    from sago_harness.axes.encoders.spec import default_spec, parse_spec

    spec = parse_spec(encoder or default_spec(language))
    layer = f":{spec.layer}" if spec.layer is not None else ""
    return f"{spec.source}{layer}/{spec.kind}"


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
