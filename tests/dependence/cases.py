"""Tables of every storage, what the package finds for them, and what dense matrices say."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy import sparse

from hsiclasso.data import as_source
from hsiclasso.dependence import Features, relate
from hsiclasso.kernels import Delta, Gaussian, Laplace, Linear, Polynomial, Samples, as_measure
from hsiclasso.targets import Affinity, Classes, Real
from tests import oracles
from tests.genotypes import Calls, as_genotypes, draw_calls

MEASURES = ["hsic", "nhsic", "nocco"]
KERNELS = [
    Gaussian(), Gaussian(0.3), Gaussian("median"), Gaussian((0.5, "median", 2.0)),
    Gaussian(expansion="cholesky"), Laplace(), Laplace("median"), Delta(), Delta(by_count=False),
    Linear(), Polynomial(3), Polynomial(2, 0.0),
]  # fmt: skip
#: Rounding of what is left where nearly all of a feature is removed, relative to all of it.
ROUNDING = 1e-12


def real_numbers(rng, n, d):
    """Columns of real numbers: normal, skewed, mostly zero, with ties, in turn."""
    makers = [
        lambda: rng.standard_normal(n),
        lambda: np.exp(2 * rng.standard_normal(n)),
        lambda: np.where(rng.random(n) < 0.3, rng.standard_normal(n), 0.0),
        lambda: np.round(rng.standard_normal(n), 1),
    ]
    X = np.column_stack([makers[j % 4]() for j in range(d)])
    X[:2] = [[0.5], [-1.5]]  # every column varies
    return X


def whole_numbers(rng, n, d, levels=5):
    """Columns of whole numbers, some of them negative."""
    X = rng.integers(0, levels, (n, d)) - (np.arange(d) % 3) * (levels // 4)
    X[:2] = [[0], [1]]
    return X


def few_stored(rng, X, share=0.25):
    """A sparse table of which some entries are stored."""
    kept = rng.random(X.shape) < share
    kept[:2] = True
    return sparse.csc_array(np.where(kept, X, 0.0))


def stored_zeros(rng, n, d):
    table = few_stored(rng, real_numbers(rng, n, d), 0.5)
    table.data[::3] = 0.0
    table.data[0] = 1.0
    return table


def punched(rng, X, share=0.2):
    """The table with missing values; its first column stays whole."""
    holes = rng.random(X.shape) < share
    holes[:, 0] = False
    return np.where(holes, np.nan, X)


def stored_missing(rng, n, d):
    table = few_stored(rng, real_numbers(rng, n, d))
    table.data[2::5] = np.nan
    return table


def categories(rng, n, d):
    """A frame of categories; from the second column on, some are missing."""
    X = rng.choice(["a", "b", "c"], (n, d)).astype(object)
    X[:3] = [["a"], ["b"], ["c"]]
    X[3, 1:] = None
    return pd.DataFrame({f"c{j}": pd.Categorical(X[:, j]) for j in range(d)})


#: How a table of (n, d) may be stored.
STORAGES = {
    "float64": real_numbers,
    "float32": lambda rng, n, d: real_numbers(rng, n, d).astype(np.float32),
    "Fortran order": lambda rng, n, d: np.asfortranarray(real_numbers(rng, n, d)),
    "int8": lambda rng, n, d: whole_numbers(rng, n, d).astype(np.int8),
    "uint8 with 40 levels": lambda rng, n, d: 9 + np.abs(whole_numbers(rng, n, d, 40)).astype("u1"),
    "int8 with 200 levels": lambda rng, n, d: rng.integers(-100, 100, (n, d)).astype(np.int8),
    "bool": lambda rng, n, d: whole_numbers(rng, n, d, 2) > 0,
    "sparse floats": lambda rng, n, d: few_stored(rng, real_numbers(rng, n, d)),
    "sparse counts": lambda rng, n, d: few_stored(rng, whole_numbers(rng, n, d)),
    "stored zeros": stored_zeros,
    "categories": categories,
    "missing": lambda rng, n, d: punched(rng, real_numbers(rng, n, d)),
    "missing whole numbers": lambda rng, n, d: punched(rng, whole_numbers(rng, n, d)),
    "stored missing": stored_missing,
    "genotypes": draw_calls,
}


def affinity(rng, measure, n):
    """A symmetric matrix between samples: indefinite, except for NOCCO, which needs the root."""
    B = rng.standard_normal((n, n))
    return B @ B.T / n if measure == "nocco" else B + B.T


#: Kinds of target: the option, y given a related column, and the number of features it is told.
TARGETS = {
    "real": (Real(), lambda rng, x: x + 0.3 * rng.standard_normal(x.size)),
    "heavy tail": (Real(), lambda rng, x: np.exp(2 * x + rng.standard_normal(x.size))),
    "classes": (Classes(), lambda rng, x: np.digitize(x + rng.standard_normal(x.size), [-0.5, 1])),
    "Laplace": (Real("laplace"), lambda rng, x: x + 0.3 * rng.standard_normal(x.size)),
}
FORMS = [*TARGETS, "affinity", "operator"]


def make_target(form, x, measure, samples, rng, error=1e-6):
    """The matrix of a target that is related to a column, and what it is in dense form."""
    if form in TARGETS:
        option, draw = TARGETS[form]
        y = draw(rng, x)
        kernel = {"classes": Delta(), "Laplace": Laplace()}.get(form, Gaussian())
        gram, n_features = oracles.kernel_gram(y, kernel, samples.weights), 10
    else:
        # where features are many, a matrix is factored
        option, y = Affinity(), affinity(rng, measure, x.size)
        gram, n_features = y, 1 if form == "operator" and measure != "nocco" else 10**6
    made = option.prepare(y, x.size).data.matrix(
        as_measure(measure), samples, error=error, n_features=n_features
    )
    dense = oracles.projected_measure(gram, measure, samples.weights, samples.covariates)
    return made, dense


def make_samples(rng, n, weights="none", covariates=False):
    """Samples with weights, none, real or whole, and with covariates or without."""
    drawn = {
        "none": None,
        "real": rng.uniform(0.05, 2, n),
        "whole": rng.integers(1, 4, n).astype(float),
    }
    functions = np.array([rng.standard_normal(n), rng.random(n) < 0.4], dtype=float)
    return Samples(n, drawn[weights], functions if covariates else None)


def make_features(table, kernels=None, samples=None, *, joint=False, **options):
    """The features of a table: kernels take turns; columns 1 and the last may be one feature."""
    source = as_genotypes(table) if isinstance(table, Calls) else as_source(table)
    kernels = kernels if isinstance(kernels, tuple) else (kernels or Gaussian(),)
    d = source.n_features - joint
    incomplete = bool(np.isnan(source.block(slice(None))).any())
    return Features(
        source,
        kernels,
        samples or Samples(source.n_samples),
        np.arange(d),
        np.arange(d) % len(kernels) if len(kernels) > 1 else None,
        {1: ("pair", np.array([1, d]))} if joint else {},
        **({"least_observed": 3 if incomplete else 0} | options),
    )


def dense_matrices(features, measure):
    """The matrices of all features, by the oracle: an array of shape (d, n, n)."""
    X, samples = features.source.block(slice(None)), features.samples
    options = measure, samples.weights, samples.covariates
    made = [
        oracles.feature_matrix(X[:, features.columns_of(k)].T, features.kernel(k), *options)
        for k in range(features.n_single)
    ]
    for members in features.interactions:
        vectors = [X[:, features.columns_of(k)].T for k in members]
        kernels = [features.kernel(k) for k in members]
        made.append(oracles.interaction_matrix(vectors, kernels, *options))
    return np.array(made)


def find(features, y=None, measure="hsic", *, target=None, **options):
    """Relate features to values, or to a target that is made already."""
    measure = as_measure(measure)
    if target is None:
        target = (
            Real()
            .prepare(y, features.n_samples)
            .data.matrix(
                measure, features.samples, error=features.gram_error, n_features=features.n_features
            )
        )
    return relate(features, target, measure, **options)


def redundancy(problem):
    """The whole of G."""
    every = np.arange(problem.features.n_features)
    return problem.block(every, every)


@dataclass(frozen=True)
class Allowed:
    """Errors that are allowed, relative to the norms of matrices."""

    error: float

    def check(self, problem, A, T):
        """Compare relevance, redundancy and the target's norm with dense matrices."""
        sizes, n = np.linalg.norm(A, axis=(1, 2)), len(T)
        flat = A.reshape(len(A), -1)
        allowed = (self.error * sizes + ROUNDING * n) * np.linalg.norm(T)
        assert (np.abs(problem.linear - flat @ T.ravel()) <= allowed).all()
        G, allowed = redundancy(problem), self.error * np.outer(sizes, sizes) + ROUNDING * n
        assert (np.abs(G - flat @ flat.T) <= 4 * allowed).all()
        every = np.arange(len(A))
        np.testing.assert_allclose(problem.diagonal(every), np.diag(G), rtol=1e-8, atol=1e-12)
        np.testing.assert_allclose(problem.target_norm2, np.sum(T * T), rtol=2 * self.error)
