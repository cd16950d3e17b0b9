"""How well methods recover causal features: tables and curves of repeated runs."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from matplotlib.figure import Figure

from experiments.any_data.section import curves, legend_below, panels, table, tidy, with_error


@dataclass(frozen=True)
class Recoveries:
    """Two scores of each run, by scheme, method and x.

    The first is the share of the causal features that were found, the second that of others.
    """

    schemes: Sequence[str]
    methods: Sequence[str]
    xs: Sequence[float]
    scores: dict[tuple[str, str, float], list[tuple[float, float]]] = field(default_factory=dict)

    def add(self, scheme: str, method: str, x: float, found: float, others: float) -> None:
        """Add the scores of one run."""
        self.scores.setdefault((scheme, method, x), []).append((found, others))

    def found(self, scheme: str, method: str) -> list[list[float]]:
        """First scores of the runs, by x."""
        return [[first for first, _ in self.scores[scheme, method, x]] for x in self.xs]

    def others(self, scheme: str, method: str) -> list[str]:
        """Means of the second scores, by x."""
        runs = [self.scores[scheme, method, x] for x in self.xs]
        return [f"{np.mean([second for _, second in scores]):.2f}" for scores in runs]

    def tables(self, words: str, heads: Sequence[str]) -> list[str]:
        """Tables of the first scores, one for each scheme: methods by x."""
        return [
            table(
                [scheme + words, *heads],
                [[name, *map(with_error, self.found(scheme, name))] for name in self.methods],
            )
            for scheme in self.schemes
        ]

    def draw(self, x: str, y: str, factor: float = 1) -> Figure:
        """Draw the first scores against x times a factor, a panel for each scheme."""
        figure, axes = panels(len(self.schemes), height=4.2)
        for ax, scheme in zip(axes, self.schemes, strict=True):
            lines = {name: self.found(scheme, name) for name in self.methods}
            curves(ax, [factor * value for value in self.xs], lines)
            tidy(ax, x, y, scheme)
            ax.set_ylim(-0.03, 1.03)
        legend_below(figure, axes[0], 2)
        return figure
