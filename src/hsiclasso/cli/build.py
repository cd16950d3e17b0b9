"""The options of the command line -> the estimator, and the table that it is fitted to.

This module checks only how options are written and which of them go together. The library checks
the values of its parameters.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from hsiclasso.cli.piped import on_disk
from hsiclasso.cli.terminal import Report
from hsiclasso.errors import InvalidInputError

if TYPE_CHECKING:
    from hsiclasso._options import Option
    from hsiclasso.data.files import Dataset
    from hsiclasso.kernels import Kernel
    from hsiclasso.selectors.estimators import LassoSelector
    from hsiclasso.targets import Target

__all__ = [
    "files_read",
    "make_selector",
    "make_target",
    "read",
    "read_joint",
    "read_kernels",
    "read_missing",
    "refuse",
    "resources_of",
]

_O = TypeVar("_O", bound="Option")

#: Options that name the target. All but the first also say its kind.
_FORMS = ("target", "target-file", "survival", "affinity", "graph")
#: Options that say how a text file is written.
_TEXT = ("sep", "decimal", "encoding", "comment", "na", "transpose")


def make_selector(chosen: Mapping[str, Any]) -> LassoSelector:
    """Build the estimator from the options of ``hsiclasso select``, and check its parameters."""
    from hsiclasso.kernels import as_measure
    from hsiclasso.selectors import Covariates, EmbeddingLasso, HSICLasso
    from hsiclasso.selectors.prepare import check_options

    shared: dict[str, Any] = {
        "n_features_to_select": chosen["n_features"],
        "alpha": _alpha(chosen["alpha"]),
        "max_redundancy": _number(chosen["max_redundancy"]),
        "kernel": read_kernels(chosen["kernel"]),
        "target": make_target(chosen),
        "penalty": _penalty(chosen),
        "keep": chosen["keep"],
        "exclude": chosen["exclude"],
        "joint": read_joint(chosen["joint"]),
        "covariates": Covariates(chosen["covariates"], chosen["covariate_method"]),
        "missing": read_missing(chosen),
        "gram_error": chosen["gram_error"],
        "fill": not chosen["no_fill"],
        "interactions": _interactions(chosen),
        "n_interactions": chosen["n_interactions"],
        "n_neighbors": chosen["neighbors"],
        "n_jobs": chosen["n_jobs"],
        "resources": resources_of(chosen),
    }
    method, epsilon = chosen["method"], chosen["epsilon"]
    selector: LassoSelector
    if method == "embedding":
        if chosen["solver"] != "auto":
            raise InvalidInputError("--solver has no meaning for --method embedding: leave it out.")
        selector = EmbeddingLasso(epsilon="auto" if epsilon is None else epsilon, **shared)
    else:
        given = {"--epsilon": ("epsilon", epsilon)}
        measure = _set(as_measure(method), given, f"--method {method}")
        selector = HSICLasso(measure=measure, solver=chosen["solver"], **shared)
    check_options(selector)
    return selector


def refuse(given: Mapping[str, Any], by: str, why: str) -> None:
    """Raise if an option is given that another one makes meaningless."""
    for option, value in given.items():
        if value is not None:
            raise InvalidInputError(
                f"{option} has no meaning with {by}, which {why}: leave one of them out."
            )


def read_missing(chosen: Mapping[str, Any]) -> Any:
    """Return what is done about missing values."""
    from hsiclasso.selectors import Ignore

    if chosen["min_observed"] is None:
        return chosen["missing"]
    if chosen["missing"] != "ignore":
        raise InvalidInputError("--min-observed has no meaning without --missing ignore.")
    return Ignore(_number(chosen["min_observed"]))


def resources_of(chosen: Mapping[str, Any]) -> Any:
    """Return the resources that the options name; None for the default."""
    from hsiclasso.selectors import Resources

    given = (chosen["memory_limit"], chosen.get("checkpoint"), chosen["scheduler"])
    return None if given == (None, None, None) else Resources(*given)


def make_target(chosen: Mapping[str, Any]) -> Target:
    """Build the target from the options of a command, before any file is read."""
    from hsiclasso.targets import as_target

    form, kind = _form(chosen)
    target = as_target(kind)
    of_values, of_graph = ("", "kernel") if target.name == "graph" else ("kernel", "")
    text = chosen["target_kernel"]
    kernel = None if text in (None, "auto") else _kernel(text, "kernel of the target")
    graph_option = "--beta" if chosen["graph_kernel"] is None else "--graph-kernel"
    given = {
        "--target-kernel": (of_values, kernel),
        graph_option: (of_graph, _graph_kernel(chosen["graph_kernel"], chosen["beta"])),
        "--transform": ("transform", chosen["transform"]),
        "--outputs": ("outputs", chosen["outputs"]),
        "--missing-target": ("missing", chosen.get("missing_target")),
    }
    by_kind = form in ("target", "target-file")
    made = _set(target, given, f"--kind {kind}" if by_kind else f"--{form}")
    if chosen["transform"] == "none":
        made.set_params(transform=None)
    return made.check()


def read(file: Path, chosen: Mapping[str, Any], report: Report) -> Dataset:
    """Read the table, and the matrix between its samples if the options name one."""
    from hsiclasso.data.files import TextFormat, read_table
    from hsiclasso.data.matrices import read_matrix
    from hsiclasso.data.vectors import read_target

    if chosen["raw"] and chosen["layer"] is not None:
        raise InvalidInputError(
            f"--layer {chosen['layer']} and --raw are two different matrices: leave one out."
        )
    report("read", 0, 0)
    between = chosen["affinity"] or chosen["graph"]
    matrix = None if between is None else read_matrix(between)
    classes = chosen["target"] if chosen["kind"] == "classes" else ()
    with on_disk(file) as kept:
        table = read_table(
            kept,
            chosen["survival"] or chosen["target"],
            drop=chosen["drop"],
            weights=chosen.get("weights"),
            category={*chosen["category"], *classes},
            id=chosen["id"],
            phenotype=chosen["phenotype"],
            duplicates=chosen["duplicates"],
            text=TextFormat(**{name: chosen[name] for name in _TEXT}),
            layer="raw" if chosen["raw"] else chosen["layer"],
        )
    if chosen["target_file"] is not None:
        y = read_target(chosen["target_file"], table.source.n_samples)
        table = replace(table, y=y)
    report("read", table.source.n_samples, table.source.n_samples)
    return table if matrix is None else replace(table, y=matrix)


def files_read(file: Path, chosen: Mapping[str, Any]) -> list[Path]:
    """Return all files that a command reads."""
    others = (chosen.get(name) for name in ("target_file", "affinity", "graph", "groups"))
    return [file, *chosen["phenotype"], *(other for other in others if other is not None)]


def _form(chosen: Mapping[str, Any]) -> tuple[str, str]:
    """Return the one option that names the target, and the kind of the target."""
    forms = [form for form in _FORMS if chosen[form.replace("-", "_")]]
    if not forms:
        raise click.UsageError(
            "Missing option '--target': name the column to explain, or give --target-file, "
            "--survival, --affinity or --graph."
        )
    if len(forms) > 1:
        raise InvalidInputError(
            f"--{forms[0]} and --{forms[1]} both say what to explain: give one of --target, "
            "--target-file, --survival, --affinity and --graph."
        )
    (form,), kind = forms, chosen["kind"]
    if form in ("target", "target-file"):
        return form, kind or "auto"
    if kind not in (None, form):
        raise InvalidInputError(f"--kind {kind} contradicts --{form}: leave one of them out.")
    return form, form


def _set(made: _O, given: Mapping[str, tuple[str, Any]], words: str) -> _O:
    """Set parameters of an object; raise if it lacks one.

    `given` has a parameter and its value, or None, for each option. `words` name the object.
    """
    known = made.get_params(deep=False)
    for option, (name, value) in given.items():
        if value is not None and name not in known:
            raise InvalidInputError(f"{option} has no meaning for {words}: leave it out.")
        if value is not None:
            made.set_params(**{name: value})
    return made


def _penalty(chosen: Mapping[str, Any]) -> Any:
    from hsiclasso.data.groups import read_groups
    from hsiclasso.selectors import GroupLasso
    from hsiclasso.selectors.penalties import as_penalty

    name, groups = chosen["penalty"], chosen["groups"]
    if groups is not None and name is not None:
        raise InvalidInputError(
            f"--penalty {name} contradicts --groups, whose penalty is the group lasso: leave one "
            "of them out."
        )
    given = {
        "--l1-ratio": ("l1_ratio", chosen["l1_ratio"]),
        "--n-groups": ("n_groups", chosen["n_groups"]),
    }
    if groups is not None:
        return _set(GroupLasso(read_groups(groups)), given, "--groups")
    name = name or "lasso"
    return _set(as_penalty(name), given, f"--penalty {name}")


def _graph_kernel(name: str | None, beta: float | None) -> Any:
    from hsiclasso.targets.graph import GRAPH_KERNELS

    if name is None and beta is None:
        return None
    kernel = GRAPH_KERNELS[name or "diffusion"]()
    return _set(kernel, {"--beta": ("beta", beta)}, f"--graph-kernel {name}")


def _alpha(text: str | None) -> Any:
    """Read a penalty: a number, ``ratio:SHARE``, or the name of a criterion."""
    from hsiclasso.selectors import AlphaRatio

    if text is not None and text.startswith("ratio:"):
        return AlphaRatio(_number(text.removeprefix("ratio:")))
    return text if text is None else _number(text)


def read_kernels(texts: Sequence[str]) -> Any:
    """Read ``NAME:WIDTH`` for all columns, or ``WHICH=NAME:WIDTH`` for some, once or repeatedly."""
    rules: dict[str, Kernel] = {}
    for text in texts:
        which, sign, name = text.rpartition("=")
        if not sign and len(texts) > 1:
            raise InvalidInputError(
                f"--kernel {name} is for all columns and must be the only one: write COLUMN={name} "
                f"for one column, or number={name} for all numbers."
            )
        if not sign:
            return "auto" if name == "auto" else _kernel(name, "kernel")
        if not which or which in rules:
            why = f"gives {which!r} a second kernel" if which else "names no column"
            raise InvalidInputError(f"--kernel {text} {why}: write COLUMN={name}, once.")
        rules[which] = _kernel(name, f"kernel[{which!r}]")
    return rules or "auto"


def _kernel(text: str, what: str) -> Kernel:
    """Read ``NAME``, ``NAME:WIDTH`` or ``NAME:WIDTH,WIDTH``."""
    from hsiclasso.kernels import as_kernel

    name, _, after = text.partition(":")
    widths = tuple(_number(part.strip()) for part in after.split(","))
    width = (widths[0] if len(widths) == 1 else widths) if after else None
    made = as_kernel(name, what)
    return _set(made, {f"the width of {text}": ("width", width)}, f"the {name} kernel").check()


def read_joint(texts: Sequence[str]) -> dict[str, list[str]]:
    """Read ``NAME=COLUMN,COLUMN``."""
    features: dict[str, list[str]] = {}
    for text in texts:
        name, _, columns = text.partition("=")
        parts = [column.strip() for column in columns.split(",")]
        if not name.strip() or not all(parts):
            raise InvalidInputError(
                f"--joint {text} must have the form NAME=COLUMN,COLUMN, as in place=east,north."
            )
        if name.strip() in features:
            raise InvalidInputError(f"--joint names {name.strip()!r} twice: choose another name.")
        features[name.strip()] = parts
    return features


def _interactions(chosen: Mapping[str, Any]) -> Any:
    """Read ``all``, ``selected``, ``all:NUMBER`` or ``spread:NUMBER``; or ``COLUMN,COLUMN``s."""
    from hsiclasso.selectors import Interactions

    texts, hierarchy = chosen["interactions"], chosen["hierarchy"]
    if not texts:
        if hierarchy is not None:
            raise InvalidInputError(
                f"--hierarchy {hierarchy} has no meaning without --interactions: leave it out."
            )
        return None
    given = {} if hierarchy is None else {"hierarchy": hierarchy}
    if len(texts) == 1 and "," not in texts[0]:
        word, _, number = texts[0].partition(":")
        if word == "spread" or number:
            by = "spread" if word == "spread" else "relevance"
            word = "all" if word == "spread" else word
            return Interactions(word, among=_number(number), by=by, **given)
        return Interactions(word, **given)
    pairs = [tuple(part.strip() for part in text.split(",")) for text in texts]
    if any(len(some) < 2 or not all(some) for some in pairs):
        raise InvalidInputError(
            f"--interactions {' '.join(texts)} must be all, selected, all:NUMBER, "
            "spread:NUMBER, or, repeatable, COLUMN,COLUMN."
        )
    return Interactions(pairs, **given)


def _number(text: str) -> Any:
    """Read a number; return other text as it is, for the library to refuse."""
    try:
        return int(text) if text.isdigit() else float(text)
    except ValueError:
        return text
