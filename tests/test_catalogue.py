"""Every case of the catalogue of bad input, through Python and through the shell."""

from __future__ import annotations

import os
import re
import warnings
from collections import Counter

import pytest

from hsiclasso import HSICLasso
from hsiclasso.errors import InvalidInputError
from tests.catalogue import CASES, counts
from tests.cli.helpers import run

#: Words by which an error says what the user can do.
REMEDY = re.compile(
    r"\b(add|allow|ask|call|check|choose|convert|copy|correct|create|default|divide|drop|encode|fill|give|impute|"
    r"leave|leaves|make|merge|name|needed|one of|pass|remove|rename|replace|reshape|save|say|store|"
    r"such as|take|use|usual|write|must be|needs)\b"
)


def files(folder):
    return {path: path.stat().st_mtime_ns for path in folder.rglob("*")}


def check_words(message, says):
    """One line that names the thing and the value, says the rule, and a remedy."""
    assert len(message.splitlines()) == 1, message
    assert all(word in message for word in says), (says, message)
    assert REMEDY.search(message.lower()), message


def by_python(given):
    """Return the error and the warnings of a fit."""
    params = {"n_features_to_select": 2} | (given.params or {})
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UserWarning)
        try:
            HSICLasso(**params).fit(given.X, given.y)
        except Exception as error:
            return error, [str(one.message) for one in caught]
    return None, [str(one.message) for one in caught]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_case(case, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    given = case.make(tmp_path)
    before = files(tmp_path)
    if given.X is not None or given.words is None:
        error, said = by_python(given)
        if case.answer == "refused":
            assert isinstance(error, InvalidInputError), repr(error)
            check_words(str(error), case.says)
        else:
            assert error is None
            assert any(all(word in line for word in case.says) for line in said), said
    if given.words is not None:
        number = () if {"-k", "--fdr"} & set(given.words) else ("-k", 2)
        out = () if "--out" in given.words else ("--out", tmp_path / "result.csv")
        result = run("select", *given.words, *number, *out)
        assert "Traceback" not in result.output
        if case.answer == "refused":
            assert (result.exit_code, result.stdout) == (2, ""), result.output
            line = [words for words in result.stderr.splitlines() if words.startswith("Error: ")]
            assert len(line) == 1, result.stderr
            check_words(line[0], case.says)
        else:
            assert result.exit_code == 0, result.output
            said = [words for words in result.stderr.splitlines() if words.startswith("Warning: ")]
            assert any(all(word in words for word in case.says) for words in said), result.stderr
            (tmp_path / "result.csv").unlink()
    assert files(tmp_path) == before  # nothing is written or changed
    assert os.getcwd() == str(tmp_path)


def test_the_catalogue_is_large_and_names_are_unique():
    assert counts()["cases"] == sum(counts()["answers"].values()) == len(CASES) >= 450
    assert max(Counter(map(str, CASES)).values()) == 1
