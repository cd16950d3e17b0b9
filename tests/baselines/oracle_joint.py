"""Searches for the largest HSIC by trying everything, conditions of HSFS, and targets.

Nothing here imports the package.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np
from scipy.linalg import expm
from scipy.stats import rankdata

from hsiclasso import Auto, Gaussian, Objects
from tests import oracles

HSIC = {"biased": oracles.biased_hsic, "unbiased": oracles.unbiased_hsic}


def u_centred(L):
    """Zero diagonal; elsewhere rows, columns and the whole lose their means (Szekely, Rizzo)."""
    n = len(L)
    hollow = L - np.diag(np.diag(L))
    out = np.zeros((n, n))
    for i in range(n):
        for j in range(n):
            if i != j:
                out[i, j] = (
                    hollow[i, j]
                    - hollow[i].sum() / (n - 2)
                    - hollow[:, j].sum() / (n - 2)
                    + hollow.sum() / ((n - 1) * (n - 2))
                )
    return out


def subset_hsic(X, L, subset, *, estimator="biased", width=1.0, retune=True):
    """HSIC of some columns of X together; 0 of none."""
    subset = list(subset)
    if not subset:
        return 0.0
    sigma = width * np.sqrt(len(subset)) if retune else width
    return HSIC[estimator](oracles.joint_gram(oracles.standardised(X)[:, subset], sigma), L)


def forward(X, L, size, **options):
    """Add the feature that makes HSIC largest; returns features, values, and scores at the end."""
    chosen, values = [], []
    left = list(range(np.shape(X)[1]))
    while len(chosen) < size:
        scores = [subset_hsic(X, L, [*chosen, j], **options) for j in left]
        best = int(np.argmax(scores))
        chosen.append(left.pop(best))
        values.append(scores[best])
    after = {j: subset_hsic(X, L, [*chosen, j], **options) for j in left}
    return chosen, values, after


def backward(X, L, size, drop=0.1, **options):
    """Drop the features without which HSIC stays largest; returns all features, best first."""
    left = list(range(np.shape(X)[1]))
    dropped = []
    while left:
        scores = {j: subset_hsic(X, L, [k for k in left if k != j], **options) for j in left}
        worst = sorted(left, key=lambda j: (-scores[j], -j))
        count = 1
        if len(left) > size:
            count = min(max(1, int(drop * len(left))), len(left) - size)
        dropped += worst[:count]
        left = [j for j in left if j not in worst[:count]]
    return dropped[::-1]


def best_subset(X, L, size, **options):
    """The subset of that size with the largest HSIC, by trying all."""
    return max(
        combinations(range(np.shape(X)[1]), size),
        key=lambda subset: subset_hsic(X, L, subset, **options),
    )


def median_width(X):
    """Root of the median squared distance between samples over the number of features."""
    Z = oracles.standardised(X)
    pairs = [np.sum((a - b) ** 2) for a, b in combinations(Z, 2)]
    return np.sqrt(np.median(pairs) / Z.shape[1])


def hsfs_gradient(W, X, L, width=1.0):
    """Derivative of -HSIC: (2 / width^2) Z (diag(A 1) - A) X' with A = C o K."""
    S = oracles.standardised(X)
    A = oracles.centre(L) / (len(X) - 1) ** 2 * oracles.joint_gram(S @ W.T, width)
    return 2 / width**2 * (S @ W.T).T @ (np.diag(A.sum(axis=1)) - A) @ S


def subgradient_violation(W, gradient, alpha, tied=1e-6):
    """Largest violation of 0 in gradient + alpha d|w_j|_inf, over the columns of W.

    The subdifferential of the maximum norm at w = 0 is the l1 ball; elsewhere it is made of
    vectors that vanish but where |w_i| is largest, have the sign of w there, and l1 norm 1.
    """
    worst = 0.0
    for w, g in zip(W.T, gradient.T, strict=True):
        size = np.abs(w).max()
        if size == 0:
            worst = max(worst, np.abs(g).sum() - alpha)
            continue
        largest = np.abs(w) >= size * (1 - tied)
        pull = -g * np.sign(w)
        worst = max(
            worst,
            np.abs(g[~largest]).max(initial=0),
            -pull[largest].min(),
            abs(pull[largest].sum() - alpha),
        )
    return worst


# ---------------------------------------------------------------- targets and their Gram matrices


def _real(X):
    return np.sin(X[:, 0]) + X[:, 1]


def _codes(X):
    return np.digitize(X[:, 0], [-0.5, 0.5])


def _labels(X):
    return np.c_[X[:, 0] > 0, X[:, 1] > 0.5].astype(int)


def _outputs(X):
    return np.c_[X[:, 0], X[:, 1] ** 2]


def _survival(X):
    return np.ceil(20 * np.exp(X[:, 0])) / 10, np.arange(len(X)) % 3 > 0


def _affinity(X):
    return oracles.gaussian_gram(X[:, 0]) - 0.3 * oracles.gaussian_gram(X[:, 1])


def _links(X):
    near = (np.abs(X[:, :1] - X[:, 0]) < 0.4).astype(float)
    return near - np.diag(np.diag(near))


def _words(X):
    return [chr(97 + code) * (2 + code) for code in _codes(X)]


def common_letters(a, b):
    return float(sum(min(a.count(letter), b.count(letter)) for letter in set(a)))


def letters_and_length(a, b):
    """Indefinite: words of the same length are less alike."""
    return common_letters(a, b) - 2.5 * (len(a) == len(b))


def _all_pairs(items, function):
    return np.array([[function(a, b) for b in items] for a in items])


def _joint_outputs(Y):
    Z = oracles.standardised(Y)
    return oracles.joint_gram(Z, np.sqrt(Z.shape[1]))  # squared distances are means over outputs


def _survival_gram(X):
    time, event = _survival(X)
    return oracles.log_rank_matrix(oracles.gaussian_gram(time), time, event)


def _laplace_gram(x):
    z = oracles.standardise(x)
    return np.exp(-np.abs(z[:, None] - z))


#: Options, target and Gram matrix of targets of every kind, for a table X.
TARGETS = {
    "real": ({}, _real, lambda X: oracles.gaussian_gram(_real(X))),
    "ranks": (
        {"target": Auto(transform="rank")},
        _real,
        lambda X: oracles.gaussian_gram(rankdata(_real(X))),
    ),
    "narrow": (
        {"target": Auto(Gaussian(0.5))},
        _real,
        lambda X: oracles.gaussian_gram(_real(X), 0.5),
    ),
    "laplace": ({"target": Auto("laplace")}, _real, lambda X: _laplace_gram(_real(X))),
    "ordinal": (
        {"target": "ordinal"}, _codes, lambda X: oracles.gaussian_gram(rankdata(_codes(X))),
    ),
    "classes": ({}, _codes, lambda X: oracles.delta_gram(_codes(X))),
    "labels": (
        {}, _labels, lambda X: sum(oracles.delta_gram(y) for y in _labels(X).T) / 2,
    ),
    "outputs": ({}, _outputs, lambda X: _joint_outputs(_outputs(X))),
    "averaged outputs": (
        {"target": Auto(outputs="average")},
        _outputs,
        lambda X: sum(oracles.gaussian_gram(y) for y in _outputs(X).T) / 2,
    ),
    "survival": ({"target": "survival"}, _survival, _survival_gram),
    "affinity": ({"target": "affinity"}, _affinity, _affinity),
    "graph": (
        {"target": "graph"},
        _links,
        lambda X: expm(-oracles.normalised_laplacian(_links(X))),
    ),
    "words": (
        {"target": Objects(common_letters)},
        _words,
        lambda X: _all_pairs(_words(X), common_letters),
    ),
    "indefinite words": (
        {"target": Objects(letters_and_length)},
        _words,
        lambda X: _all_pairs(_words(X), letters_and_length),
    ),
}  # fmt: skip
