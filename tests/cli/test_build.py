"""Options -> the estimator that one would write in Python, and one line for what breaks a rule."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hsiclasso import (
    HSIC,
    NOCCO,
    AlphaRatio,
    Auto,
    Classes,
    Counts,
    Covariates,
    Diffusion,
    ElasticNet,
    EmbeddingLasso,
    Gaussian,
    Graph,
    GroupLasso,
    HSICLasso,
    Ignore,
    Interactions,
    Laplace,
    Lasso,
    Linear,
    Real,
    RegularisedLaplacian,
    Survival,
)
from hsiclasso.kernels import Delta
from hsiclasso.targets import Affinity
from tests.cli.helpers import drop, fail, selector

MEDIAN = Gaussian(("median", 2))
RULES = {"a=b": Laplace("median"), "number": Gaussian((0.5, 1, 2)), "text": Delta()}
BUILT = (
    ("-t y", {}),
    ("-t y -t z --outputs average", {"target": Auto(outputs="average")}),
    ("-t y --kind real --transform rank --missing-target drop --target-kernel gaussian:median,2",
     {"target": Real(MEDIAN, "rank", missing="drop")}),
    ("-t y --kind counts --target-kernel linear", {"target": Counts(Linear())}),
    ("-t y --kind classes --target-kernel auto", {"target": Classes()}),
    ("--survival a b --transform rank", {"target": Survival(transform="rank")}),
    ("-t y --kind real --transform none", {"target": Real(transform=None)}),
    ("-t y --max-redundancy 0.8 --no-fill", {"max_redundancy": 0.8, "fill": False}),
    ("-t y --max-redundancy 1", {"max_redundancy": 1, "fill": True}),
    ("-t a -t b --kind survival", {"target": Survival()}),
    ("--affinity K.npy", {"target": Affinity()}),
    ("--graph A.npz", {"target": Graph()}),
    ("--graph A.npz --beta 2", {"target": Graph(Diffusion(2.0))}),
    ("--graph A.npz --graph-kernel regularised_laplacian --beta 0.5",
     {"target": Graph(RegularisedLaplacian(0.5))}),
    ("-t y -k 4 --alpha 0.5", {"n_features_to_select": 4, "alpha": 0.5}),
    ("-t y --alpha ratio:0.25", {"alpha": AlphaRatio(0.25)}),
    ("-t y --alpha bic", {"alpha": "bic"}),
    ("-t y --method nocco --epsilon 0.01", {"measure": NOCCO(0.01)}),
    ("-t y --kernel laplace", {"kernel": Laplace()}),
    ("-t y --kernel auto", {"kernel": "auto"}),
    ("-t y --kernel a=b=laplace:median --kernel number=gaussian:0.5,1,2 --kernel text=delta",
     {"kernel": RULES}),
    ("-t y --penalty elastic_net --l1-ratio 0.9", {"penalty": ElasticNet(0.9)}),
    ("-t y --groups GROUPS --l1-ratio 0.1 --n-groups 2",
     {"penalty": GroupLasso({"a": "g", "b": "g"}, l1_ratio=0.1, n_groups=2)}),
    ("-t y --keep a --keep b --exclude c", {"keep": ("a", "b"), "exclude": ("c",)}),
    ("-t y --joint p=a,b --joint q=c", {"joint": {"p": ["a", "b"], "q": ["c"]}}),
    ("-t y --covariate a --covariate-method subtract",
     {"covariates": Covariates(("a",), "subtract")}),
    ("-t y --missing ignore", {"missing": "ignore"}),
    ("-t y --missing ignore --min-observed 0.8", {"missing": Ignore(0.8)}),
    ("-t y --missing ignore --min-observed 20", {"missing": Ignore(20)}),
    ("-t y --interactions all --n-interactions 2",
     {"interactions": Interactions(), "n_interactions": 2}),
    ("-t y --interactions selected", {"interactions": Interactions("selected")}),
    ("-t y --interactions all:50 --hierarchy weak",
     {"interactions": Interactions(hierarchy="weak", among=50)}),
    ("-t y --interactions spread:50", {"interactions": Interactions(among=50, by="spread")}),
    ("-t y --interactions a,b --interactions a,c,d",
     {"interactions": Interactions([("a", "b"), ("a", "c", "d")])}),
    ("-t y --solver dal --gram-error 1e-8 --neighbors 0 --n-jobs 2",
     {"solver": "dal", "gram_error": 1e-8, "n_neighbors": 0, "n_jobs": 2}),
)  # fmt: skip


@pytest.fixture
def groups(tmp_path):
    file = tmp_path / "groups.csv"
    file.write_text("gene,pathway\na,g\nb,g\n", encoding="utf-8")
    return file


@pytest.mark.parametrize(("arguments", "parameters"), BUILT, ids=[a for a, _ in BUILT])
def test_options_become_the_estimator(arguments, parameters, groups):
    usual = {
        "measure": HSIC(), "target": Auto(), "penalty": Lasso(), "keep": (), "exclude": (),
        "joint": {}, "covariates": Covariates(()), "n_neighbors": 0,
    }  # fmt: skip
    made = selector(*arguments.replace("GROUPS", str(groups)).split())
    expected = HSICLasso(**usual | parameters)
    assert made.get_params(deep=False) == expected.get_params(deep=False)


def test_options_become_an_embedding_lasso():
    options = "-t y --method embedding --epsilon 0.1 --kind real --transform normal -k 3"
    made = selector(*options.split())
    assert isinstance(made, EmbeddingLasso)
    assert made.epsilon == 0.1
    assert made.target == Real(transform="normal")
    assert selector("-t", "y", "--method", "embedding").epsilon == "auto"


@given(
    st.dictionaries(
        st.text(st.characters(exclude_characters=",=", categories=["L", "N", "S"]), min_size=1),
        st.lists(st.text(st.characters(categories=["L", "N"]), min_size=1), min_size=1, max_size=3),
        min_size=1, max_size=3,
    )
)  # fmt: skip
def test_joint_features_are_read_as_they_are_written(features):
    written = [f"{name}={','.join(columns)}" for name, columns in features.items()]
    made = selector("-t", "y", *(part for text in written for part in ("--joint", text)))
    assert made.joint == features


#: One of each kind, refused before any file is looked at.
REFUSED = (
    ("", "Missing option '--target': name the column to explain, or give --target-file"),
    ("-t y --survival a b", "--target and --survival both say what to explain"),
    ("--survival a b --kind counts", "--kind counts contradicts --survival"),
    ("-t y --kind rating", "'rating' is not one of 'auto', 'real', 'classes'"),
    ("-t y --kind counts --transform rank", "--transform has no meaning for --kind counts"),
    ("--survival a b --outputs joint", "--outputs has no meaning for --survival: leave it out."),
    ("--affinity K --target-kernel delta", "--target-kernel has no meaning for --affinity"),
    ("--graph A --target-kernel delta", "--target-kernel has no meaning for --graph"),
    ("--affinity K --beta 2", "--beta has no meaning for --affinity: leave it out."),
    ("-t y --graph-kernel diffusion", "--graph-kernel has no meaning for --kind auto"),
    ("--graph A --missing-target drop", "--missing-target has no meaning for --graph"),
    ("--graph A --beta 0", "--beta 0.0, but a graph kernel needs a number above 0"),
    ("-t y --target-kernel rbf", "--target-kernel rbf is unknown: choose 'gaussian', 'laplace'"),
    ("-t y --target-kernel laplace:1,2", "width=(1, 2), but a laplace kernel needs"),
    ("-t y --max-redundancy 0", "--max-redundancy 0, but the largest similarity of two selected"),
    ("-t y --max-redundancy little", "--max-redundancy little, but the largest similarity"),
    ("-t y -k 0", "-k 0 must be a whole number >= 1."),
    ("-t y -k few", "'few' is not a valid integer."),
    ("-t y --alpha mdl", "--alpha mdl, but the penalty must be a finite number >= 0, 'aic', 'bic'"),
    ("-t y --alpha ratio:2", "ratio=2, but a share of the largest penalty lies between 0 and 1"),
    ("-t y --epsilon 1", "--epsilon has no meaning for --method hsic: leave it out."),
    ("-t y --method nocco --epsilon 0", "--epsilon 0.0, but NOCCO needs a positive finite"),
    ("-t y --method embedding --epsilon 0", "--epsilon 0.0, but functions need a finite"),
    ("-t y --method embedding --solver cd", "--solver has no meaning for --method embedding"),
    ("-t y --kernel gausian", "--kernel gausian is unknown (did you mean 'gaussian'?): choose"),
    ("-t y --kernel a=rbf", "--kernel 'a' rbf is unknown: choose"),
    ("-t y --kernel gaussian:wide", "width='wide', but a gaussian kernel needs a positive"),
    ("-t y --kernel linear:2", "the width of linear:2 has no meaning for the linear kernel"),
    ("-t y --kernel =delta", "--kernel =delta names no column"),
    ("-t y --kernel a=delta --kernel a=linear", "--kernel a=linear gives 'a' a second kernel"),
    ("-t y --kernel a=delta --kernel linear", "--kernel linear is for all columns and must"),
    ("-t y --joint place", "--joint place must have the form NAME=COLUMN"),
    ("-t y --joint p=a, --joint q=b", "--joint p=a, must have the form NAME=COLUMN"),
    ("-t y --joint p=a --joint p=b", "--joint names 'p' twice"),
    ("-t y --l1-ratio 0.5", "--l1-ratio has no meaning for --penalty lasso: leave it out."),
    ("-t y --n-groups 2", "--n-groups has no meaning for --penalty lasso: leave it out."),
    ("-t y --penalty elastic_net --l1-ratio 0", "--l1-ratio 0.0, but the share of the l1 part"),
    ("-t y --penalty elastic_net --groups no.csv", "--penalty elastic_net contradicts --groups"),
    ("-t y --groups no.csv", "no.csv does not exist"),
    ("-t y --min-observed 0.5", "--min-observed has no meaning without --missing ignore."),
    ("-t y --missing ignore --min-observed half", "--min-observed half, but it must be a share"),
    ("-t y --gram-error 1", "--gram-error 1.0, but the relative error of a Gram matrix must lie"),
    ("-t y --neighbors -1", "--neighbors -1 must be a whole number >= 0."),
    ("-t y --n-jobs 0", "--n-jobs 0 must be a whole number of threads"),
)


@pytest.mark.parametrize(("arguments", "message"), REFUSED, ids=[a for a, _ in REFUSED])
def test_what_breaks_a_rule_is_refused_before_reading(tmp_path, arguments, message):
    # were the file looked at, the error would be that it is not there
    assert message in fail("select", tmp_path / "table.csv", *arguments.split())


#: One of each kind that only the data can tell.
BY_DATA = (
    ("-t riks", "did you mean 'risk'?"),
    ("-t risk --weights sex", "weights are numbers"),
    ("-t risk --weights wight", "--weights names 'wight', which is not a column"),
    ("-t risk --drop risk", "'risk' is both the target and to be dropped: choose one."),
    ("-t risk -k 10", "-k 10 is greater than n_features=9: ask for at most 9."),
    ("-t risk --keep lab", "--keep has 'lab', but there is no such column: did you mean 'lab"),
    ("-t risk --covariate sight", "--covariate has 'sight', but there is no such column"),
    ("-t risk --joint p=east,south", "--joint 'p' has 'south', but there is no such column"),
    ("-t risk --kernel laps=delta", "--kernel has 'laps', which is no column"),
    ("-t risk --kernel linear", "column 'sex' holds labels, which Linear() cannot compare"),
    ("-t risk --outputs joint", "--outputs joint has no meaning for a target of one column"),
    ("-t sex --kind ordinal", "--kind ordinal needs a numeric y, but y holds text such as 'f'"),
    ("-t sex --transform rank", "or say what it is with --kind."),
    ("--survival risk lab1", "but an event is 1"),
    ("-t risk --covariate-method subtract", "--covariate-method subtract has no meaning without"),
    ("-t risk --solver homotopy --penalty elastic_net", "--solver homotopy cannot solve"),
    ("-t risk --method embedding --alpha bic", "--alpha bic, but EmbeddingLasso has no inform"),
    ("-t risk --method embedding --penalty elastic_net", "EmbeddingLasso has no elastic net"),
    ("--affinity wide.npy", "wide.npy holds an array of shape (2, 3)"),
    ("--affinity small.npy", "shape (2, 2), but it needs one row and one column"),
)


@pytest.mark.parametrize(("arguments", "message"), BY_DATA, ids=[a for a, _ in BY_DATA])
def test_what_only_the_data_can_tell(table, tmp_path, monkeypatch, arguments, message):
    monkeypatch.chdir(tmp_path)
    np.save("wide.npy", np.ones((2, 3)))
    np.save("small.npy", np.eye(2))
    assert message in fail("select", table, *drop("risk"), *arguments.split())
