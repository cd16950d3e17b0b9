"""Tables, fits and measures that the tests of several methods share."""

from __future__ import annotations

import os
import warnings

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

from hsiclasso import FewerFeaturesWarning
from hsiclasso.baselines.job import Job
from hsiclasso.baselines.mrmr import MRMR
from hsiclasso.data import as_source
from tests.baselines import oracle_quadratic as oracle

if "PYTEST_XDIST_WORKER" in os.environ:
    # as in tests/conftest.py, which runs before SciPy's own BLAS is loaded
    threadpool_limits(1, user_api="blas")


def make_table(seed=0, n=80, d=12):
    """Columns of which some repeat what others say, and a real target."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    X[:, 1] = X[:, 0] + 0.3 * X[:, 1]
    X[:, 5] = X[:, 3] ** 2 + 0.3 * X[:, 5]
    y = 2 * X[:, 0] + np.sin(3 * X[:, 3]) + X[:, 4] ** 2 + 0.3 * rng.standard_normal(n)
    return X, y


@pytest.fixture
def table():
    return make_table()


def quiet_fit(estimator, X, y):
    """Fit without the warning that the method chooses fewer features than wanted."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FewerFeaturesWarning)
        return estimator.fit(X, y)


def relate(X, y, measure="mi", *, n_threads=1, report=lambda *_: None, **options):
    """Measure the dependence of all features on a target, as mRMR does with these options."""
    method, source = MRMR(measure=measure, **options), as_source(X)
    method._check()
    varies = np.ptp(source.block(slice(0, source.n_features)), axis=0) > 0
    target = method._checked_target().prepare(y, source.n_samples)
    job = Job(source, target, 1, varies, MRMR.traits, report, n_threads)
    return method._options().relate(job)


def all_pairs(related):
    """Dependence between all features."""
    features = np.arange(related.relevance.size)
    return related.block(features, features)


@pytest.fixture(scope="session")
def indefinite():
    """Few samples and many columns, between which mutual information is indefinite."""
    rng = np.random.default_rng(5)
    X = rng.standard_normal((12, 60))
    y = X[:, 0] + X[:, 1] ** 2
    D, d = oracle.dependences(X, y)
    assert np.linalg.eigvalsh(D)[0] < -0.05
    return X, y, D, d
