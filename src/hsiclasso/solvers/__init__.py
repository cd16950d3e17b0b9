"""Station 4: (b, G on demand) + penalty -> path."""

from hsiclasso.solvers.homotopy import nonnegative_lasso_path
from hsiclasso.solvers.path import Breakpoint, Certificate, Path, Status
from hsiclasso.solvers.problem import ExplicitProblem, QuadraticProblem

__all__ = [
    "Breakpoint",
    "Certificate",
    "ExplicitProblem",
    "Path",
    "QuadraticProblem",
    "Status",
    "nonnegative_lasso_path",
]
