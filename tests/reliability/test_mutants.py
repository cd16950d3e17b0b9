"""Mutants are valid, different programs; those of annotations and texts are left out."""

from __future__ import annotations

import ast

import pytest

pytest.importorskip("resource")

from reliability import mutants

CODE = '''
def f(a: int, b: "x" = 3) -> int:
    """Return 1 + 1."""
    for k in range(a):
        if not (a < b and k):
            break
        note(f"{a + 1}")
    return max(a, b) + -b
'''


def test_every_kind_of_change(tmp_path):
    file = tmp_path / "f.py"
    file.write_text(CODE)
    made = [*mutants.mutants(file)]
    changes = {(mutant.before, mutant.text) for mutant in made}
    assert changes == {
        ("3", "(4)"), ("not (a < b and k)", "(a < b and k)"), ("a < b and k", "(a < b or k)"),
        ("a < b", "(a <= b)"), ("break", "continue"), ('note(f"{a + 1}")', "pass"),
        ("max(a, b) + -b", "(max(a, b) - -b)"), ("max", "(min)"), ("-b", "(b)"),
    }  # fmt: skip
    for mutant in made:
        changed = CODE[: mutant.start] + mutant.text + CODE[mutant.stop :]
        assert ast.dump(ast.parse(changed)) != ast.dump(ast.parse(CODE))


def test_the_stations_have_mutants():
    for station in mutants.STATIONS:
        drawn = mutants.sample(station, 20, 0)
        assert drawn == mutants.sample(station, 20, 0)
        assert len({mutant.name for mutant in drawn}) > 15


def test_who_kills(monkeypatch, tmp_path):
    """The tests of the file come first; a test that fails without a mutant kills nothing."""
    (tmp_path / "tests" / "solvers").mkdir(parents=True)
    for name in ("test_f.py", "test_other.py"):
        (tmp_path / "tests" / "solvers" / name).write_text("")
    (tmp_path / "f.py").write_text(CODE)
    ran = []

    def fails(self, tests):
        ran.append((tests, (tmp_path / "f.py").read_text() != CODE))
        return tests == ("tests/solvers/test_other.py",) and ran[-1][1]

    monkeypatch.setattr(mutants.Copy, "fails", fails)
    mutant = next(mutants.mutants(tmp_path / "f.py"))
    assert mutants.Copy(tmp_path).killed_by(mutant, "solvers") == "station"
    own, station = ("tests/solvers/test_f.py",), ("tests/solvers/test_other.py",)
    assert ran == [(own, True), (station, True), (station, False)]
    assert (tmp_path / "f.py").read_text() == CODE
    monkeypatch.setattr(mutants.Copy, "fails", lambda self, tests: True)
    with pytest.raises(RuntimeError, match="fail without a mutant"):
        mutants.Copy(tmp_path).killed_by(mutant, "solvers")


def test_the_tests_of_a_file():
    """Those of its name, those that import it, and those that reach it through others."""
    nearest = mutants.Copy(mutants.ROOT).nearest
    assert nearest("targets", "gridded")[0] == "tests/dependence/test_tabulated.py"
    assert nearest("solvers", "_short_loops") == ("tests/solvers/test_short.py",)
    assert "tests/selectors/test_interactions.py" in nearest("dependence", "pair_rows")
    assert nearest("dependence", "cluster") == ("tests/dependence/test_cluster.py",)
    assert "tests/dependence/test_cluster.py" not in nearest("dependence", "pairs")
    for near in (*mutants._NEAR.values(), *mutants._WHOLE.values()):
        assert all((mutants.ROOT / test).exists() for test in near)
