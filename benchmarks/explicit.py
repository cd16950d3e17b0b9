"""The lasso of a data set as an explicit problem: a column for each feature, a row for each pair.

A column is the centred Gram matrix of a feature. The design has a row for every pair of samples
i <= j, off-diagonal entries times the square root of 2: the same G and b as with all pairs.
"""

from functools import cache, cached_property

import numpy as np
from joblib import effective_n_jobs

from hsiclasso import as_source
from hsiclasso import solvers as hs
from hsiclasso.dependence import Features, Problem, relate
from hsiclasso.kernels import HSIC, Gaussian, Samples
from hsiclasso.targets import Auto

#: Columns that the explicit problem can keep together; more than any solver asks for here.
_MOST_KEPT = 2000


class Explicit:
    """The explicit problem, as a solver sees it: entries of G = A'A when asked for.

    Parameters
    ----------
    design : ndarray of shape (n_pairs, d), in Fortran order
    target : ndarray of shape (n_pairs,)
    """

    def __init__(self, design, target) -> None:
        self._columns = design.T  # contiguous, one after the other
        self._diagonal: dict[int, float] = {}
        self._place: dict[int, int] = {}
        self._kept = np.empty((min(_MOST_KEPT, design.shape[1]), design.shape[0]))
        self.linear = self._columns @ target
        self.target_norm2 = float(target @ target)

    def diagonal(self, rows):
        """Return G[k, k] for the given k."""
        for k in set(rows.tolist()) - self._diagonal.keys():
            self._diagonal[k] = float(self._columns[k] @ self._columns[k])
        return np.array([self._diagonal[k] for k in rows.tolist()])

    def block(self, rows, cols):
        """Return G[rows][:, cols].

        A solver asks for the same `cols` again and again, so their columns are kept side by side.
        """
        for k in cols.tolist():
            if k not in self._place:
                self._place[k] = len(self._place)
                self._kept[self._place[k]] = self._columns[k]
        places = np.array([self._place[k] for k in cols.tolist()])
        in_a_row = (np.diff(places) == 1).all()
        kept = self._kept[places[0] : places[-1] + 1] if in_a_row else self._kept[places]
        return self._columns[rows] @ kept.T


class Instance:
    """A data set with the problems that are made of it."""

    def __init__(self, X, y) -> None:
        self.X, self.y = X, y
        self.prepared = Auto().prepare(y, len(X))
        self.penalty = hs.Penalty.lasso(X.shape[1])

    def problem(self, gram_error: float = 1e-6) -> Problem:
        """Make the problem from the raw table, as the selectors do."""
        measure, samples, d = HSIC(), Samples(len(self.X)), self.X.shape[1]
        source = as_source(self.X)
        features = Features(source, (Gaussian(),), samples, np.arange(d), gram_error=gram_error)
        target = self.prepared.data.matrix(measure, samples, error=gram_error, n_features=d)
        return relate(features, target, measure, n_threads=effective_n_jobs(-1))

    def solve(self, problem, alpha: float, solver: str, alphas=None) -> hs.SolutionPath:
        """Solve a problem down to a penalty."""
        stop = hs.Stop(alpha=alpha)
        return hs.solve_path(problem, self.penalty, stop, solver=solver, alphas=alphas)

    def alpha(self, n_features: int) -> float:
        """Penalty at which the exact path has a number of features."""
        stop = hs.Stop(max_features=n_features)
        return float(hs.solve_path(self.problem(), self.penalty, stop, solver="homotopy").alpha)

    def few(self, n_columns: int) -> "Instance":
        """Return the data set with its first columns only."""
        return Instance(self.X[:, :n_columns], self.y)

    @cached_property
    def explicit(self):
        """The explicit design, of shape (n_pairs, d) in Fortran order, and its target."""
        columns = np.array([_half(gaussian_gram(x)) for x in self.X.T.astype(float)])
        if self.prepared.target.name == "classes":
            same = self.y[:, None] == self.y
            return columns.T, _half(same / same.sum(axis=1))
        return columns.T, _half(gaussian_gram(self.prepared.data.values[0]))

    def gap(self, weights, alpha: float) -> float:
        """Duality gap of the positive lasso, relative to half the target's squared norm.

        The dual point is the residual, scaled so that no correlation exceeds the penalty.
        """
        design, target = self.explicit
        residual = target - design @ weights
        scale = min(1.0, alpha / float((design.T @ residual).max()))
        primal = 0.5 * residual @ residual + alpha * weights.sum()
        missed = target - scale * residual
        dual = 0.5 * target @ target - 0.5 * missed @ missed
        return max(float((primal - dual) / (0.5 * target @ target)), 0.0)


def gaussian_gram(x):
    """Gram matrix of a standardised column."""
    spread = x.std()
    z = (x - x.mean()) / spread if spread > 0 else np.zeros_like(x)
    return np.exp(-0.5 * (z[:, None] - z) ** 2)


def centred(gram):
    """Gram matrix of centred features."""
    mean = gram.mean(axis=0)
    return gram - mean - mean[:, None] + mean.mean()


def _half(gram):
    """Upper half of the centred matrix as a vector, scaled to keep inner products."""
    pairs, scales = _pairs(len(gram))
    return centred(gram).ravel()[pairs] * scales


@cache
def _pairs(n: int):
    """Positions of the upper half of an n x n matrix, and the scales of its entries."""
    i, j = np.triu_indices(n)
    return n * i + j, np.where(i == j, 1.0, np.sqrt(2.0))
