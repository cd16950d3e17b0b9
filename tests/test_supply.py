"""What SECURITY.md promises of the code: nothing is unpickled, evaluated or fetched."""

from __future__ import annotations

import ast
import gc
import json
import pickle
from pathlib import Path

import numpy as np
import pytest

import hsiclasso
from hsiclasso import InvalidInputError, read_table

ROOT = Path(hsiclasso.__file__).parent
#: Modules that unpickle, reach a network, or start programs.
MODULES = {
    "pickle", "cPickle", "marshal", "shelve", "dill", "cloudpickle", "socket", "ssl", "urllib",
    "http", "ftplib", "smtplib", "requests", "httpx", "aiohttp", "subprocess", "webbrowser", "pty",
}  # fmt: skip
#: Functions that evaluate text, make guessable temporary files, or start programs.
CALLS = {
    "eval", "exec", "compile", "__import__", "mktemp", "system", "popen", "read_pickle",
    "to_pickle", "literal_eval",
}  # fmt: skip


def trees():
    for file in sorted(ROOT.rglob("*.py")):
        yield str(file.relative_to(ROOT)), ast.parse(file.read_text(encoding="utf-8"))


def imported(node):
    if isinstance(node, ast.Import):
        return {alias.name.split(".")[0] for alias in node.names}
    if isinstance(node, ast.ImportFrom):
        return {(node.module or "").split(".")[0]}
    return set()


def called(node):
    """Name of the function that is called; of methods, unless it is that of `re`."""
    if not isinstance(node, ast.Call):
        return ""
    function = node.func
    if isinstance(function, ast.Attribute):
        owner = function.value.id if isinstance(function.value, ast.Name) else ""
        return "" if owner == "re" else function.attr
    return function.id if isinstance(function, ast.Name) else ""


def found_in(tree):
    """Yield what breaks a promise."""
    for node in ast.walk(tree):
        yield from imported(node) & MODULES
        if called(node) in CALLS:
            yield called(node)
        for word in node.keywords if isinstance(node, ast.Call) else ():
            if word.arg in ("allow_pickle", "shell") and not (
                isinstance(word.value, ast.Constant) and word.value.value is False
            ):
                yield word.arg
        options = {word.arg for word in getattr(node, "keywords", ())}
        is_load = called(node) == "load" and ast.unparse(node.func) == "np.load"
        if is_load and "allow_pickle" not in options:
            yield "np.load without allow_pickle=False"


def test_nothing_is_unpickled_evaluated_or_fetched():
    assert {file: found for file, tree in trees() if (found := sorted(set(found_in(tree))))} == {}


@pytest.mark.parametrize(
    "code",
    [
        "import pickle", "from urllib.request import urlopen", "eval(x)", "tempfile.mktemp()",
        "np.load(f)", "np.load(f, allow_pickle=True)", "os.system(x)", "pd.read_pickle(f)",
        "run(x, shell=flag)",
    ],
)  # fmt: skip
def test_what_is_looked_for_is_found(code):
    assert [*found_in(ast.parse(code))]
    assert not [*found_in(ast.parse("np.load(f, allow_pickle=False); re.compile(x)"))]


class Planted:
    """Makes a file when it is unpickled."""

    def __init__(self, file):
        self.file = file

    def __reduce__(self):
        return Path.touch, (self.file,)


def npy(file, content):
    np.save(file / "t.npy", np.array([content] * 4, dtype=object), allow_pickle=True)
    return "t.npy"


def npz(file, content):
    objects = np.array([content] * 4, dtype=object)
    np.savez(file / "t.npz", X=np.eye(4), y=objects, feature_names=objects)
    return "t.npz"


def zarr_array(file, content, place):
    """A store of the second format, written by hand: `zarr` does not write such ones."""
    pytest.importorskip("zarr")
    codec = {"id": "pickle", "protocol": 5}
    about = {"zarr_format": 2, "shape": [4], "chunks": [4], "dtype": "<f8", "order": "C",
             "fill_value": 0, "compressor": None, "filters": None}  # fmt: skip
    about |= {"dtype": "|O"} if place == "objects" else {}
    about |= {"compressor": codec} if place == "compressor" else {"filters": [codec]}
    for name in ("X", "y"):
        (file / "t.zarr" / name).mkdir(parents=True)
        (file / "t.zarr" / name / ".zarray").write_text(json.dumps(about))
        (file / "t.zarr" / name / "0").write_bytes(pickle.dumps(content))
    (file / "t.zarr" / ".zgroup").write_text('{"zarr_format": 2}')
    return "t.zarr"


PLANTS = {
    "npy": npy,
    "npz": npz,
    **{
        f"zarr, {place}": lambda file, content, place=place: zarr_array(file, content, place)
        for place in ("objects", "filters", "compressor")
    },
}


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("plant", PLANTS)
def test_a_file_that_would_run_something_is_refused(plant, tmp_path):
    mark = tmp_path / "it ran"
    table = PLANTS[plant](tmp_path, Planted(mark))
    with pytest.raises(InvalidInputError):
        read_table(tmp_path / table, "y")
    gc.collect()  # tasks of zarr that wait still would complain while another test runs
    assert not mark.exists()
    pickle.loads(pickle.dumps(Planted(mark)))
    assert mark.exists()  # the plant works
