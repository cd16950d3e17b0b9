"""What is printed and saved of a fit, in the columns of pyHSICLasso."""

from __future__ import annotations

import csv
import os
from collections.abc import Iterable, Sequence

import numpy as np

from hsiclasso._types import FloatArray
from hsiclasso.compat.fitting import Fit
from hsiclasso.compat.tables import Table

__all__ = ["listing", "write_parameters", "write_scores"]

#: Similar features that are printed beside a selected one.
_PRINTED = 5
_WIDTH = 116


def listing(fit: Fit, names: Sequence[str]) -> str:
    """Return the selected features as a table, with the most similar ones beside each.

    A table of few features has fewer of them.
    """
    lines = [
        f"{' HSICLasso : Result ':=^{_WIDTH}}",
        f"| Order | {'Feature':<12} | Score | {'Top-5 Related Feature (Relatedness Score)':<82} |",
    ]
    for place, (k, score) in enumerate(zip(fit.index, fit.scores, strict=True)):
        near = zip(fit.neighbours[place][1:], fit.similarities[place][1:], strict=True)
        related = [f"{names[j]:<12} ({value:.3f})" for j, value in near][:_PRINTED]
        lines.append(f"| {place + 1:<5} | {names[k]:<12} | {score:.3f} | {', '.join(related)}|")
    return "\n".join(lines)


def write_parameters(fit: Fit, names: Sequence[str], filename: str | os.PathLike[str]) -> None:
    """Write a row for each selected feature: its score, then its neighbours with theirs."""
    most = max([len(near) - 1 for near in fit.neighbours], default=0)
    header = ["Feature", "Score"]
    for place in range(1, most + 1):
        # with the space that pyHSICLasso puts there: programs look the columns up by these names
        header += [f"Neighbor {place}", f" Neighbor {place} score"]
    rows = []
    for k, score, near, values in zip(
        fit.index, fit.scores.tolist(), fit.neighbours, fit.similarities, strict=True
    ):
        pairs = zip(near[1:], values[1:].tolist(), strict=True)
        rows.append([names[k], score, *(cell for j, value in pairs for cell in (names[j], value))])
    _write(filename, header, rows)


def write_scores(fit: Fit, table: Table, filename: str | os.PathLike[str]) -> None:
    """Write the scores of the selected features and of their neighbours.

    A neighbour gets, of each feature that it is a neighbour of, the score times their similarity.
    The correlation is Pearson's with the target, the first output of several.
    """
    total: dict[int, float] = {}
    for score, near, values in zip(fit.scores, fit.neighbours, fit.similarities, strict=True):
        for j, value in zip(near, values, strict=True):
            total[j] = total.get(j, 0.0) + float(score * value)
    order = sorted(total, key=lambda j: (-total[j], j))
    correlations = _correlations(table, order)
    names = table.names
    rows = [[names[j], total[j], r] for j, r in zip(order, correlations.tolist(), strict=True)]
    _write(filename, ["Feature", "Score", "Pearson Corr"], rows)


def _correlations(table: Table, columns: list[int]) -> FloatArray:
    """Pearson's correlation of some columns with the target; NaN if that is no number."""
    output = table.outputs_by_samples[0]
    if not columns or output.dtype.kind not in "biuf":
        return np.full(len(columns), np.nan)
    X = table.source.block(np.array(columns))
    X, y = X - X.mean(axis=0), output.astype(np.float64) - output.mean()
    norms = np.linalg.norm(X, axis=0) * np.linalg.norm(y)
    products = y @ X
    return np.asarray(
        np.divide(products, norms, out=np.full_like(products, np.nan), where=norms > 0)
    )


def _write(
    filename: str | os.PathLike[str], header: list[str], rows: Iterable[Sequence[str | float]]
) -> None:
    """Write a CSV file; names with commas are quoted."""
    with open(filename, "w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(header)
        writer.writerows(rows)
