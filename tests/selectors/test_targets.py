"""Targets of every kind in the hands of an estimator; the kinds themselves are in tests/targets."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from scipy.linalg import expm
from scipy.stats import rankdata

from hsiclasso import (
    Affinity,
    Auto,
    Classes,
    Counts,
    Delta,
    Diffusion,
    Gaussian,
    Graph,
    HSICLasso,
    InvalidInputError,
    Labels,
    Laplace,
    NOCCOLasso,
    Objects,
    Ordinal,
    Polynomial,
    Real,
    RegularisedLaplacian,
    Survival,
)
from hsiclasso.targets import TARGETS
from tests import oracles
from tests.selectors.dense import (
    MEASURES,
    PLAIN,
    assert_differs,
    assert_same,
    assert_solves,
    selector_of,
)
from tests.selectors.tables import N, take_rows
from tests.targets.tables import (
    LEVELS,
    ORDERED,
    codes,
    common_3mers,
    counts,
    gone,
    labels,
    outputs,
    real,
    sequences,
    survival,
)


def structured(X):
    pairs = list(zip(*survival(X)[::-1], strict=True))
    return np.array(pairs, dtype=[("event", bool), ("time", float)])


def log_rank(gram):
    """The matrix of times and events whose times have a given Gram matrix."""
    return lambda X: oracles.log_rank_matrix(gram(survival(X)[0]), *survival(X))


def unlike_ends(a, b):
    """Indefinite: strings with the same end are less alike."""
    return common_3mers(a, b) - 9.0 * (a[-1] == b[-1])


def all_pairs(function):
    return lambda X: np.array([[function(a, b) for b in sequences(X)] for a in sequences(X)])


def affinity(X):
    return sum(oracles.gaussian_gram(X[:, k]) for k in (0, 1, 3))


def indefinite(X):
    return affinity(X) - 0.5 * oracles.gaussian_gram(X[:, 2])


def links(X):
    """A graph of near neighbours."""
    distance = np.abs(X[:, :1] - X[:, 0]) + np.abs(X[:, 1:2] - X[:, 1])
    return np.where(distance < 0.8, np.exp(-distance), 0.0)


def mean_gram(columns, gram=oracles.delta_gram):
    return np.mean([gram(column) for column in columns], axis=0)


def with_kernel(make, kernel):
    return lambda X: oracles.kernel_gram(make(X).T, kernel)


def diffused(beta):
    return lambda X: expm(-beta * oracles.normalised_laplacian(links(X)))


def regularised(beta):
    return lambda X: np.linalg.inv(np.eye(N) + beta * oracles.normalised_laplacian(links(X)))


#: The kind of target, its values, their Gram matrix, and the kind that is reported.
KINDS = {
    "auto, real": (PLAIN, real, with_kernel(real, Gaussian()), "real"),
    "real": (
        Real(transform=None), lambda X: pl.Series(real(X)), with_kernel(real, Gaussian()), "real",
    ),
    "widths": (
        Real(Gaussian((0.3, "median", 3)), None), real,
        with_kernel(real, Gaussian((0.3, "median", 3))), "real",
    ),
    "laplace": (Auto("laplace", None), real, with_kernel(real, Laplace()), "real"),
    "polynomial": (
        Real(Polynomial(3, 0.5), None), real, with_kernel(real, Polynomial(3, 0.5)), "real",
    ),
    "ranks": (
        Real(transform="rank"), real, lambda X: oracles.gaussian_gram(rankdata(real(X))), "real",
    ),
    "outputs": (PLAIN, outputs, with_kernel(outputs, Gaussian()), "real"),
    "outputs averaged": (
        Real("laplace", None, outputs="average"), lambda X: pd.DataFrame(outputs(X)),
        lambda X: mean_gram(outputs(X).T, lambda y: oracles.kernel_gram(y, Laplace())), "real",
    ),
    "classes": (
        "auto", lambda X: LEVELS[codes(X)], lambda X: oracles.delta_gram(codes(X)), "classes",
    ),
    "plain delta": (
        Classes("plain_delta"), codes, with_kernel(codes, Delta(by_count=False)), "classes",
    ),
    "class columns": (
        "auto", lambda X: pd.DataFrame({"a": LEVELS[codes(X)], "b": codes(X[:, 2:])}),
        lambda X: mean_gram([codes(X), codes(X[:, 2:])]), "classes",
    ),
    "labels": (
        "auto", lambda X: sparse.csr_matrix(labels(X)), lambda X: mean_gram(labels(X).T), "labels",
    ),
    "labels together": (
        Labels(outputs="joint"), labels, with_kernel(labels, Delta()), "labels",
    ),
    "ordinal": (
        "ordinal", lambda X: 10.0 ** codes(X), lambda X: oracles.gaussian_gram(rankdata(codes(X))),
        "ordinal",
    ),
    "ordered category": (
        "auto", lambda X: pd.Series(LEVELS[codes(X)], dtype=ORDERED).to_frame("grade"),
        lambda X: oracles.gaussian_gram(rankdata(codes(X))), "ordinal",
    ),
    "counts": (
        "counts", counts, lambda X: oracles.gaussian_gram(2 * np.sqrt(counts(X) + 3 / 8)), "counts",
    ),
    "survival": ("survival", survival, log_rank(oracles.gaussian_gram), "survival"),
    "structured": ("auto", structured, log_rank(oracles.gaussian_gram), "survival"),
    "survival, ranks": (
        Survival(transform="rank"), survival,
        log_rank(lambda time: oracles.gaussian_gram(rankdata(time))), "survival",
    ),
    "objects": (Objects(common_3mers), sequences, all_pairs(common_3mers), "objects"),
    "indefinite objects": (Objects(unlike_ends), sequences, all_pairs(unlike_ends), "objects"),
    "affinity": ("affinity", affinity, affinity, "affinity"),
    "indefinite affinity": (
        Affinity(), lambda X: sparse.csr_array(indefinite(X)), indefinite, "affinity",
    ),
    "graph": ("graph", links, diffused(1.0), "graph"),
    "diffusion": (Graph(Diffusion(3.0)), links, diffused(3.0), "graph"),
    "laplacian": (
        Graph(RegularisedLaplacian(5.0)), lambda X: sparse.csr_array(links(X)), regularised(5.0),
        "graph",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", KINDS)
def test_selection_solves_the_dense_problem(name, X):
    target, make, gram, kind = KINDS[name]
    for measure in MEASURES:
        selector = selector_of(measure, target=target)
        if measure == "nocco" and "indefinite" in name:  # not positive semi-definite
            with pytest.raises(InvalidInputError, match="NOCCO needs a positive semi-definite"):
                selector.fit(X, make(X))
            continue
        selector.fit(X, make(X))
        assert_solves(selector, X.T, gram(X))
        assert selector.result_.method.target == kind
        assert selector.result_.data.n_dropped == 0


def test_every_kind_is_tried():
    tried = {kind for *_, kind in KINDS.values()}
    assert set(TARGETS) - {"auto"} | {"objects"} == tried


def test_many_features_make_a_factor_of_an_affinity(rng):
    """A dense affinity is factored once where there are many features, else multiplied."""
    X = rng.standard_normal((40, 120))
    for make in (affinity, indefinite):
        selector = selector_of(target="affinity").fit(X, make(X))
        assert_solves(selector, X.T, make(X))
        few = selector_of(target="affinity").fit(X[:, :6], make(X))
        np.testing.assert_allclose(few.relevance_, selector.relevance_[:6], rtol=1e-7)


#: Pairs of kinds that are made of the same values, and must not select alike.
CONTRASTS = [
    ("classes", "plain delta"), ("classes", "ordinal"), ("labels", "labels together"),
    ("outputs", "outputs averaged"), ("auto, real", "ranks"), ("auto, real", "laplace"),
    ("auto, real", "widths"), ("graph", "diffusion"), ("graph", "laplacian"),
    ("objects", "indefinite objects"), ("affinity", "indefinite affinity"),
    ("survival", "survival, ranks"),
]  # fmt: skip


@pytest.mark.parametrize(("one", "other"), CONTRASTS, ids=" and ".join)
def test_options_change_the_answer(one, other, X):
    fits = [
        HSICLasso(3, measure="nhsic", target=target).fit(X, make(X))
        for target, make, *_ in (KINDS[one], KINDS[other])
    ]
    assert_differs(*fits)


def test_censored_times_are_no_events(X):
    time, event = survival(X)
    some = HSICLasso(3, target="survival").fit(X, (time, event))
    every = HSICLasso(3, target="survival").fit(X, (time, np.ones_like(event)))
    assert_differs(some, every)
    assert_differs(every, HSICLasso(3).fit(X, time))


def test_survival_finds_what_prolongs_life(rng):
    X = rng.standard_normal((150, 20))
    hazard = np.exp(-1.5 * X[:, 4] + X[:, 11] ** 2)
    death, leaving = rng.exponential(1 / hazard), rng.exponential(1.0, 150)
    y = np.minimum(death, leaving), death <= leaving
    assert set(HSICLasso(2, target=Survival(transform="rank")).fit(X, y).selected_) == {4, 11}


def test_labels_of_classes_do_not_matter(X):
    by_code = HSICLasso(3).fit(X, codes(X))
    by_name = HSICLasso(3).fit(X, np.array(["zebra", "ant", "mole"])[codes(X)])
    assert_same(by_code, by_name, rtol=1e-10)
    doses = np.array(["1.5", "2.5", "0.5"])[codes(X)]  # text is what its numbers are
    assert HSICLasso(2).fit(X, doses).result_.method.target == "real"
    category = HSICLasso(3).fit(X, pd.Categorical(doses))  # unless it is called a category
    assert_same(by_code, category, rtol=1e-10)


# ----------------------------------------------------------------------------- missing targets


KEPT = np.setdiff1d(np.arange(N), [0, 4, N - 1])


#: The kind, which drops, the values with gaps, and the values without.
INCOMPLETE = {
    "real": (Auto, lambda X: gone(real(X)), real),
    "polars": (Real, lambda X: pl.Series(gone(real(X), None).tolist()), real),
    "counts": (Counts, lambda X: gone(counts(X)), counts),
    "classes": (Auto, lambda X: gone(LEVELS[codes(X)], None), lambda X: LEVELS[codes(X)]),
    "ordered": (
        Ordinal, lambda X: pd.Series(gone(LEVELS[codes(X)], None)).astype(ORDERED),
        lambda X: pd.Series(LEVELS[codes(X)], dtype=ORDERED),
    ),
    "outputs": (Auto, lambda X: np.c_[gone(outputs(X)[:, 0]), outputs(X)[:, 1:]], outputs),
    "times": (Survival, lambda X: (gone(survival(X)[0]), survival(X)[1]), survival),
    "events": (
        Survival, lambda X: np.c_[survival(X)[0], gone(survival(X)[1])],
        lambda X: np.c_[survival(X)],
    ),
    "sequences": (
        lambda **options: Objects(common_3mers, **options),
        lambda X: gone(sequences(X), None), sequences,
    ),
}  # fmt: skip


@pytest.mark.parametrize("form", INCOMPLETE)
def test_missing_targets_are_dropped_on_request(form, X):
    kind, make, full = INCOMPLETE[form]
    dropped = HSICLasso(3, target=kind(missing="drop")).fit(X, make(X))
    by_hand = HSICLasso(3, target=kind()).fit(X[KEPT], take_rows(full(X), KEPT))
    assert dropped.result_.method == by_hand.result_.method
    assert_same(dropped, by_hand, rtol=1e-10)
    assert (dropped.result_.data.n_samples, dropped.result_.data.n_dropped) == (N - 3, 3)
    assert dropped.n_observed_.tolist() == [N - 3] * 7
    np.testing.assert_allclose(
        dropped.selected_kernel_.transform(X), by_hand.selected_kernel_.transform(X)
    )
    message = r"NaN or None, first in row 0 \(3 in all\).*missing='drop'"
    with pytest.raises(InvalidInputError, match=message):
        HSICLasso(3, target=kind()).fit(X, make(X))


def test_rows_of_other_forms_of_tables_are_dropped(X):
    y = gone(real(X))
    frame = pd.DataFrame(X[:, :4]).rename(columns=str).assign(kind=LEVELS[codes(X)])
    for table in (frame, sparse.csr_array(np.maximum(X, 0)), np.round(4 * X).astype(np.int8)):
        for measure in MEASURES:
            dropped = selector_of(measure, target=Real(transform=None, missing="drop")).fit(
                table, y
            )
            by_hand = selector_of(measure).fit(take_rows(table, KEPT), y[KEPT])
            assert_same(dropped, by_hand, rtol=1e-9)


def test_too_few_targets_that_are_not_missing(X):
    y = np.where(np.arange(N) < 2, 1.0, np.nan)
    with pytest.raises(InvalidInputError, match=r"n_samples=2 with a target.* 3 samples or more"):
        HSICLasso(2, target=Auto(missing="drop")).fit(X, y)


# ----------------------------------------------------------------------------------- refusals

BAD = {
    "none": ("auto", None, "y is None: pass one value per sample"),
    "too long": ("auto", list(range(49)), "y has 49 values and X has 48 samples"),
    "constant columns": ("auto", [[1, 2]] * N, "2 columns and none varies"),
    "three dimensions": ("auto", np.ones((N, 2, 2)), "one or two dimensions"),
    "complex": ("auto", np.arange(N) * 1j, "Complex data not supported: y is complex"),
    "infinite": ("auto", [np.inf, *range(47)], "must be finite: drop such rows"),
    "text as reals": ("real", ["a", "b"] * 24, "needs a numeric y, but y holds text such as"),
    "ranks of classes": (Auto(transform="rank"), ["a", "b"] * 24, "is not for a target of classes"),
    "unknown transform": (Real(transform="log"), [0.5, 1] * 24, "transform='log' is unknown"),
    "unknown kernel": (Real("rbf"), [0.5, 1] * 24, "='rbf' is unknown: choose 'gaussian'"),
    "laplace of outputs": (
        Real("laplace"), [[1.5, 2], [2, 1]] * 24, "several columns, and the laplace kernel"
    ),
    "wrong shape": ("affinity", np.eye(47), r"affinity has shape \(47, 47\).*shape \(48, 48\)"),
    "no edge": ("graph", np.zeros((N, N)), "adjacency has no edge"),
    "no event": ("survival", [[1, 0], [2, 0]] * 24, "no event: all times are censored"),
    "function": (
        Objects(lambda a, b: None), ["a", "b"] * 24, "must be one finite number: let it return"
    ),
}  # fmt: skip


@pytest.mark.parametrize("kind", BAD)
def test_bad_targets_are_refused(kind, X):
    target, y, message = BAD[kind]
    with pytest.raises(ValueError, match=message):
        HSICLasso(2, target=target).fit(X, y)


def test_nocco_refuses_large_sparse_affinities(rng):
    X = rng.standard_normal((4001, 2))
    with pytest.raises(InvalidInputError, match="a sparse affinity of 4001 samples is too large"):
        NOCCOLasso(1, target="affinity").fit(X, sparse.eye_array(4001, format="csr"))


# ------------------------------------------------------------------------------- many samples

LARGE = {
    "real": ("auto", lambda X: X[:, 3] ** 2),
    "labels": ("auto", lambda X: (X[:, 3:6] > 0).astype(int)),
    "outputs": ("auto", lambda X: X[:, 3:5]),
    "laplace": (Real("laplace"), lambda X: X[:, 3] ** 2),
    "survival": ("survival", lambda X: (np.exp(X[:, 3]), X[:, 0] > -1)),
    "sparse affinity": (
        "affinity",
        lambda X: sparse.diags_array(
            [np.abs(X[:, 3]), np.ones(len(X) - 1), np.ones(len(X) - 1)], offsets=[0, 1, -1]
        ).tocsr(),
    ),
}


@pytest.mark.parametrize("name", LARGE)
def test_many_samples_need_no_matrix_of_all_pairs(name):
    n = 12_000
    X = np.random.default_rng(0).standard_normal((n, 8))
    target, make = LARGE[name]
    selector, y = HSICLasso(2, n_jobs=1, target=target), make(X)
    tracemalloc.start()
    selector.fit(X, y)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 0.06 * n * n * 8  # 70 MB beside 1.2 GB
    assert not set(selector.selected_).isdisjoint({3, 4, 5})
