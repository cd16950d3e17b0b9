"""Names of kernels, kinds of target and the like, for the help, without loading them.

The names are the keys of dictionaries in the package. Importing them would load numba and
scikit-learn, which takes seconds; reading the keys from the source takes milliseconds.
"""

from __future__ import annotations

import ast
from importlib import resources

__all__ = ["read_names"]


def read_names(file: str, variable: str) -> tuple[str, ...]:
    """Return the names in a dictionary, or in a `Literal`, at the top of a file of the package.

    Examples
    --------
    >>> read_names("kernels/measures.py", "MEASURES")
    ('hsic', 'nhsic', 'nocco')
    >>> read_names("targets/base.py", "MissingTarget")
    ('error', 'drop')
    """
    source = resources.files("hsiclasso").joinpath(file).read_text(encoding="utf-8")
    for node in ast.parse(source).body:
        if isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None:
            target = node.target if isinstance(node, ast.AnnAssign) else node.targets[0]
            if isinstance(target, ast.Name) and target.id == variable:
                return tuple(_texts(node.value))
    raise LookupError(f"{file} has no {variable}.")


def _texts(value: ast.expr) -> list[str]:
    """Return the keys of the dictionaries in an expression, or the choices of a `Literal`."""
    if isinstance(value, ast.Subscript):
        found = [part for part in ast.walk(value.slice) if isinstance(part, ast.Constant)]
    else:
        keys = (part.keys for part in ast.walk(value) if isinstance(part, ast.Dict))
        found = [key for some in keys for key in some if isinstance(key, ast.Constant)]
    return [str(part.value) for part in found]
