"""Activation axis: how far the representation of the prompt turns, layer by layer.

``x_act`` is the mean over the blocks of the angle between the hidden states of the
variant and of the canonical prompt, in units of a right angle. Layer 0 is left out:
under a chat template the last token's embedding never changes.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.floating]


def layer_angles(states: FloatArray, canonical: FloatArray) -> npt.NDArray[np.float64]:
    """Return the angle between two hidden states in every layer, as a share of a right angle.

    Computed as ``2 atan2(|u - w|, |u + w|)`` of unit vectors in float64 (Kahan), which is
    exactly 0 for equal vectors and accurate for small angles; the arccos of a float32
    cosine is neither.

    Parameters
    ----------
    states, canonical : ndarray of shape (L, D)
        Hidden states of the two prompts.

    Returns
    -------
    ndarray of shape (L,), float64
        (2/pi) angle, clipped to [0, 1]; NaN where a state is zero or not finite.

    Raises
    ------
    ValueError
        If the shapes differ.

    Examples
    --------
    >>> layer_angles(np.array([[1.0, 0.0]]), np.array([[1.0, 1.0]])).tolist()
    [0.5]
    """
    if states.shape != canonical.shape:
        raise ValueError(f"hidden states of shapes {states.shape} and {canonical.shape} cannot be compared")
    u = np.asarray(states, dtype=np.float64)
    w = np.asarray(canonical, dtype=np.float64)
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        u = u / np.linalg.norm(u, axis=-1, keepdims=True)
        w = w / np.linalg.norm(w, axis=-1, keepdims=True)
        angle = 2.0 * np.arctan2(np.linalg.norm(u - w, axis=-1), np.linalg.norm(u + w, axis=-1))
    return np.asarray(np.clip(angle * (2.0 / math.pi), 0.0, 1.0), dtype=np.float64)


def activation_distance(angles: FloatArray) -> float:
    """Return ``x_act``: the mean angle over layers 1..L.

    Parameters
    ----------
    angles : ndarray of shape (L + 1,)
        Of :func:`layer_angles`, embedding first.

    Returns
    -------
    float
        In [0, 1]; NaN if any layer's angle is.

    Examples
    --------
    >>> activation_distance(np.array([0.9, 0.25, 0.75]))
    0.5
    """
    return float(np.mean(angles[1:]))


def cosine_raw_delta(states: FloatArray, canonical: FloatArray) -> float:
    """Return the raw delta of the published scheme: mean over all layers of cos - 1.

    Embedding included (arXiv 2610.01428).

    Parameters
    ----------
    states, canonical : ndarray of shape (L + 1, D)

    Returns
    -------
    float
        In [-2, 0]; NaN if a state is zero or not finite.

    Examples
    --------
    >>> cosine_raw_delta(np.array([[0.0, 2.0]]), np.array([[1.0, 0.0]]))
    -1.0
    """
    u = np.asarray(states, dtype=np.float64)
    w = np.asarray(canonical, dtype=np.float64)
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        cosine = np.sum(u * w, axis=-1) / (np.linalg.norm(u, axis=-1) * np.linalg.norm(w, axis=-1))
    return float(np.mean(np.clip(cosine, -1.0, 1.0) - 1.0))
