"""Many fits at once, and tables of extreme shapes: no leak, no deadlock, no drift.

``python -m reliability.load [--fits 1000] [--cases threads processes wide tall classes labels]``
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import resource
import time
import warnings
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from functools import partial
from typing import Any

import numpy as np
from threadpoolctl import threadpool_info

from hsiclasso import HSICLasso, InvalidInputError, NOCCOLasso
from hsiclasso._memory import resident_bytes
from reliability import records

_MB = 2**20


def tables(number: int) -> list[tuple[Any, Any, Any]]:
    """Return small problems: selectors, tables and targets of several kinds."""
    made = []
    for k in range(number):
        rng = np.random.default_rng(k)
        n, d = int(rng.integers(30, 150)), int(rng.integers(5, 120))
        X = rng.standard_normal((n, d))
        y: Any = X[:, 1] + X[:, 2] ** 2
        if k % 3 == 1:
            y = np.where(y > 1, "ill", "well")
        kind = NOCCOLasso if k % 5 == 4 else HSICLasso
        made.append((kind(3, n_jobs=1 + k % 2, max_redundancy=1), X, y))
    return made


def fit(problem: tuple[Any, Any, Any]) -> str:
    """Fit a copy of a selector; return the features and every weight in full."""
    from sklearn.base import clone

    selector, X, y = problem
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = clone(selector).fit(X, y)
    return f"{found.selected_.tolist()} {[float(w).hex() for w in found.coef_[found.selected_]]}"


def fit_and_measure(problem: tuple[Any, Any, Any]) -> tuple[str, int, int]:
    """Return the answer, the process that found it, and its memory after that."""
    return fit(problem), os.getpid(), resident_bytes()


def _growth(found: list[tuple[str, int, int]]) -> float:
    """Return the megabytes by which the process grew that grew most."""
    sizes: dict[int, list[int]] = {}
    for _, process, size in found:
        sizes.setdefault(process, []).append(size)
    return round(max(of_one[-1] - of_one[0] for of_one in sizes.values()) / _MB, 1)


def blas_threads() -> dict[str, int]:
    """Return the number of threads of every BLAS that is loaded."""
    return {
        one["filepath"]: one["num_threads"]
        for one in threadpool_info()
        if one["user_api"] == "blas"
    }


def many(pool: Callable[..., Any], workers: int, number: int, n_tables: int = 20) -> dict[str, Any]:
    """Fit many times in a pool; compare every answer with that of one fit after another."""
    problems = tables(n_tables)
    expected = [fit(problem) for problem in problems]
    threads, start, drift, grown = blas_threads(), time.perf_counter(), 0, []
    with pool(workers) as running:
        for _ in range(2):
            todo = [k % n_tables for k in range(number // 2)]
            found = [*running.map(fit_and_measure, [problems[k] for k in todo])]
            drift += sum(one != expected[k] for k, (one, _, _) in zip(todo, found, strict=True))
            grown.append(_growth(found))
    return {
        "fits": 2 * (number // 2), "workers": workers, "other_answers": drift,
        "seconds": round(time.perf_counter() - start, 1),
        "MB_grown_in_first_half": grown[0], "MB_grown_in_second_half": grown[1],
        "blas_threads_restored": blas_threads() == threads,
    }  # fmt: skip


def _processes(workers: int, start: str = "spawn") -> Any:
    return ProcessPoolExecutor(workers, mp_context=multiprocessing.get_context(start))


def extreme(make: Callable[[Any], tuple[Any, Any]]) -> dict[str, Any]:
    """Fit a table; return the answer, the time, and the memory beyond the table."""
    X, y = make(np.random.default_rng(0))
    before, start = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, time.perf_counter()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = HSICLasso(2).fit(X, y)
        answer = f"{len(found.selected_)} features"
    except InvalidInputError as error:
        answer = f"refused: {error}"
    after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return {
        "answer": answer, "seconds": round(time.perf_counter() - start, 1),
        "MB_beyond_the_table": round((after - before) / 1024),
        "MB_of_the_table": round(getattr(X, "nbytes", 0) / _MB),
    }  # fmt: skip


def wide(rng: Any) -> tuple[Any, Any]:
    """10^6 features of 3 samples."""
    return rng.standard_normal((3, 10**6)), np.array([0.0, 1.0, 5.0])


def tall(rng: Any) -> tuple[Any, Any]:
    """3 features of 10^7 samples."""
    X = rng.standard_normal((10**7, 3), dtype=np.float32)
    return X, X[:, 1] ** 2


def classes(rng: Any, n: int = 6000, number: int = 2000) -> tuple[Any, Any]:
    """2,000 classes of three samples each."""
    y = np.arange(n) % number
    return rng.standard_normal((n, 20)) + y[:, None] / number, np.array([f"c{k}" for k in y])


def labels(rng: Any, number: int = 10**5) -> tuple[Any, Any]:
    """A column of 10^5 categories, each of two samples, beside numbers."""
    import pandas as pd

    y = rng.standard_normal(2 * number)
    text = pd.Series([f"s{k}" for k in np.arange(2 * number) % number], dtype="category")
    return pd.DataFrame({"label": text, "a": y + rng.standard_normal(2 * number), "b": y**2}), y


CASES: dict[str, Callable[[int], dict[str, Any]]] = {
    "threads": lambda number: many(ThreadPoolExecutor, 8, number),
    "processes": lambda number: many(_processes, 4, number),
    "forked processes": lambda number: many(partial(_processes, start="fork"), 4, number),
    **{
        function.__name__: lambda number, make=function: extreme(make)
        for function in (wide, tall, classes, labels)
    },
}


def main() -> None:
    """Run the cases, each in a process of its own."""
    parser = argparse.ArgumentParser(prog="python -m reliability.load")
    parser.add_argument("--fits", type=int, default=1000)
    parser.add_argument("--cases", nargs="*", choices=list(CASES), default=list(CASES))
    parser.add_argument("--record", action="store_true", help="write the record of the page")
    asked = parser.parse_args()
    found = {}
    for name in asked.cases:
        # memory of one case must not hide that of another
        with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as one:
            found[name] = one.submit(_run, name, asked.fits).result()
        print(name, json.dumps(found[name]), flush=True)
    if asked.record:
        records.save("load", {"cases": found})


def _run(name: str, number: int) -> dict[str, Any]:
    return CASES[name](number)


if __name__ == "__main__":
    main()
