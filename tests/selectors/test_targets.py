"""Targets of every form: how they are understood, their matrices, and what is refused."""

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
    Diffusion,
    Gaussian,
    HSICLasso,
    InvalidInputError,
    Laplace,
    Linear,
    NOCCOLasso,
    Polynomial,
    RegularisedLaplacian,
)
from hsiclasso.embedding import Delta
from hsiclasso.selectors.targets import TargetOptions, prepare_target
from tests import oracles
from tests.selectors.dense import (
    MEASURES,
    assert_differs,
    assert_same,
    assert_solves,
    feature_matrices,
    selector_of,
    target_matrix,
)

N, D = 48, 7


@pytest.fixture(scope="module", name="X")
def make_table():
    return np.random.default_rng(7).standard_normal((N, D))


# --------------------------------------------------------------------------- what a target is

CASES = [
    (["a", "b", "a", "b", "b", "a"], "classification"),
    ([True, False, True, False, True, True], "classification"),
    ([0, 1, 0, 1, 1, 0], "classification"),
    ([1.0, 2.0, 1.0, 2.0, 2.0, 1.0], "classification"),
    ([1, 2, 3, 4, 5, 6], "regression"),
    ([1.5, 2.0, 1.5, 2.0, 2.0, 1.5], "regression"),
    (list(np.arange(300) % 60), "regression"),
    (list(np.arange(300) % 40), "classification"),
    (pd.Categorical(["u", "v", "u", "v", "w", "w"]), "classification"),
    (np.array(["1", "2", "1", "2", "1", "2"], dtype=object), "classification"),
]


@pytest.mark.parametrize(("y", "task"), CASES)
def test_task_is_guessed(y, task):
    prepared = prepare_target(pd.Series(y), len(y), TargetOptions())
    assert prepared.task == task
    assert isinstance(prepared.data.kernel, Delta if task == "classification" else Gaussian)


ORDERED = pd.CategoricalDtype(["low", "mid", "high"], ordered=True)
LEVELS = np.array(["low", "mid", "high"])
PAIR = np.dtype([("event", bool), ("time", float)])
GUESSES = {
    "reals": (lambda X: X[:, 0], "regression"),
    "a column of reals": (lambda X: pd.DataFrame({"y": X[:, 0]}), "regression"),
    "a polars series": (lambda X: pl.Series(X[:, 0]), "regression"),
    "objects that are numbers": (lambda X: X[:, 0].astype(object), "regression"),
    "text": (lambda X: codes(X).astype(str), "classification"),
    "pandas text": (lambda X: pd.Series(LEVELS[codes(X)], dtype="string"), "classification"),
    "polars text": (lambda X: pl.Series(LEVELS[codes(X)]), "classification"),
    "polars category": (
        lambda X: pl.Series(LEVELS[codes(X)]).cast(pl.Categorical), "classification",
    ),
    "flags": (lambda X: X[:, 0] > 0, "classification"),
    "nullable flags": (lambda X: pd.Series(X[:, 0] > 0, dtype="boolean"), "classification"),
    "category": (lambda X: pd.Series(LEVELS[codes(X)], dtype="category"), "classification"),
    "ordered category": (lambda X: pd.Categorical(LEVELS[codes(X)], dtype=ORDERED), "ordinal"),
    "ordered series": (lambda X: pd.Series(LEVELS[codes(X)], dtype=ORDERED), "ordinal"),
    "outputs": (lambda X: X[:, :3], "regression"),
    "frame of outputs": (lambda X: pd.DataFrame(X[:, :3]), "regression"),
    "polars outputs": (lambda X: pl.DataFrame(X[:, :3]), "regression"),
    "labels": (lambda X: (X[:, :3] > 0).astype(int), "multilabel"),
    "flags as labels": (lambda X: X[:, :3] > 0, "multilabel"),
    "sparse labels": (lambda X: sparse.csr_array((X[:, :3] > 0).astype(int)), "multilabel"),
    "frame of labels": (lambda X: pd.DataFrame(X[:, :3] > 0), "multilabel"),
    "classes": (lambda X: LEVELS[np.c_[codes(X), codes(-X)]], "classification"),
    "classes and numbers": (
        lambda X: pd.DataFrame({"a": LEVELS[codes(X)], "b": X[:, 1]}),
        "classification",
    ),
    "times and events": (
        lambda X: np.array(list(zip(X[:, 1] > -1, np.exp(X[:, 0]), strict=True)), dtype=PAIR),
        "survival",
    ),
}  # fmt: skip


def codes(X):
    """Three classes."""
    return np.digitize(X[:, 0] + 0.5 * X[:, 1] ** 2, [-0.2, 0.9])


@pytest.mark.parametrize("form", GUESSES)
def test_forms_are_recognised(form, X):
    make, task = GUESSES[form]
    assert HSICLasso(1).fit(X, make(X)).result_.task == task


def test_text_is_classes_whatever_it_looks_like(X):
    y = np.array([f"{value:.1f}" for value in np.round(X[:, 0])]) + "5"
    assert HSICLasso(2).fit(X, y).result_.task == "classification"


@pytest.mark.parametrize("task", ["auto", "ordinal"])
def test_an_ordered_category_may_stand_in_a_frame(task, X):
    y = pd.Series(LEVELS[codes(X)], dtype=ORDERED)
    framed = HSICLasso(2, task=task).fit(X, y.to_frame("grade"))
    assert framed.result_.task == "ordinal"
    assert_same(framed, HSICLasso(2).fit(X, y))


def test_task_can_be_told():
    y = [0, 1, 2, 0, 1, 2]
    regression = prepare_target(y, 6, TargetOptions(task="regression", width=2.0))
    assert regression.data.kernel == Gaussian(2.0)
    assert regression.data.values.tolist() == [y]
    classes = prepare_target(np.linspace(0, 1, 6), 6, TargetOptions(task="classification"))
    assert classes.data.values.tolist() == [[0, 1, 2, 3, 4, 5]]


def test_kernel_can_be_told():
    y = ["a", "b", "a", "b", "b", "a"]
    assert prepare_target(y, 6, TargetOptions(kernel="gaussian")).data.kernel == Gaussian(1.0)


def test_rank_transform():
    y = np.array([3.0, 1e9, -5.0, 3.0])
    prepared = prepare_target(y, 4, TargetOptions(task="regression", transform="rank"))
    np.testing.assert_array_equal(prepared.data.values[0], rankdata(y))


def test_labels_of_classes_do_not_matter(rng):
    X = rng.standard_normal((60, 8))
    codes = (X[:, 2] > 0).astype(int) + (X[:, 5] > 0.5)
    by_code = HSICLasso(3).fit(X, codes)
    by_name = HSICLasso(3).fit(X, np.array(["zebra", "ant", "mole"])[codes])
    np.testing.assert_allclose(by_code.coef_, by_name.coef_, rtol=1e-10)
    assert by_name.result_.task == "classification"


# ---------------------------------------------------------------------- matrices of targets


def real(X):
    return X[:, 0] + X[:, 1] ** 2


def outputs(X):
    return np.c_[X[:, 0] ** 2, 30 * X[:, 1] * X[:, 2], X[:, 3]]


def labels(X):
    return np.c_[X[:, 0] > 0, np.abs(X[:, 1]) > 0.7, X[:, 2] > 1].astype(int)


def counts(X):
    return np.floor(np.exp(1 + X[:, 0] + 0.5 * X[:, 1])).astype(int)


def survival(X):
    """Times with ties, and events that depend on no feature."""
    return np.ceil(20 * np.exp(X[:, 0])) / 10, np.arange(len(X)) % 3 > 0


def sequences(X):
    """Strings of the letters of DNA, whose start tells a class."""
    rng = np.random.default_rng(3)
    starts = np.array(["acgtacgt", "ggggaacc", "tatatata"])[codes(X)]
    return [start + "".join(rng.choice(list("acgt"), 4)) for start in starts]


def common_3mers(a, b):
    """Spectrum kernel: common substrings of length three, counted with multiplicity."""
    words = [[s[i : i + 3] for i in range(len(s) - 2)] for s in (a, b)]
    return float(sum(words[0].count(w) * words[1].count(w) for w in set(words[0])))


def differing_letters(a, b):
    """Minus a distance: a diagonal of zeros, and no negative eigenvalue after centring."""
    return -float(sum(x != y for x, y in zip(a, b, strict=True)))


def unlike_ends(a, b):
    """Indefinite: strings with the same end are less alike."""
    return common_3mers(a, b) - 9.0 * (a[-1] == b[-1])


def all_pairs(items, function):
    return np.array([[function(a, b) for b in items] for a in items])


def affinity(X, indefinite=False):
    """A similarity between samples, with both signs of eigenvalues if asked."""
    S = sum(oracles.gaussian_gram(X[:, k]) for k in (0, 1, 3))
    return S - 0.5 * oracles.gaussian_gram(X[:, 2]) if indefinite else S


def links(X):
    """A graph of near neighbours."""
    distance = np.abs(X[:, :1] - X[:, 0]) + np.abs(X[:, 1:2] - X[:, 1])
    return np.where(distance < 0.8, np.exp(-distance), 0.0)


def mean_gram(columns, gram):
    return np.mean([gram(column) for column in columns], axis=0)


def graph_gram(X, kernel):
    laplacian = oracles.normalised_laplacian(links(X))
    if isinstance(kernel, Diffusion):
        return expm(-kernel.beta * laplacian)
    return np.linalg.inv(np.eye(len(X)) + kernel.beta * laplacian)


def with_kernel(kernel):
    return lambda X: oracles.kernel_gram(real(X), kernel)


#: Options, the target, and its Gram matrix.
TARGETS = {
    "real": ({}, real, with_kernel(Gaussian())),
    "narrow": ({"y_width": 0.4}, real, with_kernel(Gaussian(0.4))),
    "median": ({"y_width": "median"}, real, with_kernel(Gaussian("median"))),
    "widths": ({"y_width": (0.3, "median", 3)}, real, with_kernel(Gaussian((0.3, "median", 3)))),
    "laplace": ({"y_kernel": "laplace"}, real, with_kernel(Laplace())),
    "laplace object": ({"y_kernel": Laplace(0.5)}, real, with_kernel(Laplace(0.5))),
    "linear": ({"y_kernel": "linear"}, real, with_kernel(Linear())),
    "polynomial": ({"y_kernel": Polynomial(3, 0.5)}, real, with_kernel(Polynomial(3, 0.5))),
    "ranks": (
        {"y_transform": "rank"}, real, lambda X: oracles.gaussian_gram(rankdata(real(X))),
    ),
    "classes": ({}, lambda X: LEVELS[codes(X)], lambda X: oracles.delta_gram(codes(X))),
    "plain delta": (
        {"y_kernel": "plain_delta"},
        codes,
        lambda X: (codes(X)[:, None] == codes(X)).astype(float),
    ),
    "gaussian on codes": (
        {"y_kernel": "gaussian"}, codes, lambda X: oracles.gaussian_gram(codes(X)),
    ),
    "gaussian on text": (  # the codes of labels in alphabetic order: high, low, mid
        {"y_kernel": "gaussian"},
        lambda X: LEVELS[codes(X)],
        lambda X: oracles.gaussian_gram(np.array([1, 2, 0])[codes(X)]),
    ),
    "delta on reals": (
        {"y_kernel": "delta", "task": "regression"},
        lambda X: np.round(real(X)),
        lambda X: oracles.delta_gram(np.round(real(X))),
    ),
    "outputs": ({}, outputs, lambda X: oracles.kernel_gram(outputs(X).T, Gaussian())),
    "outputs, median": (
        {"y_width": "median"},
        outputs,
        lambda X: oracles.kernel_gram(outputs(X).T, Gaussian("median")),
    ),
    "outputs, linear": (
        {"y_kernel": "linear"}, outputs, lambda X: oracles.kernel_gram(outputs(X).T, Linear()),
    ),
    "outputs averaged": (
        {"multioutput": "average"},
        lambda X: pd.DataFrame(outputs(X)),
        lambda X: mean_gram(outputs(X).T, oracles.gaussian_gram),
    ),
    "outputs averaged, laplace": (
        {"multioutput": "average", "y_kernel": "laplace"},
        outputs,
        lambda X: mean_gram(outputs(X).T, lambda y: oracles.kernel_gram(y, Laplace())),
    ),
    "outputs in ranks": (
        {"y_transform": "rank"},
        outputs,
        lambda X: oracles.kernel_gram(rankdata(outputs(X), axis=0).T, Gaussian()),
    ),
    "labels": ({}, labels, lambda X: mean_gram(labels(X).T, oracles.delta_gram)),
    "sparse labels": (
        {},
        lambda X: sparse.csr_matrix(labels(X)),
        lambda X: mean_gram(labels(X).T, oracles.delta_gram),
    ),
    "framed labels": (
        {"task": "multilabel"},
        lambda X: pl.DataFrame(labels(X)),
        lambda X: mean_gram(labels(X).T, oracles.delta_gram),
    ),
    "labels together": (
        {"multioutput": "joint"}, labels, lambda X: oracles.kernel_gram(labels(X).T, Delta()),
    ),
    "class columns": (
        {},
        lambda X: pd.DataFrame({"a": LEVELS[codes(X)], "b": codes(X[:, 2:])}),
        lambda X: mean_gram([codes(X), codes(X[:, 2:])], oracles.delta_gram),
    ),
    "class columns told": (
        {"task": "classification"},
        lambda X: np.c_[codes(X), codes(X[:, 2:])],
        lambda X: mean_gram([codes(X), codes(X[:, 2:])], oracles.delta_gram),
    ),
    "ordered category": (
        {},
        lambda X: pd.Series(LEVELS[codes(X)], dtype=ORDERED),
        lambda X: oracles.gaussian_gram(rankdata(codes(X))),
    ),
    "ordinal": (
        {"task": "ordinal"},
        lambda X: 10.0 ** codes(X),
        lambda X: oracles.gaussian_gram(rankdata(codes(X))),
    ),
    "counts": (
        {"task": "counts"},
        counts,
        lambda X: oracles.gaussian_gram(2 * np.sqrt(counts(X) + 3 / 8)),
    ),
    "callable": (
        {"y_kernel": common_3mers},
        sequences,
        lambda X: all_pairs(sequences(X), common_3mers),
    ),
    "callable distance": (
        {"y_kernel": differing_letters},
        sequences,
        lambda X: all_pairs(sequences(X), differing_letters),
    ),
    "indefinite callable": (
        {"y_kernel": unlike_ends},
        sequences,
        lambda X: all_pairs(sequences(X), unlike_ends),
    ),
    "precomputed": ({"y_kernel": "precomputed"}, affinity, affinity),
    "sparse precomputed": (
        {"y_kernel": "precomputed"},
        lambda X: sparse.coo_array(np.where(affinity(X) > 1, affinity(X), 0)),
        lambda X: np.where(affinity(X) > 1, affinity(X), 0),
    ),
    "indefinite precomputed": (
        {"y_kernel": "precomputed"}, lambda X: affinity(X, True), lambda X: affinity(X, True),
    ),
    "sparse indefinite": (
        {"y_kernel": "precomputed"},
        lambda X: sparse.csr_matrix(affinity(X, True)),
        lambda X: affinity(X, True),
    ),
    "diffusion": ({"y_kernel": "diffusion"}, links, lambda X: graph_gram(X, Diffusion())),
    "diffusion object": (
        {"y_kernel": Diffusion(3.0)}, links, lambda X: graph_gram(X, Diffusion(3.0)),
    ),
    "laplacian": (
        {"y_kernel": "regularised_laplacian"},
        lambda X: sparse.csr_array(links(X)),
        lambda X: graph_gram(X, RegularisedLaplacian()),
    ),
    "laplacian object": (
        {"y_kernel": RegularisedLaplacian(5.0)},
        links,
        lambda X: graph_gram(X, RegularisedLaplacian(5.0)),
    ),
}  # fmt: skip
#: Not positive semi-definite, which NOCCO refuses.
INDEFINITE = {
    "indefinite callable", "indefinite precomputed", "sparse indefinite", "sparse precomputed",
}  # fmt: skip


@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize("name", TARGETS)
def test_selection_solves_the_dense_problem(name, measure, X):
    options, make, gram = TARGETS[name]
    selector = selector_of(measure, **options)
    if measure == "nocco" and name in INDEFINITE:
        with pytest.raises(InvalidInputError, match="NOCCO needs a positive semi-definite target"):
            selector.fit(X, make(X))
        return
    selector.fit(X, make(X))
    T = target_matrix(gram(X), measure)
    assert_solves(selector, feature_matrices(X.T, measure=measure), T)
    assert selector.result_.n_dropped == 0


def test_many_features_make_a_factor_of_an_affinity(rng):
    """A dense affinity is factored once where there are many features, else multiplied."""
    X = rng.standard_normal((40, 120))
    for indefinite in (False, True):
        S = affinity(X, indefinite)
        selector = selector_of("hsic", 3, y_kernel="precomputed").fit(X, S)
        assert_solves(selector, feature_matrices(X.T), target_matrix(S))
        few = selector_of("hsic", 3, y_kernel="precomputed").fit(X[:, :6], S)
        np.testing.assert_allclose(few.relevance_, selector.relevance_[:6], rtol=1e-7)


#: What differs between two targets that are made of the same values.
CONTRASTS = {
    "delta and plain delta": ("classes", "plain delta"),
    "delta and gaussian on codes": ("classes", "gaussian on codes"),
    "order of codes": ("gaussian on codes", "gaussian on text"),
    "ordered or not": ("classes", "ordered category"),
    "together or averaged": ("outputs", "outputs averaged"),
    "outputs in ranks": ("outputs", "outputs in ranks"),
    "labels together": ("labels", "labels together"),
    "gaussian and laplace": ("real", "laplace"),
    "gaussian and linear": ("real", "linear"),
    "several widths": ("real", "widths"),
    "median": ("real", "median"),
    "beta of a diffusion": ("diffusion", "diffusion object"),
    "beta of a laplacian": ("laplacian", "laplacian object"),
    "kernel of a graph": ("diffusion", "laplacian"),
    "links as they are": ("diffusion", "links"),
    "functions of pairs": ("callable", "indefinite callable"),
    "counts as reals": ("counts", "counts as reals"),
    "signs of an affinity": ("precomputed", "indefinite precomputed"),
}
MORE = {
    "links": ({"y_kernel": "precomputed"}, links, None),
    "counts as reals": ({"task": "regression"}, counts, None),
}


@pytest.mark.parametrize("what", CONTRASTS)
def test_options_change_the_answer(what, X):
    one, other = (
        HSICLasso(3, measure="nhsic", **options).fit(X, make(X))
        for options, make, _ in ((TARGETS | MORE)[name] for name in CONTRASTS[what])
    )
    assert_differs(one, other)


# ---------------------------------------------------------------------------------- survival


def structured(X, names, swap=False):
    time, event = survival(X)
    fields = [(names[0], float), (names[1], bool)]
    out = np.empty(len(X), dtype=fields[::-1] if swap else fields)
    out[names[0]], out[names[1]] = time, event
    return out


SURVIVAL = {
    "structured": lambda X: structured(X, ("time", "event")),
    "event first": lambda X: structured(X, ("time", "event"), swap=True),
    "other names": lambda X: structured(X, ("months", "died")),
    "other names, event first": lambda X: structured(X, ("months", "died"), swap=True),
    "two columns": lambda X: np.c_[survival(X)],
    "tuple": survival,
    "tuple of series": lambda X: tuple(pd.Series(part) for part in survival(X)),
    "frame": lambda X: pd.DataFrame(dict(zip(("time", "event"), survival(X), strict=True))),
    "frame, event first": lambda X: pd.DataFrame(
        {"Event": survival(X)[1].astype(int), "Time": survival(X)[0]}
    ),
    "frame by dtype": lambda X: pd.DataFrame({"died": survival(X)[1], "months": survival(X)[0]}),
    "polars": lambda X: pl.DataFrame({"event": survival(X)[1], "time": survival(X)[0]}),
}


@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize("form", SURVIVAL)
def test_survival_solves_the_dense_problem(form, measure, X):
    selector = selector_of(measure, task="survival").fit(X, SURVIVAL[form](X))
    assert selector.result_.task == "survival"
    time, event = survival(X)
    M = oracles.log_rank_matrix(oracles.gaussian_gram(time), time, event)
    assert_solves(selector, feature_matrices(X.T, measure=measure), target_matrix(M, measure))


@pytest.mark.parametrize(
    ("options", "gram"),
    [
        ({"y_transform": "rank"}, lambda time: oracles.gaussian_gram(rankdata(time))),
        ({"y_kernel": "linear"}, lambda time: oracles.kernel_gram(time, Linear())),
        ({"y_kernel": "laplace"}, lambda time: oracles.kernel_gram(time, Laplace())),
        ({"y_width": 0.3}, lambda time: oracles.gaussian_gram(time, 0.3)),
    ],
    ids=["ranks", "linear", "laplace", "narrow"],
)
def test_kernels_of_times(options, gram, X):
    time, event = survival(X)
    y = SURVIVAL["structured"](X)
    selector = selector_of("hsic", **options).fit(X, y)
    M = oracles.log_rank_matrix(gram(time), time, event)
    assert_solves(selector, feature_matrices(X.T), target_matrix(M))
    assert_differs(selector, selector_of("hsic").fit(X, y))


def test_survival_finds_what_prolongs_life(rng):
    X = rng.standard_normal((150, 20))
    hazard = np.exp(-1.5 * X[:, 4] + X[:, 11] ** 2)
    death, leaving = rng.exponential(1 / hazard), rng.exponential(1.0, 150)
    y = np.minimum(death, leaving), death <= leaving
    assert set(HSICLasso(2, task="survival", y_transform="rank").fit(X, y).selected_) == {4, 11}


def test_censored_times_are_no_events(X):
    time, event = survival(X)
    some = HSICLasso(3, task="survival").fit(X, (time, event))
    every = HSICLasso(3, task="survival").fit(X, (time, np.ones_like(event)))
    real = HSICLasso(3).fit(X, time)
    assert_differs(some, every)
    assert_differs(every, real)


# ----------------------------------------------------------------------------- missing targets


def gone(values, missing=np.nan):
    """The first, the fifth and the last value missing."""
    out = np.array(values, dtype=object if missing is None else float)
    out[[0, 4, -1]] = missing
    return out


KEPT = np.setdiff1d(np.arange(N), [0, 4, N - 1])
INCOMPLETE = {
    "real": (lambda X: gone(real(X)), lambda X: real(X)[KEPT], {}),
    "list": (lambda X: gone(real(X), None).tolist(), lambda X: real(X)[KEPT], {}),
    "nullable": (
        lambda X: pd.Series(real(X)).where(np.isin(np.arange(N), KEPT)).astype("Float64"),
        lambda X: real(X)[KEPT],
        {},
    ),
    "nullable whole numbers": (
        lambda X: pd.Series(counts(X), dtype="Int64").where(np.isin(np.arange(N), KEPT)),
        lambda X: counts(X)[KEPT],
        {"task": "regression"},
    ),
    "polars": (
        lambda X: pl.Series(gone(real(X), None).tolist()), lambda X: real(X)[KEPT], {},
    ),
    "ranks": (lambda X: gone(real(X)), lambda X: real(X)[KEPT], {"y_transform": "rank"}),
    "counts": (lambda X: gone(counts(X)), lambda X: counts(X)[KEPT], {"task": "counts"}),
    "classes": (lambda X: gone(LEVELS[codes(X)], None), lambda X: LEVELS[codes(X)][KEPT], {}),
    "text with NA": (
        lambda X: pd.Series(gone(LEVELS[codes(X)], None), dtype="string"),
        lambda X: LEVELS[codes(X)][KEPT],
        {},
    ),
    "text with NaN": (
        lambda X: pd.Series(gone(LEVELS[codes(X)], None)).fillna(np.nan).astype(object),
        lambda X: LEVELS[codes(X)][KEPT],
        {},
    ),
    "codes": (lambda X: gone(codes(X)), lambda X: codes(X)[KEPT], {}),
    "category": (
        lambda X: pd.Categorical(gone(LEVELS[codes(X)], None)),
        lambda X: LEVELS[codes(X)][KEPT],
        {},
    ),
    "ordered category": (
        lambda X: pd.Series(gone(LEVELS[codes(X)], None)).astype(ORDERED),
        lambda X: pd.Series(LEVELS[codes(X)][KEPT], dtype=ORDERED),
        {},
    ),
    "flags": (
        lambda X: pd.Series(gone(X[:, 0] > 0, None)).astype("boolean"),
        lambda X: (X[:, 0] > 0)[KEPT],
        {},
    ),
    "outputs": (
        lambda X: np.c_[gone(outputs(X)[:, 0]), outputs(X)[:, 1:]],
        lambda X: outputs(X)[KEPT],
        {},
    ),
    "labels": (
        lambda X: np.where(np.isin(np.arange(N), KEPT)[:, None], labels(X), np.nan),
        lambda X: labels(X)[KEPT],
        {},
    ),
    "frame of classes": (
        lambda X: pd.DataFrame({"a": gone(LEVELS[codes(X)], None), "b": codes(X[:, 2:])}),
        lambda X: pd.DataFrame({"a": LEVELS[codes(X)], "b": codes(X[:, 2:])}).iloc[KEPT],
        {},
    ),
    "times": (
        lambda X: (gone(survival(X)[0]), survival(X)[1]),
        lambda X: tuple(part[KEPT] for part in survival(X)),
        {"task": "survival"},
    ),
    "events": (
        lambda X: np.c_[survival(X)[0], gone(survival(X)[1])],
        lambda X: np.c_[survival(X)][KEPT],
        {"task": "survival"},
    ),
    "frame of times": (
        lambda X: pd.DataFrame(
            {"event": pd.array(gone(survival(X)[1], None), "boolean"), "time": survival(X)[0]}
        ),
        lambda X: tuple(part[KEPT] for part in survival(X)),
        {"task": "survival"},
    ),
    "frame of numbers": (
        lambda X: pd.DataFrame({"event": gone(survival(X)[1]), "time": survival(X)[0]}),
        lambda X: tuple(part[KEPT] for part in survival(X)),
        {"task": "survival"},
    ),
    "sequences": (
        lambda X: gone(sequences(X), None),
        lambda X: [sequences(X)[i] for i in KEPT],
        {"y_kernel": common_3mers},
    ),
    "sequences of a series": (
        lambda X: pd.Series(gone(sequences(X), None)).fillna(np.nan).astype(object),
        lambda X: [sequences(X)[i] for i in KEPT],
        {"y_kernel": common_3mers},
    ),
}  # fmt: skip


@pytest.mark.parametrize("form", INCOMPLETE)
class TestMissingTarget:
    def test_dropped_on_request(self, form, X):
        make, kept, options = INCOMPLETE[form]
        dropped = HSICLasso(3, missing_target="drop", **options).fit(X, make(X))
        by_hand = HSICLasso(3, **options).fit(X[KEPT], kept(X))
        assert dropped.result_.task == by_hand.result_.task
        assert_same(dropped, by_hand, rtol=1e-10)
        assert (dropped.result_.n_samples, dropped.result_.n_dropped) == (N - 3, 3)
        assert dropped.n_observed_.tolist() == [N - 3] * D
        np.testing.assert_allclose(
            dropped.selected_kernel_.transform(X), by_hand.selected_kernel_.transform(X)
        )

    def test_refused_by_default(self, form, X):
        make, _, options = INCOMPLETE[form]
        message = r"NaN or None, first in row 0 \(3 in all\).*missing_target='drop'"
        with pytest.raises(InvalidInputError, match=message):
            HSICLasso(3, **options).fit(X, make(X))


@pytest.mark.parametrize("measure", MEASURES)
def test_rows_of_other_forms_of_tables_are_dropped(measure, X):
    y = gone(real(X))
    frame = pd.DataFrame(X[:, :4]).rename(columns=str).assign(kind=LEVELS[codes(X)])
    for table in (frame, sparse.csr_array(np.maximum(X, 0)), np.round(4 * X).astype(np.int8)):
        dropped = selector_of(measure, missing_target="drop").fit(table, y)
        rows = table.iloc[KEPT] if table is frame else table[KEPT]
        assert_same(dropped, selector_of(measure).fit(rows, y[KEPT]), rtol=1e-9)


def test_a_matrix_has_no_missing_rows(X):
    S = affinity(X)
    S[3, 5] = np.nan
    with pytest.raises(InvalidInputError, match=r"affinity contains nan, but .* use 0 for pairs"):
        HSICLasso(2, y_kernel="precomputed", missing_target="drop").fit(X, S)


# ----------------------------------------------------------------------------------- refusals

BAD = {
    "text as reals": ({"task": "regression"}, ["a", "b"] * 24, "needs a numeric y.*text such as"),
    "text as counts": ({"task": "counts"}, ["a", "b"] * 24, "'counts' needs a numeric y"),
    "text as order": ({"task": "ordinal"}, ["a", "b"] * 24, "an ordered category will do"),
    "text in a table": (
        {"task": "regression"}, [["a", "b"]] * 24 + [["c", "b"]] * 24, "numeric columns, but y"
    ),
    "ranks of classes": ({"y_transform": "rank"}, ["a", "b"] * 24, "the task is classification"),
    "ranks of labels": ({"y_transform": "rank"}, [[0, 1], [1, 0]] * 24, "the task is multilabel"),
    "ranks of counts": (
        {"y_transform": "rank", "task": "counts"}, [1, 2] * 24, "the task is counts: drop the"
    ),
    "one label": ({"task": "multilabel"}, [0, 1] * 24, "one column: use task='classification'"),
    "labels of three": ({"task": "multilabel"}, [[0, 2], [1, 1]] * 24, "needs zeros and ones"),
    "negative counts": ({"task": "counts"}, [-1, 3] * 24, "y has the value -1.0, but counts are"),
    "half counts": ({"task": "counts"}, [1.5, 3] * 24, r"y has the value 1.5.*task='regression'"),
    "infinite": ({}, [np.inf, *range(47)], "must be finite: drop such rows"),
    "constant": ({}, [1] * 48, "only one class.*1.*at least two distinct values"),
    "constant columns": ({}, [[1, 2]] * 48, "2 columns and none varies"),
    "too long": ({}, list(range(49)), "y has 49 values and X has 48 samples"),
    "table too short": ({}, [[1, 2], [2, 1]] * 20, "y has 40 values and X has 48 samples"),
    "laplace of outputs": (
        {"y_kernel": "laplace"}, [[1.5, 2], [2, 1]] * 24, "y has several columns, and the Laplace"
    ),
    "unknown task": ({"task": "rank"}, [0, 1] * 24, "task='rank' is unknown: choose 'auto', "),
    "unknown transform": (
        {"y_transform": "log"}, [0, 1] * 24, "y_transform='log' is unknown: choose None or 'rank'"
    ),
    "unknown multioutput": (
        {"multioutput": "sum"}, [0, 1] * 24, "multioutput='sum' is unknown: .*'joint' or 'average'"
    ),
    "unknown missing": (
        {"missing_target": "impute"}, [0, 1] * 24, "missing_target='impute' is unknown: .* 'drop'"
    ),
    "unknown kernel": ({"y_kernel": "rbf"}, [0, 1] * 24, "y_kernel='rbf' is unknown: choose one"),
    "width": ({"y_width": -1}, [0.5, 1] * 24, "width=-1, but a Gaussian kernel needs a positive"),
    "beta": ({"y_kernel": "diffusion"}, np.zeros((48, 48)), "adjacency has no edge"),
    "negative links": (
        {"y_kernel": "regularised_laplacian"}, -np.ones((48, 48)), "edge cannot be negative"
    ),
    "wrong shape": (
        {"y_kernel": "precomputed"}, np.eye(47), r"affinity has shape \(47, 47\).*shape \(48, 48\)"
    ),
    "one column": ({"y_kernel": "precomputed"}, np.arange(48), r"affinity has shape \(48,\)"),
    "constant affinity": ({"y_kernel": "precomputed"}, np.ones((48, 48)), "affinity is 1 for all"),
    "asymmetric": (
        {"y_kernel": "precomputed"}, np.triu(np.ones((48, 48))), r"symmetric: pass \(L \+ L.T\)"
    ),
    "asymmetric links": (
        {"y_kernel": "diffusion"}, sparse.csr_array(np.triu(np.ones((48, 48)))), "symmetric: pass"
    ),
    "callable, wrong length": ({"y_kernel": common_3mers}, ["acgt"] * 9, "y has 9 values"),
    "three fields": (
        {}, np.zeros(48, dtype=[("a", float), ("b", float), ("c", bool)]), "survival needs two"
    ),
    "one time column": ({"task": "survival"}, np.arange(48), r"y has shape \(48,\).*two columns"),
    "times as text": ({"task": "survival"}, [["a", "b"]] * 48, "not numbers: pass times as"),
    "negative times": ({"task": "survival"}, [[-1, 1], [2, 0]] * 24, "y has the time -1.0, but"),
    "infinite times": ({"task": "survival"}, [[np.inf, 1], [2, 0]] * 24, "y has the time inf"),
    "events of two": ({"task": "survival"}, [[1, 2], [2, 0]] * 24, "y has the event 2.0, but an"),
    "no event": ({"task": "survival"}, [[1, 0], [2, 0]] * 24, "no event: all times are censored"),
    "one time": ({"task": "survival"}, [[1, 1], [1, 0]] * 24, "only one time .*must differ"),
    "times too short": ({"task": "survival"}, [[1, 1], [2, 0]] * 20, "y has 40 values"),
    "laplace of labels together": (
        {"y_kernel": "laplace", "multioutput": "joint"}, [[0, 1], [1, 0]] * 24, "Laplace kernel is"
    ),
}  # fmt: skip


@pytest.mark.parametrize("kind", BAD)
def test_bad_targets_are_refused(kind, X):
    options, y, message = BAD[kind]
    with pytest.raises(InvalidInputError, match=message):
        HSICLasso(2, **options).fit(X, y)


@pytest.mark.parametrize("value", [None, "many"])
def test_functions_of_pairs_return_numbers(value, X):
    message = "function returned .* for the pair of items .*must be one finite number"
    with pytest.raises(InvalidInputError, match=message):
        HSICLasso(2, y_kernel=lambda a, b: value).fit(X, ["a", "b"] * 24)


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_functions_of_pairs_return_finite_numbers(value, X):
    with pytest.raises(InvalidInputError, match="must be one finite number: let it return a float"):
        HSICLasso(2, y_kernel=lambda a, b: value).fit(X, ["a", "b"] * 24)


def test_complex_targets_are_refused(X):
    with pytest.raises(InvalidInputError, match="Complex data not supported: y is complex"):
        HSICLasso(2).fit(X, X[:, 0] + 1j)


def test_too_few_targets_that_are_not_missing(X):
    y = np.where(np.arange(N) < 2, 1.0, np.nan)
    with pytest.raises(InvalidInputError, match=r"n_samples=2 with a target.* 3 samples or more"):
        HSICLasso(2, missing_target="drop").fit(X, y)


@pytest.mark.parametrize("beta", [0, -1.0, np.inf])
@pytest.mark.parametrize("kernel", [Diffusion, RegularisedLaplacian])
def test_beta_of_a_graph(kernel, beta):
    with pytest.raises(InvalidInputError, match=f"beta={beta}.*above 0"):
        kernel(beta)


def test_nocco_refuses_large_sparse_affinities(rng):
    X = rng.standard_normal((4001, 2))
    with pytest.raises(InvalidInputError, match="a sparse affinity of 4001 samples is too large"):
        NOCCOLasso(1, y_kernel="precomputed").fit(X, sparse.eye_array(4001, format="csr"))


# ------------------------------------------------------------------------------- many samples

LARGE = {
    "real": ({}, lambda X: X[:, 3] ** 2),
    "classes": ({}, lambda X: np.digitize(X[:, 3], [-0.5, 0.5])),
    "labels": ({}, lambda X: (X[:, 3:6] > 0).astype(int)),
    "outputs": ({}, lambda X: X[:, 3:5]),
    "laplace": ({"y_kernel": "laplace"}, lambda X: X[:, 3] ** 2),
    "survival": ({"task": "survival"}, lambda X: (np.exp(X[:, 3]), X[:, 0] > -1)),
    "sparse affinity": (
        {"y_kernel": "precomputed"},
        lambda X: sparse.diags_array(
            [np.abs(X[:, 3]), np.ones(len(X) - 1), np.ones(len(X) - 1)], offsets=[0, 1, -1]
        ).tocsr(),
    ),
}


@pytest.mark.parametrize("target", LARGE)
def test_many_samples_need_no_matrix_of_all_pairs(target):
    n = 20_000
    X = np.random.default_rng(0).standard_normal((n, 8))
    options, make = LARGE[target]
    y = make(X)
    selector = HSICLasso(2, n_jobs=1, **options)
    tracemalloc.start()
    selector.fit(X, y)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 0.03 * n * n * 8  # 96 MB beside 3.2 GB
    assert not set(selector.selected_).isdisjoint({3, 4, 5})
