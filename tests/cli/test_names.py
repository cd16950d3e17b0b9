"""Names read from the source are those of the registries."""

from __future__ import annotations

from typing import get_args

import pytest

pytest.importorskip("click")
from hsiclasso.cli.names import read_names
from hsiclasso.kernels import KERNELS
from hsiclasso.kernels.measures import MEASURES
from hsiclasso.selectors.penalties import PENALTIES
from hsiclasso.solvers import SOLVERS
from hsiclasso.targets import TARGETS
from hsiclasso.targets.graph import GRAPH_KERNELS
from hsiclasso.targets.values import Outputs
from tests.cli.helpers import run


@pytest.mark.parametrize(
    ("file", "variable", "names"),
    [
        ("kernels/registry.py", "KERNELS", KERNELS),
        ("kernels/measures.py", "MEASURES", MEASURES),
        ("targets/__init__.py", "TARGETS", TARGETS),
        ("targets/graph.py", "GRAPH_KERNELS", GRAPH_KERNELS),
        ("targets/values.py", "Outputs", get_args(Outputs)),
        ("selectors/penalties.py", "PENALTIES", PENALTIES),
        ("solvers/solve.py", "SOLVERS", SOLVERS),
    ],
)
def test_names_are_those_of_the_registry(file, variable, names):
    assert read_names(file, variable) == tuple(names)


def test_the_help_has_all_names():
    words = " ".join(run("select", "--help-all").stdout.split())
    assert f"Kernel of all columns: {', '.join(KERNELS)};" in words
    kinds = [kind for kind in TARGETS if kind not in ("affinity", "graph")]
    assert f"Kind of the target: {', '.join(kinds)}." in words


def test_a_name_that_moved_is_noticed():
    with pytest.raises(LookupError, match=r"kernels/registry\.py has no COLOURS"):
        read_names("kernels/registry.py", "COLOURS")
