"""Damaged files of every kind end in a selection or in an error of the package.

More cases: ``python -m reliability.fuzz --minutes 10``.
"""

from __future__ import annotations

import sys

import numpy as np
import pytest

pytest.importorskip("resource")
for module in ("pandas", "pyarrow", "h5py", "zarr", "anndata", "bed_reader", "click"):
    pytest.importorskip(module)

from reliability.fuzz import run as running  # noqa: E402
from reliability.fuzz.damage import damaged  # noqa: E402
from reliability.fuzz.readers import READERS  # noqa: E402
from reliability.fuzz.run import run  # noqa: E402

pytestmark = pytest.mark.skipif(
    sys.platform != "linux", reason="limits of memory are those of Linux"
)
#: Cases of each reader; some take longer.
COUNT, FEW = 20, {"parts": 8, "tsv_transposed": 10, "h5ad_zarr_csr": 10}
#: Readers that share a child, whose start takes longer than a hundred cases.
N_GROUPS = 2


@pytest.mark.parametrize("group", range(N_GROUPS))
def test_only_errors_of_the_package_come_out(group, tmp_path):
    names = list(READERS)[group::N_GROUPS]
    cases = [(name, number) for name in names for number in range(FEW.get(name, COUNT))]
    found = run(22, cases, tmp_path)
    assert not found.defects
    assert sum(sum(counts.values()) for counts in found.answers.values()) == len(cases)
    assert list(tmp_path.iterdir()) == []  # files of defects would be kept
    for name in names:  # damage that is always noticed, or never, would test little
        assert found.answers[name]["refused"]


def test_damage_is_repeatable_and_real():
    data = bytes(range(256)) * 4
    first, again = ([damaged(np.random.default_rng(k), data) for k in range(200)] for _ in range(2))
    assert first == again
    assert sum(made != data for made in first) > 190
    assert min(map(len, first)) < len(data) < max(map(len, first))


CHILD = """
import os, resource, time, warnings
from reliability.fuzz import child  # noqa: E402
from reliability.fuzz.readers import READERS, Reader  # noqa: E402

def read(folder):
    what = (folder / "t").read_text()
    if what == "segfault":
        os.kill(os.getpid(), 11)
    if what == "hang":
        time.sleep(600)
    if what == "memory":
        bytearray(2**40)
    if what == "foreign":
        raise KeyError(what)

child.READERS = {"any": Reader(lambda folder: (folder / "t").write_text("valid"), read)}
words = ["valid", "segfault", "foreign", "hang", "memory", "valid"]
child.damage_folder = lambda rng, folder: (folder / "t").write_text(words[NUMBER[0]])
"""


def test_crashes_and_hangs_are_answers(monkeypatch, tmp_path):
    """Of a reader that misbehaves in every way, each case gets its answer."""
    code = tmp_path / "misbehaving.py"
    code.write_text(
        CHILD.replace("words[NUMBER[0]]", "words[next(numbers)]") + "import json, sys\n"
        "asked = json.loads(sys.stdin.read())\n"
        "numbers = iter([number for _, number in asked['cases']])\n"
        "child.main(**asked)\n"
    )
    monkeypatch.setattr(running, "_COMMAND", [sys.executable, str(code)])
    monkeypatch.setattr(running, "_PATIENCE", 2)
    found = run(0, [("any", number) for number in range(6)])
    assert found.answers["any"] == {"read": 2, "crash": 1, "foreign": 1, "hang": 1, "memory": 1}
    assert [one["number"] for one in found.defects] == [1, 2, 3, 4]
    assert "KeyError" in found.defects[1]["words"]
