"""What columns of real tables often are in place of features."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest

from hsiclasso import HSICLasso
from hsiclasso.data import as_dataset, read_table
from hsiclasso.data.guards import missing_code
from hsiclasso.errors import InvalidInputError, SuspectColumnWarning

N = 60
RNG = np.random.default_rng(0)
X = pd.DataFrame(RNG.standard_normal((N, 3)), columns=["a", "b", "c"])
Y = np.round(X["a"] + RNG.standard_normal(N), 3).to_numpy()
DAYS = np.arange("2021-01-01", N, dtype="datetime64[D]")


def doors(frame, folder, *, streamed=True):
    """The same table as frames of pandas, polars and Arrow, and as files of text and Parquet.

    Tables that are not in memory are not read beforehand: nothing is said about their numbers.
    """
    frame = frame.assign(y=Y)
    frame.to_csv(folder / "t.csv", index=False)
    frame.to_parquet(folder / "t.parquet")
    yield "pandas", lambda: as_dataset(frame, "y")
    yield "polars", lambda: as_dataset(pl.from_pandas(frame), "y")
    yield "text", lambda: read_table(folder / "t.csv", "y")
    yield "parquet", lambda: read_table(folder / "t.parquet", "y")
    if streamed:
        yield "arrow", lambda: as_dataset(pl.from_pandas(frame).to_arrow(), "y")
        yield "lazy", lambda: as_dataset(pl.from_pandas(frame).lazy(), "y")


TEXT = {
    "decimal commas": [f"{value:.2f}".replace(".", ",") for value in X["b"]],
    "thousands": [f"{1000 + 7 * i:,}" for i in range(N)],
    "ISO dates": DAYS.astype(str),
}


@pytest.mark.parametrize("form", TEXT)
def test_numbers_and_dates_as_text_are_refused(form, tmp_path):
    """Through every door, by name, all of them at once, with a remedy."""
    frame = X.assign(bad=TEXT[form], worse=TEXT[form])
    for door, read in doors(frame, tmp_path):
        with pytest.raises(InvalidInputError, match=r"'bad'.*'worse'") as caught:
            read()
        assert "bad" in str(caught.value), door
        assert "drop" in str(caught.value) or "category" in str(caught.value), door


def test_numbers_as_text_in_frames():
    with pytest.raises(InvalidInputError, match=r"column 'bad' of X .DataFrame. holds numbers"):
        as_dataset(X.assign(bad=X["b"].astype(str)), Y)


def test_what_may_be_labels(tmp_path):
    """Few codes, words, and what the user calls a category."""
    codes = [str(i % 5) for i in range(N)]
    frame = X.assign(
        codes=codes, words=[f"w{i % 4}" for i in range(N)], grade=pd.Categorical(TEXT["thousands"])
    )
    source = as_dataset(frame, Y).source
    assert [source.kind(j) for j in range(3, 6)] == ["text", "text", "category"]
    X.assign(d=TEXT["ISO dates"], y=Y).to_csv(tmp_path / "t.csv", index=False)
    assert read_table(tmp_path / "t.csv", "y", category="d").source.kind(3) == "category"
    assert read_table(tmp_path / "t.csv", "y", drop="d").source.n_features == 3


def test_dates_of_frames_are_refused_together():
    frame = X.assign(one=DAYS, two=DAYS - DAYS[0])
    with pytest.raises(InvalidInputError, match=r"column 'one' has dtype datetime.*likewise 'two'"):
        as_dataset(frame, Y)
    with pytest.raises(InvalidInputError, match=r"column 'one' has dtype Date.*likewise 'two'"):
        as_dataset(pl.from_pandas(frame).with_columns(pl.col("one").cast(pl.Date)), Y)
    with pytest.raises(InvalidInputError, match=r"column 'one' is of type .*; likewise 'two'"):
        as_dataset(pl.from_pandas(frame).to_arrow(), Y)


@pytest.mark.parametrize(
    ("name", "place", "values"),
    [
        ("sample_id", 0, np.arange(1001, 1001 + N)),
        ("Patient No", 2, RNG.permutation(N) + 500),
        ("number", 0, np.arange(N)),
        ("id", 3, np.arange(N) * 3.0),
    ],
)
def test_numeric_identifiers(name, place, values, tmp_path):
    frame = X.copy()
    frame.insert(place, name, values)
    for door, read in doors(frame, tmp_path, streamed=False):
        with pytest.warns(SuspectColumnWarning, match=f"'{name}' has a different value in almost"):
            read()
        assert door
    with pytest.warns(SuspectColumnWarning, match="leave it out with drop"):
        HSICLasso(2).fit(frame, Y)


def test_what_is_no_identifier():
    frame = X.assign(valid=np.arange(N), sample_id=np.arange(N) % 5, idx=X["a"] / 3)
    as_dataset(frame, Y)
    as_dataset(frame.to_numpy(), Y)


@pytest.mark.parametrize("code", [-9, -99, 999, -127, 9999])
def test_codes_for_missing_values(code, tmp_path):
    values = np.round(X["b"], 2).where(np.arange(N) % 9 > 0, code)
    for door, read in doors(X.assign(z=values), tmp_path, streamed=False):
        with pytest.warns(SuspectColumnWarning, match=rf"'z': {code} occurs 7 times in 'z'") as got:
            read()
        assert f"na=['{code}']" in str(got[0].message), door
    marked = read_table(tmp_path / "t.csv", "y", text=None, drop="z")
    assert marked.source.n_features == 3
    with pytest.warns(SuspectColumnWarning, match=f"y has the value {code} 7 times"):
        HSICLasso(1).fit(X, values)


@pytest.mark.parametrize(
    "values", [[1.0, 99, 2, 1], [999.0, 999, 999], [97.0, 98, 99, 99], [0.0, 999, 0, 999], [np.nan]]
)
def test_what_is_no_code(values):
    assert missing_code(np.array(values)) is None


def test_a_code_among_classes():
    status = np.where(np.arange(N) % 6 == 0, -9, np.arange(N) % 2)
    with pytest.warns(SuspectColumnWarning, match="y has the value -9 10 times, far from all oth"):
        HSICLasso(1).fit(X, status)
