"""What killed processes leave behind goes; what a living one writes stays."""

from __future__ import annotations

import os
import subprocess
import sys
import time

import pytest

from hsiclasso.data import temporary
from hsiclasso.data.atomic import replacing, write_atomically

only_linux = pytest.mark.skipif(sys.platform != "linux", reason="only Linux names its boot")
WEEK = 7 * 86_400

WRITER = """
import sys, time
from hsiclasso.data.atomic import replacing

with replacing(sys.argv[1]) as part:
    part.write_text("half")
    print(part.name, flush=True)
    time.sleep(600)
"""


def names(folder):
    return sorted(file.name for file in folder.iterdir())


def planted(folder, system, process, suffix=".part", age=0.0):
    """Make a file as another process would have; return its name."""
    file = folder / f".hsiclasso-{system}-{process}-{'ab' * 8}{suffix}"
    file.write_text("half")
    return age_of(file, age).name


def age_of(file, seconds):
    os.utime(file, (time.time() - seconds,) * 2)
    return file


@pytest.fixture
def dead():
    """Number of a process that has ended."""
    with subprocess.Popen([sys.executable, "-c", ""]) as process:
        process.wait()
    return process.pid


@pytest.fixture
def only_mtime(monkeypatch):
    """Let tests set the time of the last change."""
    monkeypatch.setattr(temporary, "_last_change", lambda file: file.lstat().st_mtime)


@only_linux
def test_a_killed_writer_and_a_living_one(tmp_path):
    file = tmp_path / "a.csv"
    file.write_text("old")
    command = [sys.executable, "-c", WRITER, str(file)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as writer:
        part = writer.stdout.readline().strip()
        write_atomically(file, "new")
        assert names(tmp_path) == sorted([part, "a.csv"])  # it lives
        writer.kill()
    assert names(tmp_path) == sorted([part, "a.csv"])
    write_atomically(file, "newer")
    assert names(tmp_path) == ["a.csv"]
    assert file.read_text() == "newer"


@only_linux
def test_a_number_means_something_only_where_it_was_given(tmp_path, dead, only_mtime):
    here, elsewhere = temporary._system(), "0" * 12
    kept = [
        planted(tmp_path, elsewhere, dead, age=WEEK - 600),
        planted(tmp_path, here, os.getpid(), age=2 * WEEK),  # another thread of this process
        planted(tmp_path, here, 1, age=2 * WEEK),  # of root
        planted(tmp_path, here, 10**30),
    ]
    planted(tmp_path, here, dead)
    planted(tmp_path, elsewhere, dead + 1, age=WEEK + 600)
    write_atomically(tmp_path / "a.csv", "text")
    assert names(tmp_path) == sorted([*kept, "a.csv"])


def test_where_systems_cannot_be_told_apart_only_age_counts(
    tmp_path, dead, monkeypatch, only_mtime
):
    monkeypatch.setattr(temporary, "_BOOT", tmp_path / "no such file")
    monkeypatch.setattr(os, "kill", None)  # on Windows it would end a process
    kept = planted(tmp_path, "unknown", dead)
    planted(tmp_path, "unknown", dead + 1, age=WEEK + 600)
    with replacing(tmp_path / "a.csv") as part:
        assert part.name.startswith(f".hsiclasso-unknown-{os.getpid()}-")
        part.write_text("text")
    assert names(tmp_path) == sorted([kept, "a.csv"])


def test_files_of_others_stay(tmp_path, dead, only_mtime):
    """Names that are not of this package, or not whole, and what cannot be removed."""
    system = temporary._system()
    kept = ["a.part", ".hsiclasso-1.part", f".hsiclasso-{system}-{dead}-{'ab' * 8}.part.csv"]
    for name in kept:
        (tmp_path / name).write_text("of another")
        age_of(tmp_path / name, 2 * WEEK)
    folder = tmp_path / f".hsiclasso-{system}-{dead}-{'cd' * 8}.part"
    folder.mkdir()
    write_atomically(tmp_path / "a.csv", "text")
    assert names(tmp_path) == sorted([*kept, folder.name, "a.csv"])


def test_a_file_that_is_read_for_long_does_not_age(tmp_path, dead, only_mtime):
    kept = planted(tmp_path, "0" * 12, dead, ".panels", age=9 * WEEK)
    made = temporary.new_file(tmp_path, ".panels", ages=False)
    assert names(tmp_path) == sorted([kept, made.name])
    if temporary._system() != "unknown":
        left = planted(tmp_path, temporary._system(), dead, ".panels")
        temporary.new_file(tmp_path, ".part")  # each looks for its own kind
        assert left in names(tmp_path)
        temporary.new_file(tmp_path, ".panels", ages=False)
        assert left not in names(tmp_path)


def test_an_interrupt_leaves_nothing(tmp_path, monkeypatch):
    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(temporary, "_remove_left", interrupted)
    with pytest.raises(KeyboardInterrupt):
        temporary.new_file(tmp_path, ".part")
    assert names(tmp_path) == []
