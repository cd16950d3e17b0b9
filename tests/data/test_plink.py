"""Genotypes of PLINK: values, names, samples, selections, and files that are broken."""

from __future__ import annotations

import csv
import pickle
import re
import shutil
import sys
import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hsiclasso import (
    ConstantFeatureWarning,
    FewObservedWarning,
    HSICLasso,
    InvalidInputError,
    MissingExtraError,
)
from hsiclasso.baselines import MRMR
from hsiclasso.data import RowSubset, as_dataset, as_source, check_finite
from hsiclasso.data.plink import PlinkSource
from hsiclasso.data.variants import read_phenotype
from hsiclasso.dependence import budget
from tests.data.chunks import assert_cover
from tests.genotypes import as_genotypes, as_numbers, draw_calls, write_bed

REAL = {
    "toydata.5chrom": (500, 10_000), "bigsnpr_example": (517, 4542), "some_missing": (100, 100),
    "plink_sim_10s_100v_10pmiss": (10, 100), "small": (3, 4),
}  # fmt: skip


@pytest.fixture(scope="module")
def calls():
    return draw_calls(np.random.default_rng(0), 130, 40, 0.05)


@pytest.fixture(scope="module")
def y(calls):
    rng = np.random.default_rng(1)
    return (
        as_numbers(calls)[:, 0]
        + (np.asarray(calls)[:, 7] == 1)
        + 0.3 * rng.standard_normal(len(calls))
    )


@pytest.fixture
def bed(tmp_path, calls, y):
    """A file whose variants are named rs0, rs1, ... and lie on two chromosomes."""
    n, d = calls.shape
    return write_bed(
        tmp_path / "cohort.bed", calls,
        sid=[f"rs{j}" for j in range(d)], chromosome=[str(1 + j // 30) for j in range(d)],
        bp_position=[100 * j for j in range(d)], allele_1=["A"] * d, allele_2=["G"] * d,
        iid=[f"s{i}" for i in range(n)], fid=[f"f{i // 2}" for i in range(n)],
        sex=[i % 3 for i in range(n)], pheno=[f"{value:.6f}" for value in y],
    )  # fmt: skip


@pytest.fixture(params=REAL)
def real(request, data_folder):
    """A real file, and its shape."""
    pytest.importorskip("bed_reader")
    file = data_folder / "formats" / "plink" / f"{request.param}.bed"
    if not file.exists():
        pytest.skip(f"{file.name} is absent from the folder of real data")
    return file, REAL[request.param]


def change(file, suffix, old, new):
    """Replace text in one of the files beside a .bed file."""
    part = file.with_suffix(suffix)
    text = part.read_text()
    assert old in text
    part.write_text(text.replace(old, new, 1))
    return file


# ---------------------------------------------------------------- values


@given(
    n=st.integers(1, 300), d=st.integers(0, 150), share=st.sampled_from([0.0, 0.1, 1.0]),
    seed=st.integers(0, 1000),
)  # fmt: skip
def test_decoding(n, d, share, seed):
    rng = np.random.default_rng(seed)
    calls = rng.integers(0, 3, (n, d)).astype(np.uint8)
    calls[rng.random((n, d)) < share] = 3
    source = as_genotypes(calls)
    some = rng.permutation(d)[: d // 2]
    for columns in (slice(None), slice(d // 3, d // 2), some):
        np.testing.assert_array_equal(source.levels(columns), calls[:, columns])
        block = source.block(columns)
        assert block.flags.f_contiguous
        assert block.dtype == np.float64
        np.testing.assert_array_equal(block, as_numbers(calls[:, columns]))
        assert source.read(columns).dtype == np.float32
        np.testing.assert_array_equal(source.read(columns), as_numbers(calls[:, columns]))


def assert_values(source, expected):
    d = source.n_features
    for columns in (slice(0, d), slice(1, 3), slice(0, 0), np.array([d - 1, 0, 0, d // 2])):
        np.testing.assert_array_equal(source.block(columns), expected[:, columns])
        np.testing.assert_array_equal(source.read(columns), expected[:, columns].astype("f4"))
        levels = source.levels(columns)
        numbers = np.where(levels == source.missing_level, np.nan, levels)
        np.testing.assert_array_equal(numbers, expected[:, columns])
    for chunk in source.chunks(5 * source.n_samples):
        part = source.load(chunk)
        assert part.in_memory
        assert part.name(0) == source.name(chunk.start)
        np.testing.assert_array_equal(part.block(slice(None)), expected[:, chunk])


def test_real_files_like_bed_reader(real):
    import bed_reader

    file, shape = real
    source = PlinkSource(file)
    assert (source.n_samples, source.n_features) == shape
    with bed_reader.open_bed(file) as bed:
        assert_values(source, bed.read(dtype="float64"))
        assert source.ids == bed.iid.tolist()
        assert source.annotations["family"].tolist() == bed.fid.tolist()
        last = source.column_info(shape[1] - 1)
        assert last["chromosome"] == bed.chromosome[-1]
        assert last["position"] == bed.bp_position[-1]
        assert (last["counted_allele"], last["other_allele"]) == (
            bed.allele_1[-1],
            bed.allele_2[-1],
        )
        assert [source.name(j) for j in range(shape[1])] == bed.sid.tolist()


def test_values_of_a_file(bed, calls):
    source = PlinkSource(bed)
    assert not source.in_memory
    assert (source.kind(0), source.uniform_kind, source.dtype_name(0)) == (
        "number", "number", "int8",
    )  # fmt: skip
    assert source.n_bytes == bed.stat().st_size - 3
    assert source.load(slice(3, 8)).n_bytes == 5 * 33
    assert_values(source, as_numbers(calls))
    assert_values(RowSubset(source, np.arange(129, 0, -2)), as_numbers(calls)[129:0:-2])


@pytest.mark.parametrize("size", [1, 130 * 7, 10**9])
def test_chunks_cover_the_variants(bed, size):
    chunks = PlinkSource(bed).chunks(size)
    assert_cover(chunks, 40)
    assert len(chunks) == {1: 40, 910: 8, 10**9: 8}[size]


def test_identity_and_pickle(bed, calls):
    source = PlinkSource(bed)
    again = pickle.loads(pickle.dumps(source))
    np.testing.assert_array_equal(again.block(slice(None)), as_numbers(calls))
    before = source.identity()
    assert again.identity() == before
    change(bed, ".fam", "f0", "family0")
    assert PlinkSource(bed).identity() != before


# ---------------------------------------------------------------- samples and names


def test_samples_of_a_file(bed, y):
    source = PlinkSource(bed)
    assert source.ids[:3] == ["s0", "s1", "s2"]
    assert source.annotations["sex"][:3].tolist() == [None, "male", "female"]
    assert source.annotations["family"][:3].tolist() == ["f0", "f0", "f1"]
    np.testing.assert_allclose(source.annotations["phenotype"], y, atol=1e-6)


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        ("1 2 2 1", [1, 2, 2, 1]),
        ("1 2 0 -9", [1, 2, np.nan, np.nan]),
        ("1 2 NA -9", [1, 2, np.nan, np.nan]),
        ("0 1 0 1", [np.nan, 1, np.nan, 1]),
        ("0 0 -9 NA", [np.nan] * 4),
        ("0 1 2 3", [0, 1, 2, 3]),
        ("0 -9 1.5 nan", [0, np.nan, 1.5, np.nan]),
        ("-9.0 1e3 -1 2", [np.nan, 1000, -1, 2]),
        ("red blue -9 NA", ["red", "blue", None, None]),
    ],
)
def test_phenotypes(cells, expected):
    found = read_phenotype(cells.split())
    assert found.dtype == (object if "red" in cells else np.float64)
    np.testing.assert_array_equal(found, np.array(expected, dtype=found.dtype))


def test_variants_without_names_of_their_own(bed):
    for j, name in enumerate([".", "twice", ".", "twice"]):
        change(bed, ".bim", f"\trs{j}\t", f"\t{name}\t")
    change(bed, ".bim", "\t200\t", "\t0\t")  # the third variant lies where the first does
    change(bed, ".bim", "rs9", "1:100:A:G")  # a name that the second would get
    words = r"4 of 40 variants of .*cohort\.bim have no name.*as in '1:0:A:G'"
    with pytest.warns(UserWarning, match=words) as caught:
        source = as_source(bed)
    assert caught[0].filename == __file__
    names = [source.name(j) for j in range(5)]
    assert names == ["1:0:A:G", "1:100:A:G:2", "1:0:A:G:2", "1:300:A:G", "rs4"]
    assert len({source.name(j) for j in range(40)}) == 40
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        pickle.loads(pickle.dumps(source))  # was said before


def test_blank_lines_and_spaces(bed, calls):
    bim, fam = bed.with_suffix(".bim"), bed.with_suffix(".fam")
    bim.write_text("\n" + bim.read_text().replace("\t", "  ") + "\n \n")
    fam.write_text(fam.read_text().replace("\n", "\r\n"))
    source = PlinkSource(bed)
    assert source.name(1) == "rs1"
    np.testing.assert_array_equal(source.block(slice(None)), as_numbers(calls))


# ---------------------------------------------------------------- selections


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("covariates", [None, ["family"], ["rs0"]])
def test_selection_like_the_decoded_array(bed, calls, covariates, n_jobs, monkeypatch):
    monkeypatch.setattr(budget, "_CHUNK", 130 * 6)
    change(bed, ".fam", "f0", "g")  # families of two are too many: make them a few
    fam = bed.with_suffix(".fam")
    fam.write_text(re.sub(r"^f(\d)\d*\b", r"f\1", fam.read_text(), flags=re.MULTILINE))
    selector = HSICLasso(5, missing="ignore", n_jobs=n_jobs, n_neighbors=2, gram_error=1e-10)
    found = selector.set_params(covariates=covariates).fit(str(bed), "phenotype")
    source = PlinkSource(bed)
    y, own = source.annotations["phenotype"], source.annotations["family"]
    expected = HSICLasso(**selector.get_params()).set_params(
        covariates=[0] if covariates == ["rs0"] else None
    )
    values = own[:, None] if covariates == ["family"] else None
    expected.fit(as_numbers(calls), y, covariates=values)
    assert found.selected_.tolist() == expected.selected_.tolist()
    np.testing.assert_allclose(found.coef_, expected.coef_, rtol=1e-7)
    np.testing.assert_array_equal(found.n_observed_, expected.n_observed_)
    assert found.result_.names == tuple(f"rs{j}" for j in expected.selected_)
    assert [[other.index for other in f.neighbours] for f in found.result_.features] == [
        [other.index for other in f.neighbours] for f in expected.result_.features
    ]


def test_real_files_select_what_the_decoded_array_does(real):
    import bed_reader

    file, (n, d) = real
    if n < 100:
        pytest.skip("too few samples to select from")
    with bed_reader.open_bed(file) as bed:
        X = bed.read(dtype="float64")
    y = PlinkSource(file).annotations["phenotype"]
    y = y if np.isfinite(y).any() else np.nansum(X[:, :5] == 1, axis=1)
    found, expected = HSICLasso(8, missing="ignore"), HSICLasso(8, missing="ignore")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # constant variants
        found.fit(file, y)
        expected.fit(X, y)
    assert found.n_features_in_ == d
    assert found.selected_.tolist() == expected.selected_.tolist()
    np.testing.assert_allclose(found.coef_, expected.coef_, rtol=1e-3, atol=1e-6 * y.max())


def test_complete_files_need_no_option(tmp_path, rng):
    calls = draw_calls(rng, 90, 20, 0.0)
    bed = write_bed(tmp_path / "whole.bed", calls)
    y = calls[:, 3].astype(float) ** 2
    found = HSICLasso(3).fit(bed, y)
    expected = HSICLasso(3).fit(np.asarray(calls).astype(np.int8), y)
    assert found.selected_.tolist() == expected.selected_.tolist()
    np.testing.assert_allclose(found.coef_, expected.coef_, rtol=1e-12)


def test_missing_calls_are_refused_by_name(bed, y, monkeypatch):
    monkeypatch.setattr(budget, "_CHUNK", 130 * 6)
    with pytest.raises(InvalidInputError, match=r"NaN in column 'rs1'.*pass missing='ignore'"):
        HSICLasso(3).fit(bed, y)
    with pytest.raises(InvalidInputError, match="NaN in column 'rs1'"):
        check_finite(as_source(bed))
    with pytest.raises(InvalidInputError, match="NaN in column 'rs1'"):
        MRMR(3).fit(bed, y)
    check_finite(as_source(bed), ignore=True)


def test_variants_that_cannot_be_judged(tmp_path, rng):
    calls = draw_calls(rng, 60, 12)
    calls[:, 3], calls[:, 4], calls[20:, 5] = 2, 3, 3
    bed = write_bed(tmp_path / "odd.bed", calls)
    with (
        pytest.warns(ConstantFeatureWarning, match="get weight 0: sid4$"),
        pytest.warns(FewObservedWarning, match="get weight 0: sid5, sid6$"),
    ):
        found = HSICLasso(3, missing="ignore").fit(bed, as_numbers(calls)[:, 0])
    assert found.result_.data.constant == ("sid4",)
    assert found.result_.data.few_observed == ("sid5", "sid6")
    assert found.n_observed_[[3, 4, 5]].tolist() == [60, 0, np.count_nonzero(calls[:, 5] < 3)]


def test_roles(bed):
    data = as_dataset(bed, "sex")
    assert data.y[:3].tolist() == [None, "male", "female"]
    assert set(data.source.annotations) == {"phenotype", "family"}
    assert data.source.ids[1] == "s1"
    data = as_dataset(bed, "rs7")
    assert data.source.n_features == 39
    assert data.source.name(7) == "rs8"
    assert data.source.column_info(7)["position"] == 800
    with pytest.raises(InvalidInputError, match=r"'phenotyp'.*did you mean 'phenotype'"):
        as_dataset(bed, "phenotyp")
    with pytest.raises(InvalidInputError, match="described by 'phenotype', 'sex', 'family': give"):
        as_dataset(bed, "status")


def test_places_are_part_of_the_result(bed, y):
    selector = HSICLasso(3, missing="ignore", joint={"two": ["rs1", "rs2"]}, keep=["two"])
    result = selector.fit(bed, y).result_
    places = {row["name"]: (row["chromosome"], row["position"]) for row in result.to_rows()}
    assert places["two"] == (None, None)
    assert all(
        place == (str(1 + int(name[2:]) // 30), 100 * int(name[2:]))
        for name, place in places.items()
        if name != "two"
    )
    assert result.fields[-2:] == ["counted_allele", "other_allele"]
    assert result.to_dict()["features"][0]["info"] in (
        {},
        {"chromosome": "1", "position": 0, "counted_allele": "A", "other_allele": "G"},
    )


def test_transform(bed, calls, y):
    selector = HSICLasso(3, missing="ignore").fit(bed, y)
    found = selector.transform(bed)
    assert found.dtype == np.float32
    np.testing.assert_array_equal(found, as_numbers(calls)[:, np.sort(selector.selected_)])


def test_command_line(bed, tmp_path):
    from tests.cli.helpers import fail, succeed

    out = tmp_path / "found.csv"
    succeed("select", bed, "-t", "phenotype", "--missing", "ignore", "-k", 3, "--out", out)
    with out.open() as stream:
        rows = list(csv.DictReader(stream))
    assert len(rows) == 3
    assert {"rs0", "rs7"} <= {row["name"] for row in rows}
    assert all(row["position"] == str(100 * int(row["name"][2:])) for row in rows)
    assert "say --missing ignore" in fail("select", bed, "-t", "phenotype")


# ---------------------------------------------------------------- what is wrong


def test_without_bed_reader(bed, monkeypatch):
    monkeypatch.setitem(sys.modules, "bed_reader", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'hsiclasso\[plink\]'"):
        as_source(bed)


def rewrite(file, suffix, text):
    file.with_suffix(suffix).write_bytes(text)


def cut(file, size):
    file.write_bytes(file.read_bytes()[:size])


WRONG = {
    "empty": (lambda file: cut(file, 0), r"cohort\.bed is empty \(0 bytes\)"),
    "two bytes": (lambda file: cut(file, 2), "starts with the bytes 6c 1b, but a PLINK 1 file"),
    "magic": (
        lambda file: rewrite(file, ".bed", b"\x6c\x1c\x01" + bytes(40 * 33)),
        r"cohort\.bed starts with the bytes 6c 1c 01, but a PLINK 1 file starts with 6c 1b 01",
    ),
    "intervals": (
        lambda file: rewrite(file, ".bed", b"chr1\t100\t200\n"),
        "starts with the bytes 63 68 72, .* intervals of a genome have the same suffix",
    ),
    "by sample": (
        lambda file: rewrite(file, ".bed", b"\x6c\x1b\x00" + bytes(40 * 33)),
        r"stores one sample after the other \(byte 3 is 0x00\).*plink --make-bed",
    ),
    "truncated": (
        lambda file: cut(file, 1000),
        r"has 1,000 bytes, but 130 samples \(its \.fam file\) and 40 variants \(its \.bim file\) "
        "need 1,323: it is cut off, or the three files",
    ),
    "too long": (
        lambda file: file.write_bytes(file.read_bytes() + b"\x00"),
        "has 1,324 bytes.*need 1,323: the three files do not belong",
    ),
    "no .bim": (
        lambda file: file.with_suffix(".bim").unlink(),
        r"cohort\.bed needs cohort\.bim beside it, which does not exist",
    ),
    "no .fam": (
        lambda file: file.with_suffix(".fam").unlink(),
        r"cohort\.bed needs cohort\.fam beside it, which does not exist",
    ),
    "empty .bim": (lambda file: rewrite(file, ".bim", b""), r"cohort\.bim has no variants"),
    "empty .fam": (lambda file: rewrite(file, ".fam", b"\n"), r"cohort\.fam has no samples"),
    "short line of .bim": (
        lambda file: change(file, ".bim", "\trs3\t", "\t"),
        r"line 4 of .*cohort\.bim has 5 fields, but a line has 6: chromosome, name",
    ),
    "long line of .fam": (
        lambda file: change(file, ".fam", "s6", "s 6"),
        r"line 7 of .*cohort\.fam has 7 fields, but a line has 6: family, person",
    ),
    "position": (
        lambda file: change(file, ".bim", "\t700\t", "\t7e2\t"),
        r"line 8 of .*cohort\.bim has the position '7e2', which is no whole number",
    ),
    "not text": (
        lambda file: rewrite(file, ".bim", b"1\trs\xff\t0\t1\tA\tG\n"),
        r"cohort\.bim is not UTF-8 text",
    ),
    "fewer variants": (
        lambda file: rewrite(file, ".bim", b"1\trs0\t0\t1\tA\tG\n"),
        r"130 samples .* and 1 variants .* need 36: the three files",
    ),
}


@pytest.mark.parametrize("case", WRONG)
def test_broken_files(case, bed, y):
    spoil, words = WRONG[case]
    spoil(bed)
    with pytest.raises(InvalidInputError, match=words):
        HSICLasso(3).fit(bed, y)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("cohort.bim", r"describes the variants of a PLINK file: give cohort\.bed"),
        ("cohort.fam", r"describes the samples of a PLINK file: give cohort\.bed"),
        ("cohort", r"cohort does not exist: give cohort\.bed"),
        ("cohort.pgen", "convert it with plink2 --make-bed"),
        ("other.bed", "does not exist"),
    ],
)
def test_paths_that_are_no_bed_file(name, words, bed):
    with pytest.raises(InvalidInputError, match=words):
        as_source(bed.with_name(name))


@pytest.mark.parametrize("read", ["block", "read", "levels", "load"])
@pytest.mark.parametrize("how", ["cut off", "gone"])
def test_a_file_that_changes_while_it_is_read(read, how, bed):
    source = PlinkSource(bed)
    if how == "gone":
        shutil.move(bed, bed.with_name("elsewhere.bed"))
    else:
        cut(bed, 500)
    with pytest.raises(InvalidInputError, match=r"cohort\.bed cannot be read any more"):
        getattr(source, read)(slice(10, 40))
