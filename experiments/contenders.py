"""The methods that are compared: the paper's, and others that people use, under one call.

A contender ranks features: ``rank(X, y, m, kind, seed)`` returns up to m columns, best first.
`kind` is ``"classes"`` or ``"real"``. Everything runs on one thread, so times can be compared and
several runs go side by side.
"""

import contextlib
import importlib.util
import io
import warnings
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

from hsiclasso import FewerFeaturesWarning, HSICLasso, NOCCOLasso, Real
from hsiclasso.baselines import CKTA, FVM, MRMR, QPFS, GreedyHSIC, LassoPath, MIRanking, SpAM

#: Kinds of target, as the selectors call them.
CLASSES, REAL = "classes", "real"
_TREES = 500
#: A real target by its ranks.
RANKS = Real(transform="rank")
#: A real target as it is, as in the paper.
RAW = Real(transform=None)
#: Of pyHSICLasso, its default.
PERMUTATIONS = 3

Rank = Callable[[np.ndarray, np.ndarray, int, str, int], np.ndarray]


@dataclass(frozen=True)
class Contender:
    """A method of the comparison.

    Attributes
    ----------
    rank
        The call described above.
    printed
        Whether the paper compares it.
    kinds
        Targets that it serves.
    package
        Module that must be installed for it.
    runs
        Runs it has if the user does not say how many, for those that take minutes.
    """

    rank: Rank
    printed: bool = False
    kinds: tuple[str, ...] = (CLASSES, REAL)
    package: str | None = None
    runs: int | None = None

    def missing(self, kind: str) -> str | None:
        """Say why it cannot run on targets of this kind; None if it can."""
        if kind not in self.kinds:
            return f"it does not serve targets of the kind {kind!r}"
        if self.package is not None and importlib.util.find_spec(self.package) is None:
            return f"the package {self.package} is not installed"
        return None


class Selector:
    """The call of a selector of this library, with the paper's settings as `options`.

    A lasso leaves no similar features out, and a real target is taken as it is.
    """

    def __init__(self, make: Callable, **options: object) -> None:
        self._make, self._options = make, options

    def fit(self, X, y, m: int, kind: str):
        """Return the selector, fitted for m features on one thread."""
        made = self._make(m, **self._options)
        known = made.get_params().keys()
        target = RAW if kind == REAL and "measure" in known else kind
        given = {"target": target, "n_jobs": 1, "max_redundancy": 1.0}.items()
        takes = known - self._options.keys()
        made.set_params(**{name: value for name, value in given if name in takes})
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FewerFeaturesWarning)
            return made.fit(X, y)

    def __call__(self, X, y, m: int, kind: str, seed: int) -> np.ndarray:
        """Rank features."""
        return np.asarray(self.fit(X, y, m, kind).selected_)


def _random_forest(X, y, m: int, kind: str, seed: int) -> np.ndarray:
    forest = RandomForestClassifier if kind == CLASSES else RandomForestRegressor
    fitted = forest(_TREES, max_features="sqrt", random_state=seed, n_jobs=1).fit(X, y)
    return np.argsort(-fitted.feature_importances_, kind="stable")[:m]


def block_hsic_lasso(block: int) -> Rank:
    """Return the call of pyHSICLasso with blocks of so many samples; it fixes its own seed."""

    def rank(X, y, m: int, kind: str, seed: int) -> np.ndarray:
        from pyHSICLasso import HSICLasso as Peer

        peer = Peer()
        with contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            peer.input(np.asarray(X, float), np.asarray(y))
            run = peer.classification if kind == CLASSES else peer.regression
            run(m, B=block, M=PERMUTATIONS, n_jobs=1)
        return np.asarray(peer.get_index()[:m], dtype=int)

    return rank


def _mrmr_selection(X, y, m: int, kind: str, seed: int) -> np.ndarray:
    import mrmr
    import pandas as pd

    run = mrmr.mrmr_classif if kind == CLASSES else mrmr.mrmr_regression
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        chosen = run(pd.DataFrame(X), pd.Series(y), K=m, n_jobs=1, show_progress=False)
    return np.asarray(chosen, dtype=int)


def _ipss(X, y, m: int, kind: str, seed: int) -> np.ndarray:
    """Gradient boosting, its default. It knows two classes or numbers: labels go in as numbers."""
    from ipss import ipss

    state = np.random.get_state()  # noqa: NPY002 - it draws from the global generator
    np.random.seed(seed)  # noqa: NPY002
    try:
        scores = ipss(np.array(X, float), np.array(y, float), n_jobs=1)["efp_scores"]
    finally:
        np.random.set_state(state)  # noqa: NPY002
    if isinstance(scores, dict):
        scores = np.array([scores[k] for k in range(X.shape[1])])
    return np.argsort(scores, kind="stable")[:m]


#: The paper's methods at the paper's settings, in its order, then the others.
CONTENDERS: dict[str, Contender] = {
    "HSIC Lasso": Contender(Selector(HSICLasso), printed=True),
    "NOCCO Lasso": Contender(Selector(NOCCOLasso), printed=True),
    # labels as numbers: the model has no other target
    "SpAM": Contender(Selector(SpAM, target="real"), printed=True),
    "FVM": Contender(Selector(FVM, alpha=1.0), printed=True),
    "mRMR": Contender(Selector(MRMR), printed=True),
    "QPFS": Contender(Selector(QPFS, gamma=0.5), printed=True),
    "cKTA": Contender(Selector(CKTA), printed=True),
    "FHSIC": Contender(Selector(GreedyHSIC), printed=True),
    "Lasso": Contender(Selector(LassoPath)),
    "nHSIC Lasso": Contender(Selector(HSICLasso, measure="nhsic")),
    "HSIC Lasso, ranks": Contender(Selector(HSICLasso, target=RANKS), kinds=(REAL,)),
    "NOCCO Lasso, ranks": Contender(Selector(NOCCOLasso, target=RANKS), kinds=(REAL,)),
    # the rule of mrmr_selection
    "mRMR, F-test": Contender(Selector(MRMR, measure="f", scheme="quotient")),
    "mRMR, 5 quantiles": Contender(Selector(MRMR, bins="quantile")),
    "MI": Contender(Selector(MIRanking)),
    "random forest": Contender(_random_forest),
    "pyHSICLasso": Contender(block_hsic_lasso(20), package="pyHSICLasso", runs=20),
    "mrmr_selection": Contender(_mrmr_selection, package="mrmr", runs=5),
    "ipss": Contender(_ipss, package="ipss", runs=5),
}
