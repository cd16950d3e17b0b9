"""The options of ``hsiclasso select`` and ``hsiclasso compare``, under their headings."""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from pathlib import Path
from typing import Any, TypeVar

import click

from hsiclasso.cli.parse import METHODS, joint, kernels, methods, nonzero, observed, width
from hsiclasso.cli.sections import section

__all__ = ["compare_options", "select_options"]

_F = TypeVar("_F", bound=Callable[..., Any])

_FILE = click.Path(path_type=Path)
_POSITIVE = click.FloatRange(min=0, min_open=True)

_target = section("Target (--target, --survival, --affinity or --graph)")
_columns = section("Columns")
_size = section("How many features")
_methods = section("Methods")
_penalty = section("What is known about features")
_kernel = section("Kernels and measure")
_output = section("Output")

#: What both commands have, in the order in which the help lists them.
_TARGET = (
    _target(
        "-t", "--target", multiple=True, metavar="NAME",
        help="Column to explain; repeatable: several outputs or labels.",
    ),
    _target(
        "--survival", nargs=2, metavar="TIME EVENT",
        help="Columns of a censored target; EVENT is 1 if it came, 0 if observation ended.",
    ),
    _target(
        "--affinity", type=_FILE,
        help="Matrix between the samples: .npz (SciPy sparse or one array), .npy, .csv, .tsv.",
    ),
    _target("--graph", type=_FILE, help="Links between the samples, as such a matrix."),
    _target(
        "--graph-kernel", type=click.Choice(["diffusion", "regularised_laplacian"]),
        help="Kernel made of the links.  [default: diffusion]",
    ),
    _target("--beta", type=_POSITIVE, help="How far it reaches over the links.  [default: 1.0]"),
    _target(
        "--task",
        type=click.Choice(
            ["auto", "classification", "regression", "ordinal", "counts", "multilabel", "survival"]
        ),
        default="auto", metavar="NAME", show_default=True,
        help="What the target is: classification, regression, ordinal, counts, multilabel or "
        "survival; auto looks at its values.",
    ),
    _target(
        "--multioutput", type=click.Choice(["auto", "joint", "average"]),
        help="One kernel on several targets, or one each.  [default: auto]",
    ),
    _target(
        "--y-transform", type=click.Choice(["none", "rank"]), default="none", show_default=True,
        help="Replace a real target by its ranks, which tames heavy tails.",
    ),
)  # fmt: skip
_COLUMNS = (
    _columns("--drop", multiple=True, metavar="NAME", help="Column to leave out; repeatable."),
    _columns(
        "--category", multiple=True, metavar="NAME",
        help="Column of labels, though it may look like numbers; repeatable.",
    ),
)  # fmt: skip
_PRINTED = (
    _output(
        "--json", "as_json", is_flag=True, help="Print the result as JSON and nothing else."
    ),
    _output("-q", "--quiet", is_flag=True, help="No progress and no summary, only the table."),
)  # fmt: skip

_SELECT = (
    *_TARGET,
    _target(
        "--missing-target", type=click.Choice(["error", "drop"]), default="error",
        show_default=True, help="Whether to drop the rows without a target.",
    ),
    *_COLUMNS,
    _columns(
        "--joint", multiple=True, metavar="NAME=COL,COL", callback=joint,
        help="Feature made of several columns, such as coordinates; repeatable.",
    ),
    _columns("--weights", metavar="NAME", help="Column of sample weights."),
    _columns(
        "--covariate", "covariates", multiple=True, metavar="NAME",
        help="Column, such as batch or age, to remove the influence of; repeatable.",
    ),
    _columns(
        "--covariate-method", type=click.Choice(["project", "subtract"]),
        help="Remove functions of them from features and target, or take their matrix from the "
        "target's.  [default: project]",
    ),
    _columns(
        "--missing", type=click.Choice(["error", "ignore"]), default="error", show_default=True,
        help="ignore judges each feature on the samples on which it is observed.",
    ),
    _columns(
        "--min-observed", metavar="SHARE|NUMBER", callback=observed,
        help="Samples on which a feature must be observed to be judged.  [default: 0.5]",
    ),
    _size(
        "-k", "--n-features", type=click.IntRange(min=1),
        help="Features to select.  [default: 10, unless --alpha is given]",
    ),
    _size("--n-groups", type=click.IntRange(min=1), help="Groups to select, with --groups."),
    _size("--alpha", type=click.FloatRange(min=0), help="Penalty at which to stop."),
    _size(
        "--alpha-ratio", type=click.FloatRange(0, 1),
        help="The same as a share of the largest penalty.",
    ),
    _size(
        "--criterion", type=click.Choice(["aic", "bic"]),
        help="Let an information criterion choose the number of features.",
    ),
    _penalty("--keep", multiple=True, metavar="NAME", help="Column to keep always; repeatable."),
    _penalty(
        "--exclude", multiple=True, metavar="NAME", help="Column never to select; repeatable."
    ),
    _penalty(
        "--groups", type=_FILE,
        help="Select groups of features: a .csv or .tsv file of features and their groups.",
    ),
    _penalty(
        "--l1-ratio", type=click.FloatRange(0, 1), default=0.0, show_default=True,
        help="With groups, share of the l1 part: above 0, features within groups are selected "
        "too.",
    ),
    _penalty(
        "--ridge", type=click.FloatRange(min=0), default=0.0, show_default=True,
        help="Ridge part of the elastic net: redundant features share weight.",
    ),
    _kernel(
        "--method", type=click.Choice(["hsic", "nhsic", "nocco"]), default="hsic",
        show_default=True,
        help="HSIC Lasso, the same with normalised Gram matrices, or NOCCO Lasso.",
    ),
    _kernel("--epsilon", type=_POSITIVE, help="NOCCO's regularisation.  [default: 0.001]"),
    _kernel(
        "--x-kernel", multiple=True, metavar="[WHICH=]NAME", callback=kernels,
        help="gaussian, laplace, delta, plain_delta, linear or polynomial, for all columns; or "
        "repeatable, for WHICH: a column, a --joint feature, or number, bool, category, text. "
        "[default: gaussian for numbers, plain_delta for others]",
    ),
    _kernel(
        "--y-kernel",
        type=click.Choice(
            ["auto", "gaussian", "delta", "plain_delta", "laplace", "linear", "polynomial"]
        ),
        metavar="NAME",
        help="The same of the target.  [default: delta for classes and labels, else gaussian]",
    ),
    _kernel(
        "--x-width", metavar="NUMBER|median", callback=width,
        help="Kernel width of the features, in standard deviations; several, as in 0.5,1,2, "
        "stand for the mean of their kernels.  [default: 1.0]",
    ),
    _kernel(
        "--y-width", metavar="NUMBER|median", callback=width,
        help="The same of a real target.  [default: 1.0]",
    ),
    _kernel(
        "--tol", type=_POSITIVE, default=1e-6, show_default=True,
        help="Guaranteed relative error of a feature's Gram matrix.",
    ),
    _kernel(
        "--solver", type=click.Choice(["auto", "homotopy", "cd", "dal"]), default="auto",
        show_default=True, help="All reach the same certified optimum.",
    ),
    _kernel(
        "--n-jobs", type=int, metavar="NUMBER", default=-1, show_default=True, callback=nonzero,
        help="Threads; -1 takes all cores.",
    ),
    _output(
        "--neighbors", type=click.IntRange(min=0), default=3, show_default=True,
        help="Redundant neighbours found for each feature; the table shows those above 0.2.",
    ),
    _output("--out", type=_FILE, help="Write the result to a .csv, .tsv or .json file."),
    _output("--plot", type=_FILE, help="Draw weights and path in a .png, .svg or .pdf file."),
    *_PRINTED,
)  # fmt: skip

_COMPARE = (
    *_TARGET,
    *_COLUMNS,
    _methods(
        "-k", "--n-features", type=click.IntRange(min=1), default=10, show_default=True,
        help="Features that each method is to select.",
    ),
    _methods(
        "--methods", metavar="NAME,NAME", callback=methods,
        help=f"Methods to compare: {', '.join(METHODS)}.  [default: all]",
    ),
    _output(
        "--out", type=_FILE,
        help="Write a row for each method and feature to a .csv or .tsv file, or all to a .json "
        "file.",
    ),
    _output(
        "--plot", type=_FILE, help="Draw the ranks in all methods in a .png, .svg or .pdf file."
    ),
    *_PRINTED,
)  # fmt: skip


def select_options(command: _F) -> _F:
    """Give a command all options of a selection."""
    return _with(_SELECT, command)


def compare_options(command: _F) -> _F:
    """Give a command all options of a comparison."""
    return _with(_COMPARE, command)


def _with(options: tuple[Callable[[Any], Any], ...], command: _F) -> _F:
    return reduce(lambda function, option: option(function), reversed(options), command)
