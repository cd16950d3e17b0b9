"""Files are written completely or not at all, and nothing else is touched."""

from __future__ import annotations

import os
import stat
import threading
from pathlib import Path

import pytest

from hsiclasso.data import temporary
from hsiclasso.data.atomic import check_writable, replacing, write_atomically
from hsiclasso.errors import InvalidInputError

only_posix = pytest.mark.skipif(os.name != "posix", reason="needs permissions of POSIX")


def mode(file):
    return stat.S_IMODE(file.stat().st_mode)


def names(folder):
    return sorted(file.name for file in folder.iterdir())


def test_a_new_file_has_the_usual_permissions(tmp_path):
    file, other = tmp_path / "a.csv", tmp_path / "b.csv"
    write_atomically(file, "text")
    other.write_text("text")
    assert (file.read_text(), mode(file)) == ("text", mode(other))
    assert names(tmp_path) == ["a.csv", "b.csv"]


def test_a_failure_leaves_what_was_there(tmp_path):
    file = tmp_path / "a.csv"
    file.write_text("old")

    def write():
        with replacing(file) as part:
            part.write_text("half")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        write()
    assert file.read_text() == "old"
    assert names(tmp_path) == ["a.csv"]


@only_posix
def test_permissions_are_kept(tmp_path):
    file = tmp_path / "a.csv"
    file.write_text("old")
    file.chmod(0o640)
    with replacing(file) as part:
        assert mode(part) == 0o600  # what is private is never readable by others
        part.write_text("new")
    assert (file.read_text(), mode(file)) == ("new", 0o640)


@only_posix
def test_the_owner_is_kept(tmp_path, monkeypatch):
    file = tmp_path / "a.csv"
    file.write_text("old")
    file.chmod(0o600)
    asked = []
    before = file.stat()

    def chown(path, uid, gid):
        asked.append((uid, gid))
        raise PermissionError

    monkeypatch.setattr(os, "chown", chown)
    stat_of = Path.stat

    def owned_by_another(self, **options):
        found = stat_of(self, **options)
        if self.suffix != ".part":
            return found
        return os.stat_result([*found[:4], found.st_uid + 1, *found[5:10]])

    monkeypatch.setattr(Path, "stat", owned_by_another)
    write_atomically(file, "new")  # its content is replaced if it cannot be
    monkeypatch.undo()
    after = file.stat()
    assert asked == [(before.st_uid, before.st_gid)]
    assert (after.st_ino, after.st_uid, mode(file)) == (before.st_ino, before.st_uid, 0o600)
    assert file.read_text() == "new"


@only_posix
def test_other_names_of_a_file_stay(tmp_path):
    file, twin, link = tmp_path / "a.csv", tmp_path / "twin.csv", tmp_path / "link.csv"
    file.write_text("old")
    twin.hardlink_to(file)
    link.symlink_to(file)
    write_atomically(link, "new")
    assert link.is_symlink()
    assert file.read_text() == twin.read_text() == "new"


@only_posix
def test_a_read_only_file_is_not_replaced(tmp_path):
    file = tmp_path / "a.csv"
    file.write_text("old")
    file.chmod(0o444)
    with pytest.raises(InvalidInputError, match=r"^--out .*a.csv is read-only: allow that it"):
        check_writable(file, "--out")
    with pytest.raises(InvalidInputError, match="is read-only"):
        write_atomically(file, "new")
    assert file.read_text() == "old"


@only_posix
def test_a_pipe_is_written_to(tmp_path):
    pipe, got = tmp_path / "pipe.csv", []
    os.mkfifo(pipe)
    reader = threading.Thread(target=lambda: got.append(pipe.read_text()))
    reader.start()
    write_atomically(pipe, "text")
    reader.join(10)
    assert got == ["text"]
    assert stat.S_ISFIFO(pipe.stat().st_mode)


@only_posix
def test_a_device_stays_a_device(tmp_path):
    write_atomically("/dev/null", "text")
    link = tmp_path / "link.csv"
    link.symlink_to("/dev/null")
    with pytest.raises(InvalidInputError, match=r"link\.csv is the device /dev/null: give"):
        write_atomically(link, "text")
    assert stat.S_ISCHR(os.stat("/dev/null").st_mode)
    assert link.is_symlink()


@only_posix
def test_a_link_to_itself(tmp_path):
    loop = tmp_path / "loop.csv"
    loop.symlink_to(loop)
    with pytest.raises(InvalidInputError, match=r"loop\.csv"):
        write_atomically(loop, "text")
    assert names(tmp_path) == ["loop.csv"]


@only_posix
def test_a_link_to_a_file_that_does_not_exist_yet(tmp_path):
    link = tmp_path / "link.csv"
    link.symlink_to(tmp_path / "new.csv")
    write_atomically(link, "text")
    assert link.is_symlink()
    assert (tmp_path / "new.csv").read_text() == "text"


@only_posix
def test_a_link_planted_for_the_part_is_not_followed(tmp_path, monkeypatch):
    victim, file = tmp_path / "victim", tmp_path / "a.csv"
    victim.write_text("precious")
    monkeypatch.setattr(temporary.secrets, "token_hex", lambda size: "known")
    name = f".hsiclasso-{temporary._system()}-{os.getpid()}-known.part"
    (tmp_path / name).symlink_to(victim)
    with pytest.raises(FileExistsError):
        write_atomically(file, "text")
    assert victim.read_text() == "precious"


@pytest.mark.parametrize(
    ("name", "words"),
    [("", "is a folder: give the name of a file"), ("no/a.csv", "does not exist: create it first")],
)
def test_what_cannot_be_written(tmp_path, name, words):
    with pytest.raises(InvalidInputError, match=words):
        check_writable(tmp_path / name)


def test_text_that_utf8_cannot_write(tmp_path):
    write_atomically(tmp_path / "a.csv", "a\udc80b")
    assert (tmp_path / "a.csv").read_bytes() == b"a\\udc80b"
