"""Station 5: (b, G on demand) + penalty -> certified path."""

from hsiclasso.solvers.homotopy import nonnegative_lasso_path
from hsiclasso.solvers.path import Breakpoint, Certificate, SolutionPath, Status
from hsiclasso.solvers.penalty import Penalty
from hsiclasso.solvers.problem import Among, ExplicitProblem, QuadraticProblem, Ridged
from hsiclasso.solvers.solve import SOLVERS, Stop, choose_solver, largest_alpha, solve_path

__all__ = [
    "SOLVERS",
    "Among",
    "Breakpoint",
    "Certificate",
    "ExplicitProblem",
    "Penalty",
    "QuadraticProblem",
    "Ridged",
    "SolutionPath",
    "Status",
    "Stop",
    "choose_solver",
    "largest_alpha",
    "nonnegative_lasso_path",
    "solve_path",
]
