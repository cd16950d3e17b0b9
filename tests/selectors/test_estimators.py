"""The estimators as scikit-learn users meet them."""

from __future__ import annotations

import inspect
import pickle
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn import config_context
from sklearn.base import BaseEstimator, RegressorMixin, clone
from sklearn.exceptions import NotFittedError, UnsetMetadataPassedError
from sklearn.linear_model import LinearRegression
from sklearn.metrics import get_scorer
from sklearn.model_selection import GridSearchCV, KFold, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVR
from sklearn.utils import get_tags
from sklearn.utils.estimator_checks import parametrize_with_checks

from hsiclasso import (
    NOCCO,
    AlphaRatio,
    ConstantFeatureWarning,
    Covariates,
    ElasticNet,
    EmbeddingLasso,
    Gaussian,
    GroupLasso,
    HSICLasso,
    Ignore,
    InvalidInputError,
    Laplace,
    Lasso,
    NOCCOLasso,
    Real,
    as_source,
)
from hsiclasso._checks import one_of
from hsiclasso._options import Option, as_option
from tests.selectors.dense import assert_same
from tests.selectors.tables import N

RICH = HSICLasso(
    2, measure="nhsic", kernel={"number": "laplace"}, penalty=ElasticNet(0.7),
    missing=Ignore(0.8), n_neighbors=2,
)  # fmt: skip


@pytest.mark.filterwarnings("ignore")
@parametrize_with_checks([HSICLasso(), RICH, NOCCOLasso(), EmbeddingLasso()])
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def test_parameters_are_few_and_the_same_for_both():
    names = list(inspect.signature(HSICLasso).parameters)
    assert len(names) <= 20
    assert names == list(inspect.signature(NOCCOLasso).parameters)
    for estimator in (HSICLasso, NOCCOLasso):
        documented = estimator.__doc__.split("Attributes")[0]
        assert all(name in documented for name in names)


class TestParameters:
    def test_nested_ones_are_set_and_read(self):
        selector = HSICLasso(target=Real()).set_params(target__transform="rank")
        assert selector.target.transform == "rank"
        selector.set_params(kernel=Gaussian(), kernel__width=0.5, target__kernel=Laplace())
        params = selector.set_params(target__kernel__width=2.0).get_params()
        assert params["kernel__width"] == 0.5
        assert params["target__kernel__width"] == 2.0

    def test_clones_share_no_object(self):
        selector = HSICLasso(target=Real(), penalty=ElasticNet(0.3), measure=NOCCO(0.1))
        copy = clone(selector)
        assert copy.get_params() == selector.get_params()
        copy.set_params(penalty__l1_ratio=0.9, measure__epsilon=0.5)
        assert (selector.penalty.l1_ratio, selector.measure.epsilon) == (0.3, 0.1)

    def test_wrong_names_say_which_exist(self):
        for name in ("gamma", "gamma__width"):
            with pytest.raises(ValueError, match=r"'gamma'.*Valid parameters.*'n_features_to_s"):
                HSICLasso().set_params(**{name: 1})
        with pytest.raises(ValueError, match=r"'widht' .*Valid parameters.*'width'"):
            HSICLasso(kernel=Gaussian()).set_params(kernel__widht=1)

    @pytest.mark.parametrize(
        ("name", "value"), [("target__transform", "rank"), ("kernel__width", 1), ("keep__x", 0)]
    )
    def test_names_of_options_have_no_parameters(self, name, value):
        message = rf"{name}={value!r}, but .* has no parameters of its own: pass an object first"
        with pytest.raises(InvalidInputError, match=message):
            HSICLasso().set_params(**{name: value})

    def test_nothing_is_checked_before_the_fit(self, X, y):
        selector = HSICLasso(0, kernel=Gaussian(-1), target="what", missing=Ignore(9.0))
        assert "Gaussian(width=-1)" in repr(selector)
        with pytest.raises(InvalidInputError, match="n_features_to_select=0"):
            selector.fit(X, y)

    def test_the_fit_leaves_parameters_alone(self, X, y):
        selector = HSICLasso(2, target=Real(kernel=Gaussian("median")), penalty=Lasso({1: 2.0}))
        before = clone(selector).get_params()
        assert selector.fit(X, y).get_params() == before

    @pytest.mark.parametrize(
        ("options", "grid"),
        [
            ({"target": Real()}, {"target__transform": [None, "rank"]}),
            ({"penalty": ElasticNet()}, {"penalty__l1_ratio": [0.4, 0.9]}),
            ({"kernel": Gaussian()}, {"kernel__width": [0.5, 2.0]}),
            ({}, {"n_features_to_select": [1, 3], "measure": ["hsic", NOCCO()]}),
        ],
        ids=["target", "penalty", "kernel", "size"],
    )
    def test_grid_search(self, options, grid, X, y):
        grid = {f"hsiclasso__{name}": values for name, values in grid.items()}
        pipeline = make_pipeline(HSICLasso(3, **options), SVR())
        search = GridSearchCV(pipeline, grid, cv=2, error_score="raise").fit(X, y)
        assert len(search.cv_results_["params"]) == np.prod([len(v) for v in grid.values()])
        again = pickle.loads(pickle.dumps(search.best_estimator_))
        np.testing.assert_array_equal(again.predict(X), search.best_estimator_.predict(X))
        best = search.best_estimator_[0]
        assert_same(clone(best).fit(X, y), best, rtol=1e-12)


class TestOptions:
    def test_equal_parameters_make_equal_objects(self):
        assert Gaussian(0.5) == Gaussian(0.5) != Gaussian(0.6)
        assert Gaussian() != Laplace()
        assert len({Real(kernel=Laplace()), Real(kernel=Laplace()), Real()}) == 2
        assert Gaussian() != "gaussian"

    def test_large_arrays_are_compared_as_a_whole(self):
        labels = np.arange(5000)
        other = np.where(labels == 2500, 0, labels)
        assert GroupLasso(labels) == GroupLasso(labels.copy())
        assert GroupLasso(labels) != GroupLasso(other)
        assert GroupLasso(pd.Series(labels)) != GroupLasso(pd.Series(other))
        named = pd.Series(labels, index=[f"g{j}" for j in labels])
        assert GroupLasso(named) != GroupLasso(pd.Series(labels))
        assert Lasso({"a": labels}) != Lasso({"a": other})

    def test_names_and_objects(self):
        names = {"lasso": Lasso, "elastic_net": ElasticNet}
        assert as_option("penalty", "lasso", Lasso, names) == Lasso()
        kept = Lasso(positive=False)
        assert as_option("penalty", kept, Lasso, names) is kept
        with pytest.raises(InvalidInputError, match=r"penalty='laso' is unknown \(did you mean 'l"):
            as_option("penalty", "laso", Lasso, names)
        with pytest.raises(InvalidInputError, match=r"penalty=3 is unknown: choose 'lasso' or"):
            as_option("penalty", 3, Lasso, names)
        assert one_of(["a"]) == "'a'"
        assert isinstance(Option().check(), Option)


@pytest.mark.parametrize("estimator", [HSICLasso(), RICH, NOCCOLasso(measure=NOCCO(0.1))])
def test_html(estimator):
    assert type(estimator).__name__ in estimator._repr_html_()


def test_pickles_of_every_option(X, y):
    options = {
        "alpha": AlphaRatio(0.2), "measure": NOCCO(0.01), "kernel": {"x0": Laplace()},
        "target": Real(transform="rank"), "penalty": GroupLasso(list("aabbccd"), l1_ratio=0.5),
        "covariates": Covariates(["x6"]), "missing": Ignore(0.9), "joint": {"v": ["x3", "x4"]},
    }  # fmt: skip
    fitted = HSICLasso(**options).fit(X, y)
    again = pickle.loads(pickle.dumps(fitted))
    assert again.get_params() == fitted.get_params()
    assert again.result_ == fitted.result_
    np.testing.assert_array_equal(again.transform(X), fitted.transform(X))


class TestFitted:
    def test_attributes(self, X, y):
        selector = HSICLasso(4).fit(X, y)
        assert selector.coef_.shape == selector.relevance_.shape == (7,)
        assert (np.flatnonzero(selector.coef_) == np.sort(selector.selected_)).all()
        assert (np.diff(selector.coef_[selector.selected_]) <= 0).all()
        assert selector.n_observed_.tolist() == [N] * 7
        assert not hasattr(selector, "feature_names_in_")
        assert selector.get_support(indices=True).tolist() == sorted(selector.selected_)
        assert selector.path_ is selector.result_.path
        assert selector.result_.certificate.duality_gap < 1e-12
        assert selector.result_.certificate.kkt_residual < 1e-12

    @pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame], ids=["pandas", "polars"])
    def test_frames(self, make, X, y):
        names = [f"gene{j}" for j in range(7)]
        frame = make(dict(zip(names, X.T, strict=True)))
        selector, plain = HSICLasso(4).fit(frame, y), HSICLasso(4).fit(X, y)
        assert_same(selector, plain, rtol=1e-10)
        assert selector.feature_names_in_.tolist() == names
        assert selector.result_.names == tuple(names[j] for j in plain.selected_)
        assert set(selector.get_feature_names_out()) == set(selector.result_.names)
        for library in ("pandas", "polars"):
            out = clone(selector).set_output(transform=library).fit(frame, y).transform(frame)
            assert type(out).__module__.split(".")[0] == library
            assert out.shape == (N, 4)

    def test_a_source_is_a_table_too(self, X, y):
        frame = pd.DataFrame(X).rename(columns=lambda j: f"gene{j}")
        selector = HSICLasso(3).fit(frame, y)
        assert_same(selector.fit(as_source(X), y), HSICLasso(3).fit(X, y), rtol=1e-12)
        assert selector.n_features_in_ == 7
        assert not hasattr(selector, "feature_names_in_")  # of the first fit

    def test_transform_preserves_dtype(self, X, y):
        assert HSICLasso(3).fit_transform(X.astype(np.float32), y).dtype == np.float32
        table = sparse.csr_array(np.maximum(np.round(X), 0))
        assert HSICLasso(2).fit(table, y).transform(table).shape == (N, 2)

    def test_before_the_fit(self, X):
        for call in (HSICLasso().transform, HSICLasso().get_support, HSICLasso().selected_of_size):
            with pytest.raises(NotFittedError):
                call(X)

    def test_tags(self):
        for estimator in (HSICLasso(), NOCCOLasso()):
            tags = get_tags(estimator)
            assert tags.target_tags.required
            assert tags.input_tags.sparse
            assert not tags.input_tags.allow_nan
        assert get_tags(HSICLasso(missing=Ignore(3))).input_tags.allow_nan

    def test_no_warning_on_clean_data(self, X, y):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            HSICLasso(3).fit(X, y)

    def test_warnings_point_at_the_caller(self, X, y):
        with pytest.warns(ConstantFeatureWarning) as caught:
            HSICLasso(2).fit(np.column_stack([X, np.ones(N)]), y)
        assert caught[0].filename == __file__

    def test_nocco_lasso_is_a_measure(self, X, y):
        assert_same(NOCCOLasso(3).fit(X, y), HSICLasso(3, measure="nocco").fit(X, y), rtol=1e-12)
        mild = NOCCOLasso(3, measure=NOCCO(0.1)).fit(X, y)
        assert np.abs(mild.coef_ - NOCCOLasso(3).fit(X, y).coef_).max() > 1e-3
        assert mild.result_.method.name == "NOCCO Lasso"


BAD = [
    ({"n_features_to_select": 8}, "n_features_to_select=8 is greater than n_features=7: ask for"),
    ({"n_features_to_select": 2.5}, "n_features_to_select=2.5 must be a whole number >= 1"),
    ({"n_features_to_select": True}, "n_features_to_select=True"),
    ({"measure": "mmd"}, r"measure='mmd' is unknown: choose 'hsic', 'nhsic' or 'nocco', or pass"),
    ({"measure": NOCCO(0)}, "epsilon=0, but NOCCO needs a positive finite"),
    ({"target": "ranking"}, "target='ranking' is unknown: choose 'auto', 'real'"),
    ({"target": "clases"}, "did you mean 'classes'"),
    ({"penalty": "ridge"}, "penalty='ridge' is unknown: choose 'lasso' or 'elastic_net'"),
    ({"solver": "sgd"}, "solver='sgd' is unknown: choose 'auto', 'homotopy'"),
    ({"gram_error": 0.5}, "gram_error=0.5, but .* between 1e-12 and 1e-2: 1e-6 is the default"),
    ({"gram_error": "small"}, "gram_error='small' must be a finite number > 0"),
    ({"n_neighbors": -1}, "n_neighbors=-1 must be a whole number >= 0"),
    ({"n_neighbors": None}, "n_neighbors=None must be a whole number >= 0"),
    ({"n_jobs": 0}, "n_jobs=0 must be a whole number of threads other than 0: -1 takes all"),
    ({"n_jobs": "two"}, "n_jobs='two' must be a whole number of threads"),
    ({"kernel": Gaussian(expansion="table"), "gram_error": 1e-8}, "'table' cannot reach gram_err"),
    ({"kernel": Gaussian(expansion="fourier")}, "expansion='fourier' is unknown"),
]


@pytest.mark.parametrize(("options", "message"), BAD, ids=range(len(BAD)))
def test_bad_parameters_are_explained(options, message, X, y):
    with pytest.raises(InvalidInputError, match=message):
        HSICLasso(**options).fit(X, y)


# ----------------------------------------------------------------------------- metadata routing


class Mean(RegressorMixin, BaseEstimator):
    """Predicts the mean."""

    def fit(self, X, y):
        self.mean_ = float(np.mean(y))
        return self

    def predict(self, X):
        return np.full(len(X), self.mean_)


@pytest.fixture
def given(rng):
    return {"sample_weight": rng.integers(1, 4, N) * 1.0, "covariates": rng.standard_normal((N, 1))}


@pytest.fixture
def routing():
    with config_context(enable_metadata_routing=True):
        yield


@pytest.mark.usefixtures("routing")
class TestRouting:
    def requesting(self):
        return HSICLasso(2).set_fit_request(sample_weight=True, covariates=True)

    def test_pipeline(self, X, y, given):
        pipeline = make_pipeline(self.requesting(), LinearRegression())
        pipeline[1].set_fit_request(sample_weight=False)
        pipeline.fit(X, y, **given)
        direct = HSICLasso(2).fit(X, y, **given)
        assert_same(pipeline[0], direct, rtol=1e-12)
        assert pipeline[0].result_.method == direct.result_.method
        np.testing.assert_array_equal(
            self.requesting().fit_transform(X, y, **given), direct.transform(X)
        )

    def test_cross_validation_and_grid_search_cut_what_is_given(self, X, y, given):
        pipeline = make_pipeline(self.requesting(), Mean())
        scoring = get_scorer("r2").set_score_request(sample_weight=False)
        found = cross_validate(
            pipeline, X, y, cv=KFold(2), scoring=scoring, return_estimator=True, params=given
        )
        for fitted, (train, _) in zip(found["estimator"], KFold(2).split(X), strict=True):
            some = {name: values[train] for name, values in given.items()}
            assert_same(fitted[0], HSICLasso(2).fit(X[train], y[train], **some), rtol=1e-12)
        grid = {"hsiclasso__n_features_to_select": [1, 2]}
        search = GridSearchCV(pipeline, grid, cv=2, scoring=scoring, error_score="raise")
        best = search.fit(X, y, **given).best_estimator_[0]
        direct = HSICLasso(best.n_features_to_select).fit(X, y, **given)
        assert_same(best, direct, rtol=1e-12)

    def test_what_is_not_requested_is_not_passed_in_silence(self, X, y, given):
        weights = {"sample_weight": given["sample_weight"]}
        with pytest.raises(UnsetMetadataPassedError, match="sample_weight"):
            make_pipeline(HSICLasso(2), Mean()).fit(X, y, **weights)
        refused = HSICLasso(2).set_fit_request(sample_weight=False)
        with pytest.raises(TypeError, match="sample_weight"):
            make_pipeline(refused, Mean()).fit(X, y, **weights)


def test_pipeline_without_routing(X, y, given):
    named = {f"hsiclasso__{name}": values for name, values in given.items()}
    pipeline = make_pipeline(HSICLasso(2), Mean()).fit(X, y, **named)
    assert_same(pipeline[0], HSICLasso(2).fit(X, y, **given), rtol=1e-12)
