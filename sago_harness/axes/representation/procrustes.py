"""Procrustes distance: what is left when one set of states is rotated onto the other."""

from __future__ import annotations

import math

import numpy as np

from sago_harness.axes.representation.base import Representation, Side


class Procrustes(Representation):
    """``x_procrustes`` = min over rotations R of ||X - Y R|| / sqrt(2), X and Y centred, of norm 1.

    R is any orthogonal matrix; sqrt(2) is the largest distance, so it lies in [0, 1]. With
    fewer documents than dimensions a rotation fits much by chance: read it against its own
    chance level.
    """

    name = "x_procrustes"
    symmetric = True
    bounded = True
    reference = "Schoenemann 1966; Ding et al. 2021 for states of networks"

    def compare(self, x: Side, y: Side) -> float:
        """See :class:`Representation`."""
        a = x.coordinates / np.linalg.norm(x.coordinates)
        b = y.coordinates / np.linalg.norm(y.coordinates)
        left, _, right = np.linalg.svd(b.T @ a)
        # The residual itself: 1 - the sum of singular values loses half of the digits near 0.
        return min(1.0, float(np.linalg.norm(a - b @ (left @ right))) / math.sqrt(2.0))
