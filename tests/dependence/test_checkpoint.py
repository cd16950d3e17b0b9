"""Finished chunks in a folder: a pass continues, or is run in parts, with the same result."""

from __future__ import annotations

import errno
import zipfile

import numpy as np
import pytest

from hsiclasso import HSICLasso, InvalidInputError, Resources
from hsiclasso.data.dataset import Dataset
from hsiclasso.data.door import as_source
from hsiclasso.dependence import Threads, checkpoint
from hsiclasso.dependence.checkpoint import Part
from hsiclasso.selectors.parts import check_parts, run_part
from tests.dependence.chunks import D, N, assert_same

pytestmark = pytest.mark.usefixtures("small_chunks")


def selector(folder, **options):
    return HSICLasso(5, resources=Resources(checkpoint=folder), **options)


class Dying(Threads):
    """Threads that die after some chunks."""

    left = 0

    def map(self, work, pieces):
        for piece in pieces:
            if not Dying.left:
                raise KeyboardInterrupt
            Dying.left -= 1
            yield work(piece)


@pytest.fixture
def computed(monkeypatch):
    """Numbers of features that were computed, chunk by chunk."""
    seen = []

    def count(file, result, save=checkpoint._save):
        seen.append(result.found.upper.size)
        return save(file, result)

    monkeypatch.setattr(checkpoint, "_save", count)
    return seen


@pytest.mark.parametrize("options", [{}, {"measure": "nocco"}, {"n_neighbors": 2}], ids=str)
def test_killed_and_continued(data, tmp_path, monkeypatch, computed, options):
    X, y = data
    expected = HSICLasso(5, **options).fit(X, y)
    Dying.left = 4
    with monkeypatch.context() as patch:
        patch.setattr("hsiclasso.selectors.resources.Threads", Dying)
        with pytest.raises(KeyboardInterrupt):
            selector(tmp_path, **options).fit(X, y)
    assert len(computed) == 4
    found = selector(tmp_path, **options).fit(X, y)
    assert_same(found, expected)
    n_passes = 1 + ("n_neighbors" in options)
    assert sum(computed) == n_passes * D  # no chunk was computed twice
    computed.clear()
    assert_same(selector(tmp_path, **options).fit(X, y), expected)
    assert computed == []


def test_the_file_that_changed_is_named(tmp_path, data):
    file = tmp_path / "a table.npy"
    selector = HSICLasso(5, resources=Resources(checkpoint=tmp_path / "kept"))
    for shift in (0.0, 1.0):
        np.save(file, data[0] + shift)
        if not shift:
            selector.fit(file, data[1])
    with pytest.raises(InvalidInputError, match=r"for another table \(.*table\.npy has changed\)"):
        selector.fit(file, data[1])


def test_a_damaged_file_is_computed_again(data, tmp_path, computed):
    X, y = data
    expected = selector(tmp_path).fit(X, y)
    computed.clear()
    files = sorted((tmp_path / "relevance").iterdir())
    files[1].write_bytes(files[1].read_bytes()[:100])
    content = bytearray(files[2].read_bytes())
    content[len(content) // 2] ^= 255
    files[2].write_bytes(content)
    files[3].unlink()
    assert_same(selector(tmp_path).fit(X, y), expected)
    assert len(computed) == 3


@pytest.mark.parametrize("damage", ["a value", "a name", "a header"])
def test_a_chunk_that_was_changed_with_right_checksums_is_computed_again(
    data, tmp_path, computed, damage
):
    X, y = data
    expected = selector(tmp_path).fit(X, y)
    computed.clear()
    file = sorted((tmp_path / "relevance").iterdir())[1]
    with zipfile.ZipFile(file) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    name = "columns.npy"
    content = members.pop(name)
    if damage == "a name":
        name = "other.npy"
    elif damage == "a value":
        content = content[:-1] + bytes([content[-1] ^ 1])
    else:
        content = content.replace(b"'descr'", b"'des(r'")
    with zipfile.ZipFile(file, "w") as archive:
        for other, text in {**members, name: content}.items():
            archive.writestr(other, text)
    assert_same(selector(tmp_path).fit(X, y), expected)
    assert len(computed) == 1


@pytest.mark.parametrize(
    ("change", "what"),
    [
        (lambda X, y: ({}, X + 1e-9 * (np.arange(D) == 7), y, None), "another table"),
        (lambda X, y: ({}, X, y + 1e-9, None), "another target"),
        (lambda X, y: ({}, X, y, np.arange(N) % 2 + 1.0), "another set of weights"),
        (lambda X, y: ({"kernel": "laplace"}, X, y, None), "another set of options"),
        (lambda X, y: ({"covariates": ["x3"]}, X, y, None), "another set of covariates"),
    ],
)
def test_other_work_is_refused_by_name(data, tmp_path, change, what):
    selector(tmp_path).fit(*data)
    options, X, y, weights = change(*data)
    with pytest.raises(InvalidInputError, match=f"was made for {what}"):
        selector(tmp_path, **options).fit(X, y, sample_weight=weights)


def test_more_features_from_the_same_folder(data, tmp_path, computed):
    X, y = data
    selector(tmp_path).fit(X, y)
    computed.clear()
    found = HSICLasso(9, resources=Resources(checkpoint=tmp_path)).fit(X, y)
    assert_same(found, HSICLasso(9).fit(X, y))
    assert computed == []


def test_a_full_disk_keeps_what_is_finished(data, tmp_path, monkeypatch):
    X, y = data
    written = []
    write = checkpoint.write_atomically

    def fill_up(path, content):
        if path.suffix == ".npz" and len(written) == 3:
            raise OSError(errno.ENOSPC, "No space left on device")
        if path.suffix == ".npz":
            written.append(path)
        write(path, content)

    with monkeypatch.context() as patch:
        patch.setattr(checkpoint, "write_atomically", fill_up)
        with pytest.raises(InvalidInputError, match=r"No space left.*finished before is safe"):
            selector(tmp_path).fit(X, y)
    assert sorted((tmp_path / "relevance").iterdir()) == written
    assert_same(selector(tmp_path).fit(X, y), HSICLasso(5).fit(X, y))


@pytest.mark.parametrize("text", ["", "[1]", "{"])
def test_a_broken_description_is_refused(data, tmp_path, text):
    (tmp_path / "made_for.json").write_text(text)
    with pytest.raises(InvalidInputError, match=r"made_for\.json"):
        selector(tmp_path).fit(*data)


def test_folder_is_checked_before_any_work(data, tmp_path):
    file = tmp_path / "file"
    file.write_text("")
    with pytest.raises(InvalidInputError, match="is a file: give the path of a folder"):
        selector(file).fit(*data)
    with pytest.raises(InvalidInputError, match="must be the path of a folder"):
        selector(3).fit(*data)


@pytest.mark.parametrize("n_parts", [1, 3, 100])
def test_parts_cover_the_chunks_once(n_parts):
    for n_chunks in (1, 2, 50, 1000):
        chunks = [k for i in range(n_parts) for k in Part(i + 1, n_parts).chunks(n_chunks)]
        assert chunks == list(range(n_chunks))


@pytest.mark.parametrize("n_parts", [1, 3, 9])
@pytest.mark.parametrize("joint", [None, {"both": ["x3", "x50"]}])
def test_parts_in_any_order(data, tmp_path, n_parts, joint, computed):
    X, y = data
    table = Dataset(as_source(X), y, ("y",))
    chosen = selector(tmp_path, joint=joint)
    for number in reversed(range(2, n_parts + 1)):
        run_part(chosen, table, Part(number, n_parts))
    with pytest.raises(InvalidInputError, match=rf"1 of {n_parts} parts .* not complete \(1\)"):
        check_parts(chosen, table, n_parts)
    seen = []
    run_part(chosen, table, Part(1, n_parts), progress=lambda *told: seen.append(told))
    assert seen[-1][1] == seen[-1][2]
    check_parts(chosen, table, n_parts)
    computed.clear()
    assert_same(chosen.fit(X, y), HSICLasso(5, joint=joint).fit(X, y))
    assert computed == []


def test_classes_and_graphs_have_fingerprints(tmp_path, rng):
    from scipy import sparse

    X = rng.standard_normal((40, 10))
    links = sparse.random_array((40, 40), density=0.1, random_state=rng)
    links = links + links.T
    targets = {"labels": np.where(X[:, 0] > 0, "a", "b"), "graph": links}
    for name, y in targets.items():
        kind = "graph" if name == "graph" else "classes"
        chosen = HSICLasso(1, target=kind, resources=Resources(checkpoint=tmp_path / name))
        first = chosen.fit(X, y).coef_.copy()
        np.testing.assert_array_equal(chosen.fit(X, y.copy()).coef_, first)
        other = np.roll(y, 1) if name == "labels" else links * 2
        with pytest.raises(InvalidInputError, match="another target"):
            chosen.fit(X, other)
