"""Station 9: figures of a selection, its path, and of selections compared (extra ``plots``).

Figures are objects of their own: nothing here touches pyplot or any other global state.
"""

from hsiclasso.plots.classes import plot_classes
from hsiclasso.plots.files import FIGURE_SUFFIXES
from hsiclasso.plots.functions import plot_functions
from hsiclasso.plots.heatmap import plot_heatmap
from hsiclasso.plots.inference import plot_candidates, plot_clusters, plot_stability
from hsiclasso.plots.manhattan import plot_manhattan
from hsiclasso.plots.pairs import plot_pair
from hsiclasso.plots.path import plot_path
from hsiclasso.plots.pixels import plot_pixels
from hsiclasso.plots.ranks import plot_ranks, save_ranks
from hsiclasso.plots.redundancy import plot_redundancy
from hsiclasso.plots.scores import plot_methods, plot_sizes
from hsiclasso.plots.selection import (
    draw_result,
    plot_comparison,
    plot_relevance,
    plot_selection,
    save_figure,
)
from hsiclasso.plots.selective import plot_knockoffs, plot_post_selection
from hsiclasso.plots.shapes import plot_shape, plot_shapes
from hsiclasso.plots.surfaces import plot_surface

__all__ = [
    "FIGURE_SUFFIXES",
    "draw_result",
    "plot_candidates",
    "plot_classes",
    "plot_clusters",
    "plot_comparison",
    "plot_functions",
    "plot_heatmap",
    "plot_knockoffs",
    "plot_manhattan",
    "plot_methods",
    "plot_pair",
    "plot_path",
    "plot_pixels",
    "plot_post_selection",
    "plot_ranks",
    "plot_redundancy",
    "plot_relevance",
    "plot_selection",
    "plot_shape",
    "plot_shapes",
    "plot_sizes",
    "plot_stability",
    "plot_surface",
    "save_figure",
    "save_ranks",
]
