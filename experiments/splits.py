"""The paper's protocol on real data: select on 80% of the samples, judge on the rest.

A method ranks 50 features on a random 80% of the samples. Kernel logistic regression (for numbers,
kernel regression) is then fitted to the best 10, 20, ..., 50 of them and scored on the other 20%.
Its kernel is Gaussian; 3-fold cross-validation chooses width and penalty.
"""

import functools
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from experiments.catalogue import CATALOGUE, load
from experiments.contenders import CLASSES, Contender
from experiments.datasets import MissingDataError
from experiments.redundancy import redundancies
from experiments.runner import Request, tell
from experiments.tidy import Row, Task, rows_of
from hsiclasso.evaluation import (
    KernelLogisticRegressionCV,
    KernelRidgeRegressionCV,
    redundancy_rate,
)

#: Several studies may want the same set.
_tell_once = functools.cache(tell)
SIZES = (10, 20, 30, 40, 50)


@dataclass(frozen=True, eq=False)
class SplitStudy:
    """Methods on random splits of real data sets.

    Attributes
    ----------
    name : str
    sets : tuple of str
        Names of `experiments.catalogue.CATALOGUE`, all with the same kind of target.
    methods : dict
        Contenders by name.
    runs : int
        Splits, if the user does not say.
    left_out : dict
        Pairs (method, set) that are not run, and why.
    readings : bool
        Whether every reading of the redundancy rate is taken.
    """

    name: str
    sets: tuple[str, ...]
    methods: dict[str, Contender]
    runs: int = 100
    left_out: dict[tuple[str, str], str] = field(default_factory=dict)
    readings: bool = False
    timed = False

    def candidates(self, request: Request) -> Iterator[tuple[Task, str | None]]:
        """Yield every pair of a set and a method, with the reason if it cannot be run."""
        for name in self.sets:
            if request.data is not None and name not in request.data:
                continue
            try:
                load(name, request.folder)
            except MissingDataError as error:
                _tell_once(f"{name} is left out. {error}")
                continue
            entry = CATALOGUE[name]
            for method, contender in self.methods.items():
                reason = contender.missing(entry.kind) or self.left_out.get((method, name))
                yield Task(self.name, name, method, _n_train(entry.n), entry.d, 0), reason

    def perform(self, task: Task, folder: Path) -> list[Row]:
        """Select on one split and judge what was selected."""
        data = _stored(task.data, folder)
        kind = CATALOGUE[task.data].kind
        train, test = split(len(data.y), task.run)
        start = time.perf_counter()
        ranked = self.methods[task.method].rank(
            data.X[train], data.y[train], SIZES[-1], kind, task.run
        )
        values = [(SIZES[-1], "seconds", time.perf_counter() - start)]
        values.append((SIZES[-1], "selected", len(ranked)))
        for m in SIZES:
            chosen = data.X[:, ranked[:m]]
            scores = judge(chosen[train], data.y[train], chosen[test], data.y[test], task.run, kind)
            values += [(m, metric, value) for metric, value in scores.items()]
            values.append((m, "red", redundancy_rate(chosen[train])))
            if self.readings:
                found = redundancies(chosen, train, test)
                values += [(m, f"red: {name}", value) for name, value in found.items()]
        return rows_of(task, task.run, values)


@functools.lru_cache(maxsize=2)
def _stored(name: str, folder: Path):
    return load(name, folder)


def _n_train(n: int) -> int:
    return n - round(0.2 * n)


def split(n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Shuffle the samples and part them into 80% for training and the rest."""
    order = np.random.default_rng(seed).permutation(n)
    return np.sort(order[: _n_train(n)]), np.sort(order[_n_train(n) :])


def judge(X_train, y_train, X_test, y_test, seed: int, kind: str) -> dict[str, float]:
    """Fit the paper's model of the kind of target, and score it on the test part."""
    if kind == CLASSES:
        model = KernelLogisticRegressionCV(random_state=seed).fit(X_train, y_train)
        return {"accuracy": model.score(X_test, y_test)}
    predicted = KernelRidgeRegressionCV(random_state=seed).fit(X_train, y_train).predict(X_test)
    constant = np.ptp(predicted) == 0
    return {
        "mse": float(np.mean((predicted - y_test) ** 2)),
        "correlation": 0.0 if constant else float(np.corrcoef(predicted, y_test)[0, 1]),
    }
