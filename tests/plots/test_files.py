"""Files of figures are whole or absent, and pyplot stays out of it."""

from __future__ import annotations

import subprocess
import sys

import pytest

from hsiclasso import InvalidInputError
from hsiclasso.plots import save_figure
from hsiclasso.plots.files import write_figure

pytest.importorskip("matplotlib")
from matplotlib.figure import Figure


@pytest.mark.parametrize("suffix", [".png", ".svg", ".pdf", ".PNG"])
def test_files_of_every_format(tmp_path, selection, suffix):
    file = tmp_path / f"figure{suffix}"
    save_figure(selection, file)
    start = {".png": b"\x89PNG", ".svg": b"<?xml", ".pdf": b"%PDF"}[suffix.lower()]
    assert file.read_bytes().startswith(start)
    assert [path.name for path in tmp_path.iterdir()] == [file.name]


def test_an_unknown_suffix_writes_nothing(tmp_path, selection):
    with pytest.raises(InvalidInputError, match=r"suffix '\.gif'.* \.png, \.svg, \.pdf"):
        save_figure(selection, tmp_path / "figure.gif")
    assert not list(tmp_path.iterdir())


def test_a_failed_write_leaves_the_old_file(tmp_path, monkeypatch):
    file = tmp_path / "figure.png"
    file.write_bytes(b"old")

    def fail(self, target):
        raise OSError("disk full")

    monkeypatch.setattr("pathlib.Path.replace", fail)
    with pytest.raises(OSError, match="disk full"):
        write_figure(Figure, file)
    assert file.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [file]


def test_a_failed_drawing_leaves_the_old_file(tmp_path):
    file = tmp_path / "figure.png"
    file.write_bytes(b"old")

    def fail():
        raise RuntimeError("no such colour")

    with pytest.raises(RuntimeError, match="no such colour"):
        write_figure(fail, file)
    assert file.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [file]


def test_pyplot_is_never_loaded(tmp_path):
    code = (
        "import sys; from hsiclasso import HSICLasso, make_data1\n"
        "from hsiclasso.plots import save_figure\n"
        "assert 'matplotlib' not in sys.modules\n"
        "X, y, _ = make_data1(40, 6, random_state=0); s = HSICLasso(2).fit(X, y)\n"
        f"save_figure(s.result_, {str(tmp_path / 'figure.svg')!r})\n"
        "assert 'matplotlib.pyplot' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
