"""One measurement, to be made in a process of its own.

The process makes the data, fits once on a tiny table so that compiled code is loaded, and then
measures one fit: wall seconds, CPU seconds of all its threads, and memory.
"""

import json
import os
import sys
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.memory import peak_mb, reset_peak, rss_mb
from benchmarks.timing import timed

#: Image sets and the like, as .npz files with X and y.
DATA = Path(
    os.environ.get("HSICLASSO_DATA") or Path(__file__).resolve().parents[2] / "shared" / "data"
)


@dataclass(frozen=True)
class Job:
    """What to measure.

    The data are ``"data2"``, the paper's non-additive design with its causal columns at random
    positions, or the stem of a file in `DATA`.
    """

    method: str  #: key of `METHODS`
    n: int  #: samples of the table
    d: int  #: columns of the table
    n_features: int = 50  #: features to select
    data: str = "data2"
    columns: int | None = None  #: score only this many random columns
    #: Arguments of the method. "gaussian" holds those of a Gaussian kernel of the features.
    options: dict[str, Any] = field(default_factory=dict)
    #: Packages that are as if they were not installed.
    without: tuple[str, ...] = ()

    def key(self) -> str:
        """Return the job as JSON."""
        return json.dumps(asdict(self), sort_keys=True)


def load(job: Job):
    """Make or read the table and the target of a job."""
    import numpy as np

    from hsiclasso import make_data2

    if job.data == "data2":
        X, y, _ = make_data2(job.n, job.d, shuffle=True, random_state=0)
    else:
        stored = np.load(DATA / f"{job.data}.npz", allow_pickle=False)
        X, y = stored["X"], stored["y"]
    if job.columns is not None:
        chosen = np.random.default_rng(1).choice(job.d, job.columns, replace=False)
        X = np.ascontiguousarray(X[:, chosen])
    return X, y


def _hsic(X, y, k: int, *, gaussian: dict[str, Any] | None = None, raw: bool = False, **options):
    from hsiclasso import Gaussian, HSICLasso, Real

    if raw:
        options["target"] = Real(transform=None)
    if gaussian is not None:
        options["kernel"] = Gaussian(**gaussian)
    selector = HSICLasso(k, **options).fit(X, y)
    return selector.selected_, selector.coef_[selector.selected_]


def _nocco(X, y, k: int, **options):
    return _hsic(X, y, k, measure="nocco", **options)


def _embedding(X, y, k: int, **options):
    from hsiclasso import EmbeddingLasso

    selector = EmbeddingLasso(k, **options).fit(X, y)
    return selector.selected_, selector.coef_[selector.selected_]


def _pyhsiclasso(X, y, k: int, **options):
    import numpy as np
    from pyHSICLasso import HSICLasso

    peer = HSICLasso()
    peer.input(X, y)
    peer.regression(k, **options)
    return np.array(peer.get_index()), np.ravel(peer.get_index_score())


def _f_regression(X, y, k: int):
    from sklearn.feature_selection import f_regression

    scores, _ = f_regression(X, y)
    return _best(scores, k)


def _mutual_info(X, y, k: int):
    from sklearn.feature_selection import mutual_info_regression

    return _best(mutual_info_regression(X, y, random_state=0, n_jobs=1), k)


def _best(scores, k: int):
    best = (-scores).argsort()[:k]
    return best, scores[best]


METHODS: dict[str, Callable] = {
    "HSICLasso": _hsic,
    "NOCCOLasso": _nocco,
    "EmbeddingLasso": _embedding,
    "pyHSICLasso": _pyhsiclasso,
    "f_regression": _f_regression,
    "mutual_info_regression": _mutual_info,
}


#: Samples of the fits that load the compiled code: few ones take another way than many.
_WARM = (60, 300)


def perform(given: dict[str, Any]) -> dict[str, Any]:
    """Carry out a job, given as a dictionary, and return what was measured."""
    job = Job(**given)
    sys.modules.update(dict.fromkeys(job.without))  # None: an import fails
    method = METHODS[job.method]
    X, y = load(job)
    for n in _WARM:
        method(*load(Job(job.method, n, 40)), 3, **job.options)
    before = rss_mb()
    reset_peak()
    (selected, weights), wall, cpu = timed(lambda: method(X, y, job.n_features, **job.options))
    return {
        "wall": wall,
        "cpu": cpu,
        "peak_mb": peak_mb(),
        "before_mb": before,
        "data_mb": X.nbytes / 2**20,
        "selected": selected.tolist(),
        "weights": weights.tolist(),
    }
