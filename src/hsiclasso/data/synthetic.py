"""The two synthetic designs of the paper, with the causal columns where the caller wants them."""

from __future__ import annotations

import numpy as np

from hsiclasso._types import FloatArray, IntArray
from hsiclasso.errors import InvalidInputError

__all__ = ["make_data1", "make_data2"]

Design = tuple[FloatArray, FloatArray, IntArray]


def make_data1(
    n_samples: int = 200,
    n_features: int = 256,
    *,
    shuffle: bool = True,
    random_state: int | np.random.Generator | None = None,
) -> Design:
    r"""Draw the paper's additive design, Data1.

    :math:`Y = -2\sin(2X_1) + X_2^2 + X_3 + \exp(-X_4) + E` with independent standard normal
    features and noise.

    Parameters
    ----------
    n_samples, n_features : int
        Size of the table; the paper takes 256 features.
    shuffle : bool
        Put the causal columns at random positions instead of the first ones.
    random_state : int, Generator or None
        Source of randomness.

    Returns
    -------
    X : ndarray of shape (n_samples, n_features)
    y : ndarray of shape (n_samples,)
    causal : ndarray of shape (4,)
        Columns of X that stand for X_1, ..., X_4.

    Examples
    --------
    >>> X, y, causal = make_data1(50, shuffle=False, random_state=0)
    >>> X.shape, causal.tolist()
    ((50, 256), [0, 1, 2, 3])
    """
    X, noise, causal = _draw(n_samples, n_features, 4, shuffle, random_state)
    x1, x2, x3, x4 = X[:, causal].T
    return X, -2 * np.sin(2 * x1) + x2**2 + x3 + np.exp(-x4) + noise, causal


def make_data2(
    n_samples: int = 200,
    n_features: int = 1000,
    *,
    shuffle: bool = True,
    random_state: int | np.random.Generator | None = None,
) -> Design:
    r"""Draw the paper's non-additive design, Data2.

    :math:`Y = X_1\exp(2X_2) + X_3^2 + E` with independent standard normal features and noise.
    The target is heavy-tailed: a rank-transformed target recovers :math:`X_3` far earlier.

    Parameters
    ----------
    n_samples, n_features : int
        Size of the table; the paper takes 1000 features.
    shuffle : bool
        Put the causal columns at random positions instead of the first ones.
    random_state : int, Generator or None
        Source of randomness.

    Returns
    -------
    X : ndarray of shape (n_samples, n_features)
    y : ndarray of shape (n_samples,)
    causal : ndarray of shape (3,)
        Columns of X that stand for X_1, X_2, X_3.

    Examples
    --------
    >>> X, y, causal = make_data2(50, shuffle=False, random_state=0)
    >>> X.shape, causal.tolist()
    ((50, 1000), [0, 1, 2])
    """
    X, noise, causal = _draw(n_samples, n_features, 3, shuffle, random_state)
    x1, x2, x3 = X[:, causal].T
    return X, x1 * np.exp(2 * x2) + x3**2 + noise, causal


def _draw(
    n_samples: int,
    n_features: int,
    n_causal: int,
    shuffle: bool,
    random_state: int | np.random.Generator | None,
) -> Design:
    if n_features < n_causal:
        raise InvalidInputError(
            f"n_features={n_features}, but the design has {n_causal} causal columns: "
            f"ask for {n_causal} features or more."
        )
    rng = np.random.default_rng(random_state)
    X = rng.standard_normal((n_samples, n_features))
    noise = rng.standard_normal(n_samples)
    causal = rng.permutation(n_features)[:n_causal] if shuffle else np.arange(n_causal)
    return X, noise, causal
