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
    GroupLasso,
    HSICLasso,
    InvalidInputError,
    Laplace,
    Lasso,
    Linear,
    Polynomial,
)
from hsiclasso.kernels import KERNELS
from tests.selectors.dense import MEASURES, assert_differs, assert_same, assert_solves, selector_of
from tests.selectors.tables import AUTO, PLAIN_DELTA, N, mixed

#: Kernels as options, and what they stand for.
NAMED = {name: make() for name, make in KERNELS.items()}
OBJECTS = [
    Gaussian(0.4), Gaussian("median"), Gaussian((0.5, 1.0, "median", 4.0)), Gaussian([0.2, 2.0]),
    Gaussian(expansion="cholesky"), Laplace(0.3), Laplace("median"), Polynomial(3, 0.2),
    Polynomial(2, 0.0),
]  # fmt: skip


@pytest.mark.parametrize("kernel", [*NAMED, *OBJECTS], ids=str)
def test_one_kernel_for_all_columns(kernel, X, y):
    table = np.round(2 * X)  # with ties, and few enough values for the delta kernel
    meant = NAMED.get(kernel, kernel) if isinstance(kernel, str) else kernel
    for measure in MEASURES:
        selector = selector_of(measure, kernel=kernel).fit(table, y)
        assert_solves(selector, table.T, y, meant)
    default = selector_of("nocco").fit(table, y)
    if meant.name == "gaussian" and meant.width == 1.0:
        assert_same(selector, default)
    else:
        assert_differs(selector, default)


@pytest.mark.parametrize("kernel", ["gaussian", "laplace", "linear", "delta", "plain_delta"])
def test_storages_of_whole_numbers(kernel, rng):
    """Small integers, sparse tables and frames take other ways through the pass."""
    calls = rng.binomial(2, 0.35, (N, 9))
    y = (calls[:, 3] == 1) + 0.5 * calls[:, 5] - calls[:, 7] + 0.2 * rng.standard_normal(N)
    for measure in MEASURES:
        for convert in (
            lambda X: X.astype(np.int8),
            lambda X: X.astype(np.float32),
            lambda X: sparse.csr_matrix(X.astype(float)),
            lambda X: sparse.csc_array(X.astype(float)),
            lambda X: pd.DataFrame(X.astype(np.int16)).rename(columns=str),
        ):
            selector = selector_of(measure, kernel=kernel).fit(convert(calls), y)
            assert_solves(selector, calls.T, y, NAMED[kernel])


# -------------------------------------------------------------------------------- mixed tables


@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_labels_get_the_plain_delta_kernel(library, measure, X, y):
    frame, numbers = mixed(X, library)
    selector = selector_of(measure).fit(frame, y)
    assert_solves(selector, numbers, y, AUTO)
    flags = X > 0.2
    assert_solves(selector_of(measure).fit(flags, y), flags.T, y, PLAIN_DELTA)


def test_labels_of_categories_do_not_matter(X, y):
    frame, _ = mixed(X)
    base, kind = HSICLasso(4).fit(frame, y), frame["kind"].cat
    for changed in (
        {"kind": kind.rename_categories({"a": "zz", "b": 3, "c": "é"})},
        {"word": frame["word"].map({"a": "4", "b": "z", "c": "", "d": "q"})},
        {"kind": kind.add_categories(["0", "z"])},
        {"kind": kind.reorder_categories(["c", "a", "b"], ordered=True)},
    ):
        assert_same(HSICLasso(4).fit(frame.assign(**changed), y), base, rtol=1e-9)


#: Kernels by rule, and the kernels of the six columns that they stand for.
RULES = {
    "by name": ({"x0": "laplace"}, [Laplace(), *AUTO[1:]]),
    "by NumPy index": ({np.int64(1): Linear()}, [AUTO[0], Linear(), *AUTO[2:]]),
    "from the end": ({-1: "delta"}, [*AUTO[:5], Delta()]),
    "numbers": ({"number": "laplace"}, [Laplace(), Laplace(), *AUTO[2:5], Laplace()]),
    "flags": ({"bool": "gaussian"}, [*AUTO[:2], Gaussian(), *AUTO[3:]]),
    "categories": ({"category": "delta"}, [*AUTO[:3], Delta(), *AUTO[4:]]),
    "pandas' category": ({pd.CategoricalDtype(): "delta"}, [*AUTO[:3], Delta(), *AUTO[4:]]),
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


@pytest.mark.parametrize("rule", RULES)
def test_kernels_by_rule(rule, X, y):
    frame, numbers = mixed(X)
    kernel, kernels = RULES[rule]
    selector = selector_of(kernel=kernel).fit(frame, y)
    assert_solves(selector, numbers, y, kernels)
    relevance = selector_of().fit(frame, y).relevance_
    changed = [a != b for a, b in zip(kernels, AUTO, strict=True)]
    differs = np.abs(selector.relevance_ - relevance) > 1e-6 * relevance.max()
    assert differs.tolist() == changed


@pytest.mark.parametrize(
    ("key", "place"), [("Int8", 5), ("String", 4), (pl.Categorical, 3), ("category", 3)], ids=str
)
def test_kernels_by_polars_dtype(key, place, X, y):
    frame, numbers = mixed(X, "polars")
    kernels = [Delta() if j == place else kernel for j, kernel in enumerate(AUTO)]
    selector = selector_of(kernel={key: "delta"}).fit(frame, y)
    assert_solves(selector, numbers, y, kernels)


def test_rules_on_arrays_and_sparse_tables(X, y):
    table, kernels = np.round(X), [Linear(), *[Laplace()] * 6]
    for convert in (np.asarray, sparse.csr_array):
        selector = selector_of(kernel={"number": "laplace", "x0": "linear"})
        selector.fit(convert(table), y)
        assert_solves(selector, table.T, y, kernels)


# ------------------------------------------------------------------------------ joint features


class TestJoint:
    """Columns x4 and x1 as one feature, and x0, x5 and x6 as another; x2 and x3 alone."""

    joint = {"pair": ["x4", "x1"], "triple": [0, 5, 6]}  # noqa: RUF012
    members = {"pair": [4, 1], "triple": [0, 5, 6], "x2": [2], "x3": [3]}  # noqa: RUF012
    features = (4, 0, 2, 3)

    def columns(self, X):
        return [X[:, columns].T for columns in self.members.values()]

    @pytest.mark.parametrize(
        "kernel",
        [*(k for k in NAMED.values() if k.name != "laplace"), *OBJECTS[:3], Polynomial(3, 0.2)],
        ids=str,
    )
    def test_solves_the_dense_problem(self, kernel, X, y):
        table = np.round(2 * X)
        for measure in MEASURES:
            selector = selector_of(measure, joint=self.joint, kernel=kernel).fit(table, y)
            assert_solves(selector, self.columns(table), y, kernel, features=self.features)

    def test_finds_what_no_single_column_shows(self, rng):
        X = rng.choice([-1.0, 1.0], (120, 12))
        y = X[:, 3] * X[:, 8] + 0.1 * rng.standard_normal(120)
        selector = HSICLasso(1, joint={"product": [3, 8], "other": [1, 2]}).fit(X, y)
        assert selector.result_.names == ("product",)
        assert set(HSICLasso(1).fit(X, y).selected_) != {3, 8}

    def test_every_member_gets_what_the_feature_has(self, X, y):
        selector = HSICLasso(2, joint=self.joint).fit(X, y)
        assert selector.n_features_in_ == 7
        for attribute in (selector.coef_, selector.relevance_):
            assert attribute[1] == attribute[4]
            assert attribute[0] == attribute[5] == attribute[6]
        assert len(selector.result_.features) == 2
        wanted = sorted(j for f in selector.result_.features for j in self.members[f.name])
        assert sorted(selector.selected_) == wanted
        np.testing.assert_array_equal(selector.transform(X), X[:, wanted])
        assert selector.get_feature_names_out().tolist() == [f"x{j}" for j in wanted]

    def test_the_result_names_features_and_their_columns(self, X, y):
        result = HSICLasso(4, joint=self.joint, n_neighbors=5).fit(X, y).result_
        for feature in result.features:
            assert feature.columns == tuple(f"x{j}" for j in self.members[feature.name])
            assert feature.index == self.members[feature.name][0]
            others = {other.name for other in feature.neighbours}
            assert others == set(result.names) - {feature.name}
        assert {f["name"] for f in json.loads(result.to_json())["features"]} == set(self.members)
        assert set(result.to_frame()["name"]) == set(self.members)

    def test_fewer_features_of_one_fit(self, X, y):
        selector = HSICLasso(4, joint=self.joint).fit(X, y)
        for size in (1, 2, 3):
            fewer = HSICLasso(size, joint=self.joint).fit(X, y)
            assert selector.selected_of_size(size).tolist() == fewer.selected_.tolist()

    def test_keep_exclude_and_weights_by_name(self, X, y):
        kept = HSICLasso(2, joint=self.joint, keep=["triple"]).fit(X, y)
        assert {0, 5, 6} <= set(kept.selected_)
        assert kept.result_.features[kept.result_.names.index("triple")].origin == "kept"
        without = HSICLasso(2, joint=self.joint, exclude=["pair"]).fit(X, y)
        assert {1, 4}.isdisjoint(without.selected_)
        heavy = HSICLasso(2, joint=self.joint, penalty=Lasso({"pair": np.inf})).fit(X, y)
        assert_same(heavy, without)
        by_column = np.where(np.arange(7) == 4, np.inf, 1.0)  # that of the first column counts
        heavy = HSICLasso(2, joint=self.joint, penalty=Lasso(by_column)).fit(X, y)
        assert_same(heavy, without)

    def test_in_groups(self, X, y):
        groups = {"pair": "g", "x2": "g", "triple": "h", "x3": "h"}
        labels = ["h", "g", "g", "h", "g", "h", "h"]  # a joint feature is one of its group
        for given in (groups, labels):
            penalty = GroupLasso(given, n_groups=1)
            selector = HSICLasso(penalty=penalty, joint=self.joint).fit(X, y)
            (group,) = selector.result_.groups
            assert set(group.features) == set(selector.result_.names)
            assert {groups[name] for name in selector.result_.names} == {group.label}
            assert group.size == 2

    def test_of_labels(self, X, y):
        frame, numbers = mixed(X)
        columns = [*numbers[:3], np.array(numbers[3:5]), numbers[5]]
        kernels = [*AUTO[:4], Gaussian()]
        for measure in MEASURES:
            selector = selector_of(measure, joint={"both": ["kind", "word"]}).fit(frame, y)
            assert_solves(selector, columns, y, kernels, features=[0, 1, 2, 3, 5])

    def test_of_a_mixture_under_a_delta_kernel(self, X, y):
        frame, numbers = mixed(X)
        selector = selector_of(
            joint={"both": ["call", "kind"]}, kernel={"both": "plain_delta"}
        ).fit(frame, y)  # fmt: skip
        columns = [*numbers[:3], numbers[4], np.array([numbers[5], numbers[3]])]
        kernels = [*AUTO[:3], PLAIN_DELTA, PLAIN_DELTA]
        assert_solves(selector, columns, y, kernels, features=[0, 1, 2, 4, 5])

    @pytest.mark.parametrize(
        ("kernel", "pair", "others"),
        [
            ({"pair": Polynomial(3)}, Polynomial(3), Gaussian()),
            ({"pair": Gaussian((0.5, 2.0))}, Gaussian((0.5, 2.0)), Gaussian()),
            ({"pair": "gaussian", "number": "laplace"}, Gaussian(), Laplace()),
            ({"number": "linear"}, Linear(), Linear()),
            ({"float64": "linear", "number": "laplace"}, Linear(), Linear()),
        ],
        ids=str,
    )
    def test_kernel_by_rule(self, kernel, pair, others, X, y):
        selector = selector_of(joint={"pair": [4, 1]}, kernel=kernel).fit(X, y)
        columns = [X[:, 0], X[:, [4, 1]].T, X[:, 2], X[:, 3], X[:, 5], X[:, 6]]
        kernels = [others, pair, *[others] * 4]
        assert_solves(selector, columns, y, kernels, features=[0, 4, 2, 3, 5, 6])

    def test_of_one_column_is_the_column(self, X, y):
        selector = selector_of(joint={"alone": [2]}).fit(X, y)
        assert_same(selector, selector_of().fit(X, y))
        assert "alone" in selector.result_.names

    def test_may_have_the_name_of_a_member(self, X, y):
        frame = pd.DataFrame(X, columns=list("abcdefg"))
        selector = HSICLasso(5, joint={"a": ["a", "b"]}).fit(frame, y)
        assert ("a", "b") in [feature.columns for feature in selector.result_.features]

    def test_one_hot_block(self, X, y):
        """A block of indicators under a delta kernel is the label itself."""
        codes = np.digitize(X[:, 2], [-0.5, 0.6])
        by_block = selector_of("nhsic", joint={"kind": [0, 1, 2]}, kernel={"kind": "plain_delta"})
        by_block.fit(np.hstack([np.eye(3)[codes], X[:, [0, 1, 3]]]), y)
        by_code = selector_of("nhsic", kernel={0: "plain_delta"})
        by_code.fit(np.column_stack([codes, X[:, [0, 1, 3]]]), y)
        np.testing.assert_allclose(by_block.coef_[[0, 3, 4, 5]], by_code.coef_, rtol=1e-6)

    def test_sparse_tables(self, X, y):
        table = np.maximum(np.round(X), 0)
        dense = selector_of(joint=self.joint).fit(table, y)
        assert_same(selector_of(joint=self.joint).fit(sparse.csr_array(table), y), dense)

    def test_of_constant_columns(self, X, y):
        table = X.copy()
        table[:, [1, 4]] = 3.0
        with pytest.warns(ConstantFeatureWarning, match="1 of 7 columns do not vary.*: pair"):
            selector = HSICLasso(2, joint=self.joint).fit(table, y)
        assert selector.result_.data.constant == ("pair",)
        table[0, 1] = 2.0
        assert HSICLasso(2, joint=self.joint).fit(table, y).result_.data.constant == ()


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
    "list": ([0, 1], r"joint=\[0, 1\] must map the name of each joint feature"),
}  # fmt: skip


@pytest.mark.parametrize("kind", BAD_JOINT)
def test_bad_joint_features(kind, X, y):
    joint, message = BAD_JOINT[kind]
    with pytest.raises(InvalidInputError, match=message):
        HSICLasso(2, joint=joint).fit(X, y)


BAD_BESIDE_JOINT = [
    ({"kernel": "laplace"}, "joint feature 'ab' has several columns, and the laplace kernel"),
    ({"kernel": {"ab": Laplace()}}, "laplace kernel takes only one: use 'gaussian'"),
    ({"kernel": {"x1": "linear"}}, "kernel has 'x1', which is part of the joint feature 'ab': gi"),
    ({"keep": [1]}, "keep has 'x1', which is a covariate or part of a joint feature: name the"),
    ({"exclude": ["x1"]}, "'x1'.*joint"),
    ({"exclude": [6, 0]}, "'x0'.*joint"),
    ({"penalty": GroupLasso({"x1": "g"})}, "groups has 'x1', which is a covariate or part of"),
]


@pytest.mark.parametrize(("options", "message"), BAD_BESIDE_JOINT, ids=range(len(BAD_BESIDE_JOINT)))
def test_bad_options_of_joint_features(options, message, X, y):
    with pytest.raises(InvalidInputError, match=message):
        HSICLasso(2, joint={"ab": [0, 1]}, **options).fit(X, y)


def test_joint_labels_and_numbers_need_a_delta_kernel(X, y):
    message = "joint feature 'v' has columns of labels.*kernel={'v': 'plain_delta'}"
    with pytest.raises(InvalidInputError, match=message):
        HSICLasso(2, joint={"v": ["x0", "kind"]}).fit(mixed(X)[0], y)


# ------------------------------------------------------------------------------------ refusals

BAD_KERNELS = [
    ("gaussian", "column 'kind' holds labels, which Gaussian.* cannot compare: use kernel='auto'"),
    ({"kind": "linear"}, r"column 'kind' holds labels, which Linear\(\) cannot compare"),
    ({"text": "laplace"}, r"column 'word' holds labels, which Laplace\(.*\) cannot compare"),
    ({"category": Polynomial()}, "column 'kind' holds labels, which Polynomial"),
    ({"knid": "delta"}, "kernel has 'knid', which is no column, no kind .*did you mean 'kind'"),
    ({"int64": "delta"}, r"kernel has 'int64'.*no dtype of the table \(bool, category, float64"),
    ({np.float32: "delta"}, "kernel has .*float32.*, which is no column"),
    ({9: "delta"}, "kernel has index 9, but there are 6 columns: 0 to 5"),
    ({True: "delta"}, "kernel has True, but columns are given by name or by index"),
    ({"x0": "rbf"}, r"kernel\['x0'\]='rbf' is unknown: choose 'gaussian', 'laplace'"),
    ({"x0": 3}, r"kernel\['x0'\]=3 is unknown"),
    ("precomputed", "kernel='precomputed' is unknown"),
    ("gausian", r"kernel='gausian' is unknown \(did you mean 'gaussian'\?\)"),
    (None, "kernel=None is unknown"),
    (lambda a, b: 1.0, "kernel=<function .* is unknown"),
    (Gaussian, "kernel=<class .* is unknown: .*pass an object such as Gaussian"),
    (Gaussian(0.0), r"width=0.0.*positive finite"),
    ({"x0": Laplace((1.0, 2.0))}, r"width=\(1.0, 2.0\)"),
]


@pytest.mark.parametrize(("kernel", "message"), BAD_KERNELS, ids=range(len(BAD_KERNELS)))
def test_bad_kernels(kernel, message, X, y):
    with pytest.raises(InvalidInputError, match=message):
        HSICLasso(2, kernel=kernel).fit(mixed(X)[0], y)
