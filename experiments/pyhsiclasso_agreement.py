"""Agreement with pyHSICLasso, and with the weights its authors' MATLAB code stored.

``python -m experiments.pyhsiclasso_agreement [--data FOLDER] [--out experiments/results]``

1. pyHSICLasso without blocks (B=0) solves the problem of ``HSICLasso(measure="nhsic")``. Both are
   run on Data1 (n = 100, d = 256, regression) and on the colon set (62 x 2000, two classes).
   Needs pyHSICLasso (``benchmarks/requirements.txt``), which computes in single precision.
2. ``matlab_data.mat`` of pyHSICLasso's tests (100 x 2000, saved in 2014) holds, beside the data, a
   solution path. The normalised HSIC that pyHSICLasso solves does not reproduce it, and the
   defaults here do so only to two digits. Therefore combinations of measure, divisor of the
   standard deviations, kernel width and target kernel are tried. For each, the breakpoint of its
   path that is nearest to the stored weights is compared with them.

The stored weights are those of the *unnormalised* HSIC Lasso of the paper (``measure="hsic"``,
Gaussian kernels of width 1 on features and target) with standard deviations that divide by n - 1,
as MATLAB's ``std`` does, at the end of the segment with three positive weights, just where a
fourth would join. A column divided by the deviation with n - 1 and width 1 is one divided by
the deviation with n and width sqrt(n / (n - 1)), which is how the setting is expressed here.
Our path then agrees with the whole stored one to 8e-7, for weights of 0.006 to 0.049. Single
precision does not explain what is left.
"""

import argparse
import contextlib
import io
import itertools
import warnings
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

import numpy as np
from scipy.io import loadmat

from hsiclasso import Delta, Gaussian, HSICLasso, Real, make_data1

_ROOT = Path(__file__).resolve().parents[1]
_DATA = _ROOT.parent / "shared" / "data"
_OUT = _ROOT / "experiments" / "results"
_TIGHT = 1e-10


@dataclass(frozen=True)
class Agreement:
    """How two selections of one table compare."""

    name: str
    asked: int  #: features asked for
    shared: int  #: features that both select
    in_place: int  #: features at the same place by weight
    weight_gap: float  #: largest difference of a weight, over the largest weight

    def cells(self) -> list[str]:
        """Return the comparison as text."""
        counts = [str(self.asked), str(self.shared), str(self.in_place)]
        return [self.name, *counts, f"{self.weight_gap:.1e}"]


def compare(name: str, X, y, target: str, n_features: int) -> Agreement:
    """Select with both packages."""
    kind = Real(transform=None) if target == "real" else target
    ours = HSICLasso(n_features, max_redundancy=1.0, measure="nhsic", target=kind).fit(X, y)
    index, weights = _peer(X, y, target, n_features)
    theirs = np.zeros(X.shape[1])
    theirs[index] = weights
    return Agreement(
        name=name,
        asked=n_features,
        shared=len(set(index) & set(ours.selected_.tolist())),
        in_place=sum(a == b for a, b in zip(index, ours.selected_, strict=False)),
        weight_gap=float(np.abs(theirs - ours.coef_).max() / ours.coef_.max()),
    )


def _peer(X, y, target: str, n_features: int):
    """Columns and weights that pyHSICLasso selects without blocks."""
    from pyHSICLasso import HSICLasso as Peer

    peer = Peer()
    with contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        peer.input(X, y)
        run = peer.classification if target == "classes" else peer.regression
        run(n_features, B=0, n_jobs=1)
    return peer.get_index(), np.ravel(peer.get_index_score())


def agreements(data: Path) -> list[Agreement]:
    """Compare both packages on a regression and on a classification."""
    X, y, _ = make_data1(100, 256, random_state=0)
    found = [compare(f"Data1, {k} features", X, y, "real", k) for k in (5, 10, 20)]
    colon = data / "extra" / "colon.npz"
    if not colon.exists():
        print("The colon set is not in the data folder: skipped.")
        return found
    stored = np.load(colon, allow_pickle=False)
    X, y = stored["X"].astype(float), stored["y"]
    return found + [compare(f"colon, {k} features", X, y, "classes", k) for k in (5, 10, 20)]


@dataclass(frozen=True)
class Setting:
    """One way the stored weights may have been made; divisors are "n" or "n - 1"."""

    measure: str
    y_kernel: str
    width: float
    x_divisor: str
    y_divisor: str

    def fit(self, X, y) -> HSICLasso:
        """Follow the path to six features."""
        widths = {"n": self.width, "n - 1": self.width * np.sqrt(len(y) / (len(y) - 1))}
        return HSICLasso(
            6,
            measure=self.measure,
            kernel=Gaussian(widths[self.x_divisor]),
            target=Real(
                Delta() if self.y_kernel == "delta" else Gaussian(widths[self.y_divisor]), None
            ),
            max_redundancy=1.0,
            gram_error=_TIGHT,
        ).fit(X, y)


@dataclass(frozen=True)
class Match:
    """The breakpoint of a setting's path that is nearest to the stored weights."""

    setting: Setting
    positive: int
    distance: float
    weights: np.ndarray

    def cells(self) -> list[str]:
        """Return the match as text."""
        s, shown = self.setting, ", ".join(f"{weight:.6f}" for weight in self.weights)
        kind = [s.measure, s.y_kernel, f"{s.width:g}", s.x_divisor, s.y_divisor]
        return [*kind, str(self.positive), shown, f"{self.distance:.1e}"]


def settings() -> list[Setting]:
    """List every combination; the target's divisor is idle with the delta kernel."""
    divisors = ("n", "n - 1")
    grid = itertools.product(("hsic", "nhsic"), ("gaussian", "delta"), (0.5, 1, 2), divisors)
    return [
        Setting(measure, y_kernel, width, x_divisor, y_divisor)
        for measure, y_kernel, width, x_divisor in grid
        for y_divisor in (divisors if y_kernel == "gaussian" else ("n",))
    ]


def match(setting: Setting, X, y, stored: np.ndarray) -> Match:
    """Find where a setting's path comes nearest to the stored weights."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        path = setting.fit(X, y).path_
    steps = range(len(path.breakpoints))
    gaps = [np.abs(path.coefficients(step) - stored).max() for step in steps]
    best = int(np.argmin(gaps))
    weights = path.coefficients(best)[_heaviest(stored)]
    return Match(setting, path.breakpoints[best].indices.size, float(gaps[best]), weights)


def stored_weights(data: Path) -> tuple[list[Match], np.ndarray, np.ndarray] | None:
    """Try every setting; return matches, nearest first, the stored weights, and path gaps."""
    file = data / "formats" / "pyhsiclasso" / "matlab_data.mat"
    if not file.exists():
        print("matlab_data.mat is not in the data folder: skipped.")
        return None
    content = loadmat(file)
    X, y = content["X"].T, content["Y"].ravel()
    beta, path = content["beta"].ravel(), content["path"]
    matches = [match(setting, X, y, beta) for setting in settings()]
    matches.sort(key=lambda found: found.distance)
    best = matches[0].setting.fit(X, y).path_
    gaps = [np.abs(best.coefficients(i) - path[:, i]).max() for i in range(path.shape[1])]
    return matches, beta[_heaviest(beta)], np.array(gaps)


def _heaviest(weights: np.ndarray) -> np.ndarray:
    """Columns with positive weight, heaviest first."""
    return np.argsort(-weights)[: np.count_nonzero(weights)]


def report(data: Path) -> str:
    """Make both tables, in Markdown."""
    parts = ["# Agreement with pyHSICLasso"]
    if find_spec("pyHSICLasso") is None:
        parts.append("pyHSICLasso is not installed for this interpreter: its runs are skipped.")
    else:
        header = ["data", "asked", "shared", "same place by weight", "weight gap / largest weight"]
        rows = [found.cells() for found in agreements(data)]
        parts += ['`HSICLasso(measure="nhsic")` and pyHSICLasso with B=0:', _table(header, rows)]
    found = stored_weights(data)
    if found is not None:
        matches, weights, gaps = found
        shown = ", ".join(f"{weight:.6f}" for weight in weights)
        header = ["measure", "y kernel", "width", "x std divides by", "y std divides by"]
        header += ["positive weights", "weights of 1099, 99, 199", "largest difference"]
        parts += [
            f"Stored in `matlab_data.mat` for columns 1099, 99, 199: {shown}. The nearest "
            f"breakpoints, of {len(matches)} settings:",
            _table(header, [one.cells() for one in matches[:12]]),
            "Largest differences of the best setting from the stored path, column by column: "
            + ", ".join(f"{gap:.1e}" for gap in gaps) + ".",
        ]  # fmt: skip
    return "\n\n".join(parts) + "\n"


def _table(header: list[str], rows: list[list[str]]) -> str:
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def main() -> None:
    """Print the report and save it."""
    parser = argparse.ArgumentParser(description="Agreement with pyHSICLasso.")
    parser.add_argument("--data", type=Path, default=_DATA)
    parser.add_argument("--out", type=Path, default=_OUT)
    chosen = parser.parse_args()
    text = report(chosen.data)
    print(text)
    chosen.out.mkdir(parents=True, exist_ok=True)
    (chosen.out / "pyhsiclasso_agreement.md").write_text(text)


if __name__ == "__main__":
    main()
