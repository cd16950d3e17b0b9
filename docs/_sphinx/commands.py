"""``.. commands::`` writes the reference of the command line from the commands themselves."""

from __future__ import annotations

import inspect
import re

import click
from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from hsiclasso.cli.app import app as hsiclasso


class Commands(SphinxDirective):
    """All commands with all of their options, in the order of the help."""

    def run(self) -> list[nodes.Node]:
        """Return the nodes of all commands."""
        lines: list[str] = []
        for name, command in hsiclasso.commands.items():
            lines += about(name, command)
        lines += below(hsiclasso)
        return self.parse_text_to_nodes("\n".join(lines), allow_section_headings=True)


def about(name: str, command: click.Command) -> list[str]:
    """Return the section of a command as lines of reStructuredText."""
    title = f"hsiclasso {name}"
    context = click.Context(command, info_name=title)
    usage = " ".join([title, *command.collect_usage_pieces(context)])
    text = inspect.cleandoc(command.help or "").partition("\f")[0]
    lines = [title, "-" * len(title), "", ".. code-block:: console", "", f"   $ {usage}", ""]
    lines += [plain(text), "", f".. program:: {title}", ""]
    heading = ""
    for param in command.get_params(context):
        record = param.get_help_record(context)
        if record is None or not isinstance(param, click.Option):
            continue
        own = getattr(param, "heading", heading)
        if own != heading:
            heading = own
            lines += [f".. rubric:: {plain(heading)}", ""]
        lines += [f".. option:: {record[0].strip()}", "", f"   {plain(record[1])}", ""]
    return [*lines, *below(command)]


def below(command: click.Command) -> list[str]:
    """Return what stands below the options: a heading, and lines as they are."""
    heading, *rest = (command.epilog or "").replace("\b", "").strip().splitlines() or [""]
    is_run = heading == "Examples:"
    shown = [f"   {'$ ' if is_run else ''}{line[2:]}" for line in rest]
    block = f".. code-block:: {'console' if is_run else 'text'}"
    lines = [f".. rubric:: {heading.rstrip(':')}", "", block, "", *shown, ""]
    return lines if shown else []


def plain(text: str) -> str:
    """Return text in which options are marked as such and nothing else is markup."""
    return re.sub("--[a-z-]+", r"``\g<0>``", re.sub(r"([\\*`|_])", r"\\\1", text))


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the directive."""
    app.add_directive("commands", Commands)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
