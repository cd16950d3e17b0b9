"""The units of a working set of the additive problem: their rows, weights, and the descent."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from hsiclasso._types import FloatArray, IntArray
from hsiclasso.solvers.distinct import cosines
from hsiclasso.solvers.penalty import Penalty

__all__ = ["AdditiveProblem", "Unit", "Units"]

#: Sweeps between two looks at the gap, and most of these.
_SWEEPS, _LOOKS = 5, 2000
#: Looks after which Newton steps help the descent, how many, and how their damping changes.
_PATIENCE, _NEWTON_STEPS, _DAMPING = 2, 6, 4.0
#: Smallest share of 1 that the ridge part of a free feature can be.
_LEAST_RIDGE = 1e-10


class AdditiveProblem(Protocol):
    """The functions of d features on n samples, and a target of p rows."""

    @property
    def target(self) -> FloatArray:
        """Rows of the target, shape (p, n)."""

    @property
    def n_features(self) -> int:
        """Number of features, d."""

    def factors(self, features: IntArray) -> list[FloatArray]:
        """Return the rows (r, n) of some features: orthogonal, and no longer than 1.

        Rows may be asked for more than once: keep them if they are expensive.
        """

    def correlations(self, residual: FloatArray, some: IntArray | None = None) -> FloatArray:
        """Return the norm of the products of each feature's rows with those of a residual: (d,).

        Or only those of some features.
        """


@dataclass(frozen=True)
class Unit:
    """A unit of the working set."""

    features: IntArray
    #: Squared norms of its orthogonal rows, shape (r,).
    energies: FloatArray
    #: Its rows are ``turn.T @`` the rows of its features, one after the other; None if they are
    #: the rows of its only feature.
    turn: FloatArray | None
    #: Squared norms of the rows of each feature.
    lengths: tuple[FloatArray, ...]

    @classmethod
    def of(cls, features: IntArray, factors: list[FloatArray]) -> Unit:
        """Make the unit of features with these rows (r, n)."""
        lengths = tuple(np.square(rows).sum(axis=1) for rows in factors)
        if len(factors) == 1:
            return cls(features, lengths[0], None, lengths)
        rows = np.concatenate(factors)
        energies, turn = np.linalg.eigh(rows @ rows.T)
        used = energies > 1e-14 * energies.max(initial=0.0)
        return cls(features, energies[used], turn[:, used], lengths)

    def rows(self, factors: list[FloatArray]) -> FloatArray:
        """Return the orthogonal rows (r, n), made of the rows of its features."""
        return factors[0] if self.turn is None else self.turn.T @ np.concatenate(factors)

    def by_feature(self, weights: FloatArray) -> list[FloatArray]:
        """Return the weights of each feature's own rows, the shortest that fit the same."""
        if self.turn is None:
            return [weights]
        ends = np.cumsum([lengths.size for lengths in self.lengths])[:-1]
        return [np.asarray(part) for part in np.split(self.turn @ weights, ends)]


def _inverse(gram: FloatArray, diagonal: FloatArray, rows: FloatArray | None) -> FloatArray:
    """Return the inverse of a positive definite matrix: inner products of rows, plus a diagonal.

    If there are more rows than samples, `rows` are given, and a smaller matrix is inverted.
    """
    if rows is None:
        return np.asarray(np.linalg.inv(gram + np.diag(diagonal)))
    scaled = rows / diagonal[:, None]
    inner = np.linalg.solve(np.eye(rows.shape[1]) + rows.T @ scaled, scaled.T)
    return np.diag(1 / diagonal) - scaled @ inner


class Units:
    """Units of a working set, inner products of their rows, their weights, and the residual.

    Parameters
    ----------
    problem : AdditiveProblem
    penalty : Penalty
        A lasso, with weights by choice, or a group lasso.
    """

    def __init__(self, problem: AdditiveProblem, penalty: Penalty) -> None:
        self.problem, self.target = problem, problem.target
        self.half_norm2 = 0.5 * float(np.vdot(self.target, self.target)) or 1.0
        allowed = np.flatnonzero(np.isfinite(penalty.weights))
        groups, n_units = penalty.groups[allowed], penalty.group_weights.size
        #: Factor v of each unit's penalty; infinite for units without features.
        self.factor = np.full(n_units, np.inf)
        self.factor[groups] = 0.0
        np.maximum.at(self.factor, groups, penalty.weights[allowed])
        self.factor += penalty.group_weights
        #: Features of each unit, one unit after the other, and where those of each begin.
        self._members = allowed[np.argsort(groups, kind="stable")]
        self._first = np.append(0, np.cumsum(np.bincount(groups, minlength=n_units)))
        #: Numbers of the units of the working set, and the places of their rows.
        self.numbers = np.zeros(0, dtype=np.int64)
        self.starts = np.zeros(1, dtype=np.int64)
        self.weights = np.zeros((0, len(self.target)))
        #: What the units leave of the target, and how far this has moved in all.
        self.residual, self.moved = self.target, 0.0
        self._units: list[Unit] = []
        self._gram, self._curvature = np.zeros((0, 0)), np.zeros(0)
        self._cross = np.zeros((0, len(self.target)))
        self._damping = 1e-3
        self._known: dict[int, Unit] = {}

    @property
    def sizes(self) -> IntArray:
        """Number of features of every unit."""
        return np.diff(self._first)

    @property
    def ranks(self) -> IntArray:
        """Number of rows of each unit of the working set."""
        return np.diff(self.starts)

    @property
    def used(self) -> IntArray:
        """Units of the working set that are not zero."""
        return np.flatnonzero(self.sums(np.square(self.weights)) > 0)

    def parts(self) -> list[tuple[Unit, FloatArray]]:
        """Return the units that are not zero, with their weights."""
        return [
            (self._units[i], self.weights[self.starts[i] : self.starts[i + 1]]) for i in self.used
        ]

    def sums(self, values: FloatArray) -> FloatArray:
        """Sum values (M, p) over the rows of each unit of the working set."""
        if not self.numbers.size:
            return np.zeros(0)
        return np.asarray(np.add.reduceat(values.sum(axis=1), self.starts[:-1]))

    def correlation(self) -> FloatArray:
        """Minus the gradient of the smooth part, ridge of free units included, shape (M, p)."""
        rest = self._curvature - np.diag(self._gram)
        return np.asarray(self._cross - self._gram @ self.weights - rest[:, None] * self.weights)

    def descend(self, alpha: float, gap: float) -> None:
        """Minimise over the working set, and update the residual."""
        if not self.numbers.size:
            return
        from hsiclasso.solvers._additive_loops import descend_functions

        cuts = alpha * self.factor[self.numbers]
        c = self.correlation()
        for look in range(_LOOKS):
            descend_functions(
                self._gram, self._curvature, cuts, self.starts, self.weights, c, _SWEEPS
            )
            sizes = np.sqrt(self.sums(np.square(c)))
            penalised = cuts > 0
            over = float(np.max(sizes[penalised] / cuts[penalised], initial=1.0))
            if self.gap(alpha, c, 1 / over) <= gap:
                break
            if look >= _PATIENCE:
                self._improve(alpha)
            c = self.correlation()
        before = self.residual
        self.residual = self.target.copy()
        for unit, part in self.parts():
            self.residual -= part.T @ self.rows(unit)
        self.moved += float(np.linalg.norm(self.residual - before))

    def _improve(self, alpha: float) -> None:
        r"""Take damped Newton steps in the units that are not zero: there the objective is smooth.

        Features that are alike make the descent slow. With
        :math:`d_u = \lambda v_u / \|W_u\|`, the Hessian is
        :math:`(G + D) \otimes I_p - \sum_u (d_u / \|W_u\|^2)\, w_u w_u^\top`, where
        :math:`w_u` has the weights of unit u: one inverse serves all responses, and a small
        system couples them. The damping :math:`\mu I` is adapted to what steps achieve.
        """
        used = self.used
        if not used.size:
            return
        sizes, rows = self.ranks[used], self._places(used)
        starts = np.append(0, np.cumsum(sizes)[:-1])
        unit_of = np.repeat(np.arange(used.size), sizes)
        gram = self._gram[np.ix_(rows, rows)]
        ridge = self._curvature[rows] - np.diag(gram)
        smooth = gram + np.diag(ridge)
        cuts, cross = alpha * self.factor[self.numbers[used]], self._cross[rows]
        weights, thin = self.weights[rows], None
        if len(rows) > self.target.shape[1]:  # more functions than samples
            thin = np.concatenate([self.rows(self._units[i]) for i in used])

        def sums(values: FloatArray) -> FloatArray:
            """Sum values (..., M, p) over the rows of each unit."""
            return np.asarray(np.add.reduceat(values.sum(axis=-1), starts, axis=-1))

        def value(w: FloatArray) -> float:
            fitted = 0.5 * np.vdot(w, smooth @ w) - np.vdot(cross, w)
            return float(fitted + cuts @ np.sqrt(sums(np.square(w))))

        now = value(weights)
        for _ in range(_NEWTON_STEPS):
            norms = np.sqrt(sums(np.square(weights)))
            pull = cuts / norms
            price = pull[unit_of]
            inverse = _inverse(gram, ridge + price + self._damping, thin)
            step = inverse @ (cross - smooth @ weights - price[:, None] * weights)
            bent = np.flatnonzero(pull > 0)
            turned = np.array([inverse[:, unit_of == i] @ weights[unit_of == i] for i in bent])
            if bent.size:
                small = np.diag(norms[bent] ** 2 / pull[bent]) - sums(turned * weights)[:, bent].T
                known = sums(step * weights)[bent]
                step = step + np.tensordot(np.linalg.solve(small, known), turned, axes=1)
            then = value(weights + step)
            if then < now:
                weights, now = weights + step, then
                self._damping = max(self._damping / _DAMPING, _LEAST_RIDGE)
            else:
                self._damping = min(self._damping * _DAMPING**2, 1e3)
        self.weights[rows] = weights

    def gap(self, alpha: float, c: FloatArray, scale: float) -> float:
        """Return the duality gap relative to half the squared norm of the target.

        `scale` is the largest factor with which the residual is feasible.
        """
        rest = self._curvature - np.diag(self._gram)
        norms = np.sqrt(self.sums(np.square(self.weights)))
        fit = float(np.vdot(self._cross, self.weights))
        towards = 2 * self.half_norm2 - fit
        ridge = float(rest @ np.square(self.weights).sum(axis=1))
        # |R|^2 = |F|^2 - <C, W> - <QR, W>, and c = QR - rest W
        residual2 = max(towards - float(np.vdot(c, self.weights)) - ridge, 0.0)
        # for free units: Q R = c + rest W
        free = rest > 0
        pushed = np.square(c[free] + rest[free, None] * self.weights[free]).sum(axis=1)
        size2 = residual2 + float(np.sum(pushed / rest[free]))
        primal = 0.5 * residual2 + 0.5 * ridge + alpha * float(self.factor[self.numbers] @ norms)
        s = min(scale, max(towards / size2, 0.0)) if size2 > 0 else 0.0
        return max(primal - (s * towards - 0.5 * s * s * size2), 0.0) / self.half_norm2

    def rows(self, unit: Unit) -> FloatArray:
        """Return the rows of a unit; the problem keeps them, as far as memory allows."""
        return unit.rows(self.problem.factors(unit.features))

    def members(self, number: int) -> IntArray:
        """Return the features of a unit."""
        return self._members[self._first[number] : self._first[number + 1]]

    def similarity(self, number: int, others: IntArray) -> FloatArray:
        r"""Return the cosines between the matrix of a unit of the working set and those of others.

        The matrix of a unit is :math:`Q^\top Q`, and
        :math:`\langle Q_k^\top Q_k, Q_l^\top Q_l\rangle = \|Q_k Q_l^\top\|_F^2`.
        """
        place = {u: i for i, u in enumerate(self.numbers.tolist())}
        first, *rest = self.make(np.append(number, others))
        own, products = self._places(np.array([place[number]])), []
        for u, unit in zip(others.tolist(), rest, strict=True):
            if u in place:
                beside = self._gram[np.ix_(own, self._places(np.array([place[u]])))]
            else:
                beside = self.rows(first) @ self.rows(unit).T
            products.append(float(np.square(beside).sum()))
        norms2 = np.array([np.square(unit.energies).sum() for unit in rest])
        return cosines(np.array(products), norms2 * np.square(first.energies).sum())

    def make(self, numbers: IntArray) -> list[Unit]:
        """Return units, made of the rows of their features."""
        members = {u: self.members(u) for u in numbers.tolist() if u not in self._known}
        if members:
            self.problem.factors(np.concatenate(list(members.values())))  # at once is faster
        for u, features in members.items():
            self._known[u] = Unit.of(features, self.problem.factors(features))
        return [self._known[u] for u in numbers.tolist()]

    def enter(self, numbers: IntArray) -> None:
        """Add units to the working set."""
        units = self.make(numbers)
        rows = np.concatenate([self.rows(unit) for unit in units])
        beside = np.concatenate(
            [np.zeros((0, len(rows))), *(self.rows(unit) @ rows.T for unit in self._units)]
        )
        self._gram = np.block([[self._gram, beside], [beside.T, rows @ rows.T]])
        energies = np.diag(self._gram)[len(self._curvature) :]
        free = np.repeat(self.factor[numbers] == 0, [unit.energies.size for unit in units])
        ridge = np.where(free, np.maximum(1 - energies, _LEAST_RIDGE), 0.0)
        self._curvature = np.append(self._curvature, energies + ridge)
        self._cross = np.concatenate([self._cross, rows @ self.target.T])
        self.weights = np.concatenate([self.weights, np.zeros((len(rows), len(self.target)))])
        self._units += units
        self.numbers = np.append(self.numbers, numbers)
        self.starts = np.append(0, np.cumsum([unit.energies.size for unit in self._units]))

    def leave(self, stay: IntArray) -> IntArray:
        """Keep some units of the working set only; return the numbers of the others."""
        rows, gone = self._places(stay), np.setdiff1d(self.numbers, self.numbers[stay])
        self._gram = self._gram[np.ix_(rows, rows)]
        self._curvature, self._cross = self._curvature[rows], self._cross[rows]
        self.weights = self.weights[rows]
        self._units = [self._units[i] for i in stay]
        self.numbers = self.numbers[stay]
        self.starts = np.append(0, np.cumsum([unit.energies.size for unit in self._units]))
        return gone

    def _places(self, units: IntArray) -> IntArray:
        """Return the places of the rows of some units of the working set."""
        parts = [np.arange(self.starts[i], self.starts[i + 1]) for i in units]
        return np.concatenate([np.zeros(0, dtype=np.int64), *parts])
