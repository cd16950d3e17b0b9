r"""The problem of one half-sample: relevance and redundancy of the features that may matter there.

All halves share the terms :math:`\Phi_k` of a feature on all samples (`halves` has the symbols). On
a half, the redundancy is :math:`G_{kl} = \|\Phi_k D C D \Phi_l^\top\|_F^2`.
"""

from __future__ import annotations

import threading

import numpy as np

from hsiclasso._types import BoolArray, FloatArray, IntArray, SingleArray
from hsiclasso.dependence.features import Features

__all__ = ["COLUMN_SHARE", "HalfProblem", "SharedTerms", "terms_of"]

#: Share of the trace of a column that its terms leave out, and then again its turned terms. What is
#: left out is in many directions: the error of most matrices is some tenths of a thousandth.
COLUMN_SHARE = 1e-3
#: Columns that are expanded at once.
_AT_ONCE = 256
#: Typical number of terms of a column, with some to spare.
_USUAL_HEIGHT = 12


class SharedTerms:
    """Terms of features on all samples, in single precision, for all halves.

    Parameters
    ----------
    features : Features
    most_bytes : int
        Memory for terms; if it is full, all are dropped, and made again when they are needed.
    """

    def __init__(self, features: Features, most_bytes: int) -> None:
        self.features = features
        self._places = np.full(features.n_features, -1)
        self._heights = np.zeros(features.n_features, dtype=np.int64)
        self._n_made = 0
        self._stack = np.zeros((0, 1, features.n_samples), dtype=np.float32)
        self._lock = threading.Lock()
        #: Number of features that fit.
        self.most = max(1, most_bytes // (4 * _USUAL_HEIGHT * features.n_samples))

    def prepare(self, wanted: IntArray) -> None:
        """Make the terms of features that will be asked for, as far as there is memory."""
        with self._lock:
            self._make(wanted[: self.most])

    def restrict(self, wanted: IntArray, samples: IntArray) -> tuple[SingleArray, IntArray]:
        """Return terms of features on some samples, centred there, and the height of each.

        The terms are one below the other, (sum of heights, m).
        """
        from hsiclasso.dependence._halves_loops import restrict

        with self._lock:
            new = wanted[self._places[wanted] < 0]
            if new.size and self._n_made + new.size > self.most:
                self._places[:], self._n_made, new = -1, 0, wanted
            if new.size:
                self._make(new)
            stack, places, heights = self._stack, self._places[wanted], self._heights[wanted]
            out = np.empty((int(heights.sum()), samples.size), dtype=np.float32)
            restrict(stack, places, heights, samples, out)
        return out, heights

    def _make(self, new: IntArray) -> None:
        """Add the terms of distinct features to the stack."""
        for start in range(0, new.size, _AT_ONCE):
            some = new[start : start + _AT_ONCE]
            made, self._heights[some] = terms_of(self.features, some)
            need, height = self._n_made + some.size, max(made.shape[1], self._stack.shape[1])
            size = len(self._stack)
            if need > size or height > self._stack.shape[1]:
                size = size if need <= size else max(need, 2 * size, min(new.size, self.most))
                larger = np.zeros((size, height, made.shape[2]), dtype=np.float32)
                larger[: self._n_made, : self._stack.shape[1]] = self._stack[: self._n_made]
                self._stack = larger
            self._stack[self._n_made : need, : made.shape[1]] = made
            self._places[some] = np.arange(self._n_made, need)
            self._n_made = need


def terms_of(features: Features, wanted: IntArray) -> tuple[SingleArray, IntArray]:
    """Return terms (k, N, n) of features, and how many each has; zeros fill up shorter ones."""
    samples, scaled = features.samples, features.scaled(wanted)
    parts: list[tuple[IntArray, SingleArray]] = []
    heights = np.zeros(wanted.size, dtype=np.int64)
    for kernel, places in features.by_kernel(wanted):
        varying = places[[scaled[k].varies for k in places.tolist()]]
        if not varying.size:
            continue
        z = np.concatenate([scaled[k].z for k in varying.tolist()])
        allowed = np.full(varying.size, COLUMN_SHARE * samples.total)
        for terms in kernel.expand(z, np.arange(varying.size), allowed, samples.shares):
            phi = terms.on(slice(None), slice(None)).astype(np.float32)
            parts.append((varying[terms.columns], phi))
    for place, (columns, phi) in enumerate(parts):
        parts[place] = columns, _turned(phi, heights, columns)
    out = np.zeros((wanted.size, max(1, int(heights.max())), samples.n), dtype=np.float32)
    for columns, phi in parts:
        height = min(out.shape[1], phi.shape[1])
        out[columns, :height] = phi[:, :height]
    return out, heights


def _turned(phi: SingleArray, heights: IntArray, columns: IntArray) -> SingleArray:
    """Turn terms (k, N, n) so that fewer rows do, and set the `heights` of these columns."""
    phi = phi - phi.mean(axis=2, keepdims=True)
    eigenvalues, vectors = np.linalg.eigh(phi @ phi.transpose(0, 2, 1))
    eigenvalues, vectors = np.maximum(eigenvalues[:, ::-1], 0.0), vectors[:, :, ::-1]
    kept = np.cumsum(eigenvalues, axis=1) / np.maximum(eigenvalues.sum(axis=1), 1e-30)[:, None]
    heights[columns] = 1 + np.argmax(kept >= 1 - COLUMN_SHARE, axis=1)
    turned = np.ascontiguousarray(vectors.transpose(0, 2, 1)) @ phi
    turned[np.arange(phi.shape[1]) >= heights[columns][:, None]] = 0.0
    return np.asarray(turned, dtype=np.float32)


class HalfProblem:
    """Relevance and redundancy on one half: what a solver needs, as `Problem` has it.

    Attributes
    ----------
    linear : ndarray of shape (d,)
        Relevance of features that are `exact`, and bounds for the others.
    exact : ndarray of bool of shape (d,)
    target_norm2 : float
    rows_at_once : int
    """

    rows_at_once = 32

    def __init__(
        self, terms: SharedTerms, target: FloatArray, rows: IntArray, bounds: FloatArray,
        n_exact: int,
    ) -> None:  # fmt: skip
        self.linear = bounds
        self.exact: BoolArray = self.linear <= 0
        self._terms, self._half = terms, rows
        some = target[:, rows]
        some = some - some.mean(axis=1, keepdims=True)
        self.target_norm2 = float(np.square(some @ some.T).sum())
        self._target = np.ascontiguousarray(some.T, dtype=np.float32)
        self._places = np.full(self.linear.size, -1)
        self._stack = np.zeros((0, rows.size), dtype=np.float32)
        self._starts = np.zeros(1, dtype=np.int64)
        self._n_exact = n_exact
        self._sharpen_first(n_exact)
        self._sharpen_certain(3 * n_exact // 4)
        self._sort()

    def sharpen(self, wanted: IntArray) -> bool:
        """Make the relevance of some features exact; return whether any was only a bound."""
        bounded = wanted[~self.exact[wanted]]
        if not bounded.size:
            return False
        self._sharpen(np.union1d(bounded, self._largest(self._n_exact)))
        self._sharpen_first(1)
        return True

    def diagonal(self, rows: IntArray) -> FloatArray:
        """Return G[k, k], the squared Frobenius norm of the matrix of k on the half."""
        return np.array(
            [self.block(rows[k : k + 1], rows[k : k + 1])[0, 0] for k in range(len(rows))]
        )

    def block(self, rows: IntArray, cols: IntArray) -> FloatArray:
        """Return the inner products of the matrices of `rows` and `cols` on the half."""
        from hsiclasso.dependence._halves_loops import energies_of_pairs

        above, beside = self._at(rows), self._at(cols)
        left, starts = self._gather(above)
        right, ends = self._gather(beside)
        out = np.empty((rows.size, cols.size))
        energies_of_pairs(left @ right.T, starts, ends, out)
        return out

    def _sharpen_first(self, number: int) -> None:
        """Make the largest bounds exact, until the largest value is."""
        while not self.exact.all():
            self._sharpen(self._largest(number))
            if self.linear[self.exact].max() >= self.linear[~self.exact].max(initial=-np.inf):
                return

    def _sharpen_certain(self, number: int) -> None:
        """Make sure that the features of largest relevance, so many of them, are known."""
        if np.count_nonzero(self.exact) > number:
            known = np.partition(-self.linear[self.exact], number)[number]
            doubtful = np.flatnonzero(~self.exact & (self.linear >= -known))
            if doubtful.size:
                self._sharpen(doubtful)

    def _largest(self, number: int) -> IntArray:
        """Return the features with the largest bounds among those that are not exact."""
        bounded = np.flatnonzero(~self.exact)
        if bounded.size <= number:
            return bounded
        return bounded[np.argpartition(-self.linear[bounded], number)[:number]]

    def _sharpen(self, wanted: IntArray) -> None:
        """Replace the bounds of some features by their relevance."""
        rows, starts = self._gather(self._at(wanted))
        energies = np.square(rows @ self._target).sum(axis=1)
        sums = np.append(0.0, np.cumsum(energies, dtype=np.float64))[starts]
        self.linear[wanted] = np.diff(sums)
        self.exact[wanted] = True

    def _at(self, wanted: IntArray) -> IntArray:
        """Return the places of features among the centred terms; add those that are missing."""
        missing = self._places[wanted] < 0
        if missing.any():
            new = np.unique(wanted[missing])
            rows, heights = self._terms.restrict(new, self._half)
            first = self._starts.size - 1
            self._places[new] = np.arange(first, first + new.size)
            self._starts = np.append(self._starts, self._starts[-1] + np.cumsum(heights))
            self._stack = np.concatenate([self._stack, rows]) if first else rows
        return self._places[wanted]

    def _sort(self) -> None:
        """Put the terms of the most relevant features first: a solver asks for these together."""
        here = np.flatnonzero(self._places >= 0)
        here = here[np.lexsort((here, -self.linear[here]))]
        self._stack, self._starts = self._gather(self._places[here])
        self._places[here] = np.arange(here.size)

    def _gather(self, places: IntArray) -> tuple[SingleArray, IntArray]:
        """Return the terms of some features one below the other, and where each begins."""
        if places.size and np.array_equal(places, np.arange(places[0], places[0] + places.size)):
            starts = self._starts[places[0] : places[-1] + 2]  # adjacent: no copy is needed
            return self._stack[starts[0] : starts[-1]], starts - starts[0]
        first, heights = self._starts[places], np.diff(self._starts)[places]
        starts = np.append(0, np.cumsum(heights))
        rows = np.repeat(first - starts[:-1], heights) + np.arange(starts[-1])
        return self._stack[rows], starts
