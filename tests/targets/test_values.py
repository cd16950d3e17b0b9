"""Targets of values: their matrices under every kernel, and what all of their kinds refuse."""

from __future__ import annotations

import numpy as np
import pytest

from hsiclasso.errors import InvalidInputError
from hsiclasso.kernels import HSIC, NOCCO, Delta, Gaussian, Laplace, Linear, Samples, as_measure
from hsiclasso.targets import Classes, Counts, Labels, Ordinal, Real, Values, values
from hsiclasso.targets.matrix import FactoredTarget, LaplaceTarget
from hsiclasso.targets.values import tighter
from tests import oracles
from tests.kernels.cases import KERNELS, VECTOR_KERNELS, least_error
from tests.targets.compare import SPACES, N, assert_matrix, check, every_measure

EXACT = [kernel for kernel in KERNELS if not least_error(kernel)]
KINDS = [Real, Classes, Labels, Ordinal, Counts]


@pytest.mark.parametrize("space", ["plain", "whole weights", "both"])
@every_measure
@pytest.mark.parametrize("kernel", EXACT, ids=str)
def test_one_output(kernel, measure, space, rng):
    samples, y = SPACES[space](rng), np.round(rng.standard_normal(N), 1)
    check(
        Values(y[None], kernel), oracles.kernel_gram(y, kernel, samples.weights), measure, samples
    )


@pytest.mark.parametrize("error", [1e-6, 1e-10])
@every_measure
@pytest.mark.parametrize("kernel", [k for k in VECTOR_KERNELS if not least_error(k)], ids=str)
def test_several_outputs_together(kernel, measure, error, rng):
    samples = SPACES["both"](rng)
    y = np.round([rng.standard_normal(N), rng.integers(0, 3, N), rng.exponential(size=N)])
    K = oracles.kernel_gram(y, kernel, samples.weights)
    check(Values(y, kernel), K, measure, samples, error=error)


@every_measure
@pytest.mark.parametrize("kernel", EXACT, ids=str)
def test_several_outputs_averaged(kernel, measure, rng):
    samples = SPACES["both"](rng)
    y = np.round([rng.standard_normal(N), 3 * rng.random(N), rng.exponential(size=N)])
    K = np.mean([oracles.kernel_gram(row, kernel, samples.weights) for row in y], axis=0)
    check(Values(y, kernel, averaged=True), K, measure, samples)


@every_measure
@pytest.mark.parametrize("kernel", [Gaussian(), Laplace(), Delta()], ids=str)
def test_an_output_that_is_constant_adds_nothing(kernel, measure, rng):
    y = np.array([rng.integers(0, 5, N), np.full(N, 3.0)])
    K = 0.5 * oracles.kernel_gram(y[0], kernel)
    check(Values(y, kernel, averaged=True), K, measure, Samples(N))


def test_laplace_targets_are_known_by_their_products(rng):
    y = rng.standard_normal((2, N))
    for measure in ("hsic", "nhsic"):
        target = Values(y, Laplace(), averaged=True).matrix(
            as_measure(measure), Samples(N), error=1e-6, n_features=1
        )
        assert isinstance(target, LaplaceTarget)
        assert len(target.matrices) == 2


@every_measure
def test_what_covariates_explain_is_nothing(measure, rng):
    y = rng.integers(0, 2, N).astype(float)
    samples = Samples(N, None, y[None])
    for kernel in (Gaussian(), Laplace(), Linear()):
        target = Values(y[None], kernel).matrix(
            as_measure(measure), samples, error=1e-6, n_features=1
        )
        assert target.norm2 == 0
        assert target.energy(samples.remove(rng.standard_normal((2, N)))) == pytest.approx(0)


@every_measure
def test_a_heavy_tail_is_split(measure, rng):
    """The rows of its far values are related on the tail alone; weights leave them whole."""
    y = np.exp(1.5 * rng.standard_normal(400))
    data, made = Values(y[None], Gaussian()), as_measure(measure)
    target = data.matrix(made, Samples(400), error=1e-6, n_features=9)
    assert target.rows.offset.size > 0
    T = oracles.projected_measure(oracles.gaussian_gram(y), measure)
    assert_matrix(target, T, Samples(400))
    weighted = data.matrix(made, Samples(400, np.ones(400)), error=1e-6, n_features=9)
    assert isinstance(weighted, FactoredTarget)
    assert weighted.rows.offset.size == 0


def test_the_target_is_more_accurate_than_features():
    assert 1e-8 < tighter(1e-6) < 1e-7  # so that weights are exact to 1e-8
    assert tighter(0.0) == 1e-12


@pytest.mark.parametrize(("kernel", "measure"), [(Delta(), "hsic"), (Laplace(), "nocco")], ids=str)
def test_kernels_of_full_rank_are_refused_for_many_values(kernel, measure):
    y = np.arange(4001.0)
    message = r"y has 4001 distinct values, and .*\(\) needs a row for each.*at most 4000"
    with pytest.raises(InvalidInputError, match=message):
        Values(y[None], kernel).matrix(as_measure(measure), Samples(4001), error=1e-6, n_features=1)


def test_the_callers_values_are_left_alone(rng):
    y = rng.standard_normal((2, N))
    kept = y.copy()
    Values(y, Gaussian()).matrix(NOCCO(), Samples(N), error=1e-6, n_features=1)
    np.testing.assert_array_equal(y, kept)


# --------------------------------------------------------------------------- rules of all kinds


@pytest.mark.parametrize("kind", KINDS)
def test_kernel_of_the_target(kind):
    y = np.array([[0, 1], [1, 0], [1, 1], [0, 1]])
    usual = Delta() if kind.by_class else Gaussian()
    prepared = kind().prepare(y, 4)
    assert prepared.data.kernel == usual
    assert prepared.data.averaged == kind.by_class
    assert prepared.target == kind()
    assert prepared.rows is None
    linear = kind(kernel="linear", outputs="average").prepare(y, 4).data
    assert linear.kernel == Linear()
    assert linear.averaged
    assert not kind(outputs="joint").prepare(y, 4).data.averaged
    with pytest.raises(InvalidInputError, match="kernel of the target='rbf' is unknown: choose 'g"):
        kind(kernel="rbf").prepare(y, 4)
    with pytest.raises(
        InvalidInputError, match=r"width=-1, but a gaussian kernel needs a positive"
    ):
        kind(kernel=Gaussian(-1)).prepare(y, 4)
    with pytest.raises(
        InvalidInputError, match=r"outputs='sum' is unknown: .*'joint' or 'average'"
    ):
        kind(outputs="sum").prepare(y, 4)
    with pytest.raises(
        InvalidInputError, match=r"missing='impute' is unknown: .*'error' or 'drop'"
    ):
        kind(missing="impute").prepare(y, 4)
    message = r"y has several columns, and the laplace kernel takes only one: pass outputs="
    with pytest.raises(InvalidInputError, match=message):
        kind(kernel="laplace", outputs="joint").prepare(y, 4)


@pytest.mark.parametrize("kind", [Real, Classes, Ordinal, Counts])
def test_outputs_are_for_several_columns(kind):
    with pytest.raises(
        InvalidInputError, match="outputs='joint' has no meaning for a target of on"
    ):
        kind(outputs="joint").prepare([1, 2, 3], 3)


@pytest.mark.parametrize("kind", KINDS)
def test_constants_are_refused(kind):
    with pytest.raises(InvalidInputError, match="y has 2 columns and none varies: nothing can dep"):
        kind().prepare(np.ones((5, 2)), 5)
    if kind is not Labels:
        message = rf"only one {'class' if kind.by_class else 'value'} \(1\).*two distinct values"
        with pytest.raises(InvalidInputError, match=message):
            kind().prepare([1] * 5, 5)


@pytest.mark.parametrize("kind", [Real, Ordinal, Counts])
def test_text_is_no_number(kind):
    message = f"target='{kind.name}' needs a numeric y, .*text such as 'a': .*an ordered category"
    for y in (["a", "b", "a"], [["a", "b"], ["c", "b"], ["c", "b"]]):
        with pytest.raises(InvalidInputError, match=message):
            kind().prepare(y, 3)


@pytest.mark.parametrize("kind", [Real, Ordinal, Classes])
def test_infinite_values_are_refused(kind):
    with pytest.raises(
        InvalidInputError, match=r"y contains infinity.*must be finite: drop such row"
    ):
        kind().prepare([np.inf, 1.0, 2.0], 3)


def test_only_plain_centring_of_many_samples_does_without_rows(monkeypatch):
    monkeypatch.setattr(values, "MANY_SAMPLES", 50)
    n = 60
    y = np.random.default_rng(0).standard_normal(n)
    data = Real(transform=None).prepare(y, n).data
    covariate = Samples(n, None, y[None] ** 2)
    made = [
        type(data.matrix(measure, samples, error=1e-6, n_features=5)).__name__
        for measure in (HSIC(), NOCCO(0.01))
        for samples in (Samples(n), covariate)
    ]
    assert made == ["GriddedTarget", "FactoredTarget", "FactoredTarget", "FactoredTarget"]
