"""Run the code of the pages: ``python -m docs.run`` writes what it prints, and its pictures.

Blocks of a page run one after the other, in a folder of their own:

- ``python``: executed; all blocks of a page share their names. A block of ``text`` right after it
  has what it prints.
- ``console``: lines that begin with ``$ hsiclasso`` are run, and the lines below them are what they
  print. If there are none, and the file does not exist either, only the options are checked.

A picture that a page shows from its folder ``images`` is a file of that name that its code writes.

``<!-- data: a.npz b.bed -->`` names files of real data that a page needs. They are looked for in
the folder that `HSICLASSO_DATA` names, or in ``../shared/data``; where one is absent, the page is
not run.
"""

from __future__ import annotations

import contextlib
import difflib
import io
import os
import re
import shlex
import shutil
import sys
import tempfile
import textwrap
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
from click.testing import CliRunner

from hsiclasso.cli.app import app

ROOT = Path(__file__).parents[1]
#: Pages whose code runs, from the root of the repository.
PAGES = ("README.md", *sorted(p.relative_to(ROOT).as_posix() for p in ROOT.glob("docs/**/*.md")))

_BLOCK = re.compile(r"^```(python|console|text)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
#: A line, and those that continue it.
_COMMAND = re.compile(r"(?:.*\\\n)*.*")
_IMAGE = re.compile(r"!\[[^\]]*\]\(([^)]*images/[^)]+)\)")
_DATA = re.compile(r"^<!-- data: (.*) -->$", re.MULTILINE)
_NUMBER = re.compile(r"-?(?:\d[\d,]*\.?\d*|\.\d+)(?:e[+-]?\d+)?")
#: Columns of the terminal.
_WIDTH = 100
#: How much a printed number may differ between machines, and what counts as rounding error.
_RELATIVE, _ROUNDING = 0.02, 1e-6


@dataclass(frozen=True)
class Page:
    """A page of the documentation, by its path from the root of the repository."""

    path: str

    @property
    def text(self) -> str:
        """The page as it is."""
        return (ROOT / self.path).read_text(encoding="utf-8")

    @property
    def pictures(self) -> dict[str, Path]:
        """The pictures that its code makes, by their names."""
        folder = (ROOT / self.path).parent
        code = "".join(block for _, block in _BLOCK.findall(self.text))
        links = _IMAGE.findall(self.text)
        return {Path(link).name: folder / link for link in links if Path(link).name in code}

    @property
    def data(self) -> dict[str, Path | None]:
        """The files of real data that its code reads, None where one is absent."""
        wanted = [name for line in _DATA.findall(self.text) for name in line.split()]
        return {name: next(data_folder().rglob(name), None) for name in wanted}

    @property
    def absent(self) -> list[str]:
        """The files of real data without which it cannot be run."""
        return [name for name, file in self.data.items() if file is None]

    def run(self, folder: Path) -> str:
        """Run all blocks in a folder; return the page with what they print."""
        for name, file in self.data.items():
            Path(folder, name).symlink_to(file.resolve())
        names: dict[str, Any] = {"__name__": "page"}
        printed: str | None = None

        def replaced(found: re.Match[str]) -> str:
            nonlocal printed
            language, code = found.groups()
            if language == "python":
                printed = _executed(code, names)
                return found[0]
            if language == "text":
                made, printed = printed, None
                return found[0] if made is None else f"```text\n{made}```"
            return f"```console\n{_commands(code)}```"

        with contextlib.chdir(folder):
            return _BLOCK.sub(replaced, self.text)


def data_folder() -> Path:
    """Return the folder of real data, which may be absent."""
    return Path(os.environ.get("HSICLASSO_DATA", ROOT.parent / "shared" / "data"))


def _commands(code: str) -> str:
    """Return a block of commands with what they print."""
    parts = []
    for part in re.split(r"^(?=\$ )", code, flags=re.MULTILINE):
        command = _COMMAND.match(part)[0]
        words = shlex.split(command.removeprefix("$ ").replace("\\\n", " "))
        if words[:1] != ["hsiclasso"]:
            parts.append(part)
        elif part.strip() == command and not any(Path(word).is_file() for word in words):
            check_options(words[1:])
            parts.append(part)
        else:
            parts.append(f"{command}\n{_output(words[1:])}")
    return "".join(parts)


def _executed(code: str, names: dict[str, Any]) -> str | None:
    """Execute a block; return what it prints, None if nothing."""
    with contextlib.redirect_stdout(io.StringIO()) as stream:
        exec(code, names)
    lines = stream.getvalue().splitlines()
    return "".join(f"{line.rstrip()}\n" for line in lines) or None


def _output(words: list[str]) -> str:
    """Return what a command of the shell prints on a terminal."""
    runner = CliRunner(env={"COLUMNS": str(_WIDTH), "FORCE_COLOR": None, "TTY_COMPATIBLE": None})
    result = runner.invoke(app, words)
    if result.exit_code not in (0, 2):
        raise RuntimeError(f"hsiclasso {shlex.join(words)}: {result.output}") from result.exception
    lines = [line for line in result.output.splitlines() if not line.startswith("Compiling ")]
    while lines and not lines[-1].strip():
        del lines[-1]
    wrapped = (textwrap.wrap(line, _WIDTH) if len(line) > _WIDTH else [line] for line in lines)
    return "".join(f"{line.rstrip()}\n" for part in wrapped for line in part)


def check_options(words: list[str]) -> None:
    """Raise unless a command of the shell exists and has the options that it is given."""
    name, *options = words
    command = app.commands[name]
    with click.Context(command, info_name=name) as context:
        command.make_parser(context).parse_args(options)


def differences(shown: str, made: str) -> list[str]:
    """Return the lines of a page that are not what its code prints, up to rounding of numbers."""
    before, after = shown.splitlines(), made.splitlines()
    if len(before) != len(after):
        return list(difflib.unified_diff(before, after, "shown", "made", "", "", 0, ""))
    pairs = zip(before, after, strict=True)
    return [f"{old!r} is now {new!r}" for old, new in pairs if not _alike(old, new)]


def _alike(one: str, other: str) -> bool:
    """Whether two lines are equal up to spaces and the rounding of numbers."""
    if _NUMBER.sub("#", one).split() != _NUMBER.sub("#", other).split():
        return False
    numbers = [
        [float(word.replace(",", "")) for word in _NUMBER.findall(line)] for line in (one, other)
    ]
    return all(
        abs(a - b) <= _RELATIVE * max(abs(a), abs(b)) + _ROUNDING
        for a, b in zip(*numbers, strict=True)
    )


def main(paths: list[str]) -> None:
    """Write the output and the pictures of some pages, or of all."""
    for path in paths or PAGES:
        page = Page(path)
        if page.absent:
            print(f"{path}: not run, for lack of {', '.join(page.absent)}")
            continue
        with tempfile.TemporaryDirectory() as folder:
            made = page.run(Path(folder))
            for name, place in page.pictures.items():
                place.parent.mkdir(exist_ok=True)
                shutil.copyfile(Path(folder, name), place)
        for line in differences(page.text, made):
            print(f"{path}: {line}")
        (ROOT / path).write_text(made, encoding="utf-8")


if __name__ == "__main__":
    os.environ["MPLBACKEND"] = "agg"
    main(sys.argv[1:])
