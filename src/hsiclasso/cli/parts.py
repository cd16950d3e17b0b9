"""``hsiclasso split``, ``run`` and ``merge``: a selection in parts, for job arrays."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from hsiclasso.cli import terminal
from hsiclasso.cli.build import make_selector, read
from hsiclasso.cli.commands import SectionedCommand
from hsiclasso.cli.options import output_options, run_options, work_options
from hsiclasso.cli.output import Output
from hsiclasso.cli.piped import PIPE
from hsiclasso.cli.select import check_output, deliver
from hsiclasso.errors import InvalidInputError

if TYPE_CHECKING:
    from hsiclasso.data import Dataset

__all__ = ["merge", "run", "split"]

_JOB = "job.json"
_FOLDER = click.Path(path_type=Path, file_okay=False)

_EXAMPLES = """\b
Example, with SLURM:
  hsiclasso split cohort.bed work --parts 100 --target status --missing ignore -k 50
  sbatch --array=1-100 --wrap 'hsiclasso run work $SLURM_ARRAY_TASK_ID'
  hsiclasso merge work --out snps.csv
"""


@click.command(cls=SectionedCommand, no_args_is_help=True, epilog=_EXAMPLES)
@click.argument("file", type=click.Path(path_type=Path))
@click.argument("folder", type=_FOLDER)
@click.option("--parts", type=int, required=True, metavar="NUMBER", help="Number of parts.")
@work_options
@click.option("--memory-limit", metavar="SIZE", help="Memory that a part may use, such as 2GB.")
def split(file: Path, folder: Path, parts: int, memory_limit: str | None, **chosen: Any) -> None:
    """Prepare selecting features of FILE in parts: write the job to FOLDER.

    Then run each part with ``hsiclasso run FOLDER NUMBER``, in any order, on any machine that
    reaches FILE and FOLDER, and ``hsiclasso merge FOLDER`` at the end. The options are those of the
    command select.
    """
    if parts < 1:
        raise InvalidInputError(f"--parts {parts} must be at least 1.")
    if file == PIPE:
        raise InvalidInputError("FILE - is standard input, but every part reads FILE: store it.")
    if (folder / _JOB).exists():
        raise InvalidInputError(
            f"{folder} has a job already ({_JOB}): give another folder, or delete this one."
        )
    chosen |= {"memory_limit": memory_limit, "scheduler": None, "n_jobs": 1}
    _fit_in_one_go(file, chosen)
    from hsiclasso.data.atomic import write_atomically
    from hsiclasso.data.fingerprint import hash_of

    job = {"file": file, "parts": parts, "chosen": chosen}
    folder.mkdir(parents=True, exist_ok=True)
    text = json.dumps(job, default=_as_text)
    known = {**json.loads(text), "hash": hash_of(text)}
    write_atomically(folder / _JOB, json.dumps(known, indent=1).encode())
    click.echo(f"Written: {folder / _JOB}. Run each part with: hsiclasso run {folder} NUMBER")


def _fit_in_one_go(file: Path, chosen: dict[str, Any]) -> None:
    """Check the options and the table, as `plan` does, before any part is run."""
    from hsiclasso.selectors.auto import first_path
    from hsiclasso.selectors.prepare import prepare

    with terminal.clean_warnings(), terminal.progress_bar(wanted=False) as report:
        table = read(file, chosen, report)
        prepare(
            first_path(make_selector(chosen)), table.source, table.y, sample_weight=table.weights
        )


def _as_text(value: Any) -> str:
    """Paths are kept absolute: parts may be run in another folder."""
    return str(Path(value).absolute())


@click.command(cls=SectionedCommand, no_args_is_help=True)
@click.argument("folder", type=_FOLDER)
@click.argument("number", type=int)
@run_options
@click.option("-q", "--quiet", is_flag=True, help="No progress.")
def run(folder: Path, number: int, quiet: bool, **running: Any) -> None:
    """Compute part NUMBER, counted from 1, of the job in FOLDER.

    A part that was interrupted continues; one that is complete is left as it is.
    """
    file, parts, chosen = _job(folder)
    if not 1 <= number <= parts:
        raise InvalidInputError(f"NUMBER={number}, but the job has parts 1 to {parts}.")
    from hsiclasso.dependence.checkpoint import Part
    from hsiclasso.selectors.parts import run_part

    with terminal.clean_warnings(), terminal.progress_bar(wanted=not quiet) as report:
        selector, table = _prepared(folder, file, chosen | _given(running), report)
        run_part(selector, table, Part(number, parts), progress=report)


@click.command(cls=SectionedCommand, no_args_is_help=True)
@click.argument("folder", type=_FOLDER)
@run_options
@output_options
def merge(
    folder: Path, out: Path | None, plot: Path | None, report_file: Path | None, as_json: bool,
    quiet: bool, **running: Any,
) -> None:  # fmt: skip
    """Select features from the parts in FOLDER, all of which must be complete.

    The result is that of the command select with the same options.
    """
    file, parts, chosen = _job(folder)
    output = Output(out, plot, as_json, quiet, report_file)
    check_output(output, file, chosen)
    from hsiclasso.selectors.parts import check_parts

    with terminal.clean_warnings(), terminal.progress_bar(wanted=output.progress) as report:
        selector, table = _prepared(folder, file, chosen | _given(running), report)
        check_parts(selector, table, parts)
        selector.fit(table.source, table.y, sample_weight=table.weights, progress=report)
    deliver(selector, output, file, chosen, table)


def _given(running: dict[str, Any]) -> dict[str, Any]:
    """Return the options of a part that were given; the memory limit is that of the job."""
    if running.pop("memory_limit") is not None:
        raise InvalidInputError("--memory-limit belongs to the whole job: give it to split.")
    return running


def _prepared(folder: Path, file: Path, chosen: dict[str, Any], report: Any) -> tuple[Any, Dataset]:
    """Build the estimator of a job, and read its table."""
    selector = make_selector(chosen | {"checkpoint": folder})
    return selector, read(file, chosen, report)


def _job(folder: Path) -> tuple[Path, int, dict[str, Any]]:
    """Read a job: the table, the number of parts and the options."""
    from hsiclasso.data.fingerprint import hash_of

    file = folder / _JOB
    try:
        job = json.loads(file.read_text())
        if job.pop("hash") != hash_of(json.dumps(job)):
            raise ValueError("it was changed or damaged")
        chosen, table, parts = dict(job["chosen"]), Path(job["file"]), int(job["parts"])
    except FileNotFoundError:
        raise InvalidInputError(
            f"{folder} has no job: make one with hsiclasso split FILE {folder} --parts NUMBER."
        ) from None
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise InvalidInputError(
            f"{file} is no job ({error}): make it anew with hsiclasso split."
        ) from error
    for param in split.params:  # JSON has neither paths nor tuples
        value, is_path = chosen.get(param.name or ""), isinstance(param.type, click.Path)
        if isinstance(value, list):
            chosen[param.name] = tuple(map(Path, value) if is_path else value)
        elif is_path and value is not None:
            chosen[param.name] = Path(value)
    return table, parts, chosen
