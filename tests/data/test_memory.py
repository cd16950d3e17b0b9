"""How much memory a table may take."""

from __future__ import annotations

from hsiclasso.data import memory
from hsiclasso.data.memory import free_memory, memory_budget


def test_budget():
    assert memory_budget(5) == 5
    assert 0 < memory_budget() <= free_memory()


def test_what_is_free(tmp_path, monkeypatch):
    monkeypatch.setattr(memory, "_LIMIT", tmp_path / "limit")
    monkeypatch.setattr(memory, "_USED", tmp_path / "used")
    whole = free_memory()
    assert whole > 2**20
    (tmp_path / "used").write_text("1000\n")
    (tmp_path / "limit").write_text("max\n")
    assert free_memory() > 2**20
    (tmp_path / "limit").write_text("5000\n")
    assert free_memory() == 4000
    (tmp_path / "limit").write_text("500\n")
    assert free_memory() == 0


def test_systems_that_do_not_say_what_is_free(tmp_path, monkeypatch):
    file = tmp_path / "meminfo"
    assert memory._from_kernel(file) is None
    file.write_text("MemTotal: 8 kB\n")
    assert memory._from_kernel(file) is None
    file.write_text("MemTotal: 8 kB\nMemAvailable:   7 kB\n")
    assert memory._from_kernel(file) == 7 * 1024
    assert memory._from_system() > 2**20
    monkeypatch.delattr(memory.os, "sysconf")
    assert memory._from_system() == 4 * 2**30
