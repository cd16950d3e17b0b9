"""The group of commands; errors become one line."""

from __future__ import annotations

import errno
from typing import Any

import click

from hsiclasso import __version__
from hsiclasso._display import printable
from hsiclasso.cli import INTERRUPTED, was_interrupted
from hsiclasso.cli.compare import compare
from hsiclasso.cli.completion import completion
from hsiclasso.cli.demo import demo
from hsiclasso.cli.parts import merge, run, split
from hsiclasso.cli.plan import plan
from hsiclasso.cli.select import select
from hsiclasso.cli.test import test
from hsiclasso.cli.words import in_options
from hsiclasso.errors import ChunkFailedError, InvalidInputError, MissingExtraError

__all__ = ["app"]


class _Failure(click.ClickException):
    """An error that the user can correct: one line and exit code 2, no traceback."""

    exit_code = 2


class _Group(click.Group):
    """Commands whose expected errors end in a sentence."""

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return self._explained(ctx)
        except KeyboardInterrupt:
            pass
        except Exception:
            if not was_interrupted():
                raise
        click.echo("Interrupted", err=True)
        ctx.exit(INTERRUPTED)

    def _explained(self, ctx: click.Context) -> Any:
        """Run a command; an error that is expected becomes a sentence."""
        try:
            return super().invoke(ctx)
        except InvalidInputError as error:
            command = self.commands[ctx.invoked_subcommand or ""]
            options = {option for param in command.params for option in param.opts}
            raise _Failure(printable(in_options(str(error), options))) from error
        except (MissingExtraError, ChunkFailedError, OSError) as error:
            if getattr(error, "errno", None) == errno.EPIPE:
                raise  # the reader of a pipe closed it: click ends quietly
            words = str(error)
            if isinstance(error, OSError) and error.filename and error.strerror:
                words = f"{error.filename}: {error.strerror}."
            raise _Failure(printable(words)) from error


#: The mark in front keeps click from filling the lines.
_CODES = """\b
Exit codes:
  0    all went well, also if nothing was found
  1    the reader of a pipe closed it, or an error that should not happen
  2    an option, a file or a value is wrong, or a package is missing: the last
       line says which, and what to do
  130  stopped by Ctrl-C
"""


@click.group(
    "hsiclasso", cls=_Group, epilog=_CODES,
    context_settings={"help_option_names": ["-h", "--help"]},
)  # fmt: skip
@click.version_option(__version__, prog_name="hsiclasso", message="%(prog)s %(version)s")
def app() -> None:
    """Non-linear feature selection with a certificate: HSIC Lasso and NOCCO Lasso."""


for _command in (select, test, plan, compare, split, run, merge, demo, completion):
    app.add_command(_command)
