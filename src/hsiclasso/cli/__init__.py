"""The command ``hsiclasso`` (needs the extra ``cli``)."""

from __future__ import annotations

import importlib.util
import io
import sys

__all__ = ["INTERRUPTED", "main"]

#: What a shell reports for a process stopped by Ctrl-C.
INTERRUPTED = 130


def main() -> None:
    """Run the command line, or say which extra it needs; Ctrl-C ends it at any time."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # names may not exist in its encoding
            stream.reconfigure(errors="backslashreplace")
    try:
        _run()
    except KeyboardInterrupt:
        sys.stderr.write("Interrupted\n")
        sys.exit(INTERRUPTED)


def _run() -> None:
    missing = [name for name in ("click", "rich") if importlib.util.find_spec(name) is None]
    if missing:
        sys.stderr.write(
            f"Error: the command line needs {' and '.join(missing)}: pip install 'hsiclasso[cli]'\n"
        )
        sys.exit(2)
    from hsiclasso.cli.app import app

    app(prog_name="hsiclasso")
