"""Projection-weighted CCA: do the directions that matter to one set of states exist in the other?"""

from __future__ import annotations

import numpy as np

from sago_harness.axes.representation.base import Doubles, Representation, Side

#: Principal components that are kept: at most one for so many documents.
DOCUMENTS_A_COMPONENT = 5

#: Components under this share of the first one are rounding.
_RANK = 1e-10


class Pwcca(Representation):
    """``x_pwcca`` = 1 - sum a_i rho_i / sum a_i over the canonical correlations rho_i of X and Y.

    Both are first reduced to their leading principal components, at most a fifth of the
    documents, since CCA finds perfect correlations wherever there are as many dimensions as
    documents. a_i = sum over the components z of X of abs(<h_i, z>), h_i being X's i-th
    canonical variate; with components in place of neurons the weights do not depend on the
    axes. X are the canonical states, so that it is not symmetric.
    """

    name = "x_pwcca"
    symmetric = False
    bounded = True
    reference = "Morcos et al. 2018; Raghu et al. 2017 for the reduction"

    def compare(self, x: Side, y: Side) -> float:
        """See :class:`Representation`."""
        count = max(1, x.documents // DOCUMENTS_A_COMPONENT)
        basis_x, sizes_x = _components(x.coordinates, count)
        basis_y, _ = _components(y.coordinates, count)
        left, correlations, _ = np.linalg.svd(basis_x.T @ basis_y, full_matrices=False)
        weights = np.abs(left.T * sizes_x).sum(axis=1)
        similarity = np.sum(weights * np.minimum(correlations, 1.0)) / np.sum(weights)
        return float(1.0 - similarity)


def _components(states: Doubles, count: int) -> tuple[Doubles, Doubles]:
    """Return the leading principal components: orthonormal (n, k) and their sizes (k,)."""
    basis, sizes, _ = np.linalg.svd(states, full_matrices=False)
    kept = min(count, int((sizes > _RANK * sizes[0]).sum()))
    return basis[:, :kept], sizes[:kept]
