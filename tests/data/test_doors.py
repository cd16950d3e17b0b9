"""The same table through every door: the same names, features and weights.

A new door is an entry of `DOORS`: a function of the table and a folder that returns what `fit`
takes as X, and its target. Doors of genotypes have a table of their own, with and without missing
calls: `COUNTED` and `NUMBERS`.
"""

from __future__ import annotations

import pickle
import warnings
from functools import partial

import numpy as np
import pytest
from scipy import io, sparse
from sklearn.base import clone

from hsiclasso import HSICLasso
from hsiclasso.data import as_dataset
from hsiclasso.data.files import read_table
from hsiclasso.data.form import TextFormat
from tests.data.chunks import assert_cover
from tests.genotypes import as_genotypes, as_numbers, draw_calls, write_bed

N, D = 120, 17
NAMES = [f"g{j}" for j in range(D)]


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(3)
    X = rng.standard_normal((N, D)).round(6)  # so that text is exact
    X[:, ::2] *= rng.random((N, 9)) < 0.4  # so that sparse tables have something to leave out
    return X, (X[:, 4] * X[:, 11] + np.abs(X[:, 8])).round(6)


def pandas_frame(X, y=None):
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(X, columns=NAMES)
    return frame if y is None else frame.assign(y=y)


def polars_frame(X, y=None):
    return pytest.importorskip("polars").from_dict(dict(pandas_frame(X, y).items()))


def arrow(X, y=None):
    pa = pytest.importorskip("pyarrow")
    return pa.Table.from_pandas(pandas_frame(X, y), preserve_index=False)


def text(X, y, folder, name, sign=",", decimal="."):
    file = folder / name
    if name.endswith(".zst"):
        pytest.importorskip("zstandard")
    pandas_frame(X, y).to_csv(file, sep=sign, decimal=decimal, index=False)
    return file, "y"


def opened(file, target, **options):
    """Open a file with the options that it needs: a dataset, which knows its target."""
    return read_table(file, target, **options), None


def two_files(X, y, folder, *, transpose):
    """Write features and target to two files, whose samples have a different order."""
    file, people = folder / "t.tsv", folder / "people.csv"
    ids = [f"s{i}" for i in range(N)]
    frame = pandas_frame(X).set_axis(ids).rename_axis("gene" if transpose else "sample")
    (frame.T if transpose else frame).to_csv(file, sep="\t")
    described = frame.assign(y=y)[["y"]].rename_axis("sample").iloc[::-1]
    described.to_csv(people)
    return opened(file, "y", phenotype=people, text=TextFormat(transpose=transpose))


#: Matrices of AnnData.
FORMS = {"dense": np.asarray, "csr": sparse.csr_matrix, "csc": sparse.csc_matrix}


def annotated(X, y, folder, form, way):
    """Return an AnnData object, one backed by a file, or the file."""
    ad, pd = pytest.importorskip("anndata"), pytest.importorskip("pandas")
    obs = pd.DataFrame({"y": y}, index=[f"cell{i}" for i in range(N)])
    made = ad.AnnData(FORMS[form](X), obs=obs, var=pd.DataFrame(index=NAMES))
    if way == "object":
        return made, "y"
    file = folder / f"t.{'zarr' if way == 'zarr' else 'h5ad'}"
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Writing zarr v2 data", UserWarning)
        (made.write_zarr if way == "zarr" else made.write_h5ad)(file)
    return ad.read_h5ad(file, backed="r") if way == "backed" else file, "y"


def parquet(X, y, folder, **options):
    pq = pytest.importorskip("pyarrow.parquet")
    pq.write_table(arrow(X, y), folder / "t.parquet", **options)
    return folder / "t.parquet", "y"


def feather(X, y, folder, name, **options):
    pytest.importorskip("pyarrow.feather").write_feather(arrow(X, y), folder / name, **options)
    return folder / name, "y"


def dataset(X, y, folder):
    pytest.importorskip("pyarrow.parquet").write_table(arrow(X), folder / "t.parquet")
    return pytest.importorskip("pyarrow.dataset").dataset(folder / "t.parquet"), y


def scanned(X, y, folder):
    file, _ = parquet(X, y, folder)
    pl = pytest.importorskip("polars")
    return pl.scan_parquet(file).drop("y"), y


def npy(X, y, folder, order):
    np.save(folder / "X.npy", np.asarray(X, order=order))
    return folder / "X.npy", y


def npz(X, y, folder):
    np.savez(folder / "t.npz", X=X, y=y, feature_names=NAMES)
    return folder / "t.npz", "y"


def mat5(X, y, folder):
    names = np.array(NAMES, dtype=object)
    io.savemat(folder / "t.mat", {"X": X, "y": y, "feature_names": names})
    return folder / "t.mat", "y"


def mat73(X, y, folder):
    """Write as MATLAB does: transposed, after 512 bytes of its own, texts as references."""
    h5py = pytest.importorskip("h5py")
    with h5py.File(folder / "t.mat", "w", userblock_size=512) as file:
        file["X"], file["y"] = X.T, y[None, :]
        cells = file.create_dataset("feature_names", (D, 1), dtype=h5py.ref_dtype)
        cells.attrs["MATLAB_class"] = np.bytes_("cell")
        for j, name in enumerate(NAMES):
            file[f"#refs#/{j}"] = np.array([[ord(sign)] for sign in name], dtype=np.uint16)
            cells[j, 0] = file[f"#refs#/{j}"].ref
    return folder / "t.mat", "y"


def hdf5(X, y, folder, inside="", **options):
    h5py = pytest.importorskip("h5py")
    with h5py.File(folder / "t.h5", "w") as file:
        group = file.create_group(inside) if inside else file
        group.create_dataset("X", data=X, **options)
        group["y"], group["feature_names"] = y, NAMES
    return f"{folder / 't.h5'}:/{inside}/X" if inside else folder / "t.h5", "y"


def zarr_group(X, y, folder, chunks, archive=False):
    zarr = pytest.importorskip("zarr")
    place = folder / ("t.zip" if archive else "t.zarr")
    store = zarr.storage.ZipStore(place, mode="w") if archive else place
    group = zarr.create_group(store)
    group.create_array("X", data=X, chunks=chunks)
    group.create_array("y", data=y)
    group.create_array("names", shape=D, dtype="string")[:] = np.array(NAMES, dtype=object)
    if archive:
        store.close()
    return place, "y"


def zarr_array(X, y, folder):
    zarr = pytest.importorskip("zarr")
    zarr.create_array(folder / "t.zarr", data=X, chunks=(50, 5))
    return folder / "t.zarr", y


def dask_array(X, y, chunks):
    return pytest.importorskip("dask.array").from_array(X, chunks=chunks), y


def dask_frame(X, y, n):
    dd = pytest.importorskip("dask.dataframe")
    return dd.from_pandas(pandas_frame(X), npartitions=n), y


#: Doors, each a function of X, y and a folder.
DOORS = {
    "array": lambda X, y, folder: (X, y),
    "array, columns": lambda X, y, folder: (np.asfortranarray(X), y),
    "pandas": lambda X, y, folder: (pandas_frame(X), y),
    "polars": lambda X, y, folder: (polars_frame(X), y),
    "polars, lazy": lambda X, y, folder: (polars_frame(X).lazy(), y),
    "polars, scan": scanned,
    "arrow": lambda X, y, folder: (arrow(X), y),
    "arrow dataset": dataset,
    "sparse": lambda X, y, folder: (sparse.csr_array(X), y),
    "csv": lambda X, y, folder: text(X, y, folder, "t.csv"),
    "csv.gz": lambda X, y, folder: text(X, y, folder, "t.csv.gz"),
    "csv.zst": lambda X, y, folder: text(X, y, folder, "t.csv.zst"),
    "csv, semicolons": lambda X, y, folder: text(X, y, folder, "t.csv", ";", ","),
    "tsv": lambda X, y, folder: text(X, y, folder, "t.tsv", "\t"),
    "tsv, phenotype": lambda X, y, folder: two_files(X, y, folder, transpose=False),
    "tsv, transposed": lambda X, y, folder: two_files(X, y, folder, transpose=True),
    "read_table, csv": lambda X, y, folder: opened(*text(X, y, folder, "t.csv")),
    "read_table, parquet": lambda X, y, folder: opened(*parquet(X, y, folder)),
    "read_table, zarr": lambda X, y, folder: opened(*zarr_group(X, y, folder, (N, 4))),
    "parquet": parquet,
    "parquet, row groups": lambda X, y, folder: parquet(X, y, folder, row_group_size=50),
    "feather": lambda X, y, folder: feather(X, y, folder, "t.feather", chunksize=50),
    "arrow file": lambda X, y, folder: feather(X, y, folder, "t.arrow", compression="uncompressed"),
    "npz": npz,
    "npy, rows": lambda X, y, folder: npy(X, y, folder, "C"),
    "npy, columns": lambda X, y, folder: npy(X, y, folder, "F"),
    "mat 5": mat5,
    "mat 7.3": mat73,
    "hdf5": hdf5,
    "hdf5, chunks": lambda X, y, folder: hdf5(X, y, folder, chunks=(50, 3), compression="gzip"),
    "hdf5, group": lambda X, y, folder: hdf5(X, y, folder, inside="run/2"),
    "zarr, columns": lambda X, y, folder: zarr_group(X, y, folder, (N, 4)),
    "zarr, rows": lambda X, y, folder: zarr_group(X, y, folder, (7, D)),
    "zarr, squares": lambda X, y, folder: zarr_group(X, y, folder, (10, 10)),
    "zarr, archive": lambda X, y, folder: zarr_group(X, y, folder, (N, 4), archive=True),
    "zarr, array": zarr_array,
    "dask, columns": lambda X, y, folder: dask_array(X, y, (N, 4)),
    "dask, rows": lambda X, y, folder: dask_array(X, y, (31, D)),
    "dask, squares": lambda X, y, folder: dask_array(X, y, (40, 6)),
    "dask frame": lambda X, y, folder: dask_frame(X, y, 3),
}
DOORS |= {
    f"anndata, {way}, {form}": partial(annotated, form=form, way=way)
    for way in ("object", "backed", "h5ad", "zarr")
    for form in FORMS
}
#: Doors of containers without names of columns.
UNNAMED = {"array", "array, columns", "sparse", "npy, rows", "npy, columns", "zarr, array"} | {
    door for door in DOORS if door.startswith("dask, ")
}


@pytest.mark.parametrize("door", DOORS)
def test_every_door_leads_to_the_same_selection(door, table, tmp_path):
    expected = HSICLasso(4).fit(pandas_frame(table[0]), table[1])
    X, y = DOORS[door](*table, tmp_path)
    found = HSICLasso(4).fit(X, y)
    names = [f"x{j}" for j in range(D)] if door in UNNAMED else NAMES
    assert found.result_.names == tuple(names[j] for j in expected.selected_)
    assert found.n_features_in_ == D
    assert_same_weights(found, expected)


def assert_same_weights(found, expected):
    """Assert that all differences are rounding.

    Sparse tables too: they sum over stored entries in place of samples, with the same kernels, so
    only the order of additions differs.
    """
    np.testing.assert_allclose(found.coef_, expected.coef_, rtol=1e-12, atol=1e-15)
    np.testing.assert_allclose(found.relevance_, expected.relevance_, rtol=1e-12)


def assert_same_within(error, found, expected):
    """Assert that differences are those of kernel matrices with this relative error."""
    for name in ("coef_", "relevance_"):
        wanted = getattr(expected, name)
        limit = error * np.abs(wanted).max()
        np.testing.assert_allclose(getattr(found, name), wanted, rtol=0, atol=limit)


@pytest.mark.parametrize("form", [sparse.csr_array, sparse.csc_array])
def test_a_sparse_table_of_more_samples(form):
    """Many samples of a dense table are screened, those of a sparse one are not.

    Screening leaves an error within `gram_error`. A smaller `gram_error` switches it off, and what
    remains is rounding.
    """
    rng = np.random.default_rng(5)
    X = rng.standard_normal((600, 300)) * (rng.random((600, 300)) < 0.2)
    y = X[:, 4] + np.abs(X[:, 8])
    dense, made = HSICLasso(4).fit(X, y), HSICLasso(4).fit(form(X), y)
    assert made.selected_.tolist() == dense.selected_.tolist()
    np.testing.assert_allclose(made.coef_, dense.coef_, rtol=0, atol=1e-6 * dense.coef_.max())
    exact = HSICLasso(4, gram_error=1e-8)
    dense, made = clone(exact).fit(X, y), clone(exact).fit(form(X), y)
    np.testing.assert_allclose(made.coef_, dense.coef_, rtol=1e-12, atol=1e-15)


@pytest.fixture(scope="module", params=[0.0, 0.1], ids=["complete", "missing calls"])
def genotypes(request):
    """Calls, 3 where missing, and a target."""
    rng = np.random.default_rng(6)
    calls = draw_calls(rng, N, D, request.param)
    known = np.nan_to_num(as_numbers(calls), nan=1.0)
    return calls, (known[:, 4] + (known[:, 11] == 1) + 0.3 * rng.standard_normal(N)).round(6)


def bed(calls, y, folder, target="phenotype"):
    """Write calls to a PLINK file; the target is its phenotype, or beside it if this is None."""
    sid, pheno = [f"g{j}" for j in range(D)], [f"{value:.6f}" for value in y]
    file = write_bed(folder / "t.bed", calls, sid=sid, pheno=pheno)
    return file, y if target is None else target


def complete(calls, y, make):
    """Return calls in a form that has no missing values; skip if there are any."""
    if (calls == 3).any():
        pytest.skip("this form has no missing values")
    return make(np.asarray(calls)), y


#: Doors for genotypes, each a function of calls, the target and a folder. Those whose values are
#: known to be few small integers have exact kernels;
COUNTED = {
    "plink": bed,
    "plink, target beside it": lambda calls, y, folder: bed(calls, y, folder, None),
    "plink, read_table": lambda calls, y, folder: opened(*bed(calls, y, folder)),
    "int8": lambda calls, y, folder: complete(calls, y, lambda calls: calls.astype(np.int8)),
    "uint8": lambda calls, y, folder: complete(calls, y, np.array),
    "sparse": lambda calls, y, folder: complete(calls, y, sparse.csc_array),
    "zarr, int8": lambda calls, y, folder: complete(
        calls, y, lambda calls: zarr_group(calls.astype(np.int8), y, folder, (N, 4))[0]
    ),
}
#: those of all other numbers have an error, which `gram_error` bounds.
NUMBERS = {
    "int64": lambda calls, y, folder: complete(calls, y, lambda calls: calls.astype(np.int64)),
    "float32": lambda calls, y, folder: (as_numbers(calls).astype(np.float32), y),
    "nullable": lambda calls, y, folder: (pandas_frame(as_numbers(calls)).astype("Int8"), y),
    "csv": lambda calls, y, folder: text(as_numbers(calls), y, folder, "t.csv"),
    "zarr": lambda calls, y, folder: zarr_group(as_numbers(calls), y, folder, (N, 4)),
}


@pytest.mark.parametrize("gram_error", [1e-6, 1e-12])
@pytest.mark.parametrize("door", COUNTED | NUMBERS)
def test_genotypes_through_every_door(door, genotypes, gram_error, tmp_path):
    calls, y = genotypes
    missing = "ignore" if (calls == 3).any() else "error"
    selector = HSICLasso(4, missing=missing, gram_error=gram_error)
    of_counts = clone(selector).fit(as_genotypes(calls, NAMES), y)
    of_numbers = clone(selector).fit(pandas_frame(as_numbers(calls)), y)
    found = selector.fit(*(COUNTED | NUMBERS)[door](calls, y, tmp_path))
    assert found.selected_.tolist() == of_numbers.selected_.tolist()
    assert_same_weights(found, of_counts if door in COUNTED else of_numbers)
    assert_same_within(gram_error, found, of_numbers if door in COUNTED else of_counts)
    if door not in ("int8", "uint8", "sparse", "int64", "float32"):  # these have no names
        assert found.result_.names == of_numbers.result_.names


@pytest.fixture(scope="module")
def labelled():
    rng = np.random.default_rng(4)
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(rng.standard_normal((N, 5)).round(6), columns=list("abcde"))
    frame["site"] = rng.choice(["north", "south", "west"], N)
    shift = frame["site"].map({"north": 0.0, "south": 1.5, "west": -1.0})
    return frame, (shift + frame["b"] ** 2).round(6).to_numpy()


#: Doors for tables with labels, each a function of a pandas frame, the target and a folder.
LABELLED = {
    "pandas": lambda frame, folder: frame,
    "polars": lambda frame, folder: pytest.importorskip("polars").from_dict(dict(frame.items())),
    "polars, lazy": lambda frame, folder: LABELLED["polars"](frame, folder).lazy(),
    "arrow": lambda frame, folder: pytest.importorskip("pyarrow").Table.from_pandas(frame),
    "csv": lambda frame, folder: save(frame, folder / "t.csv", "to_csv", index=False),
    "parquet": lambda frame, folder: save(frame, folder / "t.parquet", "to_parquet"),
    "parquet, categories": lambda frame, folder: save(
        frame.astype({"site": "category"}), folder / "t.parquet", "to_parquet"
    ),
    "feather": lambda frame, folder: save(frame, folder / "t.feather", "to_feather"),
    "dask frame": lambda frame, folder: pytest.importorskip("dask.dataframe").from_pandas(
        frame.astype({"site": "category"}), npartitions=4
    ),
}


def save(frame, file, method, **options):
    if method != "to_csv":
        pytest.importorskip("pyarrow")
    getattr(frame, method)(file, **options)
    return file


@pytest.mark.parametrize("door", LABELLED)
def test_labels_through_every_door(door, labelled, tmp_path):
    frame, y = labelled
    expected = HSICLasso(2).fit(frame, y)
    X = LABELLED[door](frame, tmp_path)
    found = HSICLasso(2).fit(X, y)
    assert found.result_.names == expected.result_.names
    assert "site" in found.result_.names
    np.testing.assert_allclose(found.coef_, expected.coef_, rtol=1e-12)
    source = as_dataset(X, y).source
    site = [source.name(j) for j in range(source.n_features)].index("site")
    codes = source.block(slice(site, site + 1)).ravel().astype(int)
    assert [source.categories(site)[code] for code in codes] == frame["site"].tolist()


@pytest.mark.parametrize("door", DOORS)
def test_every_table_can_be_sent_to_another_process(door, table, tmp_path):
    source = as_dataset(*DOORS[door](*table, tmp_path)).source
    text = pickle.dumps(source)
    copy = pickle.loads(text)
    for columns in (slice(2, 5), np.array([11, 4])):
        np.testing.assert_array_equal(copy.block(columns), source.block(columns))
    assert copy.identity() == source.identity()
    chunks = source.chunks(N * 8 * 3)
    assert_cover(chunks, D)
    assert all(chunk.stop - chunk.start <= D for chunk in chunks)
