"""Other methods that bound an error, on the draws of the study of error control.

All are asked for a false discovery rate of `LEVEL` and have their defaults otherwise. Each returns
the columns that it selects. None of them forms clusters.
"""

import importlib.util
import warnings
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from experiments.designs import Draw

__all__ = ["LEVEL", "RIVALS", "Rival"]

LEVEL = 0.1


@dataclass(frozen=True)
class Rival:
    """A method that selects columns, and the module that it needs."""

    columns: Callable[[np.ndarray, np.ndarray], np.ndarray]
    package: str

    def __call__(self, draw: Draw) -> list[list[int]]:
        """Return each selected column as a cluster of its own."""
        state = np.random.get_state()  # noqa: NPY002 - some draw from the global generator
        np.random.seed(0)  # noqa: NPY002
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                found = self.columns(draw.X.copy(), draw.y.astype(float))
        finally:
            np.random.set_state(state)  # noqa: NPY002
        return [[int(column)] for column in found]

    def missing(self) -> str | None:
        """Say that the package is not installed, if so."""
        if importlib.util.find_spec(self.package) is None:
            return f"the package {self.package} is not installed"
        return None


def boruta(X: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Random forest against shuffled columns; it bounds the error of each decision, at `LEVEL`."""
    from boruta import BorutaPy
    from sklearn.ensemble import RandomForestRegressor

    forest = RandomForestRegressor(max_depth=5, n_jobs=1)  # the depth its page advises
    fitted = BorutaPy(forest, n_estimators="auto", alpha=LEVEL, random_state=0).fit(X, y)
    return np.flatnonzero(fitted.support_)


def ipss_boosting(X: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Integrated path stability selection with gradient boosting, its default."""
    from ipss import ipss

    return np.array(ipss(X, y, target_fdr=LEVEL, n_jobs=1)["selected_features"], dtype=int)


def knockoffs_hidimstat(X: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Gaussian knockoffs with differences of lasso weights."""
    from hidimstat import ModelXKnockoff

    fitted = ModelXKnockoff(random_state=0, n_jobs=1)
    fitted.fit_importance(X, y)
    return np.flatnonzero(fitted.fdr_selection(LEVEL))


def knockoffs_knockpy(X: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Second-order knockoffs (MVR, shrunk covariance) with differences of lasso weights."""
    import knockpy

    made = knockpy.KnockoffFilter(
        ksampler="gaussian", fstat="lasso", knockoff_kwargs={"method": "mvr"}
    )
    return np.flatnonzero(made.forward(X=X, y=y, fdr=LEVEL, shrinkage="ledoitwolf"))


RIVALS = {
    "Boruta": Rival(boruta, "boruta"),
    "ipss": Rival(ipss_boosting, "ipss"),
    "knockoffs of hidimstat": Rival(knockoffs_hidimstat, "hidimstat"),
    "knockoffs of knockpy": Rival(knockoffs_knockpy, "knockpy"),
}
