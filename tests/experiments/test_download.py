import gzip
import hashlib
import os
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from experiments import catalogue, download
from experiments.catalogue import CATALOGUE, Entry, Original
from experiments.contenders import CLASSES
from experiments.download import DownloadError, FolderError, fetch, main

CONTENT = bytes(range(256)) * 1000
SHA256 = hashlib.sha256(CONTENT).hexdigest()
ZIPPED = gzip.compress(CONTENT)


class Handler(BaseHTTPRequestHandler):
    """Serves what the test puts on the server, short of its end if asked to."""

    def do_GET(self) -> None:
        self.server.asked.append(self.path)
        content = self.server.files.get(self.path)
        if content is None:
            self.send_error(404)
            return
        time.sleep(self.server.delay)
        self.send_response(200)
        if self.server.tells_length:
            self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content[: len(content) - self.server.short])

    def log_message(self, *arguments: object) -> None:
        pass


class Server(ThreadingHTTPServer):
    """Says nothing of clients that go away."""

    def handle_error(self, *arguments: object) -> None:
        pass


@pytest.fixture
def server(monkeypatch):
    monkeypatch.setenv("no_proxy", "*")
    made = Server(("127.0.0.1", 0), Handler)
    made.files, made.asked = {"/mirror/small.mat": CONTENT, "/mirror/big.txt.gz": ZIPPED}, []
    made.delay, made.short, made.tells_length = 0.0, 0, True
    made.base = f"http://127.0.0.1:{made.server_port}/mirror"
    thread = threading.Thread(target=made.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield made
    made.shutdown()
    thread.join()
    made.server_close()


def _original(name: str = "small.mat", sha256: str | None = SHA256) -> Original:
    size = len(CONTENT) if sha256 else None
    return Original(f"https://source.example/{name}", f"{name} of somebody", sha256, size)


@pytest.fixture(autouse=True)
def sets(monkeypatch):
    """Replace the catalogue by one that the server can serve."""
    entries = {
        "small": Entry("small", 6, 4, CLASSES, 3, "0" * 64, _original()),
        "big": Entry("big", 6, 4, CLASSES, 3, original=_original("big.txt.gz", None)),
        "mine": Entry("mine", 6, 4, CLASSES, 3, own=("mine.mat",)),
    }
    for name in tuple(CATALOGUE):
        monkeypatch.delitem(catalogue.CATALOGUE, name)
    for name, entry in entries.items():
        monkeypatch.setitem(catalogue.CATALOGUE, name, entry)


def _files(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir() if path.name != ".gitignore")


def _run(server, folder: Path, *names: str) -> int:
    return main([*names, "--data", str(folder), "--from", server.base])


def test_all_that_has_an_address_is_fetched_and_kept_out_of_git(server, tmp_path, capsys):
    folder = tmp_path / "deep" / "data"
    assert _run(server, folder) == 0
    assert _files(folder) == ["big.txt.gz", "small.mat"]
    assert (folder / "small.mat").read_bytes() == CONTENT
    assert (folder / "big.txt.gz").read_bytes() == ZIPPED
    assert (folder / ".gitignore").read_text() == "*\n"
    told = capsys.readouterr().err
    assert "small.mat of somebody" in told
    assert "mine: it comes from the feature selection collection" in told


def test_a_folder_that_was_there_gets_nothing_but_the_file(server, tmp_path):
    assert _run(server, tmp_path, "small") == 0
    assert [path.name for path in tmp_path.iterdir()] == ["small.mat"]


def test_without_a_mirror_the_address_of_the_source_is_used(server, tmp_path):
    original = Original(f"{server.base}/small.mat", "somewhere", SHA256, len(CONTENT))
    assert fetch(original, tmp_path).read_bytes() == CONTENT


def test_what_is_there_is_not_fetched_again(server, tmp_path, capsys):
    assert _run(server, tmp_path) == _run(server, tmp_path) == 0
    assert server.asked == ["/mirror/small.mat", "/mirror/big.txt.gz"]
    assert "small.mat is there already" in capsys.readouterr().err


def test_the_stored_arrays_make_the_original_superfluous(server, tmp_path, monkeypatch):
    (tmp_path / "small.npz").write_bytes(b"arrays")
    known = hashlib.sha256(b"arrays").hexdigest()
    entry = Entry("small", 6, 4, CLASSES, 3, known, _original())
    monkeypatch.setitem(catalogue.CATALOGUE, "small", entry)
    assert _run(server, tmp_path, "small") == 0
    assert server.asked == []


def test_a_damaged_file_is_replaced(server, tmp_path):
    (tmp_path / "small.mat").write_bytes(CONTENT[:100])
    assert _run(server, tmp_path, "small") == 0
    assert (tmp_path / "small.mat").read_bytes() == CONTENT


@pytest.mark.parametrize("content", [CONTENT[::-1], CONTENT + b"more", CONTENT * 9])
def test_a_wrong_checksum_leaves_nothing(server, tmp_path, capsys, content):
    server.files["/mirror/small.mat"] = content
    assert _run(server, tmp_path, "small") == 1
    told = capsys.readouterr().err
    assert SHA256 in told
    assert f"{server.base}/small.mat" in told
    assert _files(tmp_path) == []


def test_a_failure_leaves_the_file_that_was_there(server, tmp_path):
    (tmp_path / "small.mat").write_bytes(b"old")
    server.files["/mirror/small.mat"] = b"wrong"
    assert _run(server, tmp_path, "small") == 1
    assert (tmp_path / "small.mat").read_bytes() == b"old"


def test_an_answer_that_goes_on_and_on_is_cut(server, tmp_path, monkeypatch):
    taken = []

    def endless(address):
        for _ in range(5000):
            taken.append(address)
            yield CONTENT[:1000]

    monkeypatch.setattr(download, "_chunks", endless)
    with pytest.raises(DownloadError, match="another file"):
        fetch(_original(), tmp_path, server.base)
    assert len(taken) == len(CONTENT) // 1000 + 1


def test_one_that_is_not_there_does_not_stop_the_others(server, tmp_path, capsys):
    del server.files["/mirror/small.mat"]
    assert _run(server, tmp_path) == 1
    told = capsys.readouterr().err
    assert "404" in told
    assert f"{server.base}/small.mat" in told
    assert "--from" in told
    assert _files(tmp_path) == ["big.txt.gz"]


@pytest.mark.parametrize("name", ["small", "big"])
def test_a_truncated_answer_leaves_nothing(server, tmp_path, capsys, name):
    server.short = 7
    assert _run(server, tmp_path, name) == 1
    assert "try again" in capsys.readouterr().err
    assert _files(tmp_path) == []
    server.short = 0
    assert _run(server, tmp_path, name) == 0


def test_a_compressed_file_of_unknown_length_is_read_to_its_end(server, tmp_path, capsys):
    server.short, server.tells_length = 7, False
    assert _run(server, tmp_path, "big") == 1
    assert "damaged" in capsys.readouterr().err
    assert _files(tmp_path) == []


def test_no_answer_is_told_with_its_reason(server, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(download, "TIMEOUT", 0.05)
    server.delay = 0.3
    assert _run(server, tmp_path, "small") == 1
    assert "timed out" in capsys.readouterr().err
    assert main(["small", "--data", str(tmp_path), "--from", "http://127.0.0.1:9"]) == 1
    assert "refused" in capsys.readouterr().err
    assert _files(tmp_path) == []


def test_an_interrupt_leaves_no_half_file_and_the_next_run_starts_anew(
    server, tmp_path, capsys, monkeypatch
):
    seen = []

    def interrupted(self, received):
        seen.extend(_files(tmp_path))
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(download._Progress, "show", interrupted)
        assert _run(server, tmp_path, "small") == 130
    assert seen == [f"small.mat.{os.getpid()}.part"]
    assert _files(tmp_path) == []
    assert "The same command" in capsys.readouterr().err
    # as a process that was killed leaves it
    (tmp_path / seen[0]).write_bytes(CONTENT[:100])
    assert _run(server, tmp_path, "small") == 0
    assert _files(tmp_path) == ["small.mat"]
    assert (tmp_path / "small.mat").read_bytes() == CONTENT


def test_a_folder_that_cannot_be_written_says_to_name_another(server, tmp_path, capsys):
    (tmp_path / "file").write_text("")
    assert _run(server, tmp_path / "file" / "below") == 1
    told = capsys.readouterr().err
    assert "--data" in told
    assert told.count("cannot be written") == 1
    assert server.asked == []


def test_a_read_only_folder_is_left_alone_even_by_a_superuser(server, tmp_path):
    folder = tmp_path / "data"
    folder.mkdir()
    folder.chmod(0o555)
    try:
        with pytest.raises(FolderError, match="--data"):
            fetch(_original(), folder, server.base)
        assert _files(folder) == []
    finally:
        folder.chmod(0o755)
    assert server.asked == []


def test_a_full_disk_is_no_fault_of_the_network(server, tmp_path, monkeypatch):
    def full(*arguments: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(download, "_copy", full)
    with pytest.raises(FolderError, match="No space left"):
        fetch(_original(), tmp_path, server.base)
    assert _files(tmp_path) == []


def test_the_file_takes_its_name_in_one_step(server, tmp_path, monkeypatch):
    def refuse(*arguments: object) -> None:
        raise OSError("not now")

    monkeypatch.setattr(Path, "replace", refuse)
    with pytest.raises(FolderError, match="not now"):
        fetch(_original(), tmp_path, server.base)
    assert _files(tmp_path) == []


def test_a_set_without_an_address_says_where_people_get_it(server, tmp_path, capsys):
    assert _run(server, tmp_path, "mine") == 1
    told = capsys.readouterr().err
    assert "Arizona State University" in told
    assert str(tmp_path / "mine.mat") in told
    (tmp_path / "mine.mat").write_text("")
    assert _run(server, tmp_path, "mine") == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["smal"], "'smal'; known are small, big, mine"),
        (["small", "--from", "ftp://127.0.0.1"], "http:// or https://"),
    ],
)
def test_unknown_names_and_addresses_are_refused_at_once(tmp_path, capsys, arguments, message):
    with pytest.raises(SystemExit) as caught:
        main([*arguments, "--data", str(tmp_path / "new")])
    assert caught.value.code == 2
    assert message in capsys.readouterr().err
    assert not (tmp_path / "new").exists()


def test_progress_is_shown_on_a_terminal_only(server, tmp_path, capsys, monkeypatch):
    fetch(_original(), tmp_path, server.base)
    assert "MB" not in capsys.readouterr().err
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    fetch(_original(), tmp_path, server.base)
    assert "small.mat: 0.3 of 0.3 MB" in capsys.readouterr().err
