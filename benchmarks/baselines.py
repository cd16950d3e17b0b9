"""The methods of the comparison: what they cost, against peers where there are any.

``python -m benchmarks.baselines [--repeats 3] [--small] [--out FILE]``

- *mrmr*: 50 of 10,000 features, n = 1000, classes and a real target: mRMR with binned mutual
  information (bar: 10 s, and faster than the package mrmr_selection, which ranks by F-test and
  correlation), and our mRMR by F-test and correlation on the same task as that package.
- *qp*: QPFS and FVM on warpAR10P, d = 2400, 50 features, everything included (bar: 60 s).
- *all*: every method with its defaults, 10 features of Data2, n = 200, d = 1000, beside HSIC
  Lasso (no bar).

Times are wall seconds of the fit on all cores, medians over the repeats, compiled code loaded.
"""

import argparse
import importlib
import warnings
from collections.abc import Callable, Iterator
from statistics import median

import numpy as np

from benchmarks.job import DATA
from benchmarks.report import Page, Row
from benchmarks.timing import timed, wall_times
from hsiclasso import make_data2
from hsiclasso.baselines import METHODS

_IMAGES = DATA / "warpAR10P.npz"
_SECONDS_MRMR, _SECONDS_QP = 10.0, 60.0


def seconds(work: Callable[[], object], repeats: int) -> float:
    """Median wall seconds."""
    return median(wall_times(work, repeats))


def warm_up() -> None:
    """Load compiled code."""
    X, y, _ = make_data2(60, 20, random_state=0)
    for cls in METHODS.values():
        cls(3).fit(X, y)
    for target in (y, y > 0):
        METHODS["mrmr"](3).fit(X, target)


def mrmr(n: int, d: int, k: int, repeats: int) -> list[Row]:
    """Binned mRMR, and mRMR by F-test, against mrmr_selection."""
    X, y, _ = make_data2(n, d, random_state=0)
    rows = []
    for what, target in (("real target", y), ("3 classes", np.digitize(y, [-1.0, 1.0]))):
        binned = seconds(lambda y=target: METHODS["mrmr"](k).fit(X, y), repeats)
        by_f = METHODS["mrmr"](k, measure="f", scheme="quotient")
        same = seconds(lambda y=target, method=by_f: method.fit(X, y), repeats)
        rows.append(Row("mrmr", f"binned, {what}", binned, " s", at_most=_SECONDS_MRMR))
        try:
            peer, selected = peer_mrmr(X, target, k)
        except ImportError:
            rows.append(Row("mrmr", what, note="mrmr_selection is not installed"))
            continue
        common = len(set(selected) & set(by_f.selected_.tolist()))
        for name, own, note in (
            ("binned", binned, ""),
            ("F-test", same, f", {common} of {k} features the same"),
        ):
            words = f"{own:.2f} s against {peer:.1f} s{note}"
            label = f"{name} against mrmr_selection, {what}"
            rows.append(Row("mrmr", label, peer / own, "x", at_least=1.0, note=words))
    return rows


def peer_mrmr(X, y, k: int) -> tuple[float, list[int]]:
    """Seconds and columns of mrmr_selection, once; it takes pandas frames."""
    package, pandas = importlib.import_module("mrmr"), importlib.import_module("pandas")
    frame, target = pandas.DataFrame(X), pandas.Series(y)
    run = package.mrmr_classif if y.dtype.kind == "i" else package.mrmr_regression
    found, took, _ = timed(lambda: run(X=frame, y=target, K=k, show_progress=False))
    return took, [int(name) for name in found]


def quadratic(k: int, repeats: int) -> list[Row]:
    """QPFS and FVM on an image set."""
    if not _IMAGES.exists():
        return [Row("qp", "warpAR10P", note="the image set is not there")]
    with np.load(_IMAGES) as data:
        X, y = data["X"].astype(np.float64), data["y"].ravel()
    rows = []
    for name in ("qpfs", "fvm"):
        took = seconds(lambda name=name: METHODS[name](k).fit(X, y), repeats)
        label = f"{name} on warpAR10P, d = {X.shape[1]}"
        rows.append(Row("qp", label, took, " s", at_most=_SECONDS_QP))
    return rows


def everything(n: int, d: int, repeats: int) -> list[Row]:
    """All methods on one table."""
    X, y, _ = make_data2(n, d, random_state=0)
    took = {
        name: seconds(lambda cls=cls: cls(10).fit(X, y), repeats) for name, cls in METHODS.items()
    }
    return [
        Row(
            "all", name, took[name] / took["hsic_lasso"], "x HSIC Lasso", note=f"{took[name]:.3f} s"
        )
        for name in took
    ]


def measure(chosen: argparse.Namespace) -> Iterator[list[Row]]:
    """Measure all three cases."""
    part = 10 if chosen.small else 1
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        warm_up()
        yield mrmr(1000, 10_000 // part, 50, chosen.repeats)
        yield quadratic(50, chosen.repeats)
        yield everything(200, 1000 // part, chosen.repeats)


PAGE = Page("Methods of the comparison", "baselines.md", __doc__, measure)

if __name__ == "__main__":
    raise SystemExit(PAGE.main())
