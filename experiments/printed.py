"""Every number that the paper prints in its experiments (section 4), and how ours compare.

Tables 3 and 4 are means over 100 splits at m = 50 features, with standard deviations in brackets.
The other figures are printed as pictures, without numbers.
"""

import math
from dataclasses import dataclass


@dataclass(frozen=True)
class Printed:
    """A mean and its standard deviation over the runs."""

    mean: float
    sd: float


#: The paper's names of its sets, by ours, in its order.
SETS = {
    "warpAR10P": "AR10P",
    "warpPIE10P": "PIE10P",
    "pixraw10P": "PIX10P",
    "orlraws10P": "ORL10P",
    "TOX_171": "TOX",
    "CLL_SUB_111": "CLL-SUB",
}
METHODS = ("HSIC Lasso", "NOCCO Lasso", "SpAM", "FVM", "mRMR", "QPFS", "cKTA", "FHSIC")

_ACCURACY = """
.848 .111  .846 .111  .551 .109  .795 .121  .745 .136  .743 .137  .709 .207  .773 .122
.971 .032  .972 .031  .898 .109  .955 .062  .895 .118  .952 .067  .884 .218  .908 .091
.964 .043  .964 .042  .857 .146  ---  ---   .769 .124  .924 .067  .920 .090  .920 .100
.938 .068  .941 .066  .669 .120  ---  ---   .782 .138  .884 .096  .848 .140  .788 .132
.781 .119  .788 .113  .691 .087  .686 .085  .709 .084  .769 .077  .804 .110  .715 .087
.768 .087  .769 .084  .524 .112  ---  ---   .640 .098  .760 .116  .709 .104  .732 .141
"""
_RED = """
.196 .028  .195 .028  .255 .036  .260 .039  .268 .038  .217 .050  .235 .034  .350 .091
.135 .014  .139 .017  .250 .042  .193 .029  .225 .036  .183 .026  .155 .021  .285 .059
.177 .023  .174 .023  .388 .105  ---  ---   .200 .066  .286 .057  .198 .036  .348 .064
.192 .026  .191 .025  .300 .047  ---  ---   .294 .095  .204 .032  .191 .034  .225 .045
.382 .027  .381 .027  .391 .028  .422 .031  .386 .032  .384 .028  .371 .040  .396 .036
.344 .034  .345 .034  .403 .058  ---  ---   .328 .039  .322 .033  .281 .050  .352 .061
"""


def _table(text: str) -> dict[tuple[str, str], Printed]:
    """Read a table of pairs, sets by methods; what the paper leaves open is not in the result."""
    table = {}
    for name, line in zip(SETS, text.split("\n")[1:-1], strict=True):
        cells = line.split()
        for method, mean, sd in zip(METHODS, cells[::2], cells[1::2], strict=True):
            if mean != "---":
                table[name, method] = Printed(float(mean), float(sd))
    return table


#: Table 3, mean classification accuracy, by set and method.
TABLE3 = _table(_ACCURACY)
#: Table 4, mean redundancy rate, by set and method.
TABLE4 = _table(_RED)
#: The average redundancy rate in the caption of Figure 5, by method.
FIGURE5_RED = {"HSIC Lasso": 0.44, "NOCCO Lasso": 0.45, "mRMR": 0.42, "Lasso": 0.43}


def deviation(mean: float, printed: Printed | None) -> float:
    """Return (ours - printed) / printed standard deviation; NaN if either is missing."""
    return math.nan if printed is None else (mean - printed.mean) / printed.sd


def verdict(deviation: float) -> str:
    """Say where a mean lies, in printed standard deviations: within one, or how far off."""
    if math.isnan(deviation):
        return "not printed"
    # a mean that is exactly one deviation off is within, whatever the last bit says
    if abs(deviation) <= 1 + 1e-9:
        return f"within ({deviation:+.1f})"
    size = abs(deviation)
    digits = 1 if size >= 1.05 else 2  # never "above by 1.0"
    return f"{'above' if deviation > 0 else 'below'} by {size:.{digits}f}"
