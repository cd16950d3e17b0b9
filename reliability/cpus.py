"""The same features on every CPU: one set of fits under many processors, threads and versions.

``python -m reliability.cpus [--few] [--generic] [--environments NAME=PYTHON ...]``

The linear algebra of a processor is chosen by ``OPENBLAS_CORETYPE``; compiled loops are made for
the processor of this machine and, with ``--generic``, for the plainest one of its kind, which
takes a minute the first time. Other versions of the dependencies are those of other interpreters:
``--environments oldest=venvs/oldest/bin/python``. Selections must be identical, in the same order,
and every weight within 1e-10 of the largest.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from reliability import records
from reliability.records import ROOT

#: Processors whose linear algebra is tried, and what a machine must have for it.
CORES = {
    "Prescott": "sse3|pni", "Nehalem": "sse4_2", "Sandybridge": "avx", "Haswell": "avx2",
    "SkylakeX": "avx512f",
}  # fmt: skip
#: Largest relative difference of weights.
TOLERANCE = 1e-10


def available() -> list[str]:
    """Return the processors that this machine can stand for."""
    try:
        flags = set(Path("/proc/cpuinfo").read_text().split())
    except OSError:
        return []
    return [core for core, need in CORES.items() if flags & {*need.split("|")}]


def ways(few: bool, generic: bool) -> dict[str, dict[str, str]]:
    """Return the variables of the environment of every way to run the fits, by name."""
    cores = available()
    if few:
        found: dict[str, dict[str, str]] = {
            f"OpenBLAS for {core}": {"OPENBLAS_CORETYPE": core} for core in cores[:1]
        }
        return {"as it is": {}, **found}
    found = {f"OpenBLAS for {core}": {"OPENBLAS_CORETYPE": core} for core in cores}
    for threads in "12":
        for jobs in "12":
            found[f"{threads} BLAS threads, n_jobs={jobs}"] = {
                "OPENBLAS_NUM_THREADS": threads, "NUMBA_NUM_THREADS": threads,
                "OMP_NUM_THREADS": threads, "RELIABILITY_JOBS": jobs,
            }  # fmt: skip
    found |= {f"started by {start}": {"RELIABILITY_START": start} for start in ("fork", "spawn")}
    if generic:
        found["loops for any x86-64"] = {"NUMBA_CPU_NAME": "generic", "NUMBA_CPU_FEATURES": ""}
    return {"as it is": {}, **found}


def answers(variables: dict[str, str], few: bool, python: str = sys.executable) -> dict[str, Any]:
    """Run the fits in a process with these variables."""
    start = variables.get("RELIABILITY_START")
    command = [python, "-m", "reliability.fits", *(["--few"] if few else [])]
    command += ["--start", start] if start else []
    path = os.pathsep.join([str(ROOT), str(ROOT / "src")])
    environment = {**os.environ, "PYTHONWARNINGS": "ignore", "PYTHONPATH": path, **variables}
    done = subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise RuntimeError(f"{variables}: {done.stderr[-3000:]}")
    return dict(json.loads(done.stdout.splitlines()[-1]))


def differences(found: dict[str, Any], expected: dict[str, Any]) -> dict[str, float]:
    """Return how far the answers to each fit differ; infinity if other features are selected."""
    return {name: _difference(found[name], expected[name]) for name in expected}


def _difference(found: dict[str, Any], expected: dict[str, Any]) -> float:
    if found["selected"] != expected["selected"]:
        return float("inf")
    largest = max(map(abs, expected["numbers"]), default=0.0) or 1.0
    pairs = zip(found["numbers"], expected["numbers"], strict=True)
    return max((abs(a - b) / largest for a, b in pairs), default=0.0)


def run(few: bool, generic: bool, environments: dict[str, str]) -> dict[str, Any]:
    """Run the fits in all ways, and compare the answers with those of the first."""
    table: dict[str, Any] = {}
    expected: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as cache:
        todo = [(name, given, sys.executable) for name, given in ways(few, generic).items()]
        todo += [
            (name, {"NUMBA_CACHE_DIR": f"{cache}/{name}"}, python)
            for name, python in environments.items()
        ]
        for name, variables, python in todo:
            if "NUMBA_CPU_NAME" in variables:
                variables = {**variables, "NUMBA_CACHE_DIR": f"{cache}/generic"}
            found = answers(variables, few, python)
            expected = expected or found["answers"]
            by_fit = differences(found["answers"], expected)
            differing = {fit: gap for fit, gap in by_fit.items() if gap > TOLERANCE}
            table[name] = {
                "blas": found["cores"], "largest": max(by_fit.values()),
                "differing": {fit: str(gap) for fit, gap in differing.items()},
            }  # fmt: skip
            print(f"{name:40} {table[name]}", file=sys.stderr, flush=True)
    return {"fits": len(expected), "tolerance": TOLERANCE, "ways": table}


def main() -> int:
    """Run the fits, and write the record if asked to; the exit code says whether all agree."""
    parser = argparse.ArgumentParser(prog="python -m reliability.cpus")
    parser.add_argument("--few", action="store_true", help="only what the test command runs")
    parser.add_argument("--generic", action="store_true", help="compile for the plainest CPU too")
    parser.add_argument("--environments", nargs="*", default=[], metavar="NAME=PYTHON")
    parser.add_argument("--record", action="store_true", help="write the record of the page")
    asked = parser.parse_args()
    others = dict(text.split("=", 1) for text in asked.environments)
    found = run(asked.few, asked.generic, others)
    if asked.record:
        records.save("cpus", found)
    return int(any(way["differing"] for way in found["ways"].values()))


if __name__ == "__main__":
    sys.exit(main())
