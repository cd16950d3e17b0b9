"""Censored times: features that act on a hazard."""

from pathlib import Path

import numpy as np

from experiments.any_data.recoveries import Recoveries
from experiments.any_data.section import Section, image, table
from hsiclasso import HSICLasso, Real, Survival

SIZES = (100, 150, 200, 300, 400)
CAUSAL = (0, 1, 2)
CENSORING = (3, 4)
_RUNS = 20
_D = 500
_CENSORED = 0.4
_SELECTED = 8
_FIGURE = "any_data_survival.png"
_RANKS, _CENSORED_RANKS = Real(transform="rank"), Survival(transform="rank")

SCHEMES = ("(a) censored by chance", "(b) censored depending on two other features")


def draw(n: int, dependent: bool, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    r"""Features, observed times and events.

    The log-hazard is :math:`1.2 (x_0^2 - 1) + 1.5 \tanh(2 x_1) + 2.5 \cdot 1\{|x_2| < 0.6\}`.
    Censoring times are exponential, with a scale proportional to
    :math:`\exp(2 x_3 + 2 |x_4|)` if dependent, such that 40% of the times are censored.
    """
    rng = np.random.default_rng([seed, n, dependent])
    X = rng.standard_normal((n, _D))
    hazard = 1.2 * (X[:, 0] ** 2 - 1) + 1.5 * np.tanh(2 * X[:, 1]) + 2.5 * (np.abs(X[:, 2]) < 0.6)
    time = rng.exponential(np.exp(-hazard))
    end = rng.exponential(size=n)
    if dependent:
        end *= np.exp(2 * X[:, 3] + 2 * np.abs(X[:, 4]))
    end *= np.quantile(time / end, 1 - _CENSORED)
    return X, np.minimum(time, end), time <= end


def _log_rank(X: np.ndarray, time: np.ndarray, event: np.ndarray) -> np.ndarray:
    return HSICLasso(_SELECTED, target=_CENSORED_RANKS).fit(X, (time, event)).selected_


def _linear(X: np.ndarray, time: np.ndarray, event: np.ndarray) -> np.ndarray:
    selector = HSICLasso(_SELECTED, target=_CENSORED_RANKS, kernel="linear")
    return selector.fit(X, (time, event)).selected_


def _as_real(X: np.ndarray, time: np.ndarray, event: np.ndarray) -> np.ndarray:
    return HSICLasso(_SELECTED, target=_RANKS).fit(X, time).selected_


def _dropped(X: np.ndarray, time: np.ndarray, event: np.ndarray) -> np.ndarray:
    return HSICLasso(_SELECTED, target=_RANKS).fit(X[event], time[event]).selected_


METHODS = {
    "kernel log-rank target": _log_rank,
    "the same, linear kernel on features": _linear,
    "time as if never censored": _as_real,
    "censored samples dropped": _dropped,
}


def recoveries() -> Recoveries:
    """Share of the causal features among the three heaviest, and of the censoring ones in all."""
    found = Recoveries(SCHEMES, list(METHODS), SIZES)
    for scheme in SCHEMES:
        for n in SIZES:
            for seed in range(_RUNS):
                data = draw(n, scheme == SCHEMES[1], seed)
                for name, select in METHODS.items():
                    chosen = select(*data)
                    causal = float(np.isin(CAUSAL, chosen[: len(CAUSAL)]).mean())
                    false = float(np.isin(CENSORING, chosen).mean())
                    found.add(scheme, name, n, causal, false)
    return found


def run(folder: Path) -> Section:
    """Recover the features of a hazard."""
    outcomes, sizes = recoveries(), [str(n) for n in SIZES]
    header = f"(b) share of x3 and x4 among the {_SELECTED} selected, n ="
    rows = [[name, *outcomes.others(SCHEMES[1], name)] for name in METHODS]
    parts = [
        f"Simulated: {_D} standard normal features, log-hazard 1.2 (x0² - 1) + 1.5 tanh(2 x1) + "
        f"2.5 [|x2| < 0.6], {_CENSORED:.0%} of the times censored, (a) by chance or (b) later "
        f"where 2 x3 + 2 |x4| is large, which has no influence on the hazard. {_SELECTED} features "
        "are selected by the ranks of the times; share of the three causal ones among the three "
        f"heaviest, mean and standard error of {_RUNS} draws:",
        image(_FIGURE, "Causal features found against the number of samples"),
        *outcomes.tables(", n =", sizes),
        table([header, *sizes], rows),
    ]
    figure = outcomes.draw("number of samples", "causal features among the three heaviest")
    return Section("5. Censored times: features of a hazard", parts, {_FIGURE: figure})
