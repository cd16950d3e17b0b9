"""What is read: the table, its target in one of four forms, and its weights."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import click

from hsiclasso.cli.choices import NO_WIDTH
from hsiclasso.cli.parse import Width
from hsiclasso.errors import InvalidInputError

if TYPE_CHECKING:
    from hsiclasso.data.files import Table
    from hsiclasso.selectors import TargetOptions
    from hsiclasso.selectors.targets import MultiOutput, Task

__all__ = ["Inputs"]


@dataclass(frozen=True)
class Inputs:
    """A file, and what its columns are; None where the default depends on another choice.

    Attributes
    ----------
    file : Path
    target : tuple of str
        Columns to explain.
    survival : tuple of str or None
        Columns of times and of events.
    affinity, graph : Path or None
        File with a matrix between samples.
    graph_kernel : {"diffusion", "regularised_laplacian"} or None
    beta : float or None
    drop, category : tuple of str
    weights : str or None
    task : str
    y_kernel : str or None
    y_width : float, "median", tuple of these or None
    y_transform : {"none", "rank"}
    multioutput : {"auto", "joint", "average"} or None
    missing_target : {"error", "drop"}
    """

    file: Path
    target: tuple[str, ...] = ()
    survival: tuple[str, str] | None = None
    affinity: Path | None = None
    graph: Path | None = None
    graph_kernel: Literal["diffusion", "regularised_laplacian"] | None = None
    beta: float | None = None
    drop: tuple[str, ...] = ()
    category: tuple[str, ...] = ()
    weights: str | None = None
    task: Task = "auto"
    y_kernel: str | None = None
    y_width: Width | tuple[Width, ...] | None = None
    y_transform: Literal["none", "rank"] = "none"
    multioutput: MultiOutput | None = None
    missing_target: Literal["error", "drop"] = "error"

    @classmethod
    def take(cls, file: Path, chosen: dict[str, Any]) -> Inputs:
        """Take out of the values of a command's options those that are about the input."""
        names = {field.name for field in fields(cls)} & set(chosen)
        return cls(file, **{name: chosen.pop(name) for name in names})

    @property
    def columns(self) -> tuple[str, ...]:
        """Columns of the target."""
        return self.survival or self.target

    @property
    def dropped(self) -> str:
        """What samples are dropped for."""
        reasons = ["without a target"] if self.missing_target == "drop" else []
        return " or ".join(reasons if self.weights is None else [*reasons, "of weight 0"])

    @property
    def files(self) -> tuple[Path, ...]:
        """All files that are read."""
        return tuple(file for file in (self.file, self.affinity, self.graph) if file is not None)

    def check(self, covariates: tuple[str, ...] = ()) -> None:
        """Raise if two choices contradict each other, before any file is read."""
        form = self._form()
        self._check_graph()
        if form in ("--affinity", "--graph"):
            self._check_matrix(form)
        else:
            self._check_task()
            self._check_outputs()
            self._check_kernel()
        self._check_columns(covariates)

    def target_options(self) -> TargetOptions:
        """Return how the target is to be understood."""
        from hsiclasso.dependence import Diffusion, RegularisedLaplacian
        from hsiclasso.selectors import TargetOptions

        kernel: Any = self.y_kernel or "auto"
        if self.affinity is not None:
            kernel = "precomputed"
        if self.graph is not None:
            diffusion = self.graph_kernel in (None, "diffusion")
            make = Diffusion if diffusion else RegularisedLaplacian
            kernel = make(1.0 if self.beta is None else self.beta)
        task = "survival" if self.survival else self.task
        if task == "auto" and set(self.target) & set(self.category):
            task = "classification"
        return TargetOptions(
            task,
            kernel,
            1.0 if self.y_width is None else self.y_width,
            "rank" if self.y_transform == "rank" else None,
            self.multioutput or "auto",
            self.missing_target,
        )

    def read(self) -> Table:
        """Read the table, and the matrix between its samples if there is one."""
        from hsiclasso.data.files import read_table
        from hsiclasso.data.matrices import read_matrix

        between = self.affinity or self.graph
        matrix = None if between is None else read_matrix(between)
        words = self.target if self.task == "classification" and self._text else ()
        table = read_table(
            self.file,
            self.columns,
            drop=self.drop,
            weights=self.weights,
            category={*self.category, *words},
        )
        return table if matrix is None else replace(table, y=matrix)

    @staticmethod
    def as_read(options: TargetOptions, table: Table) -> TargetOptions:
        """Take a target of ordered labels for what it is, if nothing else is said."""
        if table.ordered and options.task == "auto":
            return replace(options, task="ordinal")
        return options

    @property
    def _text(self) -> bool:
        """Whether the file is text, in which labels may look like numbers."""
        return self.file.suffix.lower() not in (".npz", ".parquet")

    @property
    def _may_be_wide(self) -> bool:
        """Whether one name may stand for several outputs."""
        return self.file.suffix.lower() == ".npz"

    def _form(self) -> str:
        """Return the option that says what to explain."""
        given = {
            "--target": self.target,
            "--survival": self.survival,
            "--affinity": self.affinity,
            "--graph": self.graph,
        }
        forms = [option for option, value in given.items() if value]
        if not forms:
            raise click.UsageError(
                "Missing option '--target': name the column to explain, or give --survival, "
                "--affinity or --graph."
            )
        if len(forms) > 1:
            raise InvalidInputError(
                f"{forms[0]} and {forms[1]} both say what to explain: give one of --target, "
                "--survival, --affinity and --graph."
            )
        return forms[0]

    def _check_graph(self) -> None:
        """Raise if something is said about the kernel of a graph that is not there."""
        for option, value in (("--graph-kernel", self.graph_kernel), ("--beta", self.beta)):
            if value is not None and self.graph is None:
                raise InvalidInputError(
                    f"{option} {value} is for links between samples: give them with --graph, or "
                    "leave it out."
                )

    def _check_matrix(self, form: str) -> None:
        """Raise if something is said about a target that is a matrix between samples."""
        said = {
            f"--task {self.task}": self.task != "auto",
            f"--y-kernel {self.y_kernel}": self.y_kernel is not None,
            "--y-width": self.y_width is not None,
            f"--y-transform {self.y_transform}": self.y_transform != "none",
            f"--multioutput {self.multioutput}": self.multioutput is not None,
            f"--missing-target {self.missing_target}": self.missing_target != "error",
        }
        for option, is_said in said.items():
            if is_said:
                raise InvalidInputError(
                    f"{option} has no meaning with {form}, which gives the target as a matrix "
                    "between samples: leave it out."
                )

    def _check_task(self) -> None:
        """Raise if the task does not go with the columns, or with the transform."""
        n = len(self.target)
        if self.survival and self.task not in ("auto", "survival"):
            raise InvalidInputError(
                f"--task {self.task} contradicts --survival: leave one of them out."
            )
        if not self.survival and self.task == "survival" and n != 2 and not self._may_be_wide:
            raise InvalidInputError(
                "--task survival needs two columns: give them as --survival TIME EVENT."
            )
        if self.task == "multilabel" and n == 1 and not self._may_be_wide:
            raise InvalidInputError(
                "--task multilabel needs a --target for each label: repeat it, or use --task "
                "classification."
            )
        if self.y_transform != "none" and self.task not in ("auto", "regression", "survival"):
            raise InvalidInputError(
                f"--y-transform {self.y_transform} is for real targets, not for --task "
                f"{self.task}: leave one of them out."
            )
        labels = sorted({*self.columns} & {*self.category})
        if labels and (self.survival or self.task not in ("auto", "classification")):
            other = "--survival" if self.survival else f"--task {self.task}"
            raise InvalidInputError(
                f"--category {labels[0]!r} makes labels of a target that {other} takes for "
                "numbers: leave one of them out."
            )

    def _check_outputs(self) -> None:
        several = len(self.target) > 1 or (self.target and self._may_be_wide)
        if self.multioutput is not None and not several:
            raise InvalidInputError(
                f"--multioutput {self.multioutput} is for several targets: repeat --target, or "
                "leave it out."
            )

    def _check_kernel(self) -> None:
        """Raise if a width is given to a kernel that has none."""
        kernel = self.y_kernel
        if kernel in (None, "auto") and self.task in ("classification", "multilabel"):
            kernel = "delta"
        if self.y_width is not None and kernel in NO_WIDTH:
            raise InvalidInputError(
                f"--y-width has no meaning for a {kernel} kernel of the target, which has no "
                "width: leave it out, or choose another --y-kernel."
            )

    def _check_columns(self, covariates: tuple[str, ...]) -> None:
        """Raise if a column has two parts to play."""
        taken: dict[str, str] = {}
        form = "--survival" if self.survival else "--target"
        parts = [(form, name) for name in self.columns]
        parts += [] if self.weights is None else [("--weights", self.weights)]
        parts += [("--covariate", name) for name in covariates]
        parts += [("--drop", name) for name in dict.fromkeys(self.drop)]
        for option, name in parts:
            if name in taken:
                both = "twice" if option == taken[name] else f"both by {taken[name]} and"
                raise InvalidInputError(
                    f"column {name!r} is named {both} by {option}: take it out of one."
                )
            taken[name] = option
        for name in self.category:
            if taken.get(name) in ("--drop", "--weights"):
                raise InvalidInputError(
                    f"column {name!r} is named both by {taken[name]} and by --category: take it "
                    "out of one."
                )
