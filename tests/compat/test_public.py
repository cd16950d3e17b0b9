"""What the station shows, and what loads it."""

from __future__ import annotations

import ast
import inspect

import pytest

from hsiclasso import InvalidInputError, compat

METHODS = {
    "classification", "dump", "get_features", "get_features_neighbors", "get_index",
    "get_index_neighbors", "get_index_neighbors_score", "get_index_score", "input", "linkage",
    "plot", "plot_dendrogram", "plot_heatmap", "plot_path", "regression", "save_HSICmatrix",
    "save_param", "save_score",
}  # fmt: skip
ATTRIBUTES = {
    "A", "A_neighbors", "A_neighbors_score", "X_in", "Y_in", "beta", "featname",
    "hclust_featname", "hclust_featnameindex", "lam", "linkage_dist", "max_neighbors", "path",
}  # fmt: skip
ERRORS = {
    "ArgumentCountError": SyntaxError, "ArgumentTypeError": TypeError,
    "CallOrderError": UnboundLocalError, "NoSuchFeatureError": IndexError,
}  # fmt: skip


def test_public_names():
    assert dir(compat) == compat.__all__
    assert all(len(getattr(compat, name).__doc__) > 40 for name in compat.__all__)
    assert {name for name in dir(compat.HSICLasso()) if name[0] != "_"} == METHODS | ATTRIBUTES


@pytest.mark.parametrize("name", sorted(METHODS))
def test_methods_are_documented_with_their_defaults(name):
    method = getattr(compat.HSICLasso, name)
    told = {}
    for line in inspect.getdoc(method).splitlines():
        told |= dict.fromkeys(line.split(" : ")[0].split(", "), line)
    for parameter, about in inspect.signature(method).parameters.items():
        if about.default is not inspect.Parameter.empty and " : " in told[parameter]:
            defaults = ast.literal_eval(told[parameter].split("default=")[1])
            assert about.default in (defaults if isinstance(defaults, tuple) else (defaults,))


def test_attributes_are_documented():
    assert all(name in inspect.getdoc(compat.HSICLasso) for name in ATTRIBUTES)


@pytest.mark.parametrize("name", ERRORS)
def test_errors_are_those_that_programs_catch(name):
    error = getattr(compat, name)
    assert issubclass(error, InvalidInputError)
    assert issubclass(error, ERRORS[name])
    assert str(error("what to do")) == "what to do"
