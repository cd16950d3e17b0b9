"""Calls of functions in fresh processes, with the interpreter that runs the benchmark.

Arguments go in and findings come back as JSON: ``python -m benchmarks.apart MODULE FUNCTION JSON``.
"""

import contextlib
import io
import json
import os
import subprocess
import sys
import warnings
from collections.abc import Iterator
from dataclasses import asdict
from importlib import import_module
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]


def call_apart(
    module: str, function: str, *arguments: object, limit: float | None = None, **variables: str
) -> list[Any]:
    """Call a function in a process of its own and return its findings.

    A function that returns has one finding, one that yields may have several. After `limit`
    seconds the process is stopped, and the findings so far are returned. `variables` are added to
    the environment.
    """
    command = ["-m", "benchmarks.apart", module, function, json.dumps(arguments)]
    printed = run_python(*command, limit=limit, **variables)
    return [json.loads(line) for line in printed.splitlines()]


def run_python(*arguments: str, limit: float | None = None, **variables: str) -> str:
    """Run this interpreter at the root of the project; return what it printed within the limit."""
    try:
        done = subprocess.run(
            [sys.executable, *arguments],
            cwd=ROOT,
            env={**os.environ, "PYTHONWARNINGS": "ignore", **variables},
            capture_output=True,
            text=True,
            check=False,
            timeout=limit,
        )
    except subprocess.TimeoutExpired as late:
        return (late.stdout or b"").decode()
    if done.returncode:
        raise RuntimeError(f"{' '.join(arguments)} failed:\n{done.stderr}")
    return done.stdout


def say(words: str) -> None:
    """Report progress."""
    print(words, file=sys.stderr, flush=True)


def _serve(module: str, function: str, arguments: str) -> None:
    """Call a function and print each finding as a line; nothing else may reach the output."""
    with contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = getattr(import_module(module), function)(*json.loads(arguments))
        for one in found if isinstance(found, Iterator) else [found]:
            print(json.dumps(one, default=asdict), file=sys.__stdout__, flush=True)


if __name__ == "__main__":
    _serve(*sys.argv[1:])
