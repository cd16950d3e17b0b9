"""Sparse columns, classes: marker genes of blood cells."""

import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.feature_selection import f_classif
from sklearn.metrics import balanced_accuracy_score
from sklearn.model_selection import StratifiedKFold
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from experiments.any_data.section import Section, table, with_error
from experiments.datasets import Cells, read_cells
from hsiclasso import HSICLasso, NOCCOLasso

SIZE = 20
_FOLDS = 5
_REPEATS = 3

CLASSIFIERS: dict[str, Callable[[], ClassifierMixin]] = {
    "SVM": SVC,
    "10 neighbours": lambda: KNeighborsClassifier(10),
}

Method = Callable[[object, np.ndarray], np.ndarray]


def _f_test(X, y: np.ndarray) -> np.ndarray:
    return np.argsort(-np.nan_to_num(f_classif(X.toarray(), y)[0]), kind="stable")[:SIZE]


METHODS: dict[str, Method] = {
    "HSIC Lasso": lambda X, y: HSICLasso(SIZE).fit(X, y).selected_,
    "NOCCO Lasso": lambda X, y: NOCCOLasso(SIZE).fit(X, y).selected_,
    "HSIC by itself": lambda X, y: np.argsort(-HSICLasso(1).fit(X, y).relevance_)[:SIZE],
    "F-test": _f_test,
}


def run(folder: Path) -> Section:
    """Select marker genes from the sparse matrix, and classify cells by them."""
    cells = read_cells(folder)
    return Section("2. Sparse columns: marker genes of blood cells", _paragraphs(cells))


def accuracies(cells: Cells, select: Method) -> dict[str, list[tuple[float, float]]]:
    """Accuracy and balanced accuracy by classifier and fold; genes are chosen in each fold."""
    X, y = cells.expression, cells.labels
    found: dict[str, list[tuple[float, float]]] = {name: [] for name in CLASSIFIERS}
    for repeat in range(_REPEATS):
        folds = StratifiedKFold(_FOLDS, shuffle=True, random_state=repeat)
        for train, test in folds.split(X, y):
            genes = select(X[train], y[train])
            parts = [X[rows][:, genes].toarray() for rows in (train, test)]
            for name, make in CLASSIFIERS.items():
                model = make_pipeline(StandardScaler(), make()).fit(parts[0], y[train])
                guess = model.predict(parts[1])
                balanced = balanced_accuracy_score(y[test], guess)
                found[name].append((float(np.mean(guess == y[test])), balanced))
    return found


def same_as_dense(cells: Cells) -> tuple[bool, float, tuple[float, float]]:
    """Compare the sparse with the dense matrix: selection, weights, and milliseconds of each."""
    X, y = cells.expression, cells.labels
    forms = (X.tocsc(), X.toarray())
    fits, seconds = [], []
    for form in forms:
        HSICLasso(SIZE).fit(form, y)  # compiles
        start = time.perf_counter()
        fits.append(HSICLasso(SIZE).fit(form, y))
        seconds.append(1e3 * (time.perf_counter() - start))
    sparse, dense = fits
    gap = np.abs(sparse.coef_ - dense.coef_).max() / dense.coef_.max()
    return bool(np.array_equal(sparse.selected_, dense.selected_)), float(gap), tuple(seconds)


def _paragraphs(cells: Cells) -> list[str]:
    X, y, genes = cells.expression, cells.labels, cells.genes
    n, d = X.shape
    same, gap, (sparse_time, dense_time) = same_as_dense(cells)
    chosen = {name: list(genes[select(X, y)]) for name, select in METHODS.items()}
    rows = []
    for name, select in METHODS.items():
        cells_of_row = [name]
        for scores in accuracies(cells, select).values():
            cells_of_row += [with_error(values, 3) for values in zip(*scores, strict=True)]
        rows.append(cells_of_row)
    header = ["20 genes by"]
    header += [f"{name}, {what}" for name in CLASSIFIERS for what in ("accuracy", "balanced")]
    labels, counts = np.unique(y, return_counts=True)
    return [
        f"pbmc68k_reduced of scanpy: {n} cells x {d} genes, log-normalised counts as a scipy CSR "
        f"matrix, {X.nnz / (n * d):.0%} of the entries stored; {labels.size} cell types, of "
        f"{counts.min()} to {counts.max()} cells.",
        f"Sparse and dense matrix give {'the same' if same else 'DIFFERENT'} {SIZE} genes in "
        f"{'the same' if same else 'another'} order; weights differ by at most {gap:.0e} of the "
        f"largest. A fit takes {sparse_time:.0f} ms sparse and {dense_time:.0f} ms dense.",
        "Genes by decreasing weight or score:",
        "\n".join(f"- {name}: {', '.join(names)}." for name, names in chosen.items()),
        f"Accuracy with these {SIZE} genes, chosen anew in each training part: {_FOLDS} folds, "
        f"{_REPEATS} times (seeds 0 to {_REPEATS - 1}), mean and standard error over folds, which "
        'are not independent; "balanced" is the mean over cell types.',
        table(header, rows),
    ]
