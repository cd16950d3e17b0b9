"""Error rates on many draws: p-values down to 1e-5, false discovery rate and power.

These tests take minutes: ``pytest -m slow``. Draws are fixed, and no setting was chosen on them.
Bounds are exact binomial ones, at a level that a right method misses once in ten thousand runs.
"""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from scipy.stats import binom, binomtest

from experiments.designs import DESIGNS, counted
from hsiclasso import (
    ControlledSelection,
    EmbeddingLasso,
    HSICLasso,
    StabilitySelection,
    hsic_scan,
    make_copies,
)

pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore::hsiclasso.FewerFeaturesWarning"),
]

RARE, LEVEL, DRAWS, SEED = 1e-4, 0.1, 15, 77_000_000
#: Least and largest realised over nominal rate of null p-values, by nominal rate.
RATES = {0.1: (0.9, 1.1), 1e-2: (0.9, 1.1), 1e-3: (0.85, 1.1), 1e-4: (0.8, 1.25), 1e-5: (0.5, 1.5)}
#: Least mean number of causes that are found, by design. All others have no causes.
FLOORS = {
    "null": 0.0, "AR(.5) null": 0.0, "heavy-tailed null": 0.0, "LD blocks, null": 0.0,
    "Data1": 3.0, "Data2": 2.3, "copies": 3.3, "nonlinear copies": 3.0, "AR(.7) chain": 3.0,
    "classes": 2.0, "heavy tails": 2.0, "LD blocks": 2.4,
}  # fmt: skip
FAMILIES = {"HSIC Lasso": HSICLasso, "Embedding Lasso": EmbeddingLasso}


def tables(rng, n, d):
    """Columns of five distributions."""
    yield rng.standard_normal((n, d))
    yield rng.uniform(size=(n, d))
    yield rng.lognormal(size=(n, d))
    yield rng.standard_t(3, (n, d))
    yield rng.binomial(2, rng.uniform(0.05, 0.3, d), (n, d)).astype(np.int8)


@pytest.mark.parametrize("n", [50, 200])
def test_null_p_values_are_uniform_down_to_1e_5(n):
    found = []
    for seed in range(20):
        rng = np.random.default_rng([SEED, n, seed])
        y = rng.standard_normal(n)
        found += [hsic_scan(X, y, n_jobs=1).p_value for X in tables(rng, n, 10_000)]
    p_values = np.concatenate(found)
    assert p_values.size == 1_000_000
    for rate, (least, most) in RATES.items():
        count = np.count_nonzero(p_values <= rate)
        assert count <= binom.isf(RARE, p_values.size, most * rate), rate
        assert count >= binom.ppf(RARE, p_values.size, least * rate), rate


@cache
def results(family, design):
    """What is found in each draw of a design."""
    found = []
    for run in range(DRAWS):
        rng = np.random.default_rng([SEED, sorted(FAMILIES).index(family), run])
        draw = DESIGNS[design](200, 200, rng)
        fitted = ControlledSelection(FAMILIES[family](n_jobs=1), LEVEL, n_jobs=1).fit(
            draw.X, draw.y
        )
        clusters = fitted.result_.clusters
        members = [[one.index, *(other.index for other in one.members)] for one in clusters]
        found.append(counted(draw.origin, members))
    return found


def exceeds(proportions):
    """Whether the mean of some proportions is above the level, by an exact binomial test."""
    # a proportion is at most 1: the binomial distribution of the same mean has the heavier tail
    count = int(np.ceil(np.sum(proportions)))
    return binomtest(count, len(proportions), LEVEL, alternative="greater").pvalue < RARE


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("design", FLOORS)
def test_false_discoveries_and_power(family, design):
    found = results(family, design)
    assert not exceeds([one.fdp for one in found])
    assert np.mean([one.distinct for one in found]) >= FLOORS[design]


@pytest.mark.parametrize("family", FAMILIES)
def test_false_discoveries_of_all_designs_together(family):
    assert not exceeds([one.fdp for design in FLOORS for one in results(family, design)])
    nulls = [
        one.fdp for design, floor in FLOORS.items() if not floor for one in results(family, design)
    ]
    assert not exceeds(nulls)


def test_stable_clusters_are_rarely_false():
    """One false selection is allowed on average; the mean of 20 draws stays below two."""
    false, distinct = [], []
    for run in range(20):
        X, y, origin = make_copies(200, 200, random_state=np.random.default_rng([SEED, run]))
        stable = StabilitySelection(
            HSICLasso(20, n_jobs=1), expected_false=1.0, n_pairs=25, random_state=run
        ).fit(X, y)
        clusters = [[one.representative.index] for one in stable.result_.selected]
        count = counted(origin, clusters)
        false.append(count.false)
        distinct.append(count.distinct)
    assert np.mean(false) <= 1 + 3 * np.std(false, ddof=1) / np.sqrt(len(false))
    assert np.mean(distinct) >= 3.0
