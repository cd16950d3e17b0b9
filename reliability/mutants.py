"""Mutation testing: small changes to the code, each of which some test should notice.

``python -m reliability.mutants [--number 50] [--seed 0] [--stations solvers dependence targets]``

A mutant has one operator, comparison, constant or condition changed. It lives in a copy of the
project, so that compiled loops are compiled anew, and is killed if the tests of its file fail,
else those of its station, else those that fit whole selectors. Tests of Dask clusters meet the
mutants of their own file only. Survivors are listed.
"""

from __future__ import annotations

import argparse
import ast
import copy
import itertools
import json
import os
import random
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from reliability import records
from reliability.records import ROOT

STATIONS = ("solvers", "dependence", "targets")
#: Tests that reach files whose names begin so through others, beside those that import them.
_NEAR = {
    "solvers/additive": ("tests/selectors/test_embedding.py",),
    "solvers/_additive": ("tests/selectors/test_embedding.py",),
    "solvers/active": ("tests/solvers/test_solve.py", "tests/solvers/test_homotopy.py"),
    "solvers/certificate": ("tests/solvers/test_solve.py", "tests/solvers/test_homotopy.py"),
    "solvers/dal": ("tests/solvers/test_solve.py",),
    "solvers/path": ("tests/solvers/test_homotopy.py", "tests/solvers/test_solve.py"),
    "solvers/problem": ("tests/solvers/test_solve.py", "tests/solvers/test_homotopy.py"),
    "solvers/quadratic": ("tests/solvers/test_solve.py",),
    "dependence/_grid": ("tests/dependence/test_tabulated.py",),
    "dependence/_level": ("tests/dependence/test_relevance.py",),
    "dependence/_loops": ("tests/dependence/test_sparse_factors.py",),
    "dependence/_packed": ("tests/dependence/test_products.py",),
    "dependence/budget": ("tests/dependence/test_streaming.py",),
    "dependence/buffers": ("tests/dependence/test_relevance.py",),
    "dependence/features": ("tests/dependence/test_relevance.py",),
    "dependence/observed": (
        "tests/dependence/test_relevance.py", "tests/selectors/test_missing.py",
    ),
    "dependence/pair": (
        "tests/dependence/test_pairs.py", "tests/selectors/test_interactions.py",
        "tests/selectors/test_embedding_interactions.py",
    ),
    "targets/": ("tests/selectors/test_targets.py",),
}  # fmt: skip
#: Tests of whole selectors, which use every station.
_WHOLE = {
    "solvers": ("tests/selectors/test_penalties.py", "tests/selectors/test_search.py"),
    "dependence": ("tests/selectors/test_pipeline.py", "tests/selectors/test_weights.py",
                   "tests/selectors/test_missing.py"),
    "targets": ("tests/selectors/test_covariates.py", "tests/data/test_files.py"),
}  # fmt: skip
#: Seconds of work after which a mutant counts as killed: it does not end.
_PATIENCE = 300
_SWAPS: dict[type[ast.AST], type[ast.AST]] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq, ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In,
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult, ast.Pow: ast.Mult, ast.And: ast.Or, ast.Or: ast.And,
    ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitAnd,
}  # fmt: skip
_NAMES = {"max": "min", "min": "max", "maximum": "minimum", "minimum": "maximum", "any": "all",
          "all": "any", "argmax": "argmin", "argmin": "argmax"}  # fmt: skip


@dataclass(frozen=True)
class Mutant:
    """A place in a file, and what stands there instead."""

    file: str
    line: int
    start: int  #: place in the file's text
    stop: int
    text: str
    before: str

    @property
    def name(self) -> str:
        """Short description."""
        return f"{self.file}:{self.line}: {_short(self.before)} -> {_short(self.text)}"


def _short(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= 60 else f"{text[:57]}..."


def mutants(file: Path) -> Iterator[Mutant]:
    """Yield all mutants of a file."""
    source = file.read_text(encoding="utf-8")
    offsets = [0]
    for line in source.encode().splitlines(keepends=True):
        offsets.append(offsets[-1] + len(line))
    for node in _nodes(ast.parse(source)):
        for changed in _changes(node):
            start = offsets[node.lineno - 1] + node.col_offset
            stop = offsets[node.end_lineno - 1] + node.end_col_offset
            text, before = ast.unparse(changed), source.encode()[start:stop].decode()
            if isinstance(node, ast.expr):
                text = f"({text})"
            name = str(file.relative_to(ROOT)) if file.is_relative_to(ROOT) else file.name
            yield Mutant(name, node.lineno, start, stop, text, before)


def _nodes(tree: ast.AST) -> Iterator[Any]:
    """Yield the nodes that run: no annotations, texts, decorators or imports for types."""
    for name, value in ast.iter_fields(tree):
        if name in ("annotation", "returns", "decorator_list", "type_params"):
            continue
        for node in value if isinstance(value, list) else [value]:
            if not isinstance(node, ast.AST) or isinstance(node, ast.JoinedStr | ast.Raise):
                continue
            if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
                continue
            if isinstance(node, ast.AnnAssign) and "ClassVar" in ast.unparse(node.annotation):
                continue
            if hasattr(node, "lineno"):
                yield node
            yield from _nodes(node)


def _with(node: Any, **fields: Any) -> Any:
    made = copy.copy(node)
    for name, value in fields.items():
        setattr(made, name, value)
    return made


def _changes(node: Any) -> Iterator[ast.AST]:
    """Yield what may stand in the place of a node."""
    for kinds, change in _CHANGES:
        if isinstance(node, kinds):
            changed = change(node)
            if changed is not None:
                yield changed


def _constant(node: Any) -> Any:
    if isinstance(node.value, bool):
        return _with(node, value=not node.value)
    return _with(node, value=node.value + 1) if isinstance(node.value, int | float) else None


def _compare(node: Any) -> Any:
    other = _SWAPS.get(type(node.ops[0])) if len(node.ops) == 1 else None
    return other and _with(node, ops=[other()])


def _operator(node: Any) -> Any:
    other = _SWAPS.get(type(node.op))
    return other and _with(node, op=other())


#: Kinds of nodes, and what becomes of them; None if nothing does.
_CHANGES: tuple[tuple[tuple[type[ast.AST], ...], Callable[[Any], Any]], ...] = (
    ((ast.Compare,), _compare),
    ((ast.BinOp, ast.BoolOp, ast.AugAssign), _operator),
    ((ast.UnaryOp,), lambda node: node.operand),
    ((ast.Constant,), _constant),
    ((ast.IfExp,), lambda node: _with(node, body=node.orelse, orelse=node.body)),
    ((ast.Break,), lambda node: ast.Continue()),
    ((ast.Continue,), lambda node: ast.Pass()),
    ((ast.Name,), lambda n: _with(n, id=_NAMES[n.id]) if n.id in _NAMES else None),
    ((ast.Attribute,), lambda n: _with(n, attr=_NAMES[n.attr]) if n.attr in _NAMES else None),
    ((ast.Expr,), lambda node: ast.Pass() if isinstance(node.value, ast.Call) else None),
)


def sample(station: str, number: int, seed: int) -> list[Mutant]:
    """Draw mutants of a station."""
    every = [
        mutant
        for file in sorted((ROOT / "src" / "hsiclasso" / station).glob("*.py"))
        if file.name != "__init__.py"
        for mutant in mutants(file)
    ]
    return random.Random(seed).sample(every, min(number, len(every)))


@dataclass
class Copy:
    """A copy of the project, in which mutants live."""

    root: Path
    passes: dict[tuple[str, ...], bool] = field(default_factory=dict)  #: tests without a mutant

    def killed_by(self, mutant: Mutant, station: str) -> str:
        """Return whose tests fail with a mutant: of its file, its station, or selectors; or ""."""
        file = self.root / mutant.file
        source = file.read_bytes()
        stages = {
            "file": self.nearest(station, file.stem),
            "station": self.beside(f"tests/{station}"),
            "selectors": _WHOLE[station],
        }
        ran: set[str] = set()
        for stage, found in stages.items():
            tests = tuple(test for test in found if test not in ran)
            ran.update(tests)
            file.write_bytes(source[: mutant.start] + mutant.text.encode() + source[mutant.stop :])
            fails = bool(tests) and self.fails(tests)
            file.write_bytes(source)
            if fails:
                if tests not in self.passes:
                    self.passes[tests] = not self.fails(tests)
                if not self.passes[tests]:
                    raise RuntimeError(f"{' '.join(tests)} fail without a mutant")
                return stage
        return ""

    def nearest(self, station: str, stem: str) -> tuple[str, ...]:
        """Return the tests of a file: those of its name, those that import it, those near it."""
        name = stem.removeprefix("_")
        tests = [f"tests/{station}/test_{name}.py", f"tests/{station}/test_{name.split('_')[0]}.py"]
        imported = re.compile(
            rf"hsiclasso\.{station}\.{stem}\b|from hsiclasso\.{station} import .*\b{stem}\b"
        )
        for place in dict.fromkeys((station, "dependence", "selectors")):
            tests += (
                test
                for test in self.beside(f"tests/{place}")
                if imported.search((self.root / test).read_text(encoding="utf-8"))
            )
        for start, near in _NEAR.items():
            if f"{station}/{stem}".startswith(start):
                tests += near
        return tuple(test for test in dict.fromkeys(tests) if (self.root / test).exists())

    def beside(self, folder: str) -> tuple[str, ...]:
        """Return the tests of a folder, without those of clusters, which take long."""
        tests = (str(test.relative_to(self.root)) for test in (self.root / folder).glob("test_*"))
        return tuple(sorted(test for test in tests if not test.endswith("test_cluster.py")))

    def fails(self, tests: Iterable[str]) -> bool:
        """Run tests; those that do not end fail."""
        command = [
            sys.executable, "-m", "pytest", "-x", "-q", "-n", "0", "-p", "no:cacheprovider",
            "--no-header", "--tb=no", *tests,
        ]  # fmt: skip
        environment = {**os.environ, "PYTHONPATH": "src", "OMP_NUM_THREADS": "1"}
        done = subprocess.run(
            command, cwd=self.root, env=environment, capture_output=True, check=False,
            preexec_fn=_limit_time,
        )  # fmt: skip
        return done.returncode != 0


def _limit_time() -> None:
    """Limit the seconds of work, which do not depend on what else the machine does."""
    resource.setrlimit(resource.RLIMIT_CPU, (_PATIENCE, _PATIENCE))


def run(stations: list[str], number: int, seed: int, minutes: float) -> dict[str, Any]:
    """Test mutants of every station in turns, until the time is over."""
    start = time.monotonic()
    found: dict[str, Any] = {
        station: {"mutants": 0, "killed_by": {}, "survivors": []} for station in stations
    }
    with tempfile.TemporaryDirectory() as place:
        copied = Copy(Path(place) / "copy")
        for part in ("src", "tests", "experiments", "benchmarks", "reliability"):
            shutil.copytree(
                ROOT / part, copied.root / part, ignore=shutil.ignore_patterns("results")
            )
        shutil.copy(ROOT / "pyproject.toml", copied.root)
        samples = [sample(station, number, seed) for station in stations]
        for turn in itertools.zip_longest(*samples):
            for station, mutant in zip(stations, turn, strict=True):
                if mutant is None or time.monotonic() - start > 60 * minutes:
                    continue
                by, counts = copied.killed_by(mutant, station), found[station]
                counts["mutants"] += 1
                if by:
                    counts["killed_by"][by] = counts["killed_by"].get(by, 0) + 1
                else:
                    counts["survivors"].append(mutant.name)
                seconds = time.monotonic() - start
                print(f"{seconds:6.0f} s {by or 'SURVIVES':9} {mutant.name}", flush=True)
    return {"seed": seed, "minutes": round((time.monotonic() - start) / 60), "stations": found}


def record(found: dict[str, Any]) -> None:
    """Write a sample into the record of the page, in place of one with the same seed.

    What was found out about survivors since is added by hand: ``killed_since`` names the tests
    that kill them now, ``explained`` says why others change no answer.
    """
    known: dict[str, Any] = {"samples": [], "killed_since": {}, "explained": {}}
    if records.has("mutants"):
        known = records.load("mutants")
        del known["on"]
    samples = [one for one in known["samples"] if one["seed"] != found["seed"]]
    records.save("mutants", {**known, "samples": [*samples, found]})


def main() -> None:
    """Test mutants, and write the record if asked to."""
    parser = argparse.ArgumentParser(prog="python -m reliability.mutants")
    parser.add_argument("--number", type=int, default=50, help="mutants of each station")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--minutes", type=float, default=600)
    parser.add_argument("--stations", nargs="*", choices=STATIONS, default=list(STATIONS))
    parser.add_argument("--record", action="store_true", help="write the record of the page")
    asked = parser.parse_args()
    found = run(asked.stations, asked.number, asked.seed, asked.minutes)
    if asked.record:
        record(found)
    print(json.dumps(found, indent=1))


if __name__ == "__main__":
    main()
