"""Targets of every form for a small table of features."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pandas as pd

N = 48
X = np.random.default_rng(7).standard_normal((N, 7))
LEVELS = np.array(["low", "mid", "high"])
ORDERED = pd.CategoricalDtype(list(LEVELS), ordered=True)


def real(X):
    return X[:, 0] + X[:, 1] ** 2


def codes(X):
    """Three classes."""
    return np.digitize(X[:, 0] + 0.5 * X[:, 1] ** 2, [-0.2, 0.9])


def outputs(X):
    return np.c_[X[:, 0] ** 2, 30 * X[:, 1] * X[:, 2], X[:, 3]]


def labels(X):
    return np.c_[X[:, 0] > 0, np.abs(X[:, 1]) > 0.7, X[:, 2] > 1].astype(int)


def counts(X):
    return np.floor(np.exp(1 + X[:, 0] + 0.5 * X[:, 1])).astype(int)


def survival(X):
    """Times with ties, and events that depend on no feature."""
    return np.ceil(20 * np.exp(X[:, 0])) / 10, np.arange(len(X)) % 3 > 0


REAL, CODES, MORE_CODES = real(X), codes(X), codes(X[:, 2:])
TEXT = LEVELS[CODES]
OUTPUTS, LABELS, COUNTS = outputs(X), labels(X), counts(X)
TIME, EVENT = survival(X)


def structured(names=("time", "event"), swap=False):
    """Times and events as a structured array."""
    fields = [(names[0], float), (names[1], bool)]
    out = np.empty(N, dtype=fields[::-1] if swap else fields)
    out[names[0]], out[names[1]] = TIME, EVENT
    return out


def gone(values, missing=np.nan):
    """The first, the fifth and the last value missing."""
    out = np.array(values, dtype=object if missing is None else float)
    out[[0, 4, -1]] = missing
    return out


def sequences(X=X):
    """Strings of the letters of DNA; the start of each depends on its class."""
    rng = np.random.default_rng(3)
    starts = np.array(["acgtacgt", "ggggaacc", "tatatata"])[codes(X)]
    return [start + "".join(rng.choice(list("acgt"), 4)) for start in starts]


def spectrum(a, b, k=2):
    """Number of common substrings of length k, with multiplicity (Leslie et al., 2002)."""
    first, second = (Counter(s[i : i + k] for i in range(len(s) - k + 1)) for s in (a, b))
    return sum(count * second[word] for word, count in first.items())


def common_3mers(a, b):
    return float(spectrum(a, b, 3))
