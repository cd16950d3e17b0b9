"""Targets of every form for a small table of features."""

from __future__ import annotations

import numpy as np
import pandas as pd

N = 48
X = np.random.default_rng(7).standard_normal((N, 7))
LEVELS = np.array(["low", "mid", "high"])
ORDERED = pd.CategoricalDtype(list(LEVELS), ordered=True)

REAL = X[:, 0] + X[:, 1] ** 2
#: Three classes.
CODES = np.digitize(X[:, 0] + 0.5 * X[:, 1] ** 2, [-0.2, 0.9])
MORE_CODES = np.digitize(X[:, 2] + 0.5 * X[:, 3] ** 2, [-0.2, 0.9])
TEXT = LEVELS[CODES]
OUTPUTS = np.c_[X[:, 0] ** 2, 30 * X[:, 1] * X[:, 2], X[:, 3]]
LABELS = np.c_[X[:, 0] > 0, np.abs(X[:, 1]) > 0.7, X[:, 2] > 1].astype(int)
COUNTS = np.floor(np.exp(1 + X[:, 0] + 0.5 * X[:, 1])).astype(int)
#: Times with ties, and events that depend on no feature.
TIME, EVENT = np.ceil(20 * np.exp(X[:, 0])) / 10, np.arange(N) % 3 > 0


def structured(names=("time", "event"), swap=False):
    """Times and events as a structured array."""
    fields = [(names[0], float), (names[1], bool)]
    out = np.empty(N, dtype=fields[::-1] if swap else fields)
    out[names[0]], out[names[1]] = TIME, EVENT
    return out


def sequences():
    """Strings of the letters of DNA, whose start tells a class."""
    rng = np.random.default_rng(3)
    starts = np.array(["acgtacgt", "ggggaacc", "tatatata"])[CODES]
    return [start + "".join(rng.choice(list("acgt"), 4)) for start in starts]


def common_3mers(a, b):
    """Spectrum kernel: common substrings of length three, counted with multiplicity."""
    words = [[s[i : i + 3] for i in range(len(s) - 2)] for s in (a, b)]
    return float(sum(words[0].count(w) * words[1].count(w) for w in set(words[0])))
