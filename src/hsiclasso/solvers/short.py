"""The first features of a path, for many small problems: only which they are.

`first_features` follows the same path as `nonnegative_lasso_path`, in one compiled loop that stops
to ask for entries of G. It records no weights and no certificate, and leaves everything that is not
plain to the homotopy: ties, features that depend on others, paths that end early.
"""

from __future__ import annotations

import numpy as np

from hsiclasso._types import FloatArray, IntArray
from hsiclasso.solvers.problem import QuadraticProblem

__all__ = ["first_features"]

#: Candidates at first: so many for each feature, and so many more.
_EACH, _MORE = 2, 16
#: Columns of G that are asked for together.
_AT_ONCE = 8
#: Features with more ties at the top are left to the homotopy.
_LEAST = 2


def first_features(
    problem: QuadraticProblem, number: int, *, cap: float = 1.0
) -> tuple[IntArray, IntArray] | None:
    r"""Return the features that the path of the non-negative lasso has when it first has `number`.

    Parameters
    ----------
    problem : QuadraticProblem
    number : int
        At least 1.
    cap : float, default=1.0
        Largest similarity :math:`G_{kl} / \sqrt{G_{kk} G_{ll}}` to a feature that joined before;
        a feature that exceeds it is left out. 1 leaves nothing out.

    Returns
    -------
    features : ndarray of shape (number,)
        In the order in which they joined.
    candidates : ndarray
        Features whose relevance came into play: of the others an upper bound was enough.
    None
        In place of both, if the path has ties or ends before: `solve_path` has to decide.

    Examples
    --------
    >>> from hsiclasso.solvers import ExplicitProblem
    >>> problem = ExplicitProblem(np.eye(4), np.array([1.0, 3.0, 2.0, 0.5]), 14.0)
    >>> first_features(problem, 2)[0].tolist()
    [1, 2]
    """
    from hsiclasso.solvers._short_loops import COLUMN, DONE, FAILED, ROWS, follow

    d = problem.linear.size
    if d < max(_LEAST, number):
        return None
    table = _Table(problem, min(d, _EACH * number + _MORE))
    table.add_columns(np.arange(min(_AT_ONCE, number)))
    active, state = np.zeros(number + 1, dtype=np.int64), np.zeros(3)
    lower = np.zeros((number + 1, number + 1))
    state[1] = table.linear[0]
    while True:
        joins = np.empty(table.linear.size)
        code = follow(
            table.gram, table.linear, table.slots, table.marks, np.array([table.limit, cap]),
            number, active, state, lower, joins,
        )  # fmt: skip
        if code == DONE:
            reached = int(np.count_nonzero(table.linear >= state[1]))
            return table.order[active[:number]], table.order[:reached]
        if code == FAILED:
            return None
        if code == ROWS:
            table.add_rows()
        if code == COLUMN:
            needed = int(state[2])
            more = np.flatnonzero((table.slots < 0) & (joins > 0))
            more = more[np.argsort(-joins[more], kind="stable")]
            left = min(_AT_ONCE, max(1, number - int(state[0])))
            table.add_columns(np.append(needed, more[more != needed][: left - 1]))


class _Table:
    """Entries of G between candidates, which are sorted by relevance, and some of them."""

    def __init__(self, problem: QuadraticProblem, size: int) -> None:
        self._problem = problem
        self.order = np.zeros(0, dtype=np.int64)
        self.slots = np.zeros(0, dtype=np.int64)
        self.marks = np.zeros(0, dtype=np.int64)
        self._columns: list[int] = []
        self.gram = np.zeros((0, 16))
        self.take(size)

    def take(self, size: int) -> None:
        """Take the features of largest relevance as candidates."""
        relevance = self._problem.linear
        top = np.arange(relevance.size)
        if size < top.size:  # one more, whose relevance is the limit
            top = np.argpartition(-relevance, size)[: size + 1]
        # those that were taken before stay first, also where relevances are equal
        new = np.setdiff1d(top, self.order)
        order = np.append(self.order, new[np.lexsort((new, -relevance[new]))])
        self.limit = float(relevance[order[size]]) if size < order.size else -np.inf
        self.order = order[:size]
        self.linear: FloatArray = relevance[self.order]
        added = size - len(self.gram)
        self.gram = np.pad(self.gram, ((0, added), (0, 0)))
        self.slots = np.pad(self.slots, (0, added), constant_values=-1)
        self.marks = np.pad(self.marks, (0, added))

    def add_rows(self) -> None:
        """Take some more candidates."""
        before = self.linear.size
        self.take(min(self._problem.linear.size, before + before // 8 + 8))
        if self._columns:
            columns = self.order[self._columns]
            block = self._problem.block(self.order[before:], columns)
            self.gram[before:, : len(self._columns)] = block

    def add_columns(self, candidates: IntArray) -> None:
        """Compute the columns of some candidates."""
        first, total = len(self._columns), len(self._columns) + candidates.size
        if total > self.gram.shape[1]:
            grown = max(total, 2 * self.gram.shape[1]) - self.gram.shape[1]
            self.gram = np.pad(self.gram, ((0, 0), (0, grown)))
        self.gram[:, first:total] = self._problem.block(self.order, self.order[candidates])
        self.slots[candidates] = np.arange(first, total)
        self._columns += candidates.tolist()
