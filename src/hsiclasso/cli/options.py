"""The options that several commands have, under their headings; others are in their commands."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial, reduce
from pathlib import Path
from typing import Any, TypeVar

import click

from hsiclasso.cli.commands import HeadedOption, NumberOrAuto
from hsiclasso.cli.config import load_config
from hsiclasso.cli.names import read_names

__all__ = [
    "CHECKPOINT",
    "COLUMNS",
    "CONFIG",
    "COVARIATE",
    "FILE",
    "FILES",
    "JOINT",
    "KERNEL",
    "MISSING",
    "MISSING_TARGET",
    "OUT",
    "PRINTED",
    "RESULT",
    "RUNNING",
    "TARGET",
    "TRANSFORM",
    "WORK",
    "choice",
    "giving",
    "of_output",
    "of_size",
    "of_target",
    "output_options",
    "run_options",
    "section",
    "work_options",
]

_F = TypeVar("_F", bound=Callable[..., Any])

FILE = click.Path(path_type=Path)
_KINDS = read_names("targets/__init__.py", "TARGETS")
#: Kinds that ``--kind`` may name for columns of the table.
_NAMED_KINDS = ", ".join(kind for kind in _KINDS if kind not in ("affinity", "graph"))
_GRAPH_KERNELS = read_names("targets/graph.py", "GRAPH_KERNELS")
_MEASURES = read_names("kernels/measures.py", "MEASURES")
_KERNELS = ", ".join(read_names("kernels/registry.py", "KERNELS"))


def section(heading: str) -> Callable[..., Callable[[Any], Any]]:
    """Return a `click.option` for options under one heading."""
    return partial(click.option, cls=HeadedOption, heading=heading)


def choice(file: str, variable: str, *more: str) -> click.Choice[str]:
    """Return a choice between the names in a file of the package."""
    return click.Choice([*more, *read_names(file, variable)])


of_target = section("Target (--target, --target-file, --survival, --affinity or --graph)")
_file = section("File")
_columns = section("Columns")
of_size = section("How many features")
_pairs = section("What matters only jointly")
_penalty = section("What is known about features")
_kernel = section("Kernels and measure")
_running = section("Large tables")
of_output = section("Output")

TRANSFORM = of_target(
    "--transform", type=click.Choice(["rank", "normal", "none"]),
    help="Replace a real target by its ranks, or by their normal scores, which tames heavy "
    "tails; none takes it as it is.  [default: normal if its tails are heavy; rank for "
    "--method nocco, normal for embedding]",
)  # fmt: skip
#: Options of all commands, in the order of the help.
TARGET = (
    of_target(
        "-t", "--target", multiple=True, metavar="NAME",
        help="Column to explain; repeatable: several outputs or labels. For .npz, .mat and .h5 the "
        "array y by default.",
    ),
    of_target(
        "--target-file", type=FILE,
        help="Target with one value for each row of FILE: .npy, or text with one value on a line.",
    ),
    of_target(
        "--survival", nargs=2, metavar="TIME EVENT",
        help="Columns of a censored target; EVENT is 1 if the event was observed, 0 if censored.",
    ),
    of_target(
        "--affinity", type=FILE,
        help="Matrix between the samples: .npz (SciPy sparse or one array), .npy, .csv, .tsv.",
    ),
    of_target(
        "--graph", type=FILE, help="Links between the samples: a matrix in the same formats."
    ),
    of_target(
        "--graph-kernel", type=click.Choice(_GRAPH_KERNELS), metavar="NAME",
        help=f"Kernel of the graph: {' or '.join(_GRAPH_KERNELS)}.  [default: diffusion]",
    ),
    of_target("--beta", type=float, help="Reach of the graph kernel.  [default: 1.0]"),
    of_target(
        "--kind", type=click.Choice(_KINDS), metavar="NAME",
        help=f"Kind of the target: {_NAMED_KINDS}.  [default: auto, which looks at "
        "its values]",
    ),
    of_target(
        "--outputs", type=choice("targets/values.py", "Outputs"), metavar="NAME",
        help="joint: one kernel on several targets; average: one each.  [default: auto]",
    ),
    TRANSFORM,
    of_target(
        "--target-kernel", metavar="NAME[:WIDTH]",
        help="Kernel of the target.  [default: delta for classes and labels, else gaussian]",
    ),
)  # fmt: skip
FILES = (
    _file(
        "--phenotype", type=FILE, multiple=True,
        help="File that describes the samples, for target, weights and covariates, joined by "
        "identifiers: text, or PLINK's .pheno, .cov, .eigenvec, .fam; repeatable.",
    ),
    _file("--id", metavar="NAME", help="Column of sample identifiers, which is no feature."),
    _file(
        "--transpose", is_flag=True,
        help="Rows are features and columns are samples, in a text file.",
    ),
    _file(
        "--duplicates", type=choice("data/duplicates.py", "Duplicates"), default="error",
        show_default=True, help="Number features of the same name, or average them.",
    ),
    _file(
        "--sep", metavar="MARK",
        help="What separates columns of text: a character, tab or whitespace.  [default: as the "
        "suffix says, or as the file shows]",
    ),
    _file(
        "--decimal", metavar="MARK", help="Decimal mark, . or ,  [default: as the file shows]"
    ),
    _file(
        "--encoding", metavar="NAME", help="Encoding of text, such as latin-1.  [default: utf-8]"
    ),
    _file("--comment", metavar="MARK", help="Leave out lines that begin with this, such as #."),
    _file(
        "--na", multiple=True, metavar="TEXT",
        help="Text that stands for a missing value, besides NA and the like; repeatable.",
    ),
)  # fmt: skip
COLUMNS = (
    _columns("--drop", multiple=True, metavar="NAME", help="Column to leave out; repeatable."),
    _columns(
        "--category", multiple=True, metavar="NAME",
        help="Column of labels, even if it looks like numbers; repeatable.",
    ),
    _columns("--layer", metavar="NAME", help="Layer of an AnnData file, in place of X."),
    _columns("--raw", is_flag=True, help="The raw matrix of an AnnData file, in place of X."),
)  # fmt: skip
PRINTED = (
    of_output(
        "--json", "as_json", is_flag=True, help="Print the result as JSON and nothing else."
    ),
    of_output("-q", "--quiet", is_flag=True, help="No progress and no summary, only the table."),
)  # fmt: skip

MISSING_TARGET = of_target(
    "--missing-target", type=choice("targets/base.py", "MissingTarget"),
    help="Whether to drop the rows without a target.  [default: error]",
)  # fmt: skip
JOINT = _columns(
    "--joint", multiple=True, metavar="NAME=COL,COL",
    help="Feature made of several columns, such as coordinates; repeatable.",
)  # fmt: skip
MISSING = (
    _columns(
        "--missing", type=click.Choice(["error", "ignore"]), default="error", show_default=True,
        help="ignore judges each feature on the samples on which it is observed.",
    ),
    _columns(
        "--min-observed", metavar="SHARE|NUMBER",
        help="Share or number of samples on which a feature must be observed to be judged.  "
        "[default: 0.5]",
    ),
)  # fmt: skip
KERNEL = _kernel(
    "--kernel", multiple=True, metavar="[WHICH=]NAME[:WIDTH]",
    help=f"Kernel of all columns: {_KERNELS}; or, repeatable, of WHICH: a column, a --joint "
    "feature, or number, bool, category, text. A width is in standard deviations, as in "
    "gaussian:0.5; several, as in gaussian:0.5,1,2, stand for the mean of their kernels; "
    "laplace:median takes the median distance.  [default: gaussian of width 1 for numbers, "
    "plain_delta for others]",
)  # fmt: skip
COVARIATE = _columns(
    "--covariate", "covariates", multiple=True, metavar="NAME",
    help="Column whose influence is removed, such as batch or age; repeatable.",
)  # fmt: skip
WORK = (
    *TARGET,
    MISSING_TARGET,
    *FILES,
    *COLUMNS,
    JOINT,
    _columns("--weights", metavar="NAME", help="Column of sample weights."),
    COVARIATE,
    _columns(
        "--covariate-method", type=click.Choice(["project", "subtract"]), default="project",
        show_default=True,
        help="Remove functions of the covariates from features and target, or subtract their "
        "kernel matrix from the target's.",
    ),
    *MISSING,
    of_size(
        "-k", "--n-features", type=NumberOrAuto(), metavar="NUMBER|auto",
        help="Number of features to select; auto finds it by tests, as --fdr 0.1 does.  "
        "[default: 10, unless --alpha is given]",
    ),
    of_size(
        "--alpha", metavar="PENALTY",
        help="Penalty at which to stop instead: a number; a share of the largest penalty, such as "
        "ratio:0.1; or aic or bic, an information criterion that chooses it.",
    ),
    of_size(
        "--no-fill", is_flag=True,
        help="Select fewer features if the path ends before the number asked for. Otherwise "
        "relevant features unlike those on the path make up the number, with weight 0.",
    ),
    of_size("--n-groups", type=int, help="Number of groups to select, with --groups."),
    _pairs(
        "--interactions", multiple=True, metavar="WHAT",
        help="Let pairs of features compete with single ones: all pairs; all:NUMBER, those of the "
        "NUMBER most relevant features; spread:NUMBER, of those most relevant for the spread of "
        "the target; selected, those of the features selected without pairs; or, repeatable, "
        "COL,COL.",
    ),
    _pairs("--n-interactions", type=int, help="Most pairs that are selected.  [default: no limit]"),
    _pairs(
        "--hierarchy", type=click.Choice(["none", "weak", "strong"]),
        help="Select a pair only together with one of its members (weak) or both (strong).  "
        "[default: none]",
    ),
    _penalty("--keep", multiple=True, metavar="NAME", help="Column to select always; repeatable."),
    _penalty(
        "--exclude", multiple=True, metavar="NAME", help="Column to select never; repeatable."
    ),
    _penalty(
        "--max-redundancy", metavar="SIMILARITY", default="auto", show_default=True,
        help="Leave out features that are more similar than this to a selected one, between 0 and "
        "1; 1 leaves nothing out, as in the paper.",
    ),
    _penalty(
        "--groups", type=FILE,
        help="Select groups of features: a .csv or .tsv file of features and their groups.",
    ),
    _penalty(
        "--penalty", type=choice("selectors/penalties.py", "PENALTIES"),
        help="With an elastic net, redundant features share weight.  [default: lasso]",
    ),
    _penalty(
        "--l1-ratio", type=float,
        help="Share of the l1 part of an elastic net  [default: 0.5]; with --groups, above 0 "
        "selects features within groups too  [default: 0].",
    ),
    _kernel(
        "--method", type=click.Choice([*_MEASURES, "embedding"]), default="hsic",
        show_default=True,
        help="HSIC Lasso, the same with normalised Gram matrices, NOCCO Lasso, or Embedding Lasso, "
        "a sum of functions of the features, which needs fewer samples.",
    ),
    _kernel(
        "--epsilon", type=float,
        help="Regularisation of NOCCO  [default: 0.001], or smoothness of the functions of "
        "embedding  [default: 0.1 for classes and labels, else 0.02].",
    ),
    KERNEL,
    _kernel(
        "--gram-error", type=float, default=1e-6, show_default=True,
        help="Guaranteed relative error of a feature's Gram matrix.",
    ),
    _kernel(
        "--solver", type=choice("solvers/solve.py", "SOLVERS", "auto"), default="auto",
        show_default=True, help="All reach the same certified optimum.",
    ),
    _kernel(
        "--neighbors", type=int, default=0, show_default=True,
        help="Number of similar features to find for each selected one. This takes one more pass "
        "over the table. Only similarities above 0.2 are printed.",
    ),
)  # fmt: skip
RUNNING = (
    _running(
        "--n-jobs", type=int, default=-1, show_default=True, help="Threads; -1 takes all cores."
    ),
    _running(
        "--memory-limit", metavar="SIZE",
        help="Memory that may be used beside the table and the libraries, such as 2GB.  [default: "
        "half of what is free]",
    ),
    _running(
        "--scheduler", metavar="ADDRESS",
        help="Scheduler of a Dask cluster that runs the pass, such as tcp://10.0.0.1:8786.",
    ),
)  # fmt: skip
CHECKPOINT = _running(
    "--checkpoint", type=FILE, metavar="FOLDER",
    help="Folder that keeps finished chunks of columns: an interrupted run continues there.",
)  # fmt: skip
OUT = "to a .csv, .tsv, .json, .parquet or .xlsx file"
CONFIG = (
    of_output(
        "--config", type=FILE, is_eager=True, expose_value=False, callback=load_config,
        help="Take options from a .toml file; those given here win.",
    ),
    of_output(
        "--save-config", type=FILE,
        help="Write all options to a .toml file, for --config.",
    ),
)  # fmt: skip
RESULT = (
    of_output(
        "--out", type=FILE,
        help=f"Write the result {OUT}; or, if FILE is an .h5ad, to an .h5ad file: a copy of FILE "
        "with the result in var and uns.",
    ),
    of_output(
        "--plot", type=FILE,
        help="Draw weights, path and, for --method embedding, the functions of the features in a "
        ".png, .svg or .pdf file.",
    ),
    of_output(
        "--report", "report_file", type=FILE,
        help="Write a page to an .html file that opens offline: a table to sort and filter, the "
        "shape of each dependence, the path and redundancy.",
    ),
    *PRINTED,
)  # fmt: skip


def giving(*options: Callable[[Any], Any]) -> Callable[[_F], _F]:
    """Return a decorator that gives a command all of the options."""
    return lambda command: reduce(lambda made, option: option(made), reversed(options), command)


#: Options of the commands that prepare or do part of the work, or give the result of it.
work_options, run_options, output_options = giving(*WORK), giving(*RUNNING), giving(*RESULT)
