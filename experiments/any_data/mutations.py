"""Binary columns, real target: mutations that make HIV resistant to a drug."""

import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
from scipy.stats import spearmanr
from sklearn.feature_selection import f_regression, mutual_info_regression
from sklearn.linear_model import LinearRegression, RidgeCV, lars_path
from sklearn.model_selection import KFold

from experiments.any_data.section import Section, curves, image, legend_below, panels, table, tidy
from experiments.datasets import read_npz
from hsiclasso import HSICLasso, Real

SIZES = (10, 20, 30, 40, 50, 60)
_FOLDS = 5
_SEED = 0
_FIGURE = "any_data_mutations.png"
_RANKS = Real(transform="rank")
_SOURCE = "case1/data/phs000276/NRTI_DATA.txt of github.com/moondanced/PMDC-DS"

Selections = dict[int, np.ndarray]
Method = Callable[[np.ndarray, np.ndarray], Selections]


def _hsic_lasso(kernel: str) -> Method:
    def select(X: np.ndarray, y: np.ndarray) -> Selections:
        fitted = HSICLasso(max(SIZES), kernel=kernel, target=_RANKS).fit(X, y)
        return {k: fitted.selected_of_size(k) for k in SIZES}

    return select


def _ranking(score: Callable[[np.ndarray, np.ndarray], np.ndarray]) -> Method:
    def select(X: np.ndarray, y: np.ndarray) -> Selections:
        order = np.argsort(-np.nan_to_num(score(X, y)), kind="stable")
        return {k: order[:k] for k in SIZES}

    return select


def _marginal(X: np.ndarray, y: np.ndarray) -> np.ndarray:
    return HSICLasso(1, kernel="delta", target=_RANKS).fit(X, y).relevance_


def _mutual_information(X: np.ndarray, y: np.ndarray) -> np.ndarray:
    return mutual_info_regression(X, y, discrete_features=True, random_state=_SEED)


def _lasso(X: np.ndarray, y: np.ndarray) -> Selections:
    """Largest weights where the lasso path first has k of them; columns are standardised."""
    deviation = X.std(axis=0)
    scaled = (X - X.mean(axis=0)) / np.where(deviation > 0, deviation, 1)
    _, _, path = lars_path(scaled, y - y.mean(), method="lasso", max_iter=4 * max(SIZES))
    counts = np.count_nonzero(path, axis=0)
    steps = {k: int(np.argmax(counts >= k)) for k in SIZES}
    return {k: np.argsort(-np.abs(path[:, step]))[:k] for k, step in steps.items()}


METHODS: dict[str, Method] = {
    "HSIC Lasso, delta kernel": _hsic_lasso("delta"),
    "HSIC Lasso, auto (Gaussian)": _hsic_lasso("auto"),
    "HSIC by itself, delta kernel": _ranking(_marginal),
    "F-test": _ranking(lambda X, y: f_regression(X, y)[0]),
    "Lasso": _lasso,
    "mutual information": _ranking(_mutual_information),
}


def run(folder: Path) -> Section:
    """Compare selections with the positions that treatment is known to select."""
    stored = read_npz(folder, "extra/hiv_nrti_azt.npz", _SOURCE)
    X, y, truth = stored["X"], stored["y"], stored["truth"].astype(bool)
    positions = np.array([name[1:-1] for name in stored["feature_names"]])
    chosen = {name: select(X, y) for name, select in METHODS.items()}
    precision = {
        name: [float(truth[sets[k]].mean()) for k in SIZES] for name, sets in chosen.items()
    }
    distinct = {
        name: [len(set(positions[sets[k]][truth[sets[k]]])) for k in SIZES]
        for name, sets in chosen.items()
    }
    scores = predictions(X, y)
    hidden = _hidden(X, y, stored["feature_names"], chosen)
    return Section(
        "1. Binary columns: mutations of HIV and resistance to AZT",
        _paragraphs(X, positions, truth, precision, distinct, scores) + hidden,
        {_FIGURE: _draw(precision, scores, truth.mean())},
    )


def predictions(X: np.ndarray, y: np.ndarray) -> dict[str, list[list[float]]]:
    """R^2 on held-out isolates of ridge regression on the selected columns, by size and fold."""
    scores: dict[str, list[list[float]]] = {name: [[] for _ in SIZES] for name in METHODS}
    for train, test in KFold(_FOLDS, shuffle=True, random_state=_SEED).split(X):
        for name, select in METHODS.items():
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # columns that do not vary in a fold
                sets = select(X[train], y[train])
            for per_fold, columns in zip(scores[name], sets.values(), strict=True):
                model = RidgeCV(np.geomspace(0.01, 100, 13)).fit(X[train][:, columns], y[train])
                per_fold.append(model.score(X[test][:, columns], y[test]))
    return scores


def _hidden(X, y, names: np.ndarray, chosen: dict[str, Selections]) -> list[str]:
    """Say which methods see a mutation that lowers resistance given others, and hardly alone."""
    column = int(np.flatnonzero(names == "P184V")[0])
    alone = spearmanr(X[:, column], y).statistic
    whole = LinearRegression().fit(X[:, chosen["HSIC Lasso, delta kernel"][20]], y)
    rest = y - whole.predict(X[:, chosen["HSIC Lasso, delta kernel"][20]])
    given = spearmanr(X[:, column], rest).statistic
    seen = [name for name, sets in chosen.items() if column in sets[SIZES[-1]]]
    return [
        f"The mutation 184V, in {X[:, column].mean():.0%} of the isolates, has a rank correlation "
        f"of {alone:.2f} with resistance, and of {given:.2f} with what a linear model of the 20 "
        f"mutations of HSIC Lasso leaves. Among the {SIZES[-1]} of: {', '.join(seen)}."
    ]


def _draw(precision: dict, scores: dict, by_chance: float):
    figure, (left, right) = panels(2)
    curves(left, SIZES, {name: [[value] for value in line] for name, line in precision.items()})
    tidy(left, "mutations selected", "share at treatment-selected positions", "(a) precision")
    left.axhline(by_chance, color="#333333", lw=1, ls=":")
    left.text(SIZES[0], by_chance + 0.01, "random choice", fontsize=9, color="#333333")
    left.set_ylim(0.15, 1.03)
    curves(right, SIZES, scores)
    tidy(
        right, "mutations selected", "R² on held-out isolates",
        f"(b) prediction, mean and s.e. of {_FOLDS} folds",
    )  # fmt: skip
    legend_below(figure, left, 3)
    return figure


def _paragraphs(X, positions, truth, precision, distinct, scores) -> list[str]:
    n_true = len(set(positions[truth]))
    size_head = [f"k = {k}" for k in SIZES]
    rows = [[name, *(f"{value:.2f}" for value in line)] for name, line in precision.items()]
    found = [[name, *map(str, line)] for name, line in distinct.items()]
    predicted = [
        [name, *(f"{np.mean(folds):.3f}" for folds in line)] for name, line in scores.items()
    ]
    return [
        f"{X.shape[0]} isolates, {X.shape[1]} mutations (uint8, 0 or 1), target: log10 fold "
        f"resistance, by its ranks. {truth.sum()} mutations lie at positions on the list of "
        f"treatment-selected mutations ({truth.mean():.0%} of all: the precision of a random "
        "choice). Share of the selected mutations at such positions:",
        table(["precision", *size_head], rows),
        image(_FIGURE, "Precision and prediction against the number of mutations"),
        f"Different treatment-selected positions found, of {n_true}:",
        table(["positions", *size_head], found),
        f"Ridge regression on the selected mutations, {_FOLDS} folds, selection on the training "
        "part only, R² on the rest:",
        table(["R²", *size_head], predicted),
    ]
