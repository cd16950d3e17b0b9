"""``.. public:: MODULE`` documents public names: a table of them, then each with its docstring."""

from __future__ import annotations

import dataclasses
import importlib
import inspect
import re
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from hsiclasso._options import Option


class Public(SphinxDirective):
    """Names of one module, one on a line; without any, all public names of the module."""

    required_arguments = 1
    has_content = True

    def run(self) -> list[nodes.Node]:
        """Return the nodes of the table and of all names."""
        module = self.arguments[0]
        home = importlib.import_module(module)
        names = [line.strip() for line in self.content if line.strip()] or home.__all__
        lines = [f".. currentmodule:: {module}", "", ".. autosummary::", "   :nosignatures:", ""]
        lines += [f"   {name}" for name in names]
        for name in names:
            thing = getattr(home, name)
            kind = directive_of(thing)
            lines += ["", f".. {kind}:: {name}"]
            if kind == "autoclass" and not is_plain_option(module, thing):
                lines += ["   :members:", "   :inherited-members:"]
                lines += [f"   :exclude-members: {', '.join(parameters_of(thing))}"]
            if kind == "autodata":
                lines += ["   :no-value:"]
        return self.parse_text_to_nodes("\n".join(lines))


def directive_of(thing: Any) -> str:
    """Return the directive of autodoc that documents an object."""
    if inspect.isclass(thing):
        return "autoexception" if issubclass(thing, BaseException) else "autoclass"
    return "autofunction" if inspect.isroutine(thing) else "autodata"


def is_plain_option(module: str, thing: type) -> bool:
    """Whether only the parameters of a class matter to users: kernels, targets, penalties."""
    return module == "hsiclasso" and issubclass(thing, Option)


def parameters_of(thing: type) -> list[str]:
    """Return attributes of a class that its docstring has as parameters already."""
    if dataclasses.is_dataclass(thing) or "__init__" not in dir(thing):
        return []
    return list(inspect.signature(thing.__init__).parameters)


def is_foreign(
    app: Sphinx, what: str, name: str, member: Any, skip: bool, options: Any
) -> bool | None:
    """Leave out members that other packages define, and those that scikit-learn generates."""
    if re.fullmatch(r"set_\w+_request", name):
        return True
    function = member.fget if isinstance(member, property) else member
    home = getattr(function, "__module__", None) or ""
    return None if not callable(function) or home.startswith("hsiclasso") else True


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the directive."""
    app.add_directive("public", Public)
    app.connect("autodoc-skip-member", is_foreign)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
