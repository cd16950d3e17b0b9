"""Scikit-learn's checks of every method; of two configurations where these take different ways."""

from __future__ import annotations

import pytest
from sklearn.utils.estimator_checks import check_estimator

from hsiclasso.baselines import (
    CKTA,
    FVM,
    HSFS,
    KTA,
    MRMR,
    QPFS,
    ForwardSelection,
    GreedyHSIC,
    HSICRanking,
    InstanceWiseLasso,
    LassoPath,
    MIRanking,
    SpAM,
)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    "estimator",
    [
        CKTA(),
        FVM(2, alpha=0.1),
        ForwardSelection(),
        ForwardSelection(2, criterion="hsic-conditional", pool=3),
        GreedyHSIC(2, direction="backward", estimator="unbiased", width="median"),
        HSFS(n_restarts=1, max_iter=50),
        HSICRanking(measure="nocco"),
        InstanceWiseLasso(),
        KTA(2, method="align"),
        LassoPath(),
        MIRanking(measure="parzen"),
        MRMR(),
        MRMR(measure="f", scheme="quotient", pool=3),
        QPFS(gamma="auto"),
        QPFS(n_landmarks=1, measure="hsic"),
        SpAM(alpha=0.1, smoother="spline", target="real"),
    ],
    ids=str,
)
def test_scikit_learn_checks(estimator):
    check_estimator(estimator)


def said(error):
    """All messages of an error and of those that it came from."""
    while error is not None:
        yield str(error)
        error = error.__cause__ or error.__context__


@pytest.mark.filterwarnings("ignore")
def test_spam_is_expected_to_refuse_classes():
    """Some checks draw a few whole numbers as y, which are classes unless `target` says otherwise.

    SpAM refuses these, and fails for no other reason.
    """
    found = check_estimator(SpAM(), on_fail=None)
    failed = [one for one in found if one["status"] == "failed"]
    assert 0 < len(failed) < len(found)
    for one in failed:
        messages = list(said(one["exception"]))
        assert any("'classes', but SpAM serves only" in words for words in messages), one
