"""The figure of ``docs/interactions.md``: a found pair in the data, and its fitted surface.

``python -m experiments.interactions_figure`` writes ``docs/interactions.png``.
"""

from pathlib import Path

import numpy as np

from experiments.command import ROOT
from hsiclasso import EmbeddingLasso
from hsiclasso.plots import plot_pair, plot_surface

OUT = ROOT / "docs" / "interactions.png"


def draw(out: Path = OUT) -> None:
    """Draw a wave and a product of two genes, and write the figure."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    rng = np.random.default_rng(0)
    X = rng.standard_normal((300, 100))
    y = X[:, 10] * X[:, 20] + np.sin(2 * X[:, 30]) + 0.5 * rng.standard_normal(300)
    fitted = EmbeddingLasso(2, interactions="all").fit(X, y)
    (pair,) = [one for one in fitted.functions_ if hasattr(one, "members")]
    figure = Figure((9.6, 3.8), layout="constrained")
    FigureCanvasAgg(figure)
    left, right = figure.subplots(1, 2)
    plot_pair(X, y, pair.members, ax=left)
    plot_surface(pair, ax=right)
    figure.savefig(out, dpi=110)


if __name__ == "__main__":
    draw()
