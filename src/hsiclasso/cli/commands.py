"""Commands with many options, under headings, with a short help and a long one."""

from __future__ import annotations

import re
import shlex
from typing import Any

import click

__all__ = ["HeadedOption", "NumberOrAuto", "SectionedCommand", "command_words"]

#: Where a command keeps its words.
_WORDS = "hsiclasso.words"
#: Width of the column with the names of options in the help, in letters.
_NAMES = 28
#: Options of a command whose help is short by default, and what the short help has.
_MANY = 30
_COMMON = {
    "--target", "--survival", "--phenotype", "--transpose", "--drop", "--missing", "--covariate",
    "--n-features", "--fdr", "--cv", "--stability", "--interactions", "--keep", "--method",
    "--methods", "--memory-limit", "--checkpoint", "--pairs", "--knockoffs", "--post-selection",
    "--mode", "--level", "--parts", "--out", "--plot", "--report", "--json", "--config", "--help",
    "--help-all",
}  # fmt: skip
#: Where the first clause of the help of an option ends, and the longest default that it keeps.
_CLAUSE, _SHORT = re.compile(r"[.;:](?= |$)"), 16
#: Parameters that name the target.
_TARGETS = ("target", "target_file", "survival", "affinity", "graph", "phenotype")
#: Key of a context that shows everything.
_ALL = f"{__name__}.all"


class HeadedOption(click.Option):
    """An option that knows its heading."""

    def __init__(self, *args: Any, heading: str, **kwargs: Any) -> None:
        kind = kwargs.get("type")
        if kind in (int, float) or isinstance(kind, click.Path):
            # instead of click's INTEGER, FLOAT and PATH
            kwargs.setdefault("metavar", "FILE" if isinstance(kind, click.Path) else "NUMBER")
        super().__init__(*args, **kwargs)
        self.heading = heading


class NumberOrAuto(click.ParamType):  # type: ignore[type-arg]
    """A number of features, or ``auto``."""

    name = "number"

    def convert(self, value: Any, param: Any, ctx: Any) -> int | str:
        """Return a whole number, or the word."""
        if value == "auto":
            return "auto"
        return int(click.INT.convert(value, param, ctx))


class SectionedCommand(click.Command):
    """A command whose help lists options under headings; ``--help`` is under the last one.

    If there are many options, ``--help`` lists the common ones and ``--help-all`` all of them.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if len(self.params) > _MANY:
            self.params.append(
                click.Option(
                    ["--help-all"], is_flag=True, is_eager=True, expose_value=False,
                    callback=_show_all, help="Show all options and exit.",
                )
            )  # fmt: skip

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Keep the words of the command: a report says how to run it again."""
        ctx.meta[_WORDS] = shlex.join(["hsiclasso", ctx.info_name or "", *args])
        return super().parse_args(ctx, args)

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command; a file of arrays has a target of its own, unless another is named."""
        given = ctx.params
        if "target" in given and not any(given.get(name) for name in _TARGETS):
            from hsiclasso.data.files import own_target

            given["target"] = own_target(given["file"])
        return super().invoke(ctx)

    def _is_short(self, ctx: click.Context) -> bool:
        """Whether the help that is asked for lists common options only."""
        return len(self.params) > _MANY and not ctx.meta.get(_ALL)

    def format_help_text(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write what the command does; the short help has two paragraphs of it."""
        whole = self.help
        if whole and self._is_short(ctx):
            self.help = "\n\n".join(whole.split("\n\n")[:2])
        try:
            super().format_help_text(ctx, formatter)
        finally:
            self.help = whole

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options, a list for each heading."""
        sections: dict[str, list[tuple[str, str]]] = {}
        heading, n_hidden, is_short = "Options", 0, self._is_short(ctx)
        for param in self.get_params(ctx):
            record = param.get_help_record(ctx) if isinstance(param, click.Option) else None
            if record is None:
                continue
            heading = getattr(param, "heading", heading)
            if is_short and not _COMMON & {*param.opts}:
                n_hidden += 1
                continue
            title, words = heading, record[1]
            if is_short:
                title, words = "Common options", _short(words)
            # all lists get a first column of the same width
            sections.setdefault(title, []).append((record[0].ljust(_NAMES), words))
        for heading, records in sections.items():
            with formatter.section(heading):
                formatter.write_dl(records, col_max=_NAMES)
        if n_hidden:
            formatter.write_paragraph()
            formatter.write_text(f"{ctx.command_path} --help-all lists {n_hidden} more options.")


def _short(words: str) -> str:
    """Return the first clause of a help text, with its default if that is short."""
    text, found, rest = words.partition("  [")
    clause = _CLAUSE.split(text)[0].rstrip(".")
    return f"{clause}.{found + rest if len(rest) <= _SHORT else ''}"


def _show_all(ctx: click.Context, param: click.Parameter, value: bool) -> None:
    """Write the help with all options."""
    if value and not ctx.resilient_parsing:
        ctx.meta[_ALL] = True
        click.echo(ctx.get_help())
        ctx.exit()


def command_words() -> str:
    """Return the command that is running, as it may be typed again."""
    return str(click.get_current_context().meta.get(_WORDS, ""))
