"""Targets that are numbers or dates in disguise: none of them becomes a class for each sample."""

from __future__ import annotations

import datetime as dt
import warnings
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pytest

from hsiclasso.data import read_table
from hsiclasso.errors import InvalidInputError, SuspectColumnWarning
from hsiclasso.targets import Auto, Classes, Counts, Ordinal, Real, Survival
from tests.targets.compare import assert_same_data
from tests.targets.tables import CODES, COUNTS, EVENT, REAL, N

NUMBERS = REAL.round(2)
#: Days since 1970, in no order.
DAYS = np.random.default_rng(0).permutation(np.arange(18_000, 18_000 + N))
DATES = DAYS.astype("datetime64[D]")
TIMES = pd.Series(DATES.astype("datetime64[s]"))
DISGUISED = {
    "text": ([str(value) for value in NUMBERS], NUMBERS),
    "text of pandas": (pd.Series(NUMBERS).astype(str), NUMBERS),
    "text of polars": (pl.Series(NUMBERS).cast(pl.String), NUMBERS),
    "decimals": ([Decimal(str(value)) for value in NUMBERS], NUMBERS),
    "fractions": ([Fraction(str(value)) for value in NUMBERS], NUMBERS),
    "decimals of polars": (pl.Series([Decimal(f"{value:.2f}") for value in NUMBERS]), NUMBERS),
    "a column of text": (pd.DataFrame({"y": NUMBERS.astype(str)}), NUMBERS),
    **{f"datetime64[{unit}]": (DATES.astype(f"datetime64[{unit}]"), DAYS) for unit in
       ("D", "h", "s", "ms", "us", "ns")},
    **{f"pandas {unit}": (TIMES.astype(f"datetime64[{unit}]"), DAYS) for unit in
       ("s", "ms", "us", "ns")},
    "times with a zone": (TIMES.dt.tz_localize("UTC"), DAYS),
    "dates": ([value.item() for value in DATES], DAYS),
    "times": ([dt.datetime.combine(value.item(), dt.time()) for value in DATES], DAYS),
    "periods": (TIMES.dt.to_period("D"), DAYS),
    "dates of polars": (pl.Series(DATES).cast(pl.Date), DAYS),
    "ISO dates": (DATES.astype(str), DAYS),
    "ISO times": ([f"{value}T00:00:00Z" for value in DATES], DAYS),
    "durations": (DAYS.astype("timedelta64[D]").astype("timedelta64[s]"), DAYS),
    "durations of Python": ([dt.timedelta(days=int(day)) for day in DAYS], DAYS),
}  # fmt: skip


@pytest.mark.parametrize("form", DISGUISED)
def test_a_target_that_is_numbers_is_real(form):
    y, numbers = DISGUISED[form]
    found = Auto().prepare(y, N)
    assert found.target == Real()
    assert_same_data(found.data, Real().prepare(numbers.astype(float), N).data)
    assert_same_data(Real().prepare(y, N).data, found.data)


def test_missing_values_stay_missing():
    here = np.arange(N) % 7 > 0
    for y in (
        pd.Series(NUMBERS).astype(str).where(here),
        TIMES.where(here),
        [
            Decimal(str(value)) if yes else Decimal("NaN")
            for value, yes in zip(NUMBERS, here, strict=True)
        ],
        [value if yes else None for value, yes in zip(DATES.astype(str), here, strict=True)],
        np.where(here, DATES, np.datetime64("NaT")),
    ):
        with pytest.raises(InvalidInputError, match="NaN or None, first in row 0"):
            Auto().prepare(y, N)
        found = Auto(missing="drop").prepare(y, N)
        assert found.target == Real(missing="drop")
        np.testing.assert_array_equal(found.rows, here)


def test_few_whole_numbers_as_text_are_classes_with_their_labels():
    found = Auto().prepare([f"0{code}" for code in CODES], N)
    assert found.target == Classes()
    assert found.data.labels[0].tolist() == ["00", "01", "02"]


def test_categories_stay_labels(tmp_path):
    """What a user or a file calls a category is no number, whatever its text."""
    text = np.array([f"{value:.1f}" for value in np.repeat(np.linspace(0, 1, 12), 4)])
    file = tmp_path / "t.parquet"
    pd.DataFrame({"y": pd.Categorical(text), "x": REAL}).to_parquet(file)
    pd.DataFrame({"y": text, "x": REAL}).to_csv(tmp_path / "t.csv", index=False)
    for y in (
        pd.Series(text, dtype="category"),
        pd.DataFrame({"y": pd.Categorical(text)}),
        pl.Series(text).cast(pl.Categorical),
        read_table(file, "y").y,
        read_table(tmp_path / "t.csv", "y", category="y").y,
    ):
        found = Auto().prepare(y, N)
        assert found.target == Classes()
        assert found.data.labels[0].size == 11
    assert Auto().prepare(text, N).target == Real()


@pytest.mark.parametrize("kind", [Counts, Ordinal])
def test_other_kinds_read_text_too(kind):
    found = kind().prepare(COUNTS.astype(str), N).data
    np.testing.assert_array_equal(found.values, kind().prepare(COUNTS, N).data.values)


UNCLEAR = {
    "decimal commas": [f"{value:.1f}".replace(".", ",") for value in REAL],
    "thousands": [f"{1000 + i:,}" for i in range(N)],
    "a word among numbers": ["unknown", *NUMBERS[1:].astype(str)],
    "a mark for missing": [*NUMBERS[1:].astype(str), "NA"],
}


@pytest.mark.parametrize("form", UNCLEAR)
@pytest.mark.parametrize("kind", [Auto, Real])
def test_what_is_nearly_a_number_is_refused(form, kind):
    message = r"y holds the text '.*', but most of it are numbers: pass numbers.*target='classes'"
    with pytest.raises(InvalidInputError, match=message):
        kind().prepare(UNCLEAR[form], N)


@pytest.mark.parametrize("y", [REAL, pd.DataFrame({"a": CODES.astype(str), "b": REAL + 0.1})])
def test_numbers_as_classes_get_a_warning(y):
    with pytest.warns(SuspectColumnWarning, match="y has 48 classes in 48 samples: nearly every"):
        assert Classes().prepare(y, N).target == Classes()


def test_text_that_differs_everywhere_gets_a_warning():
    with pytest.warns(SuspectColumnWarning, match="y has 48 classes in 48 samples"):
        Auto().prepare([f"s{i}" for i in range(N)], N)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        Auto().prepare([f"s{i // 2}" for i in range(N)], N)


def test_numbers_beyond_all_floats():
    with pytest.raises(InvalidInputError, match=r"y holds 1000.*must be below 1.8e308: divide y"):
        Auto().prepare([10**400, *range(N - 1)], N)


def test_dates_are_no_times_until_an_event():
    with pytest.raises(InvalidInputError, match="pass the time from the start to the event as a"):
        Survival().prepare((DATES, EVENT), N)
    waited = (DATES - DATES.min()).astype("timedelta64[s]")
    found = Survival().prepare((waited, EVENT), N).data
    np.testing.assert_allclose(found.time, DAYS - DAYS.min())


def test_masked_values_are_missing():
    y = np.ma.array(REAL, mask=np.arange(N) == 3)
    with pytest.raises(InvalidInputError, match="NaN or None, first in row 3"):
        Auto().prepare(y, N)
