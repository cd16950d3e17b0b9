"""States of columns in slow, plain NumPy, and the mutual information between them.

Nothing here imports the package.
"""

from __future__ import annotations

import numpy as np

from tests.oracles import mutual_information


def renumber(states):
    """The same states called 0, 1, ... in order, without those that no sample is in."""
    return np.unique(np.asarray(states), return_inverse=True)[1]


def peng_states(x, threshold=1.0):
    """0 below mean - t std, 2 above mean + t std, else 1; at most three values are kept."""
    x = np.asarray(x, dtype=float)
    if np.unique(x).size <= 3:
        return renumber(x)
    spread = threshold * np.sqrt(np.sum((x - x.mean()) ** 2) / (x.size - 1))
    states = np.ones(x.size, dtype=int)
    states[x < x.mean() - spread] = 0
    states[x > x.mean() + spread] = 2
    return renumber(states)


def peng_states_of_integers(x):
    """Peng's states in whole numbers, and whether a value lies on an edge."""
    values = [int(value) for value in x]
    n, total = len(values), sum(values)
    squares = sum((n * value - total) ** 2 for value in values)  # n^2 times those of deviations
    # |value - mean| > deviation
    beyond = [(n * value - total) ** 2 * (n - 1) - squares for value in values]
    states = [
        1 if far <= 0 else 2 * (n * value > total)
        for far, value in zip(beyond, values, strict=True)
    ]
    return renumber(states), 0 in beyond


def quantile_states(x, n_bins=5):
    """How many of the inner quantiles a value exceeds; at most `n_bins` values are kept.

    Quantile k lies at rank h = k (n - 1) / n_bins, counted from 0, or between the two ranks
    around it: it is exceeded by what exceeds the value of rank floor(h). The largest value
    exceeds those that equal it.
    """
    x = np.asarray(x, dtype=float)
    if np.unique(x).size <= n_bins:
        return renumber(x)
    ordered, top = np.sort(x), x.max()
    edges = [ordered[k * (x.size - 1) // n_bins] for k in range(1, n_bins)]
    return renumber([sum(value > edge or value == top for edge in edges) for value in x])


def states(x, bins="peng", threshold=1.0, n_bins=5):
    """States of a column of numbers."""
    if bins == "peng":
        return peng_states(x, threshold)
    return quantile_states(x, n_bins) if bins == "quantile" else renumber(x)


def entropy(a):
    """-sum p log p."""
    a = np.asarray(a)
    shares = [np.mean(a == value) for value in np.unique(a)]
    return -sum(p * np.log(p) for p in shares)


def relevance(X, y_states, **cut):
    """Information of every column on a target that is given as states."""
    return np.array([mutual_information(states(x, **cut), y_states) for x in np.asarray(X).T])


def redundancy(X, **cut):
    """Information between all pairs of columns."""
    cuts = [states(x, **cut) for x in np.asarray(X).T]
    return np.array([[mutual_information(a, b) for b in cuts] for a in cuts])
