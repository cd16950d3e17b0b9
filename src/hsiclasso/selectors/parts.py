"""A selection in parts: each part is run apart, on any machine, and the last step merges them."""

from __future__ import annotations

from typing import Any

from hsiclasso._blas import single_threaded_blas
from hsiclasso.data import Dataset
from hsiclasso.dependence import Progress, first_pass
from hsiclasso.dependence.checkpoint import Checkpoint, Part
from hsiclasso.dependence.streaming import StreamedPass
from hsiclasso.selectors.auto import first_path
from hsiclasso.selectors.pipeline import n_exact, target_matrix
from hsiclasso.selectors.prepare import prepare

__all__ = ["check_parts", "run_part"]


def run_part(selector: Any, data: Dataset, part: Part, progress: Progress | None = None) -> None:
    """Compute the chunks of a part and keep them in the checkpoint of the selector's resources.

    Parameters
    ----------
    selector : HSICLasso
        With ``resources=Resources(checkpoint=...)``.
    data : Dataset
        Table, target and weights.
    part : Part
        The part to compute; what is finished is not computed again.
    progress : callable, optional
        Called with the name of a stage, the features done and the features in all.
    """
    with single_threaded_blas():
        checkpoint, work = _work(selector, data)
        pieces = work.blocks()
        own = [pieces[number] for number in part.chunks(len(pieces))]
        total = sum(piece.stop - piece.start for piece in own)
        left = total
        for piece in checkpoint.run_part(part, work, pieces):
            left -= piece.stop - piece.start
            if progress is not None:
                progress("relevance", total - left, total)


def check_parts(selector: Any, data: Dataset, n_parts: int) -> None:
    """Raise if a part of a checkpoint is not complete."""
    with single_threaded_blas():
        checkpoint, work = _work(selector, data)
        checkpoint.check_parts(n_parts, work, work.blocks())


def _work(selector: Any, data: Dataset) -> tuple[Checkpoint, StreamedPass]:
    """Return the checkpoint of a selection, and its pass."""
    inputs = prepare(first_path(selector), data.source, data.y, sample_weight=data.weights)
    assert isinstance(inputs.runner, Checkpoint)
    screen = n_exact(inputs)
    work = first_pass(inputs.features, target_matrix(inputs), inputs.measure, screen)
    return inputs.runner, StreamedPass(work, "relevance", max(1, screen), inputs.budget)
