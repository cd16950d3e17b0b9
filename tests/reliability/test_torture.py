"""Errors and kill -9 at every write: a small part of ``reliability.faults`` and ``.kills``."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

for module in ("resource", "click", "h5py", "anndata", "matplotlib"):
    pytest.importorskip(module)

from reliability import kills  # noqa: E402
from reliability.records import ROOT  # noqa: E402

pytestmark = pytest.mark.skipif(
    sys.platform != "linux", reason="limits and fork are those of Linux"
)


def faults(*words):
    """Run the torture in a process of its own: it changes limits, and forks."""
    path = os.pathsep.join([str(ROOT), str(ROOT / "src")])
    command = [sys.executable, "-m", "reliability.faults", *words]
    environment = {**os.environ, "PYTHONPATH": path, "OMP_NUM_THREADS": "1"}
    done = subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.parametrize(
    ("writers", "kinds"),
    [
        (("csv", "report"), ("ENOSPC", "size")),
        (("h5ad",), ("EIO", "size")),
        (("csv", "checkpoint"), ("kill",)),
    ],
    ids=str,
)
def test_whole_or_not_at_all(writers, kinds):
    found = faults("--writers", *writers, "--kinds", *kinds)
    assert [words for one in found.values() for words in one["wrong"]] == []
    for name in writers:
        answers = found[name]["answers"]
        for kind in kinds:
            assert answers[f"{kind}: written"]  # in the end no call fails
            assert answers.get(f"{kind}: {'killed' if kind == 'kill' else 'refused'}")


@pytest.mark.slow
def test_every_writer_and_every_kind():
    found = faults()
    assert [words for one in found.values() for words in one["wrong"]] == []


@pytest.mark.slow
@pytest.mark.parametrize("scenario", [*kills.SCENARIOS])
def test_killed_at_many_moments(scenario):
    found = kills.torture(scenario, 20, 1)
    assert found["wrong"] == []
    assert found["killed"] > 10
