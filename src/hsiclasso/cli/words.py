"""The library's messages in the words of the command line."""

from __future__ import annotations

import re
from collections.abc import Collection

__all__ = ["in_options"]

#: Options that set the parameters of the library.
_OPTIONS = {
    "n_features_to_select": "-k",
    "target": "--kind",
    "measure": "--method",
    "kernel of the target": "--target-kernel",
    "n_neighbors": "--neighbors",
    "covariates": "--covariate",
    "method": "--covariate-method",
    "sample_weight": "--weights",
} | {
    name: f"--{name.replace('_', '-')}"
    for name in (
        "alpha", "kernel", "penalty", "keep", "exclude", "joint", "groups", "missing", "solver",
        "max_redundancy", "gram_error", "n_jobs", "l1_ratio", "n_groups", "min_observed",
        "epsilon", "beta", "transform", "outputs", "weights", "drop", "category", "id",
        "duplicates", "interactions", "n_interactions", "hierarchy",
        "sep", "decimal", "encoding", "comment", "mode", "level", "n_permutations",
    )
}  # fmt: skip

#: Phrases about Python objects, and their replacements.
_PHRASES = (
    (r"or pass target=\w+\(missing='drop'\)", "or say --missing-target drop"),
    (r"or pass missing='ignore' to HSICLasso", "or say --missing ignore"),
    (r", or say what y is, as in target=Real\(\)", ", or say what it is with --kind"),
    (r"an object such as AlphaRatio\(0\.1\): pass None", "ratio:0.1: leave --alpha out"),
    (r", or pass an object such as \w+\([^)]*\)", ""),
    (r"with Phenotype\(files, id='\.\.\.'\) if it has", "IID, or put it first, if it has"),
    (r"pass an estimator, and a scoring if it has no score", "leave --cv out"),
    (
        r"\w+=(?:\[[^]]*\]|\w+\([^()]*\)|'[^']*') \((--[^)]*) on the command line\)",
        r"\1",
    ),
)
#: A parameter with its value, or with a verb: ``target='real'``, ``kernel['age']='rbf'``,
#: ``joint['place'] has``; not a word of text in quotes.
_PARAMETER = re.compile(
    rf"(?<![\w'-])({'|'.join(sorted(_OPTIONS, key=len, reverse=True))})(?:\[('[^']*')\])?"
    r"(?:=(?:'([^']*)'|([\w.+-]+))| (?=has\b|names\b))"
)


def in_options(message: str, available: Collection[str]) -> str:
    """Replace parameters in a message by options of the command line, if these are available.

    Examples
    --------
    >>> in_options("n_features_to_select=9 is greater than n_features=8.", {"-k"})
    '-k 9 is greater than n_features=8.'
    >>> in_options("keep has 'gene', but there is no such column.", {"--keep"})
    "--keep has 'gene', but there is no such column."
    """

    def option(found: re.Match[str]) -> str:
        name, key, text, number = found.groups()
        if _OPTIONS[name] not in available:
            return found[0]
        parts = (_OPTIONS[name], key, text or number)
        return " ".join(part for part in parts if part) + (" " if found[0][-1] == " " else "")

    for pattern, words in _PHRASES:
        needed = re.findall(r"--[\w-]+", words)
        if all(one in available for one in needed):
            message = re.sub(pattern, words, message)
    return _PARAMETER.sub(option, message)
