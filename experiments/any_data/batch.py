"""Covariates: genes that differ because they were measured in another batch."""

from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np

from experiments.any_data.section import Section, image, table, with_error
from experiments.datasets import read_npz
from hsiclasso import Covariates, HSICLasso, SelectionResult
from hsiclasso.plots import plot_comparison

CONFOUNDING = (0.7, 0.8, 0.9)
_RUNS = 10
_SELECTED = 20
_SHIFTED = 60
_SHIFT = 2.0
_DRAWN = (0.9, 0)
_FIGURE = "any_data_batch.png"
_SOURCE = "skfeature/data/TOX-171.mat of github.com/jundongl/scikit-feature"

METHODS = {
    "without a covariate": None,
    'batch as covariate, "project"': "project",
    'batch as covariate, "subtract"': "subtract",
}


class Expression:
    """Log expression of named genes, with a batch that is added to it."""

    def __init__(self, folder: Path) -> None:
        stored = read_npz(folder, "TOX_171.npz", _SOURCE)
        self.X = np.log2(1 + stored["X"].astype(np.float64))
        self.y = stored["y"]
        self.names = _unique_names(stored["gene_symbol"], stored["feature_names"])
        self.clean = HSICLasso(_SELECTED).fit(self.X, self.y)

    def with_batch(self, confounding: float, seed: int):
        """Return expression in two batches, the batch of each sample, and the genes it shifts."""
        rng = np.random.default_rng([seed, int(100 * confounding)])
        likely = np.where(np.isin(self.y, (1, 2)), confounding, 1 - confounding)
        second = rng.random(self.y.size) < likely
        unrelated = np.argsort(self.clean.relevance_)[: self.X.shape[1] // 2]
        genes = rng.choice(unrelated, _SHIFTED, replace=False)
        X = self.X.copy()
        X[np.ix_(second, genes)] += _SHIFT * self.X[:, genes].std(axis=0)
        return X, second, genes

    def select(self, X: np.ndarray, batch: np.ndarray, method: str | None) -> HSICLasso:
        """Select genes, with the batch removed by a method, or not."""
        if method is None:
            return HSICLasso(_SELECTED).fit(X, self.y)
        removed = Covariates(method=method)
        return HSICLasso(_SELECTED, covariates=removed).fit(X, self.y, covariates=batch)

    def named(self, result: SelectionResult) -> SelectionResult:
        """Give features of a result the names of genes."""
        features = tuple(replace(f, name=self.names[f.index]) for f in result.features)
        return replace(result, features=features)


def _unique_names(symbols: np.ndarray, probes: np.ndarray) -> list[str]:
    counts = Counter(symbols.tolist())
    return [
        str(symbol) if symbol and counts[symbol] == 1 else f"{symbol or '?'} {probe}"
        for symbol, probe in zip(symbols.tolist(), probes.tolist(), strict=True)
    ]


def run(folder: Path) -> Section:
    """Compare selections with and without the batch as a covariate."""
    data = Expression(folder)
    rows = []
    for confounding in CONFOUNDING:
        for name, method in METHODS.items():
            scores = [_scores(data, confounding, seed, method) for seed in range(_RUNS)]
            cells = [with_error(values) for values in zip(*scores, strict=True)]
            rows.append([f"{confounding:.0%}", name, *cells])
    header = ["confounding", "selection", "shifted genes", "their share of the weight"]
    header += ["in common: no shift, same selection", "in common: no shift, no covariate"]
    n, d = data.X.shape
    return Section(
        "6. Covariates: a batch that goes with the classes",
        [
            f"TOX_171: {n} samples x {d} genes (log2), four classes. A second batch is made up: a "
            "sample of class 1 or 2 is in it with the probability below, one of class 3 or 4 with "
            f"the rest, and in it {_SHIFTED} genes of the less relevant half are raised by "
            f"{_SHIFT:g} standard deviations. {_SELECTED} genes are selected; how many are shifted "
            "ones, and how many would be selected without the shift, by the same selection or "
            f"without a covariate; means and standard errors of {_RUNS} draws (seeds 0 to "
            f"{_RUNS - 1}):",
            table(header, rows),
            f"One draw (confounding {_DRAWN[0]:.0%}, seed {_DRAWN[1]}), `plot_comparison`:",
            image(_FIGURE, "Weights with and without the batch as a covariate"),
        ],
        {_FIGURE: _draw(data)},
    )


def _scores(data: Expression, confounding: float, seed: int, method: str | None):
    X, batch, genes = data.with_batch(confounding, seed)
    fitted = data.select(X, batch, method)
    shifted = np.isin(fitted.selected_, genes)
    share = fitted.coef_[genes].sum() / fitted.coef_.sum()
    unshifted = data.select(data.X, batch, method)
    common = [np.isin(fitted.selected_, other.selected_).sum() for other in (unshifted, data.clean)]
    return float(shifted.sum()), float(share), *map(float, common)


def _draw(data: Expression):
    X, batch, genes = data.with_batch(*_DRAWN)
    results = {
        label: data.named(data.select(X, batch, method).result_)
        for label, method in (("without a covariate", None), ("batch as covariate", "project"))
    }
    marked = [data.names[j] for j in genes]
    return plot_comparison(results, marked, marked_label="raised in the second batch").figure
