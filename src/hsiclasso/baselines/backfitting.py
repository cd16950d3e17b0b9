r"""Backfitting of sparse additive models: the solution at one penalty, and what certifies it.

At penalty :math:`\lambda` the functions :math:`f_j` on the samples satisfy, for every feature,

.. math:: P_j = S_j\Big(y - \sum_{k \ne j} f_k\Big), \quad s_j = \|P_j\|/\sqrt n, \quad
    f_j = [1 - \lambda/s_j]_+ P_j \text{, centred.}

Only features with :math:`f_j \ne 0` are cycled over. All others need
:math:`s_j = \|S_j r\|/\sqrt n \le \lambda` with the residual r, and few of them have to be looked
at again and again. When one is looked at, the functions in use are smoothed along with the
residual, and the products of the smoothed functions are kept. Until the next look, the residual
moves mostly along these functions, :math:`r = \sum_a c_a v_a + e` with a small e, and smoothing is
linear:

.. math:: s_j \le \Big\|\sum_a c_a S_j v_a\Big\|/\sqrt n + \|S_j\|\,\|e\|/\sqrt n.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from hsiclasso._types import BoolArray, FloatArray, IntArray
from hsiclasso.baselines.parts import Tell
from hsiclasso.baselines.smoothers import Smoother, SmootherBank

__all__ = ["AdditiveFit", "Backfitting", "Screen", "rms"]

#: Centred functions (n,) of the features in use, in the order in which they came.
Functions = dict[int, FloatArray]

#: Cycles between extrapolations.
_MEMORY = 5
#: Most functions in use that are smoothed along with the residual.
_DIRECTIONS = 12


def rms(values: FloatArray) -> float:
    """Root of the mean square."""
    return float(np.sqrt(values @ values / values.size))


@dataclass(frozen=True)
class AdditiveFit:
    """A sparse additive model."""

    alpha: float  # penalty
    residual: FloatArray  # (n,), centred target minus the functions
    functions: Functions = field(default_factory=dict)
    degrees: float = 0.0  # sum of the traces of their smoothers
    effective: float = 0.0  # the same, each times the share that shrinking leaves of a function
    n_iter: int = 0  # cycles over the features in use
    converged: bool = True

    @property
    def n_active(self) -> int:
        """Number of features in use."""
        return len(self.functions)

    def sizes(self, n_features: int) -> FloatArray:
        r"""Return :math:`\|f_j\|/\sqrt n` of all features."""
        sizes = np.zeros(n_features)
        for k, function in self.functions.items():
            sizes[k] = rms(function)
        return sizes


@dataclass(frozen=True)
class _Look:
    """Results for features that were looked at together."""

    directions: FloatArray  # (q, n), the residual at that time, and functions in use
    grams: FloatArray  # (k, q, q), mean products of the smoothed directions, for each feature

    def bounds(self, residual: FloatArray, places: IntArray, norms: FloatArray) -> FloatArray:
        """Bound the strengths of some of the features at another residual."""
        along = np.linalg.lstsq(self.directions.T, residual, rcond=None)[0]
        rest = rms(residual - along @ self.directions)
        known = np.einsum("a,kab,b->k", along, self.grams[places], along)
        return np.asarray(np.sqrt(np.maximum(known, 0.0)) + norms * rest)


class Screen:
    """Bounds the strength of every feature that `varies`, at any residual.

    All of them are looked at first, at the given residual. `strengths` (d,) has their strengths
    when they were last looked at, `n_looks` counts the features looked at.
    """

    def __init__(
        self, bank: SmootherBank, varies: BoolArray, residual: FloatArray, report: Tell = None
    ) -> None:
        self._bank = bank
        self._columns = np.flatnonzero(varies)
        self.n_looks = 0
        self.strengths = np.zeros(varies.size)
        self._norms = np.zeros(varies.size)
        #: The looks that are the last one of some feature.
        self._looks: list[_Look] = []
        #: Number of each feature's last look, and the feature's place in that look.
        self._seen = np.zeros(varies.size, dtype=np.int64)
        self._place = np.zeros(varies.size, dtype=np.int64)
        self._look(self._columns, residual[None], report)

    def above(self, level: float, residual: FloatArray, functions: Functions) -> IntArray:
        """Return the features without a function whose strength exceeds a level."""
        bounds = np.zeros(self.strengths.size)
        for which, look in enumerate(self._looks):
            mine = self._columns[self._seen[self._columns] == which]
            bounds[mine] = look.bounds(residual, self._place[mine], self._norms[mine])
        bounds[list(functions)] = 0.0
        columns = np.flatnonzero(bounds > level)
        if columns.size:
            largest = sorted(functions.values(), key=rms)[-_DIRECTIONS:]
            self._look(columns, np.array([residual, *largest]))
        return columns[self.strengths[columns] > level]

    def all_strengths(self, residual: FloatArray) -> FloatArray:
        """Return the strengths of all features."""
        self._look(self._columns, residual[None])
        return self.strengths

    def _look(self, columns: IntArray, directions: FloatArray, report: Tell = None) -> None:
        grams, self._norms[columns] = self._bank.grams(columns, directions, report)
        self.strengths[columns] = np.sqrt(grams[:, 0, 0])
        self._seen[columns] = len(self._looks)
        self._place[columns] = np.arange(columns.size)
        self._looks.append(_Look(directions, grams))
        # forget looks that are no feature's last one
        used, self._seen = np.unique(self._seen, return_inverse=True)
        self._looks = [self._looks[u] for u in used]
        self.n_looks += columns.size


class Backfitting:
    """Solves sparse additive models on one table and centred target, where `screen` began.

    At one penalty it takes at most `max_iter` cycles. It ends after a cycle that moves no function
    by more than `tol` times the size of the target.
    """

    def __init__(
        self, bank: SmootherBank, screen: Screen, target: FloatArray, *, tol: float, max_iter: int
    ) -> None:
        self._bank = bank
        self._screen = screen
        self._target = target
        self._slack = tol * rms(target)
        self._max_iter = max_iter

    def solve(self, alpha: float, start: AdditiveFit | None = None) -> AdditiveFit:
        """Solve at a penalty, starting from another solution."""
        functions = {} if start is None else dict(start.functions)
        n_iter, converged = 0, True
        residual = self._residual(functions)
        while True:
            if functions:
                functions, n_iter, converged = self._cycle(alpha, functions, n_iter)
                functions = {k: f for k, f in functions.items() if f.any()}
                residual = self._residual(functions)
            joined = self._join(alpha, functions, residual)
            functions |= joined
            if not joined or not converged:
                break
        traces = np.array([self._bank[k].trace for k in functions])
        sizes = np.array([rms(f) for f in functions.values()])
        effective = float(np.sum(traces * sizes / (sizes + alpha)))
        residual = self._residual(functions)
        degrees = float(traces.sum())
        return AdditiveFit(alpha, residual, functions, degrees, effective, n_iter, converged)

    def _join(self, alpha: float, functions: Functions, residual: FloatArray) -> Functions:
        """Return functions of features that join the model, one after another.

        Each sees what the functions before it leave unexplained: of several features that are
        alike, one joins.
        """
        new = self._screen.above(alpha + 2 * self._slack, residual, functions)
        joined = {}
        for k in new[np.argsort(-self._screen.strengths[new], kind="stable")].tolist():
            function = self._shrunk(self._bank[k](residual), alpha)
            if function.any():
                joined[k] = function
                residual = residual - function
        return joined

    def _residual(self, functions: Functions) -> FloatArray:
        residual = self._target.copy()
        for function in functions.values():
            residual -= function
        return residual

    def _cycle(self, alpha: float, functions: Functions, done: int) -> tuple[Functions, int, bool]:
        """Cycle over functions until they rest; return the number of cycles, and whether they rest.

        Where features are much alike, functions move slowly from one to another. Every few cycles
        Anderson's extrapolation guesses their limit. It is undone if the next cycle moves them more
        than the cycle before did.
        """
        smoothers = [self._bank[k] for k in functions]
        state = np.array(list(functions.values()))
        after, history, anchor, least = state, [state], None, np.inf
        for cycle in range(done, self._max_iter):
            after, moved = self._sweep(alpha, smoothers, state)
            if moved <= self._slack:
                return dict(zip(functions, after, strict=True)), cycle + 1, True
            if anchor is not None and moved > least:
                after = anchor
                history = []
            else:
                least = moved
            anchor = None
            history.append(after)
            state = after
            if len(history) > _MEMORY:
                anchor, state, history = after, _extrapolated(history), []
        return dict(zip(functions, after, strict=True)), self._max_iter, False

    def _sweep(
        self, alpha: float, smoothers: list[Smoother], state: FloatArray
    ) -> tuple[FloatArray, float]:
        """Go over functions (m, n) once; return them, and the longest move of one of them."""
        residual = self._target - state.sum(axis=0)
        after = np.empty_like(state)
        moved = 0.0
        for j, smoother in enumerate(smoothers):
            residual += state[j]
            after[j] = self._shrunk(smoother(residual), alpha)
            residual -= after[j]
            moved = max(moved, rms(after[j] - state[j]))
        return after, moved

    def _shrunk(self, smooth: FloatArray, alpha: float) -> FloatArray:
        r"""Return :math:`[1 - \lambda/s]_+ P`, centred; 0 if s exceeds the penalty by rounding."""
        size = rms(smooth)
        if size <= alpha + self._slack:
            return np.zeros_like(smooth)
        shrunk = (1 - alpha / size) * smooth
        return np.asarray(shrunk - shrunk.mean())


def _extrapolated(history: list[FloatArray]) -> FloatArray:
    """Guess the limit of states (m, n), each made from the one before.

    The states are combined with the weights for which their steps, combined in the same way, are
    least. No function goes so far that it changes its direction: one that another function
    replaces is heading for 0.
    """
    states = np.array(history)
    steps = np.diff(states, axis=0)
    changes = np.diff(steps, axis=0).reshape(len(steps) - 1, -1)
    weights = np.linalg.lstsq(changes.T, steps[-1].ravel(), rcond=None)[0]
    ahead = -np.tensordot(weights, steps[1:], axes=1)
    last = states[-1]
    along = np.einsum("jn,jn->j", ahead, last)
    back = along < 0
    limits = np.einsum("jn,jn->j", last, last)[back] / -along[back]
    return np.asarray(last + min(1.0, limits.min(initial=1.0)) * ahead)
