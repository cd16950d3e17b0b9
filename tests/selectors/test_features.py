"""Columns of every kind, their kernels, and features made of several columns."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse

from hsiclasso import (
    ConstantFeatureWarning,
    Delta,
    Gaussian,
    HSICLasso,
    InvalidInputError,
    Laplace,
    Linear,
    NOCCOLasso,
    Polynomial,
)
from tests import oracles
from tests.selectors.dense import (
    MEASURES,
    PLAIN_DELTA,
    assert_differs,
    assert_same,
    assert_solves,
    feature_matrices,
    selector_of,
    target_matrix,
)

N = 48
LETTERS = np.array(["b", "c", "a", "d"])


@pytest.fixture(scope="module", name="X")
def make_table():
    return np.random.default_rng(5).standard_normal((N, 7))


@pytest.fixture(scope="module", name="y")
def make_target(X):
    return X[:, 0] * X[:, 1] + X[:, 2] + 0.5 * X[:, 3] ** 2


def relevant_codes(X):
    """Three labels that carry part of the target."""
    return np.digitize(X[:, 2], [-0.5, 0.6])


def mixed(X, library="pandas"):
    """Numbers, small integers, flags, categories and text; and each column as numbers."""
    codes, other = relevant_codes(X), np.digitize(X[:, 4], [-1.0, 0.0, 1.0])
    flags, calls = X[:, 1] > 0.3, np.digitize(X[:, 0], [-0.3, 1.0])
    columns = {"x0": X[:, 0], "x1": X[:, 1]}
    numbers = [X[:, 0], X[:, 1], flags, codes, other, calls]
    if library == "pandas":
        frame = pd.DataFrame(columns)
        frame["flag"] = flags
        frame["kind"] = pd.Categorical(LETTERS[codes])
        frame["word"] = LETTERS[other]
        frame["call"] = calls.astype(np.int8)
        return frame, numbers
    made = {
        "flag": pl.Series(flags),
        "kind": pl.Series(LETTERS[codes]).cast(pl.Categorical),
        "word": pl.Series(LETTERS[other]),
        "call": pl.Series(calls.astype(np.int8)),
    }
    return pl.DataFrame(columns | made), numbers


AUTO = [Gaussian(), Gaussian(), PLAIN_DELTA, PLAIN_DELTA, PLAIN_DELTA, Gaussian()]


def target(y, measure="hsic"):
    return target_matrix(oracles.gaussian_gram(y), measure)


# ------------------------------------------------------------------------- one kernel for all

KERNELS = {
    "gaussian": ({"x_kernel": "gaussian"}, Gaussian()),
    "narrow": ({"x_width": 0.4}, Gaussian(0.4)),
    "named and narrow": ({"x_kernel": "gaussian", "x_width": 0.4}, Gaussian(0.4)),
    "median": ({"x_width": "median"}, Gaussian("median")),
    "widths": ({"x_width": (0.5, 1.0, "median", 4.0)}, Gaussian((0.5, 1.0, "median", 4.0))),
    "list of widths": ({"x_width": [0.2, 2.0]}, Gaussian((0.2, 2.0))),
    "object": ({"x_kernel": Gaussian(2.0)}, Gaussian(2.0)),
    "laplace": ({"x_kernel": "laplace"}, Laplace()),
    "laplace, narrow": ({"x_kernel": "laplace", "x_width": 0.3}, Laplace(0.3)),
    "laplace, median": ({"x_kernel": "laplace", "x_width": "median"}, Laplace("median")),
    "laplace object": ({"x_kernel": Laplace(3.0)}, Laplace(3.0)),
    "linear": ({"x_kernel": "linear"}, Linear()),
    "polynomial": ({"x_kernel": "polynomial"}, Polynomial()),
    "polynomial object": ({"x_kernel": Polynomial(3, 0.2)}, Polynomial(3, 0.2)),
    "pure square": ({"x_kernel": Polynomial(2, 0.0)}, Polynomial(2, 0.0)),
    "delta": ({"x_kernel": "delta"}, Delta()),
    "plain delta": ({"x_kernel": "plain_delta"}, PLAIN_DELTA),
    "delta object": ({"x_kernel": Delta()}, Delta()),
}


@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize("name", KERNELS)
class TestOneKernel:
    def test_solves_the_dense_problem(self, name, measure, X, y):
        options, kernel = KERNELS[name]
        table = np.round(2 * X)  # with ties, and few enough values for the delta kernel
        selector = selector_of(measure, **options).fit(table, y)
        assert_solves(selector, feature_matrices(table.T, kernel, measure), target(y, measure))

    def test_changes_the_answer(self, name, measure, X, y):
        options, kernel = KERNELS[name]
        table = np.round(2 * X)
        selector = selector_of(measure, **options).fit(table, y)
        default = selector_of(measure).fit(table, y)
        if kernel == Gaussian():
            assert_same(selector, default)
        else:
            assert_differs(selector, default)


@pytest.mark.parametrize("name", ["gaussian", "laplace", "linear", "delta", "plain delta"])
@pytest.mark.parametrize("convert", [sparse.csr_matrix, sparse.csc_array], ids=["csr", "csc"])
@pytest.mark.parametrize("measure", MEASURES)
def test_sparse_tables(name, convert, measure, rng):
    table = rng.poisson(0.5, (N, 8)).astype(float)
    y = table[:, 1] + (table[:, 2] > 0) - 0.5 * table[:, 6] + 0.2 * rng.standard_normal(N)
    options, kernel = KERNELS[name]
    selector = selector_of(measure, **options).fit(convert(table), y)
    assert_solves(selector, feature_matrices(table.T, kernel, measure), target(y, measure))
    assert_same(selector, selector_of(measure, **options).fit(table, y))


GENOTYPE_KERNELS = {
    "auto": Gaussian(), "gaussian": Gaussian(), "delta": Delta(), "plain_delta": PLAIN_DELTA,
    "linear": Linear(), "polynomial": Polynomial(), "laplace": Laplace(),
}  # fmt: skip


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int16, np.float32, float], ids=str)
@pytest.mark.parametrize("kernel", GENOTYPE_KERNELS)
def test_genotypes_are_the_same_in_any_dtype(kernel, dtype, rng):
    calls = rng.binomial(2, 0.35, (N, 9))
    y = (calls[:, 3] == 1) + 0.5 * calls[:, 5] - calls[:, 7] + 0.2 * rng.standard_normal(N)
    for measure in MEASURES:
        selector = selector_of(measure, x_kernel=kernel).fit(calls.astype(dtype), y)
        A = feature_matrices(calls.T, GENOTYPE_KERNELS[kernel], measure)
        assert_solves(selector, A, target(y, measure))


@pytest.mark.parametrize("measure", MEASURES)
def test_flags_are_labels(measure, X, y):
    flags = X > 0.2
    selector = selector_of(measure).fit(flags, y)
    assert_solves(selector, feature_matrices(flags.T, PLAIN_DELTA, measure), target(y, measure))


# -------------------------------------------------------------------------------- mixed tables


@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_labels_get_the_plain_delta_kernel(library, measure, X, y):
    frame, numbers = mixed(X, library)
    selector = selector_of(measure).fit(frame, y)
    assert_solves(selector, feature_matrices(numbers, AUTO, measure), target(y, measure))
    assert "kind" in selector.result_.names


def test_labels_of_categories_do_not_matter(X, y):
    frame, _ = mixed(X)
    base = HSICLasso(4).fit(frame, y)
    renamed = frame.assign(
        kind=frame["kind"].cat.rename_categories({"a": "zz", "b": 3, "c": "é"}),
        word=frame["word"].map({"a": "4", "b": "z", "c": "", "d": "q"}),
    )
    assert_same(HSICLasso(4).fit(renamed, y), base, rtol=1e-9)
    unused = frame.assign(kind=frame["kind"].cat.add_categories(["0", "z"]))
    assert_same(HSICLasso(4).fit(unused, y), base, rtol=1e-9)
    moved = frame.assign(kind=frame["kind"].cat.reorder_categories(["c", "a", "b"], ordered=True))
    assert_same(HSICLasso(4).fit(moved, y), base, rtol=1e-9)


#: Kernels by rule, and the kernels of the six columns that they stand for.
RULES = {
    "by name": ({"x0": "laplace"}, [Laplace(), *AUTO[1:]]),
    "by index": ({1: Linear()}, [AUTO[0], Linear(), *AUTO[2:]]),
    "by NumPy index": ({np.int64(1): Linear()}, [AUTO[0], Linear(), *AUTO[2:]]),
    "from the end": ({-1: "delta"}, [*AUTO[:5], Delta()]),
    "numbers": ({"number": "laplace"}, [Laplace(), Laplace(), *AUTO[2:5], Laplace()]),
    "flags": ({"bool": "gaussian"}, [*AUTO[:2], Gaussian(), *AUTO[3:]]),
    "categories": ({"category": "delta"}, [*AUTO[:3], Delta(), *AUTO[4:]]),
    "text": ({"text": "delta"}, [*AUTO[:4], Delta(), AUTO[5]]),
    "a dtype's name": ({"int8": "plain_delta"}, [*AUTO[:5], PLAIN_DELTA]),
    "a dtype": ({np.dtype("int8"): "plain_delta"}, [*AUTO[:5], PLAIN_DELTA]),
    "a NumPy type": ({np.int8: "plain_delta"}, [*AUTO[:5], PLAIN_DELTA]),
    "a Python type": ({float: Gaussian(0.5)}, [Gaussian(0.5), Gaussian(0.5), *AUTO[2:]]),
    "the type bool": ({bool: "delta"}, [*AUTO[:2], Delta(), *AUTO[3:]]),
    "dtype before kind": (
        {"number": "laplace", "int8": "delta"}, [Laplace(), Laplace(), *AUTO[2:5], Delta()],
    ),
    "column before dtype": (
        {"float64": "laplace", "x1": Gaussian(3.0), "number": "linear"},
        [Laplace(), Gaussian(3.0), *AUTO[2:5], Linear()],
    ),
    "nothing": ({}, AUTO),
}  # fmt: skip


@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize("rule", RULES)
def test_kernels_by_rule(rule, measure, X, y):
    frame, numbers = mixed(X)
    x_kernel, kernels = RULES[rule]
    selector = selector_of(measure, x_kernel=x_kernel).fit(frame, y)
    assert_solves(selector, feature_matrices(numbers, kernels, measure), target(y, measure))
    if kernels != AUTO and measure == "hsic":  # all kernels of two values are multiples
        relevance = selector_of(measure).fit(frame, y).relevance_
        changed = [a != b for a, b in zip(kernels, AUTO, strict=True)]
        differs = np.abs(selector.relevance_ - relevance) > 1e-6 * relevance.max()
        assert differs.tolist() == changed


@pytest.mark.parametrize(
    ("key", "place"),
    [
        ("Int8", 5), ("Categorical", 3), ("String", 4), ("text", 4), ("category", 3),
        pytest.param(pl.Int8, 5, id="class Int8"),
        pytest.param(pl.Categorical, 3, id="class Categorical"),
    ],
)  # fmt: skip
def test_kernels_by_polars_dtype(key, place, X, y):
    frame, numbers = mixed(X, "polars")
    kernels = [Delta() if j == place else kernel for j, kernel in enumerate(AUTO)]
    selector = selector_of("hsic", x_kernel={key: "delta"}).fit(frame, y)
    assert_solves(selector, feature_matrices(numbers, kernels), target(y))


@pytest.mark.parametrize("key", ["category", pd.CategoricalDtype()], ids=str)
def test_kernels_by_pandas_dtype(key, X, y):
    frame, numbers = mixed(X)
    kernels = [*AUTO[:3], Delta(), *AUTO[4:]]
    selector = selector_of("hsic", x_kernel={key: "delta"}).fit(frame, y)
    assert_solves(selector, feature_matrices(numbers, kernels), target(y))


def test_the_width_is_for_kernels_given_by_name(X, y):
    kernels = [Laplace(0.5), Gaussian(2.0), *[Gaussian(0.5)] * 5]
    selector = selector_of("hsic", x_width=0.5, x_kernel={0: "laplace", 1: Gaussian(2.0)})
    assert_solves(selector.fit(X, y), feature_matrices(X.T, kernels), target(y))


def test_rules_on_arrays_and_sparse_tables(X, y):
    table = np.round(X)
    kernels = [Linear(), *[Laplace()] * 6]
    for convert in (np.asarray, sparse.csr_array):
        selector = selector_of("hsic", x_kernel={"number": "laplace", "x0": "linear"})
        assert_solves(
            selector.fit(convert(table), y), feature_matrices(table.T, kernels), target(y)
        )


# ------------------------------------------------------------------------------ joint features


class TestJoint:
    """Columns x1 and x4 as one feature, and x0, x5 and x6 as another; x2 and x3 alone."""

    joint = {"pair": ["x4", "x1"], "triple": [0, 5, 6]}  # noqa: RUF012
    features = (4, 0, 2, 3)

    def columns(self, X):
        return [X[:, [4, 1]].T, X[:, [0, 5, 6]].T, X[:, 2], X[:, 3]]

    @pytest.mark.parametrize("measure", MEASURES)
    @pytest.mark.parametrize("name", [name for name in KERNELS if "laplace" not in name])
    def test_solves_the_dense_problem(self, name, measure, X, y):
        options, kernel = KERNELS[name]
        table = np.round(2 * X)
        selector = selector_of(measure, joint=self.joint, **options).fit(table, y)
        A = feature_matrices(self.columns(table), kernel, measure)
        assert_solves(selector, A, target(y, measure), features=self.features)

    def test_changes_the_answer(self, X, y):
        one, other = HSICLasso(3, joint=self.joint).fit(X, y), HSICLasso(3).fit(X, y)
        assert_differs(one, other)

    def test_finds_what_no_single_column_shows(self, rng):
        X = rng.choice([-1.0, 1.0], (120, 12))
        y = X[:, 3] * X[:, 8] + 0.1 * rng.standard_normal(120)
        selector = HSICLasso(1, joint={"product": [3, 8], "other": [1, 2]}).fit(X, y)
        assert selector.result_.names == ("product",)
        assert set(HSICLasso(1).fit(X, y).selected_) != {3, 8}

    def test_every_member_gets_what_the_feature_has(self, X, y):
        selector = selector_of("hsic", 2, joint=self.joint).fit(X, y)
        assert selector.n_features_in_ == 7
        for attribute in (selector.coef_, selector.relevance_):
            assert attribute[1] == attribute[4]
            assert attribute[0] == attribute[5] == attribute[6]
        assert set(selector.result_.names) <= {"pair", "triple", "x2", "x3"}
        assert len(selector.result_.features) == 2
        wanted = sorted(j for f in selector.result_.features for j in self.members(f.name))
        assert sorted(selector.selected_) == wanted
        assert np.flatnonzero(selector.get_support()).tolist() == wanted
        np.testing.assert_array_equal(selector.transform(X), X[:, wanted])
        names = selector.get_feature_names_out().tolist()
        assert names == [f"x{j}" for j in wanted]

    def members(self, name):
        return {"pair": [4, 1], "triple": [0, 5, 6]}.get(name) or [int(name[1:])]

    def test_the_result_names_columns(self, X, y):
        result = HSICLasso(4, joint=self.joint).fit(X, y).result_
        columns = {feature.name: feature.columns for feature in result.features}
        assert columns == {
            "pair": ("x4", "x1"), "triple": ("x0", "x5", "x6"), "x2": ("x2",), "x3": ("x3",),
        }  # fmt: skip
        index = {feature.name: feature.index for feature in result.features}
        assert index == {"pair": 4, "triple": 0, "x2": 2, "x3": 3}
        assert {f["name"] for f in json.loads(result.to_json())["features"]} == set(columns)
        assert set(result.to_frame()["name"]) == set(columns)

    def test_neighbours_are_features(self, X, y):
        result = HSICLasso(4, joint=self.joint).fit(X, y).result_
        for feature in result.features:
            assert {other.name for other in feature.neighbours} < set(result.names)

    def test_fewer_features_of_one_fit(self, X, y):
        selector = HSICLasso(4, joint=self.joint).fit(X, y)
        for size in (1, 2, 3):
            fewer = HSICLasso(size, joint=self.joint).fit(X, y)
            assert selector.selected_of_size(size).tolist() == fewer.selected_.tolist()

    def test_keep_and_exclude_by_name(self, X, y):
        kept = HSICLasso(2, joint=self.joint, keep=["triple"]).fit(X, y)
        assert {0, 5, 6} <= set(kept.selected_)
        assert kept.result_.features[kept.result_.names.index("triple")].origin == "kept"
        without = HSICLasso(2, joint=self.joint, exclude=["pair"]).fit(X, y)
        assert {1, 4}.isdisjoint(without.selected_)
        heavy = HSICLasso(2, joint=self.joint, penalty_weights={"pair": np.inf}).fit(X, y)
        assert_same(heavy, without)

    def test_in_groups(self, X, y):
        groups = {"pair": "g", "x2": "g", "triple": "h", "x3": "h"}
        selector = HSICLasso(groups=groups, joint=self.joint, n_groups_to_select=1).fit(X, y)
        chosen = {member for member, label in groups.items() if label == "g"}
        assert set(selector.result_.names) == chosen or set(selector.result_.names) == {
            "triple", "x3",
        }  # fmt: skip
        (group,) = selector.result_.groups
        assert set(group.features) == set(selector.result_.names)

    def test_a_joint_feature_is_one_of_its_group(self, X, y):
        labels = ["h", "g", "g", "h", "g", "h", "h"]  # pair: g, triple: h
        selector = HSICLasso(groups=labels, joint=self.joint, n_groups_to_select=2).fit(X, y)
        assert [group.size for group in selector.result_.groups] == [2, 2]

    def test_samples_on_which_members_are_observed(self, X, y):
        table = X.copy()
        table[:6, 1] = np.nan
        selector = HSICLasso(4, joint=self.joint, missing="ignore").fit(table, y)
        assert selector.n_observed_[[4, 1]].tolist() == [N - 6, N - 6]

    @pytest.mark.parametrize("measure", MEASURES)
    def test_of_labels(self, measure, X, y):
        frame, numbers = mixed(X)
        selector = selector_of(measure, joint={"both": ["kind", "word"]}).fit(frame, y)
        columns = [numbers[0], numbers[1], numbers[2], np.array(numbers[3:5]), numbers[5]]
        kernels = [Gaussian(), Gaussian(), PLAIN_DELTA, PLAIN_DELTA, Gaussian()]
        A = feature_matrices(columns, kernels, measure)
        assert_solves(selector, A, target(y, measure), features=[0, 1, 2, 3, 5])

    @pytest.mark.parametrize(
        ("x_kernel", "kernel"),
        [
            ({"pair": "linear"}, Linear()),
            ({"pair": Polynomial(3)}, Polynomial(3)),
            ({"pair": Gaussian("median")}, Gaussian("median")),
            ({"pair": Gaussian((0.5, 2.0))}, Gaussian((0.5, 2.0))),
            ({"pair": "gaussian", "number": "laplace"}, Gaussian()),
        ],
        ids=str,
    )
    def test_kernel_by_name(self, x_kernel, kernel, X, y):
        selector = selector_of("hsic", joint={"pair": [4, 1]}, x_kernel=x_kernel).fit(X, y)
        others = Laplace() if "number" in x_kernel else Gaussian()
        columns = [X[:, 0], X[:, [4, 1]].T, X[:, 2], X[:, 3], X[:, 5], X[:, 6]]
        kernels = [others, kernel, *[others] * 4]
        A = feature_matrices(columns, kernels)
        assert_solves(selector, A, target(y), features=[0, 4, 2, 3, 5, 6])

    def test_of_a_mixture_under_a_delta_kernel(self, X, y):
        frame, numbers = mixed(X)
        selector = selector_of(
            "hsic", joint={"both": ["call", "kind"]}, x_kernel={"both": "plain_delta"}
        ).fit(frame, y)
        columns = [*numbers[:3], numbers[4], np.array([numbers[5], numbers[3]])]
        kernels = [*AUTO[:3], PLAIN_DELTA, PLAIN_DELTA]
        assert_solves(
            selector, feature_matrices(columns, kernels), target(y), features=[0, 1, 2, 4, 5]
        )

    def test_of_one_column_is_the_column(self, X, y):
        selector = HSICLasso(3, joint={"alone": [2]}, tol=1e-10).fit(X, y)
        assert_same(selector, HSICLasso(3, tol=1e-10).fit(X, y))
        assert "alone" in selector.result_.names

    def test_may_have_the_name_of_a_member(self, X, y):
        frame = pd.DataFrame(X, columns=list("abcdefg"))
        selector = HSICLasso(5, joint={"a": ["a", "b"]}).fit(frame, y)
        assert ("a", "b") in [feature.columns for feature in selector.result_.features]

    def test_one_hot_block(self, X, y):
        """A block of indicators under a linear or delta kernel is the label itself."""
        codes = relevant_codes(X)
        block = np.eye(3)[codes]
        table = np.hstack([block, X[:, [0, 1, 3]]])
        by_block = selector_of("nhsic", joint={"kind": [0, 1, 2]}, x_kernel={"kind": "plain_delta"})
        by_code = selector_of("nhsic", x_kernel={0: "plain_delta"})
        by_block.fit(table, y)
        by_code.fit(np.column_stack([codes, X[:, [0, 1, 3]]]), y)
        np.testing.assert_allclose(by_block.coef_[[0, 3, 4, 5]], by_code.coef_, rtol=1e-6)

    def test_sparse_tables(self, X, y):
        table = np.maximum(np.round(X), 0)
        dense = selector_of("hsic", joint=self.joint).fit(table, y)
        assert_same(selector_of("hsic", joint=self.joint).fit(sparse.csr_array(table), y), dense)

    def test_of_constant_columns(self, X, y):
        table = X.copy()
        table[:, [1, 4]] = 3.0
        with pytest.warns(ConstantFeatureWarning, match="1 of 7 columns do not vary.*: pair"):
            selector = HSICLasso(2, joint=self.joint).fit(table, y)
        assert selector.result_.constant == ("pair",)
        table[0, 1] = 2.0
        HSICLasso(2, joint=self.joint).fit(table, y)


BAD_JOINT = {
    "unknown column": ({"a": ["x1", "y7"]}, r"joint\['a'\] has 'y7', but there is no such column"),
    "index": ({"a": [1, 7]}, r"joint\['a'\] has index 7, but there are 7 columns: 0 to 6"),
    "text": ({"a": "x1"}, r"joint\['a'\]='x1' must be a list of columns: \['x1'\]"),
    "empty": ({"a": []}, r"joint\['a'\] has no columns: name one or more"),
    "two owners": (
        {"a": [0, 1], "b": [2, 1]}, "column 'x1' is in 'a' and in 'b': a column belongs to one",
    ),
    "twice": ({"a": [1, 1]}, "column 'x1' is in 'a' and in 'a'"),
    "name of a column": ({"x5": [0, 1]}, "feature 'x5', but a column has that name: choose"),
}  # fmt: skip


@pytest.mark.parametrize("kind", BAD_JOINT)
def test_bad_joint_features(kind, X, y):
    joint, message = BAD_JOINT[kind]
    with pytest.raises(InvalidInputError, match=message):
        HSICLasso(2, joint=joint).fit(X, y)


BAD_JOINT_OPTIONS = [
    ({"x_kernel": "laplace"}, "joint feature 'ab' has several columns, and the Laplace kernel"),
    ({"x_kernel": {"ab": Laplace()}}, "take 'gaussian', 'linear', 'polynomial' or 'delta'"),
    ({"keep": [1]}, "keep has 'x1', which is a covariate or part of a joint feature: name the"),
    ({"exclude": ["x0"]}, "exclude has 'x0', but there is no such column"),
]


@pytest.mark.parametrize(("options", "message"), BAD_JOINT_OPTIONS, ids=str)
def test_bad_options_of_joint_features(options, message, X, y):
    with pytest.raises(InvalidInputError, match=message):
        HSICLasso(2, joint={"ab": [0, 1]}, **options).fit(X, y)


def test_a_member_of_a_joint_feature_cannot_be_excluded(X, y):
    with pytest.raises(InvalidInputError, match=r"'x1'.*joint"):
        HSICLasso(2, joint={"ab": [0, 1]}, exclude=["x1"]).fit(X, y)


def test_a_covariate_is_no_part_of_a_joint_feature(X, y):
    with pytest.raises(InvalidInputError, match="covariate"):
        HSICLasso(2, joint={"ab": [0, 1]}, covariates=["x1"]).fit(X, y)


def test_joint_labels_and_numbers_need_a_delta_kernel(X, y):
    frame, _ = mixed(X)
    message = "joint feature 'v' has columns of labels.*x_kernel={'v': 'plain_delta'}"
    with pytest.raises(InvalidInputError, match=message):
        HSICLasso(2, joint={"v": ["x0", "kind"]}).fit(frame, y)


# ------------------------------------------------------------------------------------ refusals

BAD_KERNELS = [
    (
        "gaussian",
        "column 'kind' holds labels, which Gaussian.* cannot compare: use x_kernel='auto'",
    ),
    ({"kind": "linear"}, r"column 'kind' holds labels, which Linear\(\) cannot compare"),
    ({"text": "laplace"}, r"column 'word' holds labels, which Laplace\(width=1.0\) cannot compare"),
    ({"category": Polynomial()}, "column 'kind' holds labels, which Polynomial"),
    ({"knid": "delta"}, "x_kernel has 'knid', which is no column, no kind .*did you mean 'kind'"),
    ({"int64": "delta"}, r"x_kernel has 'int64'.*no dtype of the table \(bool, category, float64"),
    ({np.float32: "delta"}, "x_kernel has .*float32.*, which is no column"),
    ({9: "delta"}, "x_kernel has index 9, but there are 6 columns: 0 to 5"),
    ({True: "delta"}, "x_kernel has True, but columns are given by name or by index"),
    ({"x0": "rbf"}, r"x_kernel\['x0'\]='rbf' is unknown: choose one of 'gaussian', 'laplace'"),
    ({"x0": 3}, r"x_kernel\['x0'\]=3 is unknown"),
    ("precomputed", "x_kernel='precomputed' is unknown"),
    (None, "x_kernel=None is unknown"),
    (lambda a, b: 1.0, "x_kernel=<function .* is unknown"),
]


@pytest.mark.parametrize(("x_kernel", "message"), BAD_KERNELS, ids=range(len(BAD_KERNELS)))
def test_bad_kernels(x_kernel, message, X, y):
    with pytest.raises(InvalidInputError, match=message):
        HSICLasso(2, x_kernel=x_kernel).fit(mixed(X)[0], y)


BAD_WIDTHS = [0.0, -1, np.nan, np.inf, "mean", (), (1.0, 0.0), (1.0, "mean"), True, None]


@pytest.mark.parametrize("width", BAD_WIDTHS, ids=str)
def test_bad_widths(width, X, y):
    with pytest.raises(InvalidInputError, match=r"width=.*(needs a positive finite|no width)"):
        HSICLasso(2, x_width=width).fit(X, y)


def test_laplace_has_one_width(X, y):
    with pytest.raises(InvalidInputError, match=r"width=\(1.0, 2.0\), but a Laplace kernel needs"):
        HSICLasso(2, x_kernel="laplace", x_width=(1.0, 2.0)).fit(X, y)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"degree": 0}, "degree=0, but a polynomial kernel needs a whole number between 1 and 10"),
        ({"degree": 2.5}, "degree=2.5"),
        ({"offset": -1.0}, "offset=-1.0, but a polynomial kernel needs a finite offset >= 0"),
        ({"offset": np.inf}, "offset=inf"),
    ],
    ids=str,
)
def test_bad_polynomials(options, message):
    with pytest.raises(InvalidInputError, match=message):
        Polynomial(**options)


def test_text_in_arrays_is_refused(X, y):
    table = mixed(X)[0].to_numpy()
    with pytest.raises(InvalidInputError, match=r"not numbers.*pass a pandas or polars frame"):
        NOCCOLasso(2).fit(table, y)
