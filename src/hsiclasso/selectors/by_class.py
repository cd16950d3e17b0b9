r"""Which classes of a target each selected feature speaks for.

The delta kernel makes the target's matrix a sum over classes, :math:`T = \sum_c w_c w_c^\top`, in
which :math:`w_c` compares class c with the rest: it is the centred indicator of the class, divided
by the square root of the size of the class. So a relevance is a sum too, of one part for each
class, none of them negative:

.. math:: b_k = \langle A_k, T\rangle = \sum_c w_c^\top A_k\, w_c

Covariates, weights and measures change T. The rows :math:`w_c` are then those that still make up T
and are nearest to the indicators: a rotation of any rows G of T, by the orthogonal factor of the
indicators times :math:`G^\top`.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from hsiclasso._display import label_text
from hsiclasso._types import FloatArray, IntArray
from hsiclasso.dependence import Problem
from hsiclasso.kernels import Delta, Factor
from hsiclasso.selectors.prepare import Inputs
from hsiclasso.selectors.result import SelectionResult
from hsiclasso.targets import Values
from hsiclasso.targets.class_rows import ClassRows
from hsiclasso.targets.matrix import FactoredTarget, TargetMatrix

__all__ = ["with_classes"]

#: With fewer classes, a feature speaks for both as much as for none.
_LEAST = 3
#: Relative error of the matrices: what is told are shares.
_ERROR = 1e-4
#: Entries of columns whose matrices are made together: one has some thirty times as many.
_AT_ONCE = 1 << 20


def with_classes(
    result: SelectionResult, inputs: Inputs, problem: Problem, target: TargetMatrix,
    selected: IntArray,
) -> SelectionResult:  # fmt: skip
    """Return a result whose features have the parts of their relevance, if there are classes."""
    data = inputs.target.data
    if not isinstance(data, Values) or inputs.target.target.name != "classes" or not selected.size:
        return result
    rows = _class_rows(data, inputs, target)
    if rows is None:
        return result
    names = [label_text(label) for label in data.labels[0].tolist()]
    parts = _energies(problem, selected, rows)
    total = parts.sum(axis=1, keepdims=True)
    shares = np.divide(parts, total, out=np.zeros_like(parts), where=total > 0)
    features = tuple(
        replace(one, classes=dict(zip(names, (one.relevance * share).tolist(), strict=True)))
        for one, share in zip(result.features, shares, strict=True)
    )
    return replace(result, features=features)


def _class_rows(
    data: Values, inputs: Inputs, target: TargetMatrix
) -> FloatArray | ClassRows | None:
    """Return a row (c, n) for each class, whose squares make up T; None if T has no such rows."""
    is_plain = len(data.values) == 1 and isinstance(data.kernel, Delta)
    if not is_plain or not isinstance(target, FactoredTarget) or (target.signs < 0).any():
        return None
    if isinstance(target.rows, ClassRows):
        return target.rows if target.rows.heights.size == len(data.labels[0]) else None
    samples = inputs.features.samples
    indicators, _ = data.kernel.rows(data.values.copy(), 0.0, samples.shares[0])
    rows = target.whole[0]
    if not _LEAST <= len(indicators) == len(data.labels[0]) >= len(rows):
        return None
    left, _, right = np.linalg.svd((indicators * samples.root) @ rows.T, full_matrices=False)
    return np.asarray(left @ right @ rows)


def _energies(problem: Problem, selected: IntArray, rows: FloatArray | ClassRows) -> FloatArray:
    """Return ``w' A_k w`` of each selected feature (s) and row (c)."""
    found = []
    error = max(_ERROR, problem.features.gram_error)
    features = replace(problem.features, gram_error=error)
    for some in np.array_split(selected, -(-selected.size * features.n_samples // _AT_ONCE)):
        for one in features.matrices(problem.scaled(some), problem.measure):
            if isinstance(one, Factor):
                products = (
                    rows.products(one.rows) if isinstance(rows, ClassRows) else one.rows @ rows.T
                )
                found.append(np.square(products).sum(axis=0))
            else:
                full = rows.unsplit() if isinstance(rows, ClassRows) else rows
                found.append(np.maximum(one.energies(full), 0.0))
    return np.array(found)
