"""Files that describe samples, joined by identifiers."""

from __future__ import annotations

import gzip

import numpy as np
import pytest

from hsiclasso import HSICLasso, InvalidInputError, Phenotype, TextFormat, read_table
from hsiclasso.baselines import MRMR
from hsiclasso.data import Dataset, as_dataset, as_source
from hsiclasso.data.join import describe
from hsiclasso.data.layout import Roles
from hsiclasso.data.phenotype import as_phenotype
from hsiclasso.data.sources import ArraySource
from hsiclasso.data.stored import StoredArray

TABLE = "sample,a,b\ns1,1,2\ns2,3,4\ns3,5,7\ns4,2,2\n"
PEOPLE = "sample,age,state,w\ns3,50,ill,1\ns1,30,well,2\ns4,20,ill,3\ns2,40,well,4\n"


@pytest.fixture
def put(tmp_path):
    def put(name, text):
        file = tmp_path / name
        content = text.encode()
        file.write_bytes(gzip.compress(content) if name.endswith(".gz") else content)
        return file

    return put


def names(table):
    return [table.source.name(j) for j in range(table.source.n_features)]


def test_columns_are_joined_in_the_order_of_the_table(put):
    table = read_table(
        put("t.csv", TABLE), "state", weights="w", phenotype=put("p.csv", PEOPLE), id="sample"
    )
    assert names(table) == ["a", "b"]
    assert table.source.ids == ["s1", "s2", "s3", "s4"]
    assert table.y.tolist() == ["well", "well", "ill", "ill"]
    assert table.weights.tolist() == [2, 4, 1, 3]
    assert list(table.source.annotations) == ["age"]
    assert table.source.annotations["age"].tolist() == [30, 40, 50, 20]
    assert table.target == ("state",)


@pytest.mark.parametrize(
    ("table", "people", "options"),
    [
        (TABLE, PEOPLE, {}),  # the same name in both
        (TABLE.replace("sample", ""), PEOPLE, {}),  # row names of R and pandas
        (TABLE.replace("sample", "tube"), PEOPLE, {"id": "tube"}),
        (TABLE, PEOPLE.replace("sample", "iid"), {"id": "sample"}),
        (TABLE.replace("sample", ""), PEOPLE, {"id": "sample"}),
        (TABLE, PEOPLE.replace(",", ";"), {}),
        (TABLE.replace(",", ";"), PEOPLE, {"text": TextFormat(sep=";")}),
        (TABLE, "x,state,IID\nu,ill,s3\nu,well,s1\nu,ill,s4\nu,well,s2\n", {"id": "sample"}),
    ],
)
def test_how_identifiers_are_found(put, table, people, options):
    found = read_table(put("t.csv", table), "state", phenotype=put("p.csv", people), **options)
    assert names(found) == ["a", "b"]
    assert found.y.tolist() == ["well", "well", "ill", "ill"]


def test_the_column_of_identifiers_may_have_another_name(put):
    people = put("p.csv", "n,state,who\n1,ill,s3\n2,well,s1\n3,ill,s4\n4,well,s2\n")
    table = put("t.csv", TABLE)
    found = read_table(table, "state", id="sample", phenotype=Phenotype(people, id="who"))
    assert found.y.tolist() == ["well", "well", "ill", "ill"]
    with pytest.raises(InvalidInputError, match=r"id names 'whoo', .*did you mean 'who'"):
        read_table(table, "state", id="sample", phenotype=Phenotype([people], id="whoo"))
    with pytest.raises(InvalidInputError, match=r"id names 'tube', which is not a column of .*t\."):
        read_table(table, "state", id="tube", phenotype=people)


def test_identifiers_are_text(put):
    table = put("t.csv", TABLE.replace("s", "00").replace("00ample", "s"))
    people = put("p.csv", PEOPLE.replace("sample,", "s,").replace("\ns", "\n00"))
    assert read_table(table, "age", phenotype=people).source.ids == ["001", "002", "003", "004"]


def test_an_identifier_is_no_feature(put):
    table = read_table(put("t.csv", TABLE), "b", id="sample")
    assert names(table) == ["a"]
    assert table.source.ids == ["s1", "s2", "s3", "s4"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"id": "b"}, "'b' is both the target and the identifier of samples"),
        ({"id": "sampel"}, r"id names 'sampel', .*did you mean 'sample'"),
        ({"id": "sample", "drop": "sample"}, "'sample' is both the identifier of samples and to"),
    ],
)
def test_identifiers_that_break_a_rule(put, options, message):
    with pytest.raises(InvalidInputError, match=message):
        read_table(put("t.csv", TABLE), "b", **options)


def test_an_identifier_is_missing(put):
    with pytest.raises(InvalidInputError, match=r"t\.csv has no identifier in data row 2"):
        read_table(put("t.csv", TABLE.replace("s2", "")), "b", id="sample")


class TestMatching:
    def test_some_samples_do_not_match(self, put):
        people = PEOPLE.replace("s1", "q1").replace("s4", "q4") + "q9,1,ill,1\ns5,1,ill,1\n"
        table = put("t.csv", TABLE + "s5,9,9\ns6,7,7\n")
        with pytest.warns(UserWarning, match="samples of") as caught:
            found = read_table(table, "state", phenotype=put("p.csv", people))
        (message,) = [str(one.message) for one in caught]
        assert "3 of 6 samples of " in message
        assert "samples left out (3): 's1', 's4', 's6'" in message
        assert "rows without a sample (3): 'q1', 'q4', 'q9'." in message
        assert found.source.ids == ["s2", "s3", "s5"]
        assert found.y.tolist() == ["well", "ill", "ill"]
        assert found.source.block(slice(0, 2)).tolist() == [[3, 4], [5, 7], [9, 9]]

    def test_targets_and_weights_of_the_table_follow(self, put):
        people = put("p.csv", PEOPLE.replace("s2", "s9"))
        table = put("t.csv", TABLE.replace("\n", ",1\n").replace("b,1", "b,c"))
        with pytest.warns(UserWarning, match="3 of 4 samples"):
            found = read_table(table, "b", weights="a", phenotype=people)
        assert found.y.tolist() == [2, 7, 2]
        assert found.weights.tolist() == [1, 5, 2]
        assert set(found.source.annotations) == {"age", "state", "w"}

    def test_no_sample_matches(self, put):
        people = put("p.csv", PEOPLE.replace("\ns", "\nq"))
        with pytest.raises(
            InvalidInputError, match=r"its samples are 's1', 's2'.* has 'q3', 'q1', .*--id on"
        ):
            read_table(put("t.csv", TABLE), "state", phenotype=people)

    def test_samples_without_identifiers(self, put):
        people = put("p.csv", PEOPLE)
        table = put("t.csv", "a,b\n1,2\n3,4\n5,7\n2,2\n")
        said = r"the table has no identifiers of samples.*id='"
        with pytest.raises(InvalidInputError, match=said):
            read_table(table, "state", phenotype=people)

    @pytest.mark.parametrize("corner", ["gene", ""])
    def test_samples_in_columns(self, put, corner):
        text = f"{corner},s1,s2,s3,s4\nA,1,2,3,4\nB,3,2,1,0\nC,1,1,2,2\n"
        people = put("p.csv", PEOPLE)
        with pytest.raises(InvalidInputError, match=r"rows may be features.*--transpose"):
            read_table(put("t.csv", text), "state", phenotype=people)
        turned = TextFormat(transpose=True)
        found = read_table(put("t.csv", text), "state", phenotype=people, text=turned)
        assert names(found) == ["A", "B", "C"]
        assert found.y.tolist() == ["well", "well", "ill", "ill"]
        again = read_table(put("t.csv", text), "state", phenotype=people, text=turned, id="sample")
        assert again.y.tolist() == found.y.tolist()

    def test_an_identifier_twice(self, put):
        people = put("p.csv", PEOPLE + "s1,9,ill,9\n")
        with pytest.raises(InvalidInputError, match=r"p\.csv describes 's1' more than once"):
            read_table(put("t.csv", TABLE), "state", phenotype=people)
        # samples of the same person are allowed
        table = put("t.csv", TABLE + "s1,8,8\n")
        found = read_table(table, "state", phenotype=put("p.csv", PEOPLE))
        assert found.y.tolist() == ["well", "well", "ill", "ill", "well"]

    def test_no_sample_is_in_all_files(self, put):
        files = [put("p.csv", "sample,age\ns1,3\ns2,4\n"), put("q.csv", "sample,sex\ns3,f\ns4,m\n")]
        with (
            pytest.warns(UserWarning, match="2 of 4 samples"),
            pytest.raises(InvalidInputError, match=r"no sample of .* is in all of"),
        ):
            read_table(put("t.csv", TABLE), "age", phenotype=files)


class TestRoles:
    def test_targets_from_both(self, put):
        table, people = put("t.csv", TABLE), put("p.csv", PEOPLE)
        found = read_table(table, ["age", "b", "w"], phenotype=people)
        assert found.target == ("age", "b", "w")
        assert found.y[0].tolist() == [30, 2, 2]
        assert names(found) == ["a"]
        assert list(found.source.annotations) == ["state"]

    def test_categories_and_dropped_columns(self, put):
        table, people = put("t.csv", TABLE), put("p.csv", PEOPLE)
        found = read_table(table, "age", phenotype=people, category=["age", "w"], drop=["state"])
        assert found.y.tolist() == ["30", "40", "50", "20"]
        assert {key: note.tolist() for key, note in found.source.annotations.items()} == {
            "w": ["2", "4", "1", "3"]
        }

    def test_a_name_in_both(self, put):
        people = put("p.csv", PEOPLE.replace("age", "a"))
        with pytest.raises(InvalidInputError, match=r"'a' is a feature of .* also describes"):
            read_table(put("t.csv", TABLE), "a", phenotype=people)

    def test_a_name_in_two_files(self, put):
        files = [put("p.csv", PEOPLE), put("q.csv", PEOPLE)]
        with pytest.raises(InvalidInputError, match=r"'age', 'state', 'w' is in .*p\.csv and in"):
            read_table(put("t.csv", TABLE), "age", phenotype=files)

    def test_a_name_in_no_file(self, put):
        with pytest.raises(
            InvalidInputError, match=r"described by 'age', 'state', 'w' \(did you mean 'state'\?\)"
        ):
            read_table(put("t.csv", TABLE), "stat", phenotype=put("p.csv", PEOPLE))

    def test_a_target_of_several_columns_stays_alone(self, put, tmp_path):
        file = tmp_path / "t.npz"
        ids = np.array(["s1", "s2", "s3", "s4"])
        np.savez(file, X=np.eye(4), y=np.ones((4, 2)), who=ids)
        with pytest.raises(InvalidInputError, match="put all targets into one"):
            read_table(file, ["y", "age"], id="who", phenotype=put("p.csv", PEOPLE))

    def test_covariates_and_selection(self, put, rng):
        X = rng.standard_normal((60, 5)).round(4)
        batch = rng.integers(0, 2, 60)
        X[:, 1] += 3 * batch
        risk = X[:, 0] + 3 * batch
        rows = [f"s{i}," + ",".join(map(str, row)) for i, row in enumerate(X.tolist())]
        table = put("t.csv", "id," + ",".join(f"g{j}" for j in range(5)) + "\n" + "\n".join(rows))
        order = rng.permutation(60)
        people = put(
            "p.csv",
            "id,risk,batch\n" + "".join(f"s{i},{risk[i]},{'ab'[batch[i]]}\n" for i in order),
        )
        data = read_table(table, "risk", phenotype=people)
        found = HSICLasso(1, covariates=["batch"]).fit(data)
        expected = HSICLasso(1).fit(X, risk, covariates=batch.astype(str))
        assert found.selected_.tolist() == expected.selected_.tolist() == [0]
        np.testing.assert_allclose(found.coef_, expected.coef_, rtol=1e-12)


class TestFormats:
    def test_npz_and_parquet(self, put, tmp_path):
        people = put("p.csv", PEOPLE)
        X, ids = np.arange(8.0).reshape(4, 2), ["s4", "s2", "s3", "s1"]
        np.savez(tmp_path / "t.npz", X=X, who=np.array(ids, dtype=bytes))
        text = TextFormat(na="40", sep=",")
        found = read_table(tmp_path / "t.npz", "age", id="who", phenotype=people, text=text)
        np.testing.assert_array_equal(found.y, [20, np.nan, 50, 30])
        pa = pytest.importorskip("pyarrow")
        parquet = pytest.importorskip("pyarrow.parquet")
        columns = {"sample": ids, "a": X[:, 0], "b": X[:, 1]}
        parquet.write_table(pa.table(columns), tmp_path / "t.parquet")
        found = read_table(tmp_path / "t.parquet", "age", phenotype=people)
        assert found.y.tolist() == [20, 40, 50, 30]
        assert names(found) == ["a", "b"]

    def test_ordered_categories(self, put, tmp_path):
        pytest.importorskip("pyarrow")
        pd = pytest.importorskip("pandas")
        stage = pd.Categorical(["II", "I", None, "III"], ["I", "II", "III"], ordered=True)
        frame = pd.DataFrame({"sample": ["s1", "s9", "s3", "s4"], "a": range(4), "stage": stage})
        frame.to_parquet(tmp_path / "t.parquet")
        with pytest.warns(UserWarning, match="3 of 4"):
            found = read_table(tmp_path / "t.parquet", "stage", phenotype=put("p.csv", PEOPLE))
        assert found.y.codes.tolist() == [1, -1, 2]

    def test_a_table_that_is_not_in_memory(self, put, tmp_path, rng):
        X = rng.standard_normal((30, 20)).astype(np.float32)
        np.save(tmp_path / "X.npy", X)
        source = StoredArray(np.load(tmp_path / "X.npy", mmap_mode="r"))
        source.ids = [f"s{i}" for i in range(30)]
        rows = "".join(f"s{i},{X[i, 4] ** 2}\n" for i in range(29, 4, -1))
        people = put("p.csv", "IID,y\n" + rows)
        roles = Roles(("y",), id="IID")
        found = describe(as_phenotype(people, TextFormat()), roles)
        with pytest.warns(UserWarning, match="25 of 30 samples"):
            data = found.join("X.npy", Dataset(source, None, ()))
        assert not data.source.in_memory
        fitted = HSICLasso(2).fit(data)
        expected = HSICLasso(2).fit(X[5:], X[5:, 4] ** 2)
        assert fitted.selected_.tolist() == expected.selected_.tolist()
        np.testing.assert_allclose(fitted.coef_, expected.coef_, rtol=1e-12)


class TestPlink:
    FAM = "f1 s1 0 0 1 2\nf1 s2 0 0 2 1\nf2 s3 s1 s2 0 -9\nf2 s4 0 0 1 0\n"

    def read(self, put, name, text, target=(), **options):
        files = [put(name, text)]
        return read_table(put("t.csv", TABLE), target, id="sample", phenotype=files, **options)

    def test_fam(self, put):
        found = self.read(put, "x.fam", self.FAM, "phenotype")
        np.testing.assert_array_equal(found.y, [2, 1, np.nan, np.nan])
        np.testing.assert_array_equal(found.source.annotations["sex"], [1, 2, np.nan, 1])
        assert list(found.source.annotations) == ["sex"]
        found = self.read(put, "x.fam", self.FAM.replace(" 2\n", " 0.5\n"), "phenotype")
        np.testing.assert_array_equal(found.y, [0.5, 1, np.nan, 0])
        found = self.read(put, "x.fam", self.FAM.replace(" 2\n", " x\n").replace(" 1\n", " y\n"))
        assert found.source.annotations["phenotype"].tolist()[:2] == ["x", "y"]
        self.read(put, "x.fam", "".join(f"f s{i}\n" for i in range(1, 5)))

    @pytest.mark.parametrize(
        ("name", "header", "columns"),
        [
            ("x.pheno", "", ["PHENO1", "PHENO2"]),
            ("x.phen", "", ["PHENO1", "PHENO2"]),
            ("x.cov", "", ["COVAR1", "COVAR2"]),
            ("x.eigenvec", "", ["PC1", "PC2"]),
            ("x.eigenvec.gz", "", ["PC1", "PC2"]),
            ("x.pheno", "FID IID bmi ldl\n", ["bmi", "ldl"]),
            ("x.PHENO", "FID\tIID\tbmi\tldl\n", ["bmi", "ldl"]),
            ("x.eigenvec", "#FID IID PC1 PC2\n", ["PC1", "PC2"]),
            ("x.psam", "#FID IID SEX bmi\n", ["SEX", "bmi"]),
            ("x.txt", "#FID IID bmi ldl\n", ["bmi", "ldl"]),
            ("x.txt", "fid iid bmi ldl\n", ["bmi", "ldl"]),
        ],
    )
    def test_with_and_without_a_header(self, put, name, header, columns):
        rows = "f1 s2 0.5 7\nf1 s1  1.5 -9\nf2 s3 NA 8\nf2 s4 2.5 9\n"
        rows = rows.replace(" ", "\t") if "\t" in header else rows
        rows = rows.replace("  ", " ") if name.endswith("txt") else rows
        notes = self.read(put, name, header + rows).source.annotations
        assert list(notes) == columns
        np.testing.assert_array_equal(notes[columns[0]], [1.5, 0.5, np.nan, 2.5])
        plink = not name.endswith((".txt", ".eigenvec", ".gz"))
        np.testing.assert_array_equal(notes[columns[1]], [np.nan if plink else -9, 7, 8, 9])

    def test_a_header_with_the_individual_only(self, put):
        found = self.read(put, "x.psam", "#IID sex\ns1 f\ns2 m\ns3 f\ns4 m\n", "sex")
        assert found.y.tolist() == ["f", "m", "f", "m"]

    def test_families_tell_individuals_apart(self, put):
        source = ArraySource(np.arange(8.0).reshape(4, 2), ["a", "b"])
        source.ids = ["1", "1", "2", "2"]
        source.annotations = {"fid": np.array(["A", "B", "A", "B"], dtype=object)}
        people = put("x.pheno", "FID IID bmi\nB 2 1.5\nB 1 2.5\nA 1 3.5\nA 2 4.5\nA 3 0\n")
        found = describe(as_phenotype(people, TextFormat()), Roles(("bmi",)))
        with pytest.warns(
            UserWarning, match=r"4 of 4 samples .*without a sample \(1\): .*'A', '3'"
        ):
            data = found.join("x.bed", Dataset(source, None, ()))
        assert data.y.tolist() == [3.5, 2.5, 4.5, 1.5]
        source.annotations = {}
        with pytest.raises(InvalidInputError, match="describes '2', '1' more than once"):
            found.join("x.bed", Dataset(source, None, ()))

    def test_known_identifiers_stay(self, put):
        """A table with identifiers of its own needs no column of them."""
        from hsiclasso.data.dataset import assemble

        source = ArraySource(np.arange(8.0).reshape(4, 2), ["a", "b"])
        source.ids = ["1", "2", "3", "4"]
        roles = Roles(("b",), id="IID", join_by=("IID",))
        assert assemble("x.bed", source, roles).source.ids == source.ids
        source.annotations = {"tube": np.array([7.0, 8.0, 9.0, 10.0])}
        named = assemble("x.bed", source, Roles(("b",), id="tube")).source
        assert named.ids == ["7", "8", "9", "10"]
        assert not named.annotations
        with pytest.raises(InvalidInputError, match="id names 'IID'"):
            assemble("x.bed", source, Roles(("b",), id="IID"))


class TestBadFiles:
    @pytest.mark.parametrize(
        ("name", "text", "message"),
        [
            ("p.csv", "sample,age\n", "no rows below"),
            ("p.csv", "sample,age\ns1,2\ns2\n", r"p\.csv has 1 values in data row 2"),
            ("p.csv", "sample,age,age\ns1,2,3\n", "several columns named 'age'"),
            ("p.csv", "sample,age\n,2\n", r"p\.csv has no identifier in data row 1"),
            ("p.xlsx", "sample,age\n", r"p\.xlsx has the suffix '\.xlsx'"),
        ],
    )
    def test_what_is_refused(self, put, name, text, message):
        with pytest.raises(InvalidInputError, match=message):
            read_table(put("t.csv", TABLE), "age", phenotype=put(name, text))

    def test_files_that_cannot_be_read(self, put, tmp_path):
        table = put("t.csv", TABLE)
        with pytest.raises(InvalidInputError, match=r"no\.csv does not exist"):
            read_table(table, "age", phenotype=tmp_path / "no.csv")
        (tmp_path / "p.csv").write_bytes(PEOPLE.encode() + b"\xe4,1,1,1\n")
        with pytest.raises(InvalidInputError, match=r"p\.csv is not UTF-8.*--encoding 'latin-1'"):
            read_table(table, "age", phenotype=tmp_path / "p.csv")
        cut = gzip.compress(PEOPLE.encode())[:-10]
        (tmp_path / "p.csv.gz").write_bytes(cut)
        with pytest.raises(InvalidInputError, match=r"p\.csv\.gz cannot be read as text"):
            read_table(table, "age", phenotype=tmp_path / "p.csv.gz")


class TestDataset:
    """What `read_table` returns goes to `fit`."""

    @pytest.fixture
    def data(self, put, rng):
        X = rng.standard_normal((40, 6)).round(3)
        rows = "\n".join(",".join(map(str, row)) for row in X.tolist())
        return read_table(put("t.csv", "a,b,c,d,e,w\n" + rows.replace("-", "")), "a", weights="w")

    def test_target_and_weights_are_used(self, data):
        found = HSICLasso(2).fit(data)
        X = data.source.block(slice(0, 4))
        expected = HSICLasso(2).fit(X, data.y, sample_weight=data.weights)
        assert found.n_features_in_ == 4
        np.testing.assert_allclose(found.coef_, expected.coef_, rtol=1e-12)
        np.testing.assert_array_equal(found.transform(data), X[:, np.sort(found.selected_)])
        assert as_source(data) is data.source

    def test_another_target(self, data):
        named = as_dataset(data, "c")
        assert [named.source.name(j) for j in range(3)] == ["b", "d", "e"]
        assert named.weights is data.weights
        assert as_dataset(data, ["c", "d"]).y.shape == (40, 2)
        labels = ["c", "x"] * 20
        assert as_dataset(data, labels).y is labels
        with pytest.raises(InvalidInputError, match="'f', the target, is not a column of X"):
            as_dataset(data, "f")

    def test_methods_without_weights_refuse_them(self, data):
        with pytest.raises(InvalidInputError, match="sample weights, which MRMR cannot use"):
            MRMR(2).fit(data)
