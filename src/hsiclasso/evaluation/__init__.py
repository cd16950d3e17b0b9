"""How good a selection is: the kernel models and the redundancy rate by which the paper judges it.

>>> from hsiclasso import HSICLasso, make_data1
>>> from hsiclasso.evaluation import KernelRidgeRegressionCV
>>> X, y, causal = make_data1(300, 20, random_state=0)
>>> few = HSICLasso(4).fit_transform(X, y)
>>> model = KernelRidgeRegressionCV(random_state=0)
>>> before, after = (
...     model.fit(table[:200], y[:200]).score(table[200:], y[200:]) for table in (X, few)
... )
>>> bool(after > before + 0.1)
True
"""

from hsiclasso.evaluation.logistic import KernelLogisticRegression, KernelLogisticRegressionCV
from hsiclasso.evaluation.redundancy import redundancy_rate
from hsiclasso.evaluation.ridge import KernelRidgeRegression, KernelRidgeRegressionCV
from hsiclasso.evaluation.tuning import GridScores

__all__ = [
    "GridScores",
    "KernelLogisticRegression",
    "KernelLogisticRegressionCV",
    "KernelRidgeRegression",
    "KernelRidgeRegressionCV",
    "redundancy_rate",
]
