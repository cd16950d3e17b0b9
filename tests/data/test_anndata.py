"""AnnData objects, `.h5ad` files and `.zarr` stores."""

from __future__ import annotations

import pickle
import re
import shutil
import subprocess
import sys
import warnings

import numpy as np
import pytest
from scipy import sparse

from hsiclasso import HSICLasso, InvalidInputError, as_source, open_anndata
from hsiclasso.data import as_dataset
from hsiclasso.data.anndata import is_anndata
from hsiclasso.data.files import read_table
from hsiclasso.data.labelled import OrderedLabels
from hsiclasso.data.layout import Roles

h5py = pytest.importorskip("h5py")
ad = pytest.importorskip("anndata")
pd = pytest.importorskip("pandas")
N, D = 60, 12

#: anndata writes the second format of Zarr, and says that the third will come.
pytestmark = pytest.mark.filterwarnings("ignore:Writing zarr v2 data:UserWarning")


def make(rng, matrix=None):
    """Return an object with every kind of annotation."""
    X = np.round(0.99 * rng.random((N, D)) * (rng.random((N, D)) < 0.6), 2).astype(np.float32)
    kind = np.where(X[:, 3] > 0.3, "B", "A").astype(object)
    grade = pd.Categorical.from_codes(
        np.minimum(3 * X[:, 4], 2).astype(int), ["low", "mid", "high"], True
    )
    obs = pd.DataFrame(
        {
            "kind": pd.Categorical(kind),
            "grade": grade,
            "age": rng.random(N),
            "count": rng.integers(0, 99, N),
            "well": rng.random(N) < 0.5,
            "site": rng.choice(["x", "y"], N),
            "visits": pd.array([None, *rng.integers(0, 9, N - 1)], dtype="Int64"),
            "smoker": pd.array([None, *(rng.random(N - 1) < 0.5)], dtype="boolean"),
            "whole": pd.array(rng.integers(0, 9, N), dtype="Int32"),
            "part": pd.Categorical([None, *rng.choice(["p", "q"], N - 1)]),
        },
        index=[f"cell{i}" for i in range(N)],
    )
    var = pd.DataFrame({"long": np.arange(D) > 5}, index=[f"g{j}" for j in range(D)])
    made = ad.AnnData(X if matrix is None else matrix(X), obs=obs, var=var)
    made.layers["double"] = sparse.csc_matrix(2 * X)
    made.raw = ad.AnnData(
        sparse.csr_matrix(np.column_stack([X, X[:, 3]])),
        obs=obs,
        var=pd.DataFrame(index=[*var.index, "twin"]),
    )
    return made


def read_old(path, **options):
    """Read a file of the first generation, of which anndata warns."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ad.read_h5ad(path, **options)


def written(adata, path):
    (adata.write_zarr if path.suffix == ".zarr" else adata.write_h5ad)(path)
    return path


#: Ways from an object to a table: given the object and a folder.
DOORS = {
    "object": lambda adata, folder: adata,
    "view": lambda adata, folder: adata[:, :],
    ".h5ad": lambda adata, folder: written(adata, folder / "a.h5ad"),
    ".zarr": lambda adata, folder: written(adata, folder / "a.zarr"),
    "backed": lambda adata, folder: ad.read_h5ad(written(adata, folder / "a.h5ad"), backed="r"),
}
FORMS = {"dense": np.asarray, "csr": sparse.csr_matrix, "csc": sparse.csc_matrix}
#: Each door with a form, and each form in memory and in a file.
PAIRS = [("object", "dense"), ("view", "csr"), (".h5ad", "csc"), (".zarr", "csr"),
         ("backed", "dense")]  # fmt: skip


@pytest.fixture(params=sorted(DOORS))
def door(request, tmp_path):
    return lambda adata: DOORS[request.param](adata, tmp_path)


@pytest.mark.parametrize("form", sorted(FORMS))
def test_tables(door, form, rng):
    adata = make(rng, FORMS[form])
    source, X = open_anndata(door(adata)), np.asarray(adata.to_df())
    assert (source.n_samples, source.n_features) == (N, D)
    assert [source.name(j) for j in range(D)] == list(adata.var_names)
    assert source.named
    assert source.ids == list(adata.obs_names)
    assert source.dtype_name(0) == "float32"
    for columns in (slice(0, D), np.array([7, 2, 2])):
        np.testing.assert_array_equal(source.block(columns), X[:, columns])
        np.testing.assert_array_equal(source.read(columns), X[:, columns])
    assert (source.stored(slice(0, 0)) is None) == (form == "dense")
    for chunk in source.chunks(1000):
        part = source.load(chunk)
        assert part.name(0) == source.name(chunk.start)
        np.testing.assert_array_equal(part.block(slice(0, part.n_features)), X[:, chunk])


def test_annotations(door, rng):
    adata = make(rng)
    notes, obs = open_anndata(door(adata)).annotations, adata.obs
    assert list(notes) == list(obs.columns)
    assert notes["kind"].tolist() == obs["kind"].tolist()
    assert notes["site"].tolist() == obs["site"].tolist()
    assert notes["part"][0] is None
    assert notes["part"][1:].tolist() == obs["part"].tolist()[1:]
    for name in ("age", "count", "well", "whole"):
        np.testing.assert_array_equal(notes[name], obs[name].to_numpy())
        assert notes[name].dtype.kind == {"age": "f", "well": "b"}.get(name, "i")
    assert np.isnan(notes["visits"][0])
    np.testing.assert_array_equal(notes["visits"][1:], obs["visits"][1:].astype(float))
    assert notes["smoker"].tolist() == [None, *obs["smoker"][1:].astype(bool)]


def test_ordered_labels_stay_ordered(door, rng):
    adata = make(rng)
    opened = door(adata)
    data = as_dataset(opened if is_anndata(opened) else open_anndata(opened), "grade")
    assert isinstance(data.y, OrderedLabels)
    np.testing.assert_array_equal(data.y.codes, adata.obs["grade"].cat.codes)
    selector = HSICLasso(2).fit(opened, "grade")
    assert selector.result_.method.target == "ordinal"
    assert "g4" in selector.result_.names
    expected = HSICLasso(2).fit(np.asarray(adata.X), adata.obs["grade"])
    np.testing.assert_allclose(selector.coef_, expected.coef_, rtol=1e-12)


@pytest.mark.parametrize(("door", "form"), PAIRS, indirect=["door"])
def test_selection(door, form, rng):
    adata = make(rng, FORMS[form])
    found = HSICLasso(3, covariates=["site", "age"]).fit(door(adata), "kind")
    covariates = adata.obs[["site", "age"]]
    X = np.asarray(adata.to_df())
    expected = HSICLasso(3).fit(X, adata.obs["kind"].astype(str), covariates=covariates)
    assert found.selected_.tolist() == expected.selected_.tolist()
    np.testing.assert_allclose(found.coef_, expected.coef_, rtol=1e-12)
    assert found.result_.method.covariates == ("site", "age")
    assert found.feature_names_in_.tolist() == list(adata.var_names)


def test_layers_and_raw(door, rng):
    adata = make(rng)
    opened = door(adata)
    layer, raw = open_anndata(opened, layer="double"), open_anndata(opened, raw=True)
    np.testing.assert_array_equal(layer.block(slice(0, D)), 2 * np.asarray(adata.X))
    np.testing.assert_array_equal(raw.block(slice(0, D)), np.asarray(adata.X))
    assert (raw.n_features, raw.name(D)) == (D + 1, "twin")
    assert raw.annotations["kind"].size == N
    for options, words in [
        ({"layer": "dubble"}, "has no layer 'dubble': it has 'double'."),
        ({"layer": "double", "raw": True}, "layer='double' and raw are two different matrices"),
    ]:
        with pytest.raises(InvalidInputError, match=re.escape(words)):
            open_anndata(opened, **options)


def test_what_is_not_there(door, rng):
    adata = ad.AnnData(np.ones((4, 2), dtype=np.float32))
    opened = door(adata)
    with pytest.raises(InvalidInputError, match="has no layer 'a': it has no layers at all"):
        open_anndata(opened, layer="a")
    with pytest.raises(InvalidInputError, match="has no raw matrix: leave raw out"):
        open_anndata(opened, raw=True)


@pytest.mark.parametrize("suffix", [".h5ad", ".zarr"])
def test_files_without_a_matrix(tmp_path, suffix):
    empty = ad.AnnData(obs=pd.DataFrame(index=["a", "b"]), var=pd.DataFrame(index=["g"]))
    with pytest.raises(InvalidInputError, match="has no X: write one into it"):
        open_anndata(written(empty, tmp_path / f"a{suffix}"))


def test_a_gene_as_target(door, rng):
    adata = make(rng, sparse.csr_matrix)
    data = as_dataset(open_anndata(door(adata)), "g3")
    assert data.source.n_features == D - 1
    np.testing.assert_array_equal(data.y, adata.to_df()["g3"])


def test_names_that_are_not_known(door, rng):
    opened = door(make(rng))
    with pytest.raises(InvalidInputError, match=r"'kin', the target.*did you mean 'kind'"):
        HSICLasso(2).fit(opened, "kin")
    with pytest.raises(InvalidInputError, match=r"covariates has 'sit'.*did you mean 'site'"):
        HSICLasso(2, covariates=["sit"]).fit(opened, "kind")


def test_missing_labels(door, rng):
    opened = door(make(rng))
    with pytest.raises(InvalidInputError, match="Input y contains NaN or None, first in row 0"):
        HSICLasso(2).fit(opened, "part")
    with pytest.raises(InvalidInputError, match="covariate 'part' has missing or infinite values"):
        HSICLasso(2, covariates=["part"]).fit(opened, "kind")


@pytest.mark.parametrize(("door", "form"), PAIRS, indirect=["door"])
def test_missing_values(door, form, rng):
    adata = make(rng)
    X = np.asarray(adata.X).copy()
    X[4, 5] = np.nan
    adata.X = FORMS[form](X)
    opened = door(adata)
    with pytest.raises(InvalidInputError, match="the first is NaN in column 'g5'"):
        HSICLasso(2).fit(opened, "kind")
    found = HSICLasso(2, missing="ignore").fit(opened, "kind")
    expected = HSICLasso(2, missing="ignore").fit(X, adata.obs["kind"].astype(str))
    assert found.n_observed_[5] == N - 1
    np.testing.assert_allclose(found.coef_, expected.coef_, rtol=1e-12)


@pytest.mark.filterwarnings("ignore:Variable names are not unique")
def test_repeated_genes(door, rng):
    adata = make(rng)
    adata.raw = None
    adata.var_names = ["a", "a", *adata.var_names[2:]]
    with pytest.raises(InvalidInputError, match=r"genes named 'a'.*var_names_make_unique\(\)"):
        HSICLasso(2).fit(door(adata), "kind")


def test_transform(door, rng):
    adata = make(rng, sparse.csr_matrix)
    opened = door(adata)
    selector = HSICLasso(2).fit(opened, "kind")
    columns = np.sort(selector.selected_)
    part = selector.transform(opened)
    if is_anndata(opened):
        assert list(part.var_names) == list(adata.var_names[columns])
        assert part.obs_names.equals(adata.obs_names)
        other = selector.transform(adata[:, ::-1].copy())  # by name
        assert set(other.var_names) == set(part.var_names)
    else:
        np.testing.assert_array_equal(part, np.asarray(adata.to_df())[:, columns])
        assert part.dtype == np.float32


def test_files_can_be_pickled(rng, tmp_path):
    for form, matrix in FORMS.items():
        adata = make(rng, matrix)
        for suffix in (".h5ad", ".zarr"):
            source = open_anndata(written(adata, tmp_path / f"{form}{suffix}"))
            expected, labels = source.block(slice(0, D)), source.annotations["kind"].tolist()
            back = pickle.loads(pickle.dumps(source))
            np.testing.assert_array_equal(back.block(slice(0, D)), expected)
            assert back.annotations["kind"].tolist() == labels
            assert back.identity() == source.identity()


def test_the_third_format_of_zarr(rng, tmp_path):
    adata = make(rng, sparse.csr_matrix)
    with ad.settings.override(zarr_write_format=3), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # zarr and anndata speak of what will come
        file = written(adata, tmp_path / "a.zarr")
    source = open_anndata(file)
    np.testing.assert_array_equal(source.block(slice(0, D)), np.asarray(adata.to_df()))
    assert source.annotations["site"].tolist() == adata.obs["site"].tolist()
    assert source.ids == list(adata.obs_names)


def test_a_file_can_be_written_again(rng, tmp_path):
    for matrix in FORMS.values():
        adata = make(rng, matrix)
        source = open_anndata(written(adata, tmp_path / "a.h5ad"))
        selector = HSICLasso(2).fit(source, "kind")
        before = source.identity()
        written(adata, tmp_path / "a.h5ad")
        assert source.identity() != before
        assert selector.result_.names


def test_anndata_is_not_needed_for_files(rng, tmp_path):
    file = written(make(rng, sparse.csr_matrix), tmp_path / "a.h5ad")
    code = (
        "import sys; sys.modules['anndata'] = None; from hsiclasso import HSICLasso\n"
        f"print(*HSICLasso(2).fit({str(file)!r}, 'kind').result_.names)"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "g3" in out.stdout.split()


def test_layers_that_are_no_group(rng, tmp_path):
    file = written(make(rng), tmp_path / "a.h5ad")
    with h5py.File(file, "r+") as opened:
        del opened["layers"]
    with pytest.raises(InvalidInputError, match="it has no layers at all"):
        open_anndata(file, layer="double")


def test_backed_for_writing(rng, tmp_path):
    for matrix in FORMS.values():
        adata = make(rng, matrix)
        backed = ad.read_h5ad(written(adata, tmp_path / "a.h5ad"), backed="r+")
        assert not open_anndata(backed, raw=True).annotations["kind"].tolist().count(None)
        X = np.asarray(adata.to_df())
        np.testing.assert_array_equal(open_anndata(backed).block(slice(0, D)), X)
        some = backed[5:40, [3, 1]]
        np.testing.assert_array_equal(as_source(some).block(slice(0, 2)), X[5:40, [3, 1]])
        backed.file.close()


@pytest.mark.parametrize("matrix", [np.asarray, sparse.csr_matrix])
def test_arrays_of_dask(rng, matrix):
    dask = pytest.importorskip("dask.array")
    adata = make(rng, np.asarray)
    X = np.asarray(adata.X)
    lazy = dask.from_array(X, chunks=(20, 5)).map_blocks(matrix)
    adata.X = lazy.rechunk((20, 5))
    source = open_anndata(adata)
    np.testing.assert_array_equal(source.block(slice(0, D)), X)
    assert source.name(1) == "g1"
    assert source.load(slice(2, 4)).name(1) == "g3"
    assert not source.in_memory
    view = open_anndata(adata[5:30, 2:9])
    assert not view.in_memory
    np.testing.assert_array_equal(view.block(slice(0, 7)), X[5:30, 2:9])


def test_frames_of_xarray():
    """Frames that are read lazily give series only when asked."""

    class Column:
        dtype = np.dtype(float)

        def to_series(self):
            return pd.Series([1.0, 2.0])

    from hsiclasso.data.anndata import _obs

    assert _obs({"a": Column()}, "a").tolist() == [1.0, 2.0]


def test_tables_read_from_files(rng, tmp_path):
    adata = make(rng, sparse.csr_matrix)
    for suffix in (".h5ad", ".zarr"):
        file = written(adata, tmp_path / f"a{suffix}")
        data = read_table(file, "count", weights="age", category=["count"], drop=["g1", "site"])
        assert data.y.tolist() == [f"{count}" for count in adata.obs["count"]]
        np.testing.assert_array_equal(data.weights, adata.obs["age"])
        assert data.source.n_features == D - 1
        assert {"count", "age", "site"}.isdisjoint(data.source.annotations)
        assert read_table(file, "kind", layer="raw").source.n_features == D + 1
        assert read_table(file, "kind", layer="double").source.n_features == D
    (tmp_path / "a.csv").write_text("a,b\n1,2\n2,3\n4,5\n")
    with pytest.raises(InvalidInputError, match="layer='raw' is a part of AnnData files"):
        read_table(tmp_path / "a.csv", "b", layer="raw")
    assert Roles().layer is None


class TestOlderFiles:
    """Files as anndata wrote them before it named encodings."""

    def test_records(self, tmp_path):
        with h5py.File(tmp_path / "a.h5ad", "w") as file:
            file["X"] = np.arange(12.0).reshape(4, 3)
            obs = np.zeros(4, dtype=[("index", "S4"), ("kind", "i1"), ("age", "f4"), ("id", "S3")])
            obs["index"], obs["kind"], obs["age"] = [b"a", b"b", b"c", b"d"], [1, 0, -1, 1], 7
            obs["id"] = b"x"
            file["obs"] = obs
            file["var"] = np.array([(b"g",), (b"h",), (b"\xc3\xa9",)], dtype=[("index", "S3")])
            file["uns/kind_categories"] = np.array([b"T", b"B"])
        source = open_anndata(tmp_path / "a.h5ad")
        assert [source.name(j) for j in range(3)] == ["g", "h", "é"]
        assert source.ids == ["a", "b", "c", "d"]
        assert source.annotations["kind"].tolist() == ["B", "T", None, "B"]
        assert source.annotations["age"].tolist() == [7.0] * 4
        assert source.annotations["id"].tolist() == ["x"] * 4

    def test_categories_in_a_group(self, tmp_path):
        with h5py.File(tmp_path / "a.h5ad", "w") as file:
            file["X"] = np.arange(12.0).reshape(4, 3)
            obs = file.create_group("obs")
            obs.attrs["_index"], obs.attrs["encoding-type"] = "cells", "dataframe"
            obs["cells"] = ["a", "b", "c", "d"]
            for name, ordered in (("kind", False), ("grade", True)):
                obs[name] = np.array([1, 0, -1, 1], dtype=np.int8)
                obs[f"__categories/{name}"] = ["T", "B"]
                obs[f"__categories/{name}"].attrs["ordered"] = ordered
                obs[name].attrs["categories"] = obs[f"__categories/{name}"].ref
            file["var/index"] = ["g", "h", "i"]
        source = open_anndata(tmp_path / "a.h5ad")
        assert list(source.annotations) == ["grade", "kind"]
        assert source.annotations["kind"].tolist() == ["B", "T", None, "B"]
        assert as_dataset(source, "grade").y.codes.tolist() == [1, 0, -1, 1]
        assert source.name(2) == "i"


class TestBroken:
    @pytest.fixture
    def file(self, rng, tmp_path):
        return written(make(rng, sparse.csr_matrix), tmp_path / "a.h5ad")

    @pytest.mark.parametrize("size", [0, 7, 900, 20_000])
    def test_truncated(self, file, size):
        file.write_bytes(file.read_bytes()[:size])
        with pytest.raises(InvalidInputError, match=r"a\.h5ad (cannot be read|is empty)"):
            read_table(file, "kind")

    def test_no_hdf5(self, file):
        file.write_text("cell,gene\n" * 100)
        with pytest.raises(InvalidInputError, match=r"a\.h5ad cannot be read \(.*signature"):
            HSICLasso(2).fit(str(file), "kind")

    @pytest.mark.parametrize(
        ("remove", "words"),
        [
            ("obs", "is no AnnData file: it has no obs, only 'X', 'layers'"),
            ("X", "has no X: name a layer ('double')."),
            ("X/indptr", "a.h5ad (X) cannot be read ("),
            ("obs/_index", "has no index ('age', 'count'"),
            ("obs/kind/codes", "a.h5ad (obs/kind) cannot be read ("),
        ],
    )
    def test_without_a_part(self, file, remove, words):
        with h5py.File(file, "r+") as opened:
            del opened[remove]
        with pytest.raises(InvalidInputError, match=re.escape(words)):
            read_table(file, "kind")

    @pytest.mark.parametrize(
        ("place", "values", "words"),
        [
            ("X", np.ones((N, 3)), "X of {} has shape (60, 3), but there are 60 samples and 12"),
            ("X", np.ones(N), "X of {} has shape (60,), but there are 60 samples and 12 genes"),
            ("X", np.full((N, D), b"a"), "X of {} has dtype |S1, but values must be real numbers"),
            ("obs/kind", np.ones(3), "obs/kind of {} has shape (3,), but there are 60 samples"),
        ],
    )
    def test_another_array(self, file, place, values, words):
        with h5py.File(file, "r+") as opened:
            del opened[place]
            opened[place] = values
        with pytest.raises(InvalidInputError, match=re.escape(words.format(file))):
            read_table(file, "kind")

    @pytest.mark.parametrize(
        ("place", "attribute", "words"),
        [
            ("X", "shape", "X of {} is a group without a shape, and no sparse matrix"),
            ("X", "encoding-type", "X of {} is stored as None, which is no matrix"),
            ("obs/kind", "encoding-type", "obs/kind of {} is stored as 'a group', and is not one"),
        ],
    )
    def test_without_an_attribute(self, file, place, attribute, words):
        with h5py.File(file, "r+") as opened:
            del opened[place].attrs[attribute]
        with pytest.raises(InvalidInputError, match=re.escape(words.format(file))):
            read_table(file, "kind")

    def test_stores(self, rng, tmp_path):
        zarr = pytest.importorskip("zarr")
        store = written(make(rng), tmp_path / "a.zarr")
        shutil.rmtree(store / "obs")
        with pytest.raises(InvalidInputError, match=r"a\.zarr (is no AnnData|cannot be read)"):
            read_table(store, "kind")
        zarr.create_array(tmp_path / "b.zarr", data=np.ones((5, 3), dtype="f4"))
        with pytest.raises(InvalidInputError, match=r"not a column of .*b\.zarr"):
            read_table(tmp_path / "b.zarr", "kind")
        (tmp_path / "c.zarr").mkdir()
        with pytest.raises(InvalidInputError, match=r"c\.zarr cannot be read"):
            read_table(tmp_path / "c.zarr", "kind")
        with pytest.raises(InvalidInputError, match=r"d\.zarr does not exist"):
            read_table(tmp_path / "d.zarr", "kind")

    @pytest.mark.parametrize("matrix", [np.asarray, sparse.csr_matrix])
    def test_stores_that_lost_a_chunk(self, rng, tmp_path, matrix):
        pytest.importorskip("zarr")
        store = written(make(rng, matrix), tmp_path / "a.zarr")
        found = sorted(file for file in (store / "X").rglob("*") if file.is_file())
        chunks = [file for file in found if file.name[0] != "." and file.suffix != ".json"]
        chunks[0].unlink()
        with pytest.warns(UserWarning, match=r"1 of . chunks of X.* are not in the store, and are"):
            open_anndata(store)

    def test_dense_values_that_cannot_be_decoded(self, rng, tmp_path):
        file = tmp_path / "a.h5ad"
        make(rng).write_h5ad(file, compression="gzip")
        with h5py.File(file) as stored:
            place = stored["X"].id.get_chunk_info(0)
        with file.open("r+b") as raw:
            raw.seek(place.byte_offset)
            raw.write(b"\xff" * place.size)
        with pytest.raises(InvalidInputError, match=r"a\.h5ad \(X\) cannot be read \("):
            HSICLasso(2).fit(file, "kind")

    def test_objects(self, rng):
        adata = make(rng)
        adata.X = None
        with pytest.raises(InvalidInputError, match=r"X \(AnnData\) has no X: name a layer"):
            HSICLasso(2).fit(adata, "kind")
        with pytest.raises(InvalidInputError, match="data is a list, which is no AnnData"):
            open_anndata([1])
        text = ad.AnnData(sparse.csr_matrix(np.eye(4) * 1j))
        with pytest.raises(InvalidInputError, match="has dtype complex128, but values must be"):
            as_source(text)


@pytest.fixture(scope="session")
def real_file(data_folder):
    file = data_folder / "formats" / "anndata" / "pbmc68k_reduced.h5ad"
    if not file.exists():
        pytest.skip("pbmc68k_reduced.h5ad is absent: set HSICLASSO_DATA to its folder")
    return file


class TestRealFile:
    @pytest.fixture
    def cells(self, real_file):
        return read_old(real_file)

    @pytest.fixture
    def expected(self, cells):
        y = cells.obs["bulk_labels"].astype(str)
        matrices = {"X": np.asarray(cells.X), "raw": cells.raw.X.toarray()}
        return {name: HSICLasso(10).fit(X, y) for name, X in matrices.items()}

    @staticmethod
    def check(source, expected):
        found = HSICLasso(10).fit(source, "bulk_labels")
        assert found.selected_.tolist() == expected.selected_.tolist()
        largest = expected.coef_.max()
        np.testing.assert_allclose(found.coef_, expected.coef_, atol=1e-12 * largest, rtol=0)

    def test_as_it_is(self, real_file, cells, expected):
        for door in (str(real_file), cells, cells[:, :], read_old(real_file, backed="r")):
            self.check(door, expected["X"])
            for limit in (None, 200_000):
                source = open_anndata(door, raw=True, memory_limit=limit)
                self.check(source, expected["raw"])

    @pytest.mark.parametrize("suffix", [".h5ad", ".zarr"])
    def test_in_today_s_encoding(self, cells, expected, tmp_path, suffix):
        raw = cells.raw.X
        layers = {"csr": raw, "csc": raw.tocsc(), "dense": raw.toarray()}
        made = ad.AnnData(sparse.csr_matrix(cells.X), cells.obs, cells.var, layers=layers)
        made.raw = made
        file = written(made, tmp_path / f"cells{suffix}")
        self.check(file, expected["X"])
        self.check(open_anndata(file, raw=True), expected["X"])
        for layer in layers:
            self.check(open_anndata(file, layer=layer), expected["raw"])
        self.check(open_anndata(file, layer="csr", memory_limit=10**5), expected["raw"])
