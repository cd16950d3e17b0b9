"""How Figure 1 is drawn: two panels, mean and standard error over the runs."""

from pathlib import Path
from statistics import mean, stdev

_TITLES = {"Data1": "(a) Data1 (additive model)", "Data2": "(b) Data2 (non-additive model)"}
_STYLES = {
    ("HSIC Lasso", "raw"): {"color": "#c0392b", "marker": "o"},
    ("NOCCO Lasso", "raw"): {"color": "#1f5fa8", "marker": "s"},
    ("HSIC Lasso", "rank"): {"color": "#e59866", "marker": "o", "ls": "--", "mfc": "white"},
    ("NOCCO Lasso", "rank"): {"color": "#7fb3e0", "marker": "s", "ls": "--", "mfc": "white"},
}
_LABELS = {"raw": "", "rank": ", ranks of the target"}


def draw(outcomes: list, path: Path) -> None:
    """Draw the outcomes of both designs."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, 2, figsize=(10, 4.2), sharey=True, layout="constrained")
    for (design, title), ax in zip(_TITLES.items(), axes, strict=True):
        _panel(ax, [outcome for outcome in outcomes if outcome.design == design])
        ax.set_xlabel("number of samples")
        ax.set_title(title, fontsize=11)
    axes[0].set_ylabel("fraction of correctly selected features")
    axes[0].set_ylim(0, 1.04)
    axes[1].legend(frameon=False, loc="lower right")
    runs = len({outcome.run for outcome in outcomes})
    words = f"mean and standard error over {runs} runs"
    axes[0].text(0.98, 0.03, words, transform=axes[0].transAxes, ha="right", color="0.4")
    figure.savefig(path, dpi=150)
    plt.close(figure)


def _panel(ax, outcomes: list) -> None:
    sizes = sorted({outcome.n for outcome in outcomes})
    step = sizes[1] - sizes[0]
    for i, ((method, target), style) in enumerate(_STYLES.items()):
        groups = [
            [o.fraction for o in outcomes if (o.method, o.target, o.n) == (method, target, n)]
            for n in sizes
        ]
        errors = [stdev(group) / len(group) ** 0.5 if len(group) > 1 else 0 for group in groups]
        shifted = [n + 0.03 * step * (i - 1.5) for n in sizes]
        ax.errorbar(
            shifted, [mean(group) for group in groups], errors,
            label=method + _LABELS[target], capsize=2.5, lw=1.6, ms=5, **style,
        )  # fmt: skip
    ax.set_xticks(sizes)
    ax.grid(color="0.92")
    ax.set_axisbelow(True)
    ax.spines[["top", "right"]].set_visible(False)
