"""What every kind of target promises: names, parameters, missing values and samples used."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone

from hsiclasso.errors import InvalidInputError
from hsiclasso.kernels import Gaussian
from hsiclasso.targets import (
    TARGETS,
    Affinity,
    Auto,
    Classes,
    Counts,
    Diffusion,
    Graph,
    Labels,
    Objects,
    Ordinal,
    Real,
    RegularisedLaplacian,
    Survival,
    as_target,
)
from tests.targets.compare import assert_same_data
from tests.targets.tables import (
    CODES,
    COUNTS,
    EVENT,
    LABELS,
    MORE_CODES,
    ORDERED,
    OUTPUTS,
    REAL,
    TEXT,
    TIME,
    N,
    common_3mers,
    gone,
    sequences,
)

OPTIONS = [
    *(make() for make in TARGETS.values()),
    Real(kernel=Gaussian("median"), transform="rank", missing="drop"),
    Labels(outputs="joint"),
    Graph(kernel=RegularisedLaplacian(2.0)),
    Objects(common_3mers, missing="drop"),
    Diffusion(3.0),
]


@pytest.mark.parametrize("option", OPTIONS, ids=lambda option: type(option).__name__)
def test_parameters(option):
    """Kinds are shown, compared, copied and changed by their parameters, as kernels are."""
    assert option.check() is option
    assert repr(option).startswith(type(option).__name__)
    for copy in (clone(option), pickle.loads(pickle.dumps(option))):
        assert copy == option
        assert hash(copy) == hash(option)
    params = option.get_params(deep=False)
    assert type(option)(**params) == option
    assert clone(option).set_params(**params) == option


def test_parameters_of_parameters():
    target = Real(kernel=Gaussian(2.0))
    assert target.get_params()["kernel__width"] == 2.0
    changed = clone(target).set_params(kernel__width=0.5, transform="rank")
    assert changed == Real(kernel=Gaussian(0.5), transform="rank") != target
    with pytest.raises(ValueError, match="Invalid parameter 'width' for estimator Real"):
        target.set_params(width=1.0)


@pytest.mark.parametrize("name", TARGETS)
def test_targets_by_name(name):
    target = as_target(name)
    assert target.name == name
    assert target.words
    assert as_target(target) is target
    with pytest.raises(
        InvalidInputError, match="requires y to be passed, but the target y is None"
    ):
        target.prepare(None, 3)


@pytest.mark.parametrize("value", ["regression", None, Real, 3])
def test_unknown_targets(value):
    message = r"target=.* is unknown.*: choose 'auto', .* or pass an object such as Auto\(\)"
    with pytest.raises(InvalidInputError, match=message) as caught:
        as_target(value)
    assert all(repr(name) in str(caught.value) for name in TARGETS)


def test_close_names_are_guessed():
    with pytest.raises(InvalidInputError, match=r"target='Ordinal' .*did you mean 'ordinal'\?"):
        as_target("Ordinal")


def test_objects_are_checked():
    with pytest.raises(InvalidInputError, match="transform='log' is unknown"):
        as_target(Real(transform="log"))


# ------------------------------------------------------------------------------- missing targets

GONE = [0, 4, N - 1]
KEPT = np.setdiff1d(np.arange(N), GONE)
HERE = np.isin(np.arange(N), KEPT)


INCOMPLETE = {
    "real": (Real, gone(REAL), REAL[KEPT]),
    "list": (Real, gone(REAL, None).tolist(), REAL[KEPT]),
    "nullable": (Real, pd.Series(REAL).where(HERE).astype("Float64"), REAL[KEPT]),
    "nullable counts": (Counts, pd.Series(COUNTS, dtype="Int64").where(HERE), COUNTS[KEPT]),
    "polars": (Real, pl.Series(gone(REAL, None).tolist()), REAL[KEPT]),
    "ordinal": (Ordinal, gone(CODES), CODES[KEPT]),
    "counts": (Counts, gone(COUNTS), COUNTS[KEPT]),
    "classes": (Classes, gone(TEXT, None), TEXT[KEPT]),
    "text with NA": (Auto, pd.Series(gone(TEXT, None), dtype="string"), TEXT[KEPT]),
    "text with NaN": (
        Auto, pd.Series([text if here else np.nan for text, here in zip(TEXT, HERE, strict=True)],
                        dtype=object), TEXT[KEPT],
    ),
    "codes": (Auto, gone(CODES), CODES[KEPT]),
    "category": (Auto, pd.Categorical(gone(TEXT, None)), TEXT[KEPT]),
    "ordered category": (
        Auto, pd.Series(gone(TEXT, None)).astype(ORDERED), pd.Series(TEXT[KEPT], dtype=ORDERED),
    ),
    "flags": (Auto, pd.Series(gone(REAL > 0, None)).astype("boolean"), (REAL > 0)[KEPT]),
    "outputs": (Auto, np.c_[gone(OUTPUTS[:, 0]), OUTPUTS[:, 1:]], OUTPUTS[KEPT]),
    "labels": (Auto, np.where(HERE[:, None], LABELS, np.nan), LABELS[KEPT]),
    "frame of classes": (
        Auto,
        pd.DataFrame({"a": gone(TEXT, None), "b": MORE_CODES}),
        pd.DataFrame({"a": TEXT, "b": MORE_CODES}).iloc[KEPT],
    ),
    "times": (Survival, (gone(TIME), EVENT), (TIME[KEPT], EVENT[KEPT])),
    "events": (Survival, np.c_[TIME, gone(EVENT)], np.c_[TIME, EVENT][KEPT]),
    "frame of times": (
        Survival,
        pd.DataFrame({"event": pd.array(gone(EVENT, None), "boolean"), "time": TIME}),
        (TIME[KEPT], EVENT[KEPT]),
    ),
    "sequences": (
        lambda **params: Objects(common_3mers, **params),
        gone(sequences(), None),
        [sequences()[i] for i in KEPT],
    ),
}  # fmt: skip


@pytest.mark.parametrize("form", INCOMPLETE)
def test_missing_targets(form):
    """They are refused; or dropped on request, which is as good as dropping them by hand."""
    make, y, kept = INCOMPLETE[form]
    kind = type(make())
    message = rf"NaN or None, first in row 0 \(3 in all\).*pass target={kind.__name__}\(missing='dr"
    with pytest.raises(InvalidInputError, match=message):
        make().prepare(y, N)
    dropped, by_hand = make(missing="drop").prepare(y, N), make().prepare(kept, N - 3)
    np.testing.assert_array_equal(dropped.rows, HERE)
    assert by_hand.rows is None
    assert type(dropped.target) is type(by_hand.target)
    assert_same_data(dropped.data, by_hand.data)
    # samples that are not to be used are no different
    use = np.arange(N) >= 10
    both = make(missing="drop").prepare(y, N, use)
    np.testing.assert_array_equal(both.rows, use & HERE)


def test_too_few_targets_that_are_not_missing():
    y = np.where(np.arange(N) < 2, 1.0, np.nan)
    with pytest.raises(
        InvalidInputError, match=r"n_samples=2 with a target.* 3 samples or more: ad"
    ):
        Auto(missing="drop").prepare(y, N)


@pytest.mark.parametrize(
    ("target", "y"),
    [
        (Auto(), list(range(49))),
        (Real(), OUTPUTS[:40]),
        (Classes(), TEXT[:40]),
        (Labels(), LABELS[1:]),
    ],
    ids=str,
)
def test_one_value_per_sample(target, y):
    with pytest.raises(
        InvalidInputError, match=f"y has {len(y)} values and X has 48 samples: inco"
    ):
        target.prepare(y, N)


def test_a_matrix_has_no_missing_rows():
    S = np.eye(N)
    S[3, 5] = np.nan
    with pytest.raises(InvalidInputError, match=r"affinity contains nan, but .* use 0 for pairs"):
        Affinity().prepare(S, N)


def test_a_column_vector_is_a_column():
    with pytest.warns(Warning, match="column-vector y was passed"):
        assert Real().prepare(REAL[:, None], N).data.values.shape == (1, N)
