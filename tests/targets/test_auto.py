"""How the kind of a target is found from its values."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse

from hsiclasso.errors import InvalidInputError
from hsiclasso.kernels import Delta, Gaussian, Laplace
from hsiclasso.targets import Auto, Classes, Labels, Ordinal, Real, Survival
from tests.targets.compare import assert_same_data
from tests.targets.tables import (
    CODES,
    LABELS,
    LEVELS,
    MORE_CODES,
    ORDERED,
    OUTPUTS,
    REAL,
    TEXT,
    structured,
)

FLAGS = LABELS[:, 0] == 1
FORMS = {
    "reals": (REAL, Real),
    "a column of reals": (pd.DataFrame({"y": REAL}), Real),
    "a polars series": (pl.Series(REAL), Real),
    "objects that are numbers": (REAL.astype(object), Real),
    "halves": ([1.5, 2.0, 1.5, 2.0, 2.0, 1.5], Real),
    "different numbers": ([1, 2, 3, 4, 5, 6], Real),
    "60 numbers": (np.arange(300) % 60, Real),
    "40 numbers": (np.arange(300) % 40, Classes),
    "whole numbers": ([0, 1, 0, 1, 1, 0], Classes),
    "two numbers": ([0, 1, 0], Classes),
    "whole floats": ([1.0, 2.0, 1.0, 2.0, 2.0, 1.0], Classes),
    "text": (TEXT, Classes),
    "codes as text": (CODES.astype(str), Classes),
    "numbers as text": (np.array([f"{value:.1f}" for value in REAL]), Real),
    "objects": (np.array(["1", "2", "1", "2"], dtype=object), Classes),
    "pandas text": (pd.Series(TEXT, dtype="string"), Classes),
    "polars text": (pl.Series(TEXT), Classes),
    "polars category": (pl.Series(TEXT).cast(pl.Categorical), Classes),
    "flags": (FLAGS, Classes),
    "nullable flags": (pd.Series(FLAGS, dtype="boolean"), Classes),
    "category": (pd.Series(TEXT, dtype="category"), Classes),
    "plain category": (pd.Categorical(TEXT), Classes),
    "ordered category": (pd.Categorical(TEXT, dtype=ORDERED), Ordinal),
    "ordered series": (pd.Series(TEXT, dtype=ORDERED), Ordinal),
    "ordered column": (pd.Series(TEXT, dtype=ORDERED).to_frame("grade"), Ordinal),
    "outputs": (OUTPUTS, Real),
    "frame of outputs": (pd.DataFrame(OUTPUTS), Real),
    "polars outputs": (pl.DataFrame(OUTPUTS), Real),
    "two ordered columns": (pd.DataFrame({"a": TEXT, "b": TEXT}).astype(ORDERED), Real),
    "labels": (LABELS, Labels),
    "flags as labels": (LABELS == 1, Labels),
    "sparse labels": (sparse.csr_array(LABELS), Labels),
    "frame of labels": (pd.DataFrame(LABELS == 1), Labels),
    "columns of classes": (LEVELS[np.c_[CODES, MORE_CODES]], Classes),
    "classes and codes": (pd.DataFrame({"a": TEXT, "b": CODES}), Classes),
    "times and events": (structured(), Survival),
}


@pytest.mark.parametrize("form", FORMS)
def test_the_kind_is_found(form):
    y, kind = FORMS[form]
    prepared = Auto().prepare(y, len(np.asarray(y)) if not sparse.issparse(y) else y.shape[0])
    assert prepared.target == kind()
    usual = Delta() if kind in (Classes, Labels) else Gaussian()
    assert prepared.data.kernel == usual
    # it makes what the kind itself would make
    n = y.shape[0] if hasattr(y, "shape") else len(y)
    assert_same_data(prepared.data, kind().prepare(y, n).data)


def test_parameters_are_handed_on():
    found = Auto(kernel=Laplace(2.0), transform="rank", missing="drop").prepare(REAL, 48)
    assert found.target == Real(kernel=Laplace(2.0), transform="rank", missing="drop")
    assert found.data.kernel == Laplace(2.0)
    assert Auto(outputs="average").prepare(OUTPUTS, 48).data.averaged
    assert Auto(kernel="linear", outputs="joint").prepare(LABELS, 48).target == Labels(
        kernel="linear", outputs="joint"
    )
    survival = Auto(kernel="laplace", transform="rank").prepare(structured(), 48).target
    assert survival == Survival(kernel="laplace", transform="rank")


def test_the_kind_is_that_of_the_samples_used():
    y = np.r_[np.arange(6) % 2, 0.5].astype(float)
    assert isinstance(Auto().prepare(y, 7).target, Real)
    assert isinstance(Auto().prepare(y, 7, y != 0.5).target, Classes)


BAD = {
    "ranks of classes": ({"transform": "rank"}, TEXT, "transform='rank' is not for a target of cl"),
    "ranks of labels": ({"transform": "rank"}, LABELS, "not for a target of labels, which y is"),
    "outputs of times": ({"outputs": "joint"}, structured(), "outputs='joint' is not for times"),
    "unknown transform": ({"transform": "log"}, REAL, "transform='log' is unknown: choose None"),
    "unknown outputs": ({"outputs": "sum"}, REAL, "outputs='sum' is unknown"),
    "unknown missing": ({"missing": "impute"}, REAL, "missing='impute' is unknown"),
    "unknown kernel": ({"kernel": "rbf"}, REAL, "kernel of the target='rbf' is unknown: choose"),
    "infinite": ({}, np.r_[np.inf, REAL[1:]], "must be finite: drop such rows"),
    "complex": ({}, REAL + 1j, "Complex data not supported: y is complex"),
    "laplace of outputs": ({"kernel": "laplace"}, OUTPUTS, "several columns, and the laplace"),
    "constant": ({}, [1] * 48, r"only one class \(1\)"),
}  # fmt: skip


@pytest.mark.parametrize("kind", BAD)
def test_bad_targets(kind):
    params, y, message = BAD[kind]
    with pytest.raises(InvalidInputError, match=message):
        Auto(**params).prepare(y, 48)
