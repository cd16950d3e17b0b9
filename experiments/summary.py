"""Means over runs, and the names and order in which figures and the page show results."""

from collections.abc import Iterable, Sequence

import pandas as pd

from experiments.catalogue import CATALOGUE
from experiments.contenders import CONTENDERS
from experiments.printed import METHODS, SETS
from experiments.tidy import TidyFile

#: Contenders that the paper does not compare on classes, in the order of the contenders.
OTHERS = tuple(name for name in CONTENDERS if name not in METHODS)
STAND_IN = "MLL_leukemia"


def means(frame: pd.DataFrame, metric: str, by: Sequence[str]) -> pd.DataFrame:
    """Return mean, sd (with n - 1; NaN for one run), median, runs and se of a metric by `by`."""
    rows = frame[frame["metric"] == metric]
    groups = rows.astype({"value": float}).groupby(list(by))["value"]
    table = groups.agg(mean="mean", sd="std", median="median", runs="count")
    table["se"] = table["sd"] / table["runs"] ** 0.5
    return table


def shared_runs(frame: pd.DataFrame) -> pd.DataFrame:
    """Keep, set by set, the runs that every method of the frame has: a paired comparison."""
    methods = frame.groupby("data")["method"].nunique()
    having = frame.groupby(["data", "run"])["method"].nunique()
    whole = having[having == having.index.get_level_values("data").map(methods)].index
    return frame[pd.MultiIndex.from_frame(frame[["data", "run"]]).isin(whole)]


def beside(file: TidyFile, method: str, study: str, variants: str) -> pd.DataFrame:
    """Return a method of one study and its variants of another, on the runs that all have."""
    rows, others = file.frame(study), file.frame(variants)
    own = others[others["method"].str.startswith(f"{method}, ")]
    parts = [rows[rows["method"] == method], own]
    return shared_runs(pd.concat([part for part in parts if len(part)] or parts[:1]))


def title_of(name: str) -> str:
    """Return the paper's name of a set, else the catalogue's; a stand-in keeps its own."""
    return SETS.get(name) or (CATALOGUE[name].title if name in CATALOGUE else name)


def sets_in(frame: pd.DataFrame) -> list[str]:
    """List the paper's sets, whether or not there are results, then others with results."""
    return [*SETS, *sorted(set(frame["data"].unique()) - set(SETS))]


def sets_with_results(frame: pd.DataFrame) -> list[str]:
    """List the sets with results, the paper's first."""
    found = set(frame["data"].unique())
    return [name for name in sets_in(frame) if name in found]


def methods_in(frame: pd.DataFrame) -> list[str]:
    """List the methods with results: the paper's, other contenders, then any more, by name."""
    found = set(frame["method"].unique())
    known = (*METHODS, *OTHERS)
    return [name for name in known if name in found] + sorted(found - set(known))


def counts(runs: Iterable[int]) -> str:
    """Return numbers of runs as one text: ``"100"``, or ``"5 to 20"``."""
    low, high = min(runs := list(runs)), max(runs)
    return f"{low}" if low == high else f"{low} to {high}"
