import numpy as np
import pytest

from experiments import contenders
from experiments.contenders import CLASSES, CONTENDERS, RANKS, REAL, Contender, Selector
from hsiclasso import Gaussian, HSICLasso, make_data1

OURS = [name for name, contender in CONTENDERS.items() if contender.package is None]
PEERS = [name for name, contender in CONTENDERS.items() if contender.package is not None]


@pytest.fixture(autouse=True)
def few_trees(monkeypatch):
    monkeypatch.setattr(contenders, "_TREES", 30)


@pytest.fixture(scope="module")
def tables():
    """Ten informative columns of thirty: classes shift them, numbers follow one of them."""
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1, 2, 3], 20)
    X = rng.normal(size=(80, 30))
    X[:, :10] += rng.normal(scale=2.0, size=(4, 10))[y]
    numbers = np.sin(2 * X[:, 0]) + 0.1 * rng.normal(size=80)
    return {CLASSES: (X, y), REAL: (X, numbers)}


@pytest.mark.parametrize("kind", [CLASSES, REAL])
@pytest.mark.parametrize("name", OURS)
def test_every_method_ranks_distinct_columns(tables, name, kind):
    contender = CONTENDERS[name]
    if kind not in contender.kinds:
        assert "does not serve" in contender.missing(kind)
        return
    assert contender.missing(kind) is None
    X, y = tables[kind]
    ranked = contender.rank(X, y, 6, kind, 0)
    assert 1 <= len(ranked) <= 6
    assert len(set(ranked.tolist())) == len(ranked)
    if kind == CLASSES:
        assert np.mean(ranked < 10) > 0.5


@pytest.mark.parametrize("name", PEERS)
def test_peers_rank_too_where_they_are_installed(tables, name):
    contender = CONTENDERS[name]
    pytest.importorskip(contender.package)
    X, y = tables[REAL]
    assert len(contender.rank(X, y, 3, REAL, 0)) == 3


def test_the_papers_methods_come_in_its_order():
    printed = [name for name, contender in CONTENDERS.items() if contender.printed]
    assert printed == ["HSIC Lasso", "NOCCO Lasso", "SpAM", "FVM", "mRMR", "QPFS", "cKTA", "FHSIC"]


def test_a_package_that_is_absent_is_named():
    missing = Contender(Selector(HSICLasso), package="no_such_package").missing(REAL)
    assert missing == "the package no_such_package is not installed"


def test_options_reach_the_selector_and_the_heaviest_come_first():
    X, y, _ = make_data1(100, 20, random_state=1)
    fitted = HSICLasso(5, kernel=Gaussian(0.5), n_jobs=1).fit(X, y)
    ranked = Selector(HSICLasso, kernel=Gaussian(0.5))(X, y, 5, REAL, 0)
    assert ranked.tolist() == fitted.selected_.tolist()
    weights = fitted.coef_[ranked]
    assert (np.diff(weights) <= 0).all()
    other = Selector(HSICLasso, kernel=Gaussian(3.0))(X, y, 5, REAL, 0)
    assert other.tolist() != ranked.tolist()


def test_the_kind_of_the_target_is_passed_on_unless_the_settings_have_one(tables):
    X, y = tables[CLASSES]
    kinds = [Selector(HSICLasso).fit(X, y, 3, kind).result_.method.target for kind in tables]
    assert kinds == [CLASSES, REAL]
    ranks = Selector(HSICLasso, target=RANKS).fit(X, y, 3, CLASSES)
    assert ranks.result_.method.target == REAL
    assert ranks.n_jobs == 1


def test_seeds_decide_the_forest():
    X, y, _ = make_data1(60, 30, random_state=1)
    rank = CONTENDERS["random forest"].rank
    first, again, other = (rank(X, y, 10, REAL, seed).tolist() for seed in (3, 3, 4))
    assert first == again != other
