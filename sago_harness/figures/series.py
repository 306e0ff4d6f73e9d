"""Models as series: the same colour, shape and dash in every figure, and one to be picked out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from sago_harness.figures.names import columns, labels, whole
from sago_harness.figures.panels import tips
from sago_harness.figures.theme import DASHES, MOST, SHAPES

#: Name of the selection of a model, in every figure.
PICK = "pick"

#: How strong a mark of a model that is not picked remains.
FAINT = 0.15

Encoding = dict[str, Any]


@dataclass(frozen=True)
class Series:
    """The models of a study.

    Attributes
    ----------
    models : tuple of str
        In the order of the study, which gives each its looks.
    """

    models: tuple[str, ...]

    @cached_property
    def label(self) -> dict[str, str]:
        """Model -> label."""
        return labels(self.models)

    @property
    def many(self) -> bool:
        """Say whether there are too many to be told apart by looks."""
        return len(self.models) > MOST

    @property
    def names(self) -> list[str]:
        """Labels, in the order of the models."""
        return list(self.label.values())

    @cached_property
    def cut(self) -> bool:
        """Say whether some label is not the whole name: tooltips say that then."""
        return any(label != whole(model) for model, label in self.label.items())

    def said(self, model: str) -> dict[str, str]:
        """Return what a row of data says of its model."""
        row = {"model": self.label[model]}
        return {**row, "full": whole(model)} if self.cut else row

    @property
    def tip(self) -> list[dict[str, Any]]:
        """Return the part of a tooltip that names the model."""
        return tips(full="model") if self.cut else tips(model="model")

    def legend(self, width: int) -> dict[str, Any]:
        """Return where the legend stands and in how many columns, for a figure so many pixels wide."""
        widest = max((columns(name) for name in self.names), default=1)
        return {
            "title": None,
            "orient": "bottom",
            "direction": "horizontal",
            "columns": max(1, min(len(self.models), width // (36 + 7 * widest))),
            "symbolLimit": MOST,
        }

    def looks(self, *channels: str, legend: dict[str, Any] | None = None) -> Encoding:
        """Return encodings by model; none where there are too many of them.

        Parameters
        ----------
        *channels : {"color", "shape"}
        legend : dict, optional
            Default: none.
        """
        if self.many:
            return {}
        ranges: dict[str, dict[str, Any]] = {
            "color": {},
            "shape": {"range": list(SHAPES[: len(self.models)])},
        }
        return {
            channel: {
                "field": "model",
                "type": "nominal",
                "scale": {"domain": self.names, **ranges[channel]},
                "legend": legend,
            }
            for channel in channels
        }

    def dash(self, model: str) -> str:
        """Return what stands for a model's dash in a row of data."""
        return str(self.models.index(model))

    def dashes(self) -> Encoding:
        """Return the encoding of dashes; a field of their own keeps them out of the legend's marks."""
        if self.many:
            return {}
        count = len(self.models)
        scale = {"domain": list(map(str, range(count))), "range": [list(dash) for dash in DASHES[:count]]}
        return {"strokeDash": {"field": "dash", "type": "nominal", "scale": scale, "legend": None}}

    def param(self, *, legend: bool = False) -> dict[str, Any]:
        """Return the selection: a click on the legend, or on a mark, brings a model out."""
        made: dict[str, Any] = {"name": PICK, "select": {"type": "point", "fields": ["model"]}}
        if legend and not self.many:
            made["bind"] = {"legend": "click"}
            made["select"]["on"] = "click"
        return made


def picked(full: float = 1.0) -> Encoding:
    """Return the opacity of a mark: ``full`` unless another model is picked."""
    return {"opacity": {"condition": {"param": PICK, "value": full}, "value": FAINT * full}}


def ordered(models: Sequence[str], keys: Sequence[float], *, higher: bool) -> list[str]:
    """Return models, the most stable first; those without a value last, by name.

    Examples
    --------
    >>> ordered(["a", "b", "c"], [0.1, float("nan"), 0.3], higher=True)
    ['c', 'a', 'b']
    """
    sign = -1.0 if higher else 1.0
    pairs = sorted(
        (k != k, sign * k if k == k else 0.0, model) for model, k in zip(models, keys, strict=True)
    )
    return [model for *_, model in pairs]
