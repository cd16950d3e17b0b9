"""Choosing the solver for a penalty, and solving with it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from hsiclasso._checks import check_choice, one_of
from hsiclasso._types import FloatArray, IntArray
from hsiclasso.errors import InvalidInputError
from hsiclasso.solvers.coordinate import coordinate_descent
from hsiclasso.solvers.dal import dual_augmented_lagrangian
from hsiclasso.solvers.distinct import Distinct, refuse_groups, similarity_in
from hsiclasso.solvers.homotopy import AT_ONCE, nonnegative_lasso_path
from hsiclasso.solvers.path import Closed, SolutionPath, Status
from hsiclasso.solvers.penalty import Penalty
from hsiclasso.solvers.problem import QuadraticProblem
from hsiclasso.solvers.working import InnerSolver, Recorder, WorkingSet

__all__ = ["SOLVERS", "Stop", "choose_solver", "largest_alpha", "solve_path"]

#: Inner solvers of the working set by name.
_INNER: dict[str, InnerSolver] = {
    "cd": coordinate_descent,
    "dal": dual_augmented_lagrangian,
}
_ALL_KINDS = (
    "lasso",
    "signed lasso",
    "elastic net",
    "signed elastic net",
    "group lasso",
    "sparse group lasso",
)
#: Penalties that each solver can solve, with or without feature weights. The homotopy follows
#: piecewise linear paths; that of an elastic net whose ridge part grows with the penalty is not.
SOLVERS: dict[str, tuple[str, ...]] = {
    "homotopy": ("lasso",),
    "cd": _ALL_KINDS,
    "dal": _ALL_KINDS,
}
#: Ratio of penalties on the way down to a number of features or groups.
_DESCENT = 0.8
#: Ratio of the penalties on the way to a single one, and how many there are at most.
_APPROACH = 0.7
_MAX_APPROACH = 16
#: Most penalties tried between one with too few features and one with too many.
_BISECTIONS = 30
#: Relative distance to stay below a penalty at which several features join.
_LITTLE = 1e-2
#: Features that join at penalties closer than this, relative to the largest one, join together.
_TOGETHER = 1e-10
#: Share of the largest penalty at which the descent ends, before a last step to penalty 0.
_LEAST = 1e-6


@dataclass(frozen=True)
class Stop:
    """Where a path ends: at the first of these that the falling penalty reaches."""

    #: Number of features, those without penalty included.
    max_features: int | None = None
    #: Number of groups with a feature that is not zero; features without penalty do not count.
    max_groups: int | None = None
    #: Penalty; 0 is the end of the path.
    alpha: float = 0.0

    @property
    def counts(self) -> bool:
        """Whether a number of features or groups is asked for."""
        return self.max_features is not None or self.max_groups is not None


def choose_solver(name: str, penalty: Penalty, *, by_groups: bool = False) -> str:
    """Return the solver for a penalty; `by_groups` says whether the path stops at some groups.

    ``"auto"`` takes the homotopy, which yields the exact path, wherever it can, and coordinate
    descent elsewhere.

    Examples
    --------
    >>> choose_solver("auto", Penalty.lasso(3)), choose_solver("auto", Penalty.group([0, 0, 1]))
    ('homotopy', 'cd')
    """
    check_choice("solver", name, ("auto", *SOLVERS))
    suited = _suited(penalty, by_groups=by_groups)
    if name == "auto":
        return suited[0]
    if name not in suited:
        what = penalty.kind + (" with a number of groups" if by_groups else "")
        raise InvalidInputError(
            f"solver={name!r} cannot solve the {what}: choose {one_of((*suited, 'auto'))}."
        )
    return name


def _suited(penalty: Penalty, *, by_groups: bool) -> list[str]:
    """Solvers that can solve a problem."""
    suited = [solver for solver, kinds in SOLVERS.items() if penalty.kind in kinds]
    if by_groups:  # the homotopy counts features only
        suited = [solver for solver in suited if solver in _INNER]
    return suited


def largest_alpha(problem: QuadraticProblem, penalty: Penalty) -> float:
    """Return the smallest penalty at which all penalised features are zero."""
    return WorkingSet(problem, penalty, coordinate_descent).largest_alpha()


def solve_path(
    problem: QuadraticProblem,
    penalty: Penalty,
    stop: Stop,
    *,
    solver: str = "auto",
    alphas: FloatArray | None = None,
    cap: float = 1.0,
    at_once: int = AT_ONCE,
    report: Callable[[int], None] | None = None,
) -> SolutionPath:
    """Solve from the largest penalty down to the stop.

    Parameters
    ----------
    problem : QuadraticProblem
    penalty : Penalty
    stop : Stop
    solver : {"auto", "homotopy", "cd", "dal"}
    alphas : ndarray, optional
        Decreasing penalties at which "cd" and "dal" solve on the way, each from the solution at
        the one before; chosen automatically by default. The homotopy solves at all penalties.
    cap : float
        Largest similarity of two features that may both join, see `hsiclasso.solvers.distinct`.
        1 leaves nothing out. Groups have none.
    at_once : int
        Rows of G that the homotopy asks for together, although fewer would do.
    report : callable, optional
        Called with the number of features after every step.

    Returns
    -------
    SolutionPath

    Examples
    --------
    >>> from hsiclasso.solvers import ExplicitProblem
    >>> problem = ExplicitProblem(np.eye(3), np.array([1.0, 3.0, 2.0]), 14.0)
    >>> path = solve_path(problem, Penalty.group(["a", "b", "a"]), Stop(alpha=1.0))
    >>> path.coefficients().round(3).tolist()
    [0.368, 2.0, 0.735]
    """
    chosen = choose_solver(solver, penalty, by_groups=stop.max_groups is not None)
    _check(penalty, stop)
    refuse_groups(penalty, cap)
    if chosen == "homotopy":
        most = stop.max_features
        return nonnegative_lasso_path(
            problem, penalty, max_features=most, alpha_min=stop.alpha, cap=cap, at_once=at_once,
            report=report,
        )  # fmt: skip
    distinct: Distinct | None = None
    closed: tuple[Closed, ...] = ()
    if cap < 1 and "homotopy" in _suited(penalty, by_groups=stop.max_groups is not None):
        closed = nonnegative_lasso_path(
            problem, penalty, max_features=stop.max_features, alpha_min=stop.alpha, cap=cap,
            at_once=at_once,
        ).closed  # fmt: skip
        penalty = penalty.without([one.feature for one in closed])
    if cap < 1:
        distinct = Distinct(similarity_in(problem), cap, penalty.free.tolist())
    walk = _Walk(WorkingSet(problem, penalty, _INNER[chosen]), stop, report, distinct)
    path = walk.to_count(alphas) if stop.counts else walk.to_alpha(alphas)
    return replace(path, closed=(*closed, *path.closed)) if closed else path


def _check(penalty: Penalty, stop: Stop) -> None:
    if penalty.signed and (penalty.free.size or (stop.alpha <= 0 and not stop.counts)):
        raise InvalidInputError(
            "Weights of either sign need a penalty on every feature: give an alpha > 0 and no "
            "feature to keep."
        )


class _Walk:
    """A working set that is solved at one falling penalty after another."""

    def __init__(
        self, working: WorkingSet, stop: Stop, report: Callable[[int], None] | None,
        distinct: Distinct | None,
    ) -> None:  # fmt: skip
        self.working = working
        self.stop = stop
        self.report = report
        self.recorder = Recorder(working)
        self.groups = working.penalty.groups
        #: Features that joined down to the penalty `settled`, and those that are left out.
        self.distinct = distinct
        self.settled = self.top = np.inf

    def visit(self, alpha: float, *, record: bool = True) -> IntArray:
        """Solve at a penalty; returns the features that are not zero."""
        self._settle(alpha)
        if record:
            self.recorder.record(alpha)
        features = self.working.solution[0]
        if self.report is not None:
            self.report(features.size)
        return features

    def _settle(self, alpha: float) -> None:
        """Solve at a penalty, and close the features that the path closes on the way there.

        Of two that join on the way, and are too similar, the first closes the other. Penalties in
        between tell which is the first; if they join together, it is the one before in the order
        of candidates.
        """
        self.working.solve(alpha)
        if self.distinct is None:
            return
        while new := self._new_features():
            middle = 0.5 * (self.settled + alpha)
            clash = self.distinct.clash(new)
            if clash and middle - alpha > _TOGETHER * self.top:
                self._settle(middle)
                self.working.solve(alpha)
                continue
            refused = []
            for k in new:
                if self.distinct.admit(k):
                    self.distinct.join(k)
                else:
                    refused.append(k)
            if refused:
                self.working.close(refused)
                self.working.solve(alpha)
        self.settled = alpha

    def _new_features(self) -> list[int]:
        """Features that are not zero and did not join before, in the order of candidates."""
        assert self.distinct is not None
        new = np.setdiff1d(self.working.solution[0], self.distinct.joined)
        pulled = self.working.candidates.pulled
        return [int(k) for k in pulled[np.isin(pulled, new)]]

    def _back_to(self, state: tuple[Distinct | None, float]) -> None:
        """Return to what had joined down to an earlier penalty."""
        before, self.settled = state
        if self.distinct is not None and before is not None:
            self.working.reopen(self.distinct.closed.keys() - before.closed.keys())
            self.distinct = before.copy()

    @property
    def _state(self) -> tuple[Distinct | None, float]:
        return self.distinct and self.distinct.copy(), self.settled

    def to_alpha(self, alphas: FloatArray | None) -> SolutionPath:
        """Visit the penalties asked for and end at the last."""
        self.settled = self.top = top = self.working.largest_alpha()
        end = self.stop.alpha
        # the working set reaches its final size sooner if the penalty falls in steps
        degrees = top * _APPROACH ** np.arange(_MAX_APPROACH)
        stops = degrees[degrees > end / _APPROACH] if alphas is None else alphas[alphas > end]
        for alpha in stops:
            self.visit(float(alpha))
        self.visit(end)
        if top <= 0 and not self.working.solution[0].size:
            return self._path(Status.NOTHING_RELEVANT)
        return self._path(Status.ALPHA if end > 0 else Status.PATH_END)

    def to_count(self, alphas: FloatArray | None) -> SolutionPath:
        """Go down until there are enough features or groups, then close in on just enough."""
        self.settled = self.top = above = self.working.largest_alpha()
        if above <= 0:
            return self.to_alpha(None)
        steps = self._descent(above) if alphas is None else alphas
        for alpha in steps:
            if alpha <= self.stop.alpha:
                break
            before = self._state
            features = self.visit(float(alpha))
            if self._lacking(features) <= 0:
                return self._close_in(above, float(alpha), features, before)
            above = float(alpha)
        end = self.stop.alpha
        if self.working.penalty.signed:  # at penalty 0 the signed solution is not unique
            end = max(end, _LEAST * above)
        before = self._state
        features = self.visit(end)
        if self._lacking(features) <= 0:
            return self._close_in(above, end, features, before)
        return self._path(Status.ALPHA if self.stop.alpha > 0 else Status.PATH_END)

    def _descent(self, top: float) -> FloatArray:
        n_steps = int(np.ceil(np.log(_LEAST) / np.log(_DESCENT)))
        return np.asarray(top * _DESCENT ** np.arange(n_steps + 1))

    def _close_in(
        self, above: float, below: float, features: IntArray, before: tuple[Distinct | None, float]
    ) -> SolutionPath:
        """Bisect between a penalty with too few and one with enough.

        Where several features join at one penalty, no penalty has just enough of them. Right below
        that one their weights are rounding errors: a penalty a little further down is taken.
        """
        enough, exact = below, self._lacking(features) == 0
        for _ in range(_BISECTIONS):
            if exact:
                enough = below
                break
            if above - below > _LITTLE * above:
                enough = below
            middle = 0.5 * (above + below)
            self._back_to(before)
            lacking = self._lacking(self.visit(middle, record=False))
            if lacking > 0:
                above, before = middle, self._state
            else:
                below, exact = middle, lacking == 0
        if self.recorder.points:
            self.recorder.points.pop()  # the first with enough, where there may be too many
        self._back_to(before)
        features = self.visit(enough)
        enough_groups = self.stop.max_groups is not None and self._groups_lacking(features) <= 0
        return self._path(Status.N_GROUPS if enough_groups else Status.N_FEATURES)

    def _path(self, status: Status) -> SolutionPath:
        closed = () if self.distinct is None else tuple(self.distinct.closed.values())
        return self.recorder.path(status, closed)

    def _lacking(self, features: IntArray) -> int:
        """Number of features, or groups, still to find; negative if there are too many."""
        free = self.working.penalty.free
        lacking = []
        if self.stop.max_features is not None:
            lacking.append(self.stop.max_features - np.union1d(features, free).size)
        if self.stop.max_groups is not None:
            lacking.append(self._groups_lacking(features))
        return min(lacking)

    def _groups_lacking(self, features: IntArray) -> int:
        penalised = np.setdiff1d(features, self.working.penalty.free)
        return (self.stop.max_groups or 0) - np.unique(self.groups[penalised]).size
