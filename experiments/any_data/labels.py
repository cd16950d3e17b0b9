"""Several labels at once: what is true of a handwritten digit."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
from matplotlib.patches import Rectangle
from sklearn.datasets import load_digits
from sklearn.feature_selection import f_classif
from sklearn.model_selection import KFold
from sklearn.neighbors import KNeighborsClassifier

from experiments.any_data.section import Section, image, panels, table, with_error
from hsiclasso import Auto, HSICLasso, Labels

SIZES = (8, 12, 16)
LABELS = ("odd", "prime", "5 or more")
_FOLDS = 5
_SEED = 0
_SHOWN = 12
_FIGURE = "any_data_labels.png"


def _single(label: int) -> Callable[[int, np.ndarray, np.ndarray], np.ndarray]:
    return lambda k, X, Y: HSICLasso(k).fit(X, Y[:, label]).selected_


def _f_test(k: int, X: np.ndarray, Y: np.ndarray) -> np.ndarray:
    scores = np.mean([f_classif(X, labels)[0] for labels in Y.T], axis=0)
    return np.argsort(-scores, kind="stable")[:k]


METHODS: dict[str, Callable[[int, np.ndarray, np.ndarray], np.ndarray]] = {
    "all labels, averaged": lambda k, X, Y: HSICLasso(k).fit(X, Y).selected_,
    "all labels, joint": lambda k, X, Y: (
        HSICLasso(k, target=Labels(outputs="joint")).fit(X, Y).selected_
    ),
    **{f'"{name}" alone': _single(i) for i, name in enumerate(LABELS)},
    "F-test, mean over labels": _f_test,
}


def digits() -> tuple[np.ndarray, np.ndarray]:
    """Pixels of scikit-learn's digits, shuffled copies of them as noise, and labels."""
    stored = load_digits()
    pixels = stored.data[:, _inked(stored.data)]
    noise = np.random.default_rng(_SEED).permuted(np.tile(pixels, (1, 4)), axis=0)
    t = stored.target
    Y = np.column_stack([t % 2 == 1, np.isin(t, (2, 3, 5, 7)), t >= 5]).astype(np.int64)
    return np.hstack([pixels, noise]), Y


def _inked(images: np.ndarray) -> np.ndarray:
    """Tell which pixels are not blank nearly everywhere."""
    return np.count_nonzero(images, axis=0) >= 20


def run(folder: Path) -> Section:
    """Select pixels for three labels at once."""
    X, Y = digits()
    return Section(
        "4. Several labels: what is true of a digit", _paragraphs(X, Y), {_FIGURE: _draw(X, Y)}
    )


def scores(k: int, X: np.ndarray, Y: np.ndarray, n_pixels: int) -> dict[str, np.ndarray]:
    """By method and fold: all labels right, each label right, share of pixels selected."""
    found: dict[str, list[list[float]]] = {name: [] for name in METHODS}
    for train, test in KFold(_FOLDS, shuffle=True, random_state=_SEED).split(X):
        for name, select in METHODS.items():
            columns = select(k, X[train], Y[train])
            model = KNeighborsClassifier(5).fit(X[train][:, columns], Y[train])
            right = model.predict(X[test][:, columns]) == Y[test]
            pixels = float(np.mean(columns < n_pixels))
            found[name].append([right.all(axis=1).mean(), *right.mean(axis=0), pixels])
    return {name: np.array(rows) for name, rows in found.items()}


def _paragraphs(X: np.ndarray, Y: np.ndarray) -> list[str]:
    n_pixels = X.shape[1] // 5
    words = ", ".join(f'"{name}"' for name in LABELS)
    parts = [
        f"scikit-learn's digits: {X.shape[0]} images, {n_pixels} pixels that are not blank nearly "
        "everywhere, and "
        f"{X.shape[1] - n_pixels} copies of pixels shuffled over the images (seed {_SEED}), which "
        f"say nothing. Target: the indicator matrix of three labels, {words}. Five nearest "
        "neighbours on the selected columns predict all labels; accuracy on held-out images, "
        f"{_FOLDS} folds, selection on the training part only. Below, the "
        f"weights of pixels when {_SHOWN} columns are selected:",
        image(_FIGURE, "Weights of pixels by target"),
    ]
    for k in SIZES:
        rows = []
        for name, values in scores(k, X, Y, n_pixels).items():
            others = [f"{value:.3f}" for value in values[:, 1:].mean(axis=0)]
            rows.append([name, with_error(values[:, 0], 3), *others])
        header = [f"{k} columns by", "all three right", *LABELS, "pixels among selected"]
        parts.append(table(header, rows))
    return parts


def _draw(X: np.ndarray, Y: np.ndarray):
    """Weights as 8 x 8 images."""
    inked = _inked(load_digits().data)
    targets = {
        "all labels, averaged": (Y, "auto"),
        "all labels, joint": (Y, "joint"),
        **{f'"{name}" alone': (Y[:, i], "auto") for i, name in enumerate(LABELS)},
    }
    figure, axes = panels(len(targets), width=2.1, height=2.4)
    for ax, (name, (y, together)) in zip(axes, targets.items(), strict=True):
        selector = HSICLasso(_SHOWN, target=Auto(outputs=together)).fit(X, y)
        weights = selector.coef_[: inked.sum()]
        picture = np.zeros(64)
        picture[inked] = weights / weights.max()
        shown = ax.imshow(picture.reshape(8, 8), cmap="Blues", vmin=0, vmax=1)
        for row, column in np.argwhere(picture.reshape(8, 8) > 0):
            frame = Rectangle((column - 0.5, row - 0.5), 1, 1, fill=False, ec="#0072B2", lw=0.8)
            ax.add_patch(frame)
        ax.set_title(name, fontsize=10, color="#333333")
        ax.set_xticks([])
        ax.set_yticks([])
    bar = figure.colorbar(shown, ax=axes, shrink=0.8, aspect=15)
    bar.set_label("weight / largest", fontsize=9)
    return figure
