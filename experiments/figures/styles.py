"""How each method is drawn, the same in every figure."""

from typing import Any

from experiments.figure1 import FVM_COUNTED, LOOKUP

#: Lines that a reader looks for first.
_STRONG = {"lw": 2.2, "ms": 6, "zorder": 4}
_PLAIN = {"lw": 1.4, "ms": 5, "zorder": 3}
_DASHED = {"ls": "--", "mfc": "white"}

# Okabe and Ito's colours, then some of Paul Tol's: colour-blind readers can tell them apart, and
# markers differ too
_MARKS = {
    "HSIC Lasso": ("#D55E00", "o"),
    "NOCCO Lasso": ("#0072B2", "s"),
    "SpAM": ("#009E73", "^"),
    "FVM": ("#CC79A7", "v"),
    "mRMR": ("#E69F00", "D"),
    "QPFS": ("#56B4E9", "P"),
    "cKTA": ("#332288", "X"),
    "FHSIC": ("#7A5230", "*"),
    "Lasso": ("#000000", "d"),
    "nHSIC Lasso": ("#882255", "h"),
    "mRMR, F-test": ("#999933", "D"),
    "MI": ("#888888", "<"),
    "random forest": ("#117733", ">"),
    "pyHSICLasso": ("#AA4499", "p"),
    "mrmr_selection": ("#44AA99", "P"),
    "ipss": ("#88CCEE", "8"),
}
_OWN = ("HSIC Lasso", "NOCCO Lasso")

METHODS: dict[str, dict[str, Any]] = {
    name: {"color": color, "marker": marker, **(_STRONG if name in _OWN else _PLAIN)}
    for name, (color, marker) in _MARKS.items()
}
METHODS |= {f"{name}, ranks": METHODS[name] | _PLAIN | _DASHED for name in _OWN}
METHODS[FVM_COUNTED] = METHODS["FVM"] | _DASHED
METHODS["mRMR, 5 quantiles"] = METHODS["mRMR"] | _DASHED
METHODS[LOOKUP] = {"color": "#000000", "marker": "s", **_PLAIN, "ls": ":"}
#: From narrow to wide, with the paper's width in the middle; no colour of a method.
WIDTHS = {
    0.25: {"color": "#762A83", "marker": "v", **_PLAIN},
    0.5: {"color": "#AF8DC3", "marker": "^", **_PLAIN},
    1.0: {"color": "#444444", "marker": "o", **_STRONG},
    2.0: {"color": "#7FBF7B", "marker": "s", **_PLAIN},
    4.0: {"color": "#1B7837", "marker": "D", **_PLAIN},
}
OUTPUT_KERNELS = {
    "delta kernel": METHODS["HSIC Lasso"],
    "Gaussian kernel": {"color": "#0072B2", "marker": "s", **_STRONG, **_DASHED},
}


def of_method(name: str) -> dict[str, Any]:
    """Return the style of a method; one that is not known is drawn in grey."""
    return METHODS.get(name, {"color": "0.5", "marker": ".", **_PLAIN})
