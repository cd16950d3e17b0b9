"""A fixed set of fits whose answers must not depend on the machine.

``python -m reliability.fits [--few]`` prints, as JSON, what each selects and every weight in full.
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from hsiclasso import (
    EmbeddingLasso,
    GroupLasso,
    HSICLasso,
    NOCCOLasso,
    Resources,
    hsic_scan,
    hsic_scan_pairs,
    make_data1,
    make_data2,
)
from hsiclasso.baselines import METHODS

#: Threads of a fit.
_N_JOBS = int(os.environ.get("RELIABILITY_JOBS", "1"))


def _exact(shape: tuple[int, ...], seed: int, levels: int = 4096) -> Any:
    """Return numbers that no rounding of a random generator's logarithms could change."""
    return np.random.default_rng(seed).integers(0, levels, shape) / levels


def _found(selector: Any, X: Any, y: Any, **options: Any) -> dict[str, Any]:
    fitted = selector.fit(X, y, **options)
    chosen = np.asarray(fitted.selected_)
    return {"selected": chosen.tolist(), "numbers": np.asarray(fitted.coef_)[chosen].tolist()}


def _hsic(n: int, d: int, **options: Any) -> Callable[[], dict[str, Any]]:
    def fit() -> dict[str, Any]:
        X = _exact((n, d), n)
        y = X[:, 1] * X[:, 4] + np.abs(X[:, 7] - 0.5) + X[:, 2]
        return _found(HSICLasso(6, n_jobs=_N_JOBS, **options), X, y)

    return fit


def _ties() -> dict[str, Any]:
    """Few levels: many features have nearly the same relevance, some exactly."""
    X = _exact((150, 300), 5, 3)
    X[:, 250:] = X[:, :50]
    return _found(HSICLasso(10, n_jobs=_N_JOBS), X, X[:, 1] + X[:, 4] * X[:, 7])


def _classes() -> dict[str, Any]:
    X = _exact((200, 400), 6)
    y = np.digitize(X[:, 3] + X[:, 9] ** 2, [0.5, 1.0]).astype(str)
    return _found(HSICLasso(6, n_jobs=_N_JOBS), X, y)


def _missing() -> dict[str, Any]:
    X, hidden = _exact((150, 200), 7), _exact((150, 200), 8) < 0.1
    y = X[:, 3] + X[:, 9] ** 2
    return _found(HSICLasso(5, missing="ignore", n_jobs=_N_JOBS), np.where(hidden, np.nan, X), y)


def _weighted() -> dict[str, Any]:
    X = _exact((150, 200), 9)
    y, weights = X[:, 3] + X[:, 9] ** 2, 1 + _exact((150,), 10)
    selector = HSICLasso(5, covariates=["x5"], n_jobs=_N_JOBS)
    return _found(selector, X, y, sample_weight=weights)


def _groups() -> dict[str, Any]:
    X = _exact((150, 60), 11)
    groups = {f"x{j}": f"g{j // 4}" for j in range(60)}
    return _found(
        HSICLasso(8, penalty=GroupLasso(groups), n_jobs=_N_JOBS), X, X[:, 3] + X[:, 9] ** 2
    )


def _interactions() -> dict[str, Any]:
    X = _exact((200, 30), 12)
    selector = HSICLasso(4, interactions="all", n_jobs=_N_JOBS)
    return _found(selector, X, (X[:, 3] - 0.5) * (X[:, 9] - 0.5) + 0.2 * X[:, 1])


def _counts() -> dict[str, Any]:
    X = _exact((400, 300), 13, 5) * (_exact((400, 300), 14) < 0.2)
    y = X[:, 3] + X[:, 9]
    return _found(HSICLasso(6, n_jobs=_N_JOBS), sparse.csc_array(X), y)


def _streamed() -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        file, X = Path(folder, "X.npy"), _exact((300, 500), 15)
        np.save(file, X)
        kept = Resources(memory_limit="500MB", checkpoint=Path(folder, "kept"))
        y = np.cos(4 * X[:, 3]) + X[:, 9]
        return _found(HSICLasso(6, resources=kept, n_jobs=_N_JOBS), str(file), y)


def _nocco() -> dict[str, Any]:
    X, y, _ = make_data2(200, 300, random_state=0)
    return _found(NOCCOLasso(6, n_jobs=_N_JOBS), X.round(3), y.round(3))


def _embedding() -> dict[str, Any]:
    X, y, _ = make_data1(200, 60, random_state=0)
    return _found(EmbeddingLasso(4, n_jobs=_N_JOBS), X.round(3), y.round(3))


def _tests() -> dict[str, Any]:
    X = _exact((150, 100), 16)
    found = hsic_scan(X, X[:, 3] + X[:, 9], n_jobs=_N_JOBS)
    chosen = np.flatnonzero(found.q_value < 0.1)
    return {"selected": chosen.tolist(), "numbers": found.p_value[chosen].tolist()}


def _pairs() -> dict[str, Any]:
    X = _exact((150, 20), 17)
    found = hsic_scan_pairs(X, (X[:, 3] - 0.5) * (X[:, 9] - 0.5), n_jobs=_N_JOBS)
    return {"selected": found.index[:3].tolist(), "numbers": found.p_value[:3].tolist()}


def _method(name: str) -> Callable[[], dict[str, Any]]:
    """A method of the comparison, on levels: many exact ties."""

    def fit() -> dict[str, Any]:
        X = _exact((120, 60), 18, 4)
        y = X[:, 3] + X[:, 9]
        if name != "spam":  # serves no classes
            y = (y > 0.7).astype(int)
        fitted = METHODS[name](5).fit(X, y)
        return {"selected": np.asarray(fitted.selected_).tolist(), "numbers": []}

    return fit


FITS: dict[str, Callable[[], dict[str, Any]]] = {
    "hsic, 100 samples": _hsic(100, 300),
    "hsic, 400 samples": _hsic(400, 800),
    "hsic, 3000 samples": _hsic(3000, 60),
    "nhsic": _hsic(150, 200, measure="nhsic"),
    "laplace": _hsic(150, 200, kernel="laplace"),
    "elastic net": _hsic(150, 200, penalty="elastic_net"),
    "coordinate descent": _hsic(150, 200, solver="cd"),
    "ties": _ties,
    "classes": _classes,
    "missing values": _missing,
    "weights and a covariate": _weighted,
    "groups": _groups,
    "interactions": _interactions,
    "sparse counts": _counts,
    "streamed": _streamed,
    "nocco": _nocco,
    "embedding": _embedding,
    "tests": _tests,
    "tests of pairs": _pairs,
    **{f"method {name}": _method(name) for name in METHODS},
}
#: Those that the test command runs.
FEW = (
    "hsic, 100 samples", "hsic, 400 samples", "ties", "classes", "missing values", "sparse counts",
    "nocco", "embedding", "method mrmr",
)  # fmt: skip


def answers(few: bool) -> dict[str, Any]:
    """Run the fits."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return {name: FITS[name]() for name in (FEW if few else FITS)}


def main() -> None:
    """Print the answers, and which BLAS gave them."""
    from threadpoolctl import threadpool_info

    parser = argparse.ArgumentParser(prog="python -m reliability.fits")
    parser.add_argument("--few", action="store_true")
    parser.add_argument("--start", choices=["fork", "spawn"], help="run in a child made like this")
    asked = parser.parse_args()
    if asked.start:
        import multiprocessing

        context = multiprocessing.get_context(asked.start)
        with context.Pool(1) as pool:
            found = pool.apply(answers, (asked.few,))
    else:
        found = answers(asked.few)
    cores = sorted(
        {str(one.get("architecture")) for one in threadpool_info() if one["user_api"] == "blas"}
    )
    print(json.dumps({"answers": found, "cores": cores}))


if __name__ == "__main__":
    main()
