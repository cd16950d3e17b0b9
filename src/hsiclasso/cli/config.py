"""Options in a TOML file: ``--config`` reads it, ``--save-config`` writes it.

The keys are the names of the options without their dashes, and ``file`` for FILE. The values are
read as if they were typed, so the command line and the file refuse the same things.
"""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

import click

from hsiclasso.errors import InvalidInputError

__all__ = ["as_toml", "load_config"]

#: What belongs to the file itself.
_OWN = ("config", "save-config")
_KINDS = {"bool": "true or false", "list": "a list", "value": "a text or a number"}


def load_config(ctx: click.Context, param: click.Parameter, file: Path | None) -> None:
    """Make the options in a file the defaults of a command: those that are typed win."""
    if file is None or ctx.resilient_parsing:
        return
    try:
        found = tomllib.loads(file.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InvalidInputError(
            f"--config {file} is no TOML file ({error}): write lines such as target = "
            '["tumour"], or make one with --save-config.'
        ) from error
    known = _by_key(ctx.command)
    for key in found:
        if key not in known:
            from hsiclasso._checks import did_you_mean

            raise InvalidInputError(
                f"--config {file} has {key!r}, which is no option of {ctx.command_path}"
                f"{did_you_mean(key, known)}: {ctx.command_path} --help lists all."
            )
    ctx.default_map = {
        str(known[key].name): _typed(value, known[key], f"--config {file} has {key} = ")
        for key, value in found.items()
    }


def as_toml(ctx: click.Context) -> str:
    """Return all options of a command that are in effect, defaults included, as a TOML file."""
    from hsiclasso import __version__

    lines = [
        f"# {ctx.command_path}, version {__version__}. To run it again: {ctx.command_path} "
        "--config FILE",
    ]
    for key, param in _by_key(ctx.command).items():
        value = ctx.params[str(param.name)]
        if value is not None and value != ():
            lines.append(f"{key} = {_written(value)}")
    return "\n".join([*lines, ""])


def _by_key(command: click.Command) -> dict[str, click.Parameter]:
    """Return the parameters of a command by the keys that they have in a file."""
    keys = {}
    for param in command.params:
        key = max(param.opts, key=len).lstrip("-")
        if param.expose_value and key not in _OWN:
            keys[key] = param
    return keys


def _typed(value: Any, param: click.Parameter, where: str) -> Any:
    """Return a value as it would be typed; raise if it is of another kind than the option."""
    several = param.nargs != 1 or getattr(param, "multiple", False)
    kind = "bool" if getattr(param, "is_flag", False) else "list" if several else "value"
    # one value may stand for a list of one
    parts = value if isinstance(value, list) else [value]
    right = {
        "bool": isinstance(value, bool),
        "list": all(_is_plain(part) for part in parts),
        "value": _is_plain(value),
    }
    if not right[kind]:
        raise InvalidInputError(f"{where}{value!r}, but it must be {_KINDS[kind]}.")
    if kind == "bool":
        return value
    return [str(part) for part in parts] if several else str(value)


def _is_plain(value: Any) -> bool:
    return isinstance(value, str | int | float) and not isinstance(value, bool)


def _written(value: Any) -> str:
    """Write a value as TOML."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return repr(value)
    if isinstance(value, tuple | list):
        return f"[{', '.join(map(_written, value))}]"
    # texts of JSON are texts of TOML but for one character
    return json.dumps(str(value), ensure_ascii=False).replace("\x7f", "\\u007f")
