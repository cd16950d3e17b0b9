"""How NOCCO Lasso's regularisation decides what it recovers, with the target as it is.

The designs, draws and rule of `experiments.figure1`, at two sample sizes each, for other epsilon
than the paper's 1e-3, which that study has. As epsilon grows, the operator tends to the centred
Gram matrix over epsilon n, so NOCCO Lasso tends to HSIC Lasso.
"""

import pandas as pd

from experiments.classification import at_epsilon
from experiments.contenders import Contender, Selector
from experiments.figure1 import DrawStudy, heaviest, recovery_table
from hsiclasso import NOCCO, HSICLasso

EPSILONS = (1e-4, 1e-2, 1e-1, 1.0)
CASES = (("Data1", 200, 256), ("Data1", 400, 256), ("Data2", 300, 1000), ("Data2", 600, 1000))

NOCCO_EPSILON = DrawStudy(
    "figure1 epsilon",
    CASES,
    {at_epsilon(e): Contender(heaviest(Selector(HSICLasso, measure=NOCCO(e)))) for e in EPSILONS},
)


def epsilon_table(frame: pd.DataFrame) -> pd.DataFrame:
    """Mean fractions: a row for each case, a column for each epsilon, then HSIC Lasso.

    `frame` has the rows of this study and of `experiments.figure1.RECOVERY`.
    """
    small, *larger = (at_epsilon(e) for e in EPSILONS)
    methods = [small, "NOCCO Lasso", *larger, "HSIC Lasso"]
    rows = {
        f"{data}, n = {n}": recovery_table(frame, data).reindex(index=methods, columns=[n])[n]
        for data, n, _ in CASES
    }
    return pd.DataFrame(rows).T
