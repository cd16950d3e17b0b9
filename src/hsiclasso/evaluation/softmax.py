r"""Multinomial logistic regression on orthogonal features: Newton's method along a path.

With features :math:`Z` (r, n) of a `Spectrum`, a row of weights W and an offset b for each of C
classes, and :math:`P` the softmax of :math:`F = WZ + b1'` over classes,

.. math:: \min_{W, b} -\frac1n \sum_i \log P_{y_i i} + \frac\alpha2 \|W\|_F^2.

The Hessian is :math:`Z D Z'/n + \alpha I` with a block :math:`\mathrm{diag}(p_i) - p_i p_i'` of D
for each sample. It is never formed: conjugate gradients need products with it. As :math:`ZZ'` is
diagonal, the Hessian with all blocks replaced by their mean is nearly so, and the best diagonal
that treats classes alike is a good preconditioner for any penalty.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from hsiclasso._types import BoolArray, FloatArray, IntArray
from hsiclasso.evaluation.spectrum import Path, Spectrum

__all__ = ["SoftmaxPath", "softmax_path"]

_EPS = float(np.finfo(np.float64).eps)
#: Error of a Newton direction, relative, far from the solution.
_FORCING = 0.1
#: Share of the tolerance that the error of the last direction may take.
_LAST = 0.5
#: Least decrease of the objective, as a share of what its slope promises.
_ARMIJO = 1e-4
_HALVINGS = 40


@dataclass(frozen=True)
class SoftmaxPath(Path):
    """Solutions of multinomial logistic regression for each penalty."""

    n_iter: IntArray  # (n_alphas,), Newton steps
    gradient_norms: FloatArray  # (n_alphas,), norm of the gradient at the solution
    solved: BoolArray  # (n_alphas,), whether the tolerance was reached

    @property
    def n_unsolved(self) -> int:
        """Number of penalties for which the tolerance was not reached."""
        return int(np.count_nonzero(~self.solved))


@dataclass(frozen=True)
class _Problem:
    """The features, and a constant one for the intercept, of the mean size of the others."""

    design: FloatArray  # (r, n)
    transposed: FloatArray  # (n, r)
    squares: FloatArray  # (r,) squared norms of the features
    labels: FloatArray  # (C, n) one where a sample is of the class
    codes: IntArray  # (n,)
    penalty: FloatArray  # (r,) 0 for the constant feature
    tol: float
    max_iter: int


@dataclass(frozen=True)
class _State:
    """Weights (C, r), the probabilities (C, n) that they give, and the objective."""

    weights: FloatArray
    probabilities: FloatArray
    objective: float


#: Weights (C, r), Newton steps, norm of the gradient, and whether the tolerance was reached.
_Solution = tuple[FloatArray, int, float, bool]


def softmax_path(
    spectrum: Spectrum, codes: IntArray, alphas: FloatArray, tol: float = 1e-4, max_iter: int = 100
) -> SoftmaxPath:
    r"""Solve for each penalty, from the largest down, each from the solutions before it.

    It ends where :math:`\|g\| \le tol \cdot \alpha\|W\|` for the gradient g. As the objective is
    strongly convex, :math:`\|g\|/\alpha` bounds the distance to the optimal weights where the
    intercept is optimal: `tol` bounds their relative error. `codes` (n,) has the classes 0 to
    C - 1, each with a sample. `alphas` may have any order. A penalty takes at most `max_iter`
    Newton steps.
    """
    problem, height = _pose(spectrum, codes, tol, max_iter)
    # at an infinite penalty, intercepts are all that is left
    logs = np.log(problem.labels.mean(axis=1))
    before = [(np.inf, np.outer(logs - logs.mean(), problem.penalty == 0) / height)]
    found: dict[int, _Solution] = {}
    for place in np.argsort(-alphas, kind="stable").tolist():
        alpha = float(alphas[place])
        posed = replace(problem, penalty=alpha * problem.penalty)
        found[place] = _solve(posed, _guess(posed, alpha, before))
        before = [*before[-1:], (np.log(alpha), found[place][0])]
    by_place = (found[place] for place in range(alphas.size))
    weights, *others = (np.array(part) for part in zip(*by_place, strict=True))
    r = spectrum.values.size
    return SoftmaxPath(weights[:, :, :r], height * weights[:, :, r:].sum(axis=2), *others)


def _pose(spectrum: Spectrum, codes: IntArray, tol: float, max_iter: int) -> tuple[_Problem, float]:
    """Return the problem with a penalty of 1, and the height of its constant feature."""
    n, (design, squares) = codes.size, (spectrum.features, spectrum.values)
    penalty = np.ones(squares.size)
    height = float(np.sqrt(squares.sum() / n)) or 1.0
    if spectrum.has_intercept:
        design = np.vstack([design, np.full(n, height)])
        squares, penalty = np.append(squares, n * height**2), np.append(penalty, 0.0)
    labels = (codes == np.arange(codes.max() + 1)[:, None]).astype(np.float64)
    transposed = np.ascontiguousarray(design.T)
    problem = _Problem(design, transposed, squares, labels, codes, penalty, tol, max_iter)
    return problem, height


def _guess(problem: _Problem, alpha: float, before: list[tuple[float, FloatArray]]) -> _State:
    """Return the last solution, or a line in log alpha through the last two if that is better."""
    (log_first, first), (log_last, last) = before[0], before[-1]
    state = _state(problem, last)
    if not log_last < log_first < np.inf:
        return state
    step = (np.log(alpha) - log_last) / (log_last - log_first)
    further = _state(problem, last + step * (last - first))
    return further if further.objective < state.objective else state


def _solve(problem: _Problem, state: _State) -> _Solution:
    """Newton's method with inexact directions and a line search."""
    n = problem.codes.size
    # rounding errors of a gradient whose terms have the size of the features
    floor = 8 * _EPS * float(np.sqrt(problem.squares.sum() / n))
    for step in range(problem.max_iter + 1):
        shrinkage = problem.penalty * state.weights
        misfit = (state.probabilities - problem.labels) / n
        gradient = misfit @ problem.transposed + shrinkage
        size = float(np.linalg.norm(gradient))
        goal = problem.tol * float(np.linalg.norm(shrinkage))
        solved = size <= max(goal, floor)
        if solved or step == problem.max_iter:
            break
        exact = min(_FORCING, np.sqrt(problem.tol * size / goal)) if goal > 0 else _FORCING
        direction = _direction(problem, state, gradient, max(exact, _LAST * goal / size))
        further = _search(problem, state, direction, float(np.vdot(gradient, direction)))
        if further is None:
            break
        state = further
    return state.weights, step, size, solved


def _state(problem: _Problem, weights: FloatArray) -> _State:
    values = weights @ problem.design
    values -= values.max(axis=0)
    probabilities = np.exp(values)
    total = probabilities.sum(axis=0)
    probabilities /= total
    n = problem.codes.size
    chosen = values[problem.codes, np.arange(n)]
    loss = float(np.log(total).sum() - chosen.sum()) / n
    penalty = 0.5 * float(np.vdot(weights, problem.penalty * weights))
    return _State(weights, probabilities, loss + penalty)


def _direction(
    problem: _Problem, state: _State, gradient: FloatArray, accuracy: float
) -> FloatArray:
    """Return the Newton direction to a relative accuracy."""
    from hsiclasso.evaluation._loops import newton_direction

    n_classes, n = state.probabilities.shape
    # the mean eigenvalue of the blocks, on vectors that sum to zero over classes
    variety = 1.0 - float(np.vdot(state.probabilities, state.probabilities)) / n
    curvature = max(_EPS, variety / (n_classes - 1))
    inverse = 1.0 / (curvature * problem.squares / n + problem.penalty)
    return newton_direction(
        problem.design, problem.transposed, state.probabilities, problem.penalty, inverse,
        gradient, accuracy,
    )  # fmt: skip


def _search(problem: _Problem, state: _State, direction: FloatArray, slope: float) -> _State | None:
    """Halve the step until the objective falls as its slope promises, up to rounding."""
    rounding = 8 * _EPS * max(1.0, state.objective)
    step = 1.0
    for _ in range(_HALVINGS):
        further = _state(problem, state.weights + step * direction)
        if further.objective <= state.objective + _ARMIJO * step * slope + rounding:
            return further
        step *= 0.5
    return None
