"""Synthetic designs: the two of the paper, and one with redundant copies."""

from __future__ import annotations

import numpy as np

from hsiclasso._types import FloatArray, IntArray
from hsiclasso.errors import InvalidInputError

__all__ = ["make_copies", "make_data1", "make_data2"]

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
    n_samples : int, default=200
    n_features : int, default=256
        Number of features, as in the paper.
    shuffle : bool, default=True
        Whether the causal columns are at random positions instead of the first ones.
    random_state : int, Generator or None, default=None
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
    n_samples, shuffle, random_state
        As in `make_data1`.
    n_features : int, default=1000
        Number of features, as in the paper.

    Returns
    -------
    X, y, causal
        As in `make_data1`; there are three causal columns.

    Examples
    --------
    >>> X, y, causal = make_data2(50, shuffle=False, random_state=0)
    >>> X.shape, causal.tolist()
    ((50, 1000), [0, 1, 2])
    """
    X, noise, causal = _draw(n_samples, n_features, 3, shuffle, random_state)
    x1, x2, x3 = X[:, causal].T
    return X, x1 * np.exp(2 * x2) + x3**2 + noise, causal


def make_copies(
    n_samples: int = 200,
    n_features: int = 256,
    *,
    n_copies: int = 10,
    spread: float = 0.3,
    shuffle: bool = True,
    random_state: int | np.random.Generator | None = None,
) -> Design:
    r"""Draw the additive design with redundant copies of its causal features.

    The target is that of `make_data1`. Each causal feature :math:`X_j` has `n_copies` noisy copies
    :math:`(X_j + s E) / \sqrt{1 + s^2}`, each with its own noise E and the `spread` s. A method
    that looks at features one by one ranks the copies of the strongest feature next; the goal is
    to find four different causal features.

    Parameters
    ----------
    n_samples, n_features, random_state
        As in `make_data1`; the features include the copies.
    n_copies : int, default=10
        Copies of each of the four causal features.
    spread : float, default=0.3
        Standard deviation of the noise in a copy.
    shuffle : bool, default=True
        Whether columns are in random order; otherwise causal features, copies and noise follow
        each other.

    Returns
    -------
    X, y
        As in `make_data1`.
    origin : ndarray of shape (n_features,)
        0 to 3 for the causal feature that a column is or copies, -1 for noise.

    Examples
    --------
    >>> X, y, origin = make_copies(50, 60, n_copies=2, shuffle=False, random_state=0)
    >>> origin[:13].tolist()
    [0, 1, 2, 3, 0, 0, 1, 1, 2, 2, 3, 3, -1]
    """
    if n_copies < 0 or not (np.isfinite(spread) and spread >= 0):
        raise InvalidInputError(
            f"n_copies={n_copies} and spread={spread}, but neither may be negative."
        )
    if n_features < 4 * (1 + n_copies):
        raise InvalidInputError(
            f"n_features={n_features}, but four causal features with {n_copies} copies each take "
            f"{4 * (1 + n_copies)}: ask for more features or fewer copies."
        )
    rng = np.random.default_rng(random_state)
    X, y, _ = make_data1(n_samples, n_features, shuffle=False, random_state=rng)
    origin = np.full(n_features, -1)
    origin[:4] = np.arange(4)
    copies = slice(4, 4 * (1 + n_copies))
    origin[copies] = np.repeat(np.arange(4), n_copies)
    noise = spread * rng.standard_normal((n_samples, 4 * n_copies))
    X[:, copies] = (X[:, origin[copies]] + noise) / np.sqrt(1 + spread**2)
    order = rng.permutation(n_features) if shuffle else np.arange(n_features)
    return X[:, order], y, origin[order]


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
