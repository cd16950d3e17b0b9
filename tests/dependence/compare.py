"""What the package finds beside what dense matrices say, for tests of the dependence station."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from hsiclasso.data import as_source
from hsiclasso.dependence import (
    DependenceProblem,
    Values,
    make_measure,
    make_target,
    scan_relevance,
)
from hsiclasso.embedding import (
    Delta,
    Embedding,
    Features,
    Gaussian,
    Laplace,
    Linear,
    Polynomial,
    Samples,
)
from tests import oracles

MEASURES = ["hsic", "nhsic", "nocco"]
KERNELS = [
    Gaussian(), Gaussian(0.3), Gaussian("median"), Gaussian((0.5, "median", 2.0)), Laplace(),
    Laplace("median"), Delta(), Delta(by_count=False), Linear(), Polynomial(3), Polynomial(2, 0.0),
]  # fmt: skip
#: Kernels that a feature of several columns can have.
VECTOR_KERNELS = [kernel for kernel in KERNELS if not isinstance(kernel, Laplace)]
WEIGHTS = {
    "plain": lambda rng, n: None,
    "whole weights": lambda rng, n: rng.integers(1, 4, n).astype(float),
    "real weights": lambda rng, n: rng.uniform(0.05, 2, n),
}
COVARIATES = {
    "no covariates": lambda rng, n: None,
    "covariates": lambda rng, n: np.array([rng.standard_normal(n), rng.random(n) < 0.4], float),
}


def make_samples(rng, n, weights="plain", covariates="no covariates"):
    return Samples(n, WEIGHTS[weights](rng, n), COVARIATES[covariates](rng, n))


def make_features(X, kernel=None, samples=None, *, tol=1e-6, method="auto", **options):
    """The features of a table, all with one kernel, or each with one of a tuple of kernels."""
    kernels = kernel if isinstance(kernel, tuple) else (kernel or Gaussian(),)
    embeddings = tuple(Embedding(one, tol, method) for one in kernels)
    which = np.arange(X.shape[1]) % len(kernels) if len(kernels) > 1 else None
    values = X.data if sparse.issparse(X) else X
    options = {"least_observed": 3 if np.isnan(values).any() else 0, "which": which} | options
    return Features(as_source(X), embeddings, samples or Samples(X.shape[0]), **options)


def find(features, y, measure="hsic", **options):
    """Relate features to a target: values with a Gaussian kernel, or what else is known of it."""
    measure = make_measure(measure)
    data = Values(y[None], Gaussian()) if isinstance(y, np.ndarray) else y
    target = make_target(data, measure, features.samples, tol=features.tol)
    return scan_relevance(features, target, measure, **options)


def redundancy(features, scan, measure="hsic", rows=None, **options):
    """Blocks of G for all features, or for some."""
    problem = DependenceProblem(features, scan, make_measure(measure), **options)
    every = np.arange(features.n_features) if rows is None else np.asarray(rows)
    return problem.block(every, every)


def dense_features(columns, kernel, measure, samples):
    """Matrices of features, each (n,) or (q, n), by the oracle."""
    kernels = kernel if isinstance(kernel, tuple) else (kernel,)
    return np.array(
        [
            oracles.feature_matrix(
                x, kernels[j % len(kernels)], measure, samples.weights, samples.covariates
            )
            for j, x in enumerate(columns)
        ]
    )


def dense_values(y, kernel, measure, samples):
    """Matrix of a target of values, (n,) or (q, n), by the oracle."""
    return oracles.feature_matrix(y, kernel, measure, samples.weights, samples.covariates)


def norms(matrices):
    return np.linalg.norm(matrices, axis=(1, 2))


#: Rounding of what is left where nearly all of a feature is removed, relative to all of it.
ROUNDING = 1e-12


def assert_relevance(found, A, T, tol):
    """Relative to the norms, which is what the tolerance promises."""
    expected = np.einsum("kij,ij->k", A, T)
    allowed = (tol * norms(A) + ROUNDING * len(T)) * np.linalg.norm(T)
    assert (np.abs(found - expected) <= allowed).all()


def assert_redundancy(found, A, tol):
    flat = A.reshape(len(A), -1)
    allowed = 4 * tol * np.outer(norms(A), norms(A)) + ROUNDING * len(A[0])
    assert (np.abs(found - flat @ flat.T) <= allowed).all()
