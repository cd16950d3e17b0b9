"""A command whose options are listed under headings."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

__all__ = ["SectionedCommand", "section"]

_F = TypeVar("_F", bound=Callable[..., Any])

#: Columns that names of options may take in the help.
_NAMES = 28


class _Option(click.Option):
    """An option that knows its heading."""

    def __init__(self, *args: Any, heading: str, **kwargs: Any) -> None:
        kind = kwargs.get("type")
        if kind in (int, float) or isinstance(
            kind, click.Path
        ):  # instead of click's INTEGER, FLOAT and PATH
            kwargs.setdefault("metavar", "FILE" if isinstance(kind, click.Path) else "NUMBER")
        super().__init__(*args, **kwargs)
        self.heading = heading


class SectionedCommand(click.Command):
    """A command whose help lists options under headings; ``--help`` is under the last one."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options, a list for each heading."""
        sections: dict[str, list[tuple[str, str]]] = {}
        heading = "Options"
        for param in self.get_params(ctx):
            record = param.get_help_record(ctx) if isinstance(param, click.Option) else None
            if record is not None:
                heading = getattr(param, "heading", heading)
                # all lists get a first column of the same width
                sections.setdefault(heading, []).append((record[0].ljust(_NAMES), record[1]))
        for heading, records in sections.items():
            with formatter.section(heading):
                formatter.write_dl(records, col_max=_NAMES)


def section(heading: str) -> Callable[..., Callable[[_F], _F]]:
    """Return a `click.option` for options under one heading."""

    def option(*names: str, **settings: Any) -> Callable[[_F], _F]:
        return click.option(*names, cls=_Option, heading=heading, **settings)

    return option
