"""The command ``hsiclasso`` (needs the extra ``cli``)."""

from __future__ import annotations

import importlib.util
import io
import signal
import sys
from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from types import FrameType

__all__ = ["INTERRUPTED", "main", "was_interrupted"]

#: What a shell reports for a process stopped by Ctrl-C.
INTERRUPTED = 130
_pressed = False


def main() -> None:
    """Run the command line, or say which extra it needs; Ctrl-C ends it at any time."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # names may not exist in its encoding
            stream.reconfigure(errors="backslashreplace")
    with suppress(ValueError):  # only the main thread may ask for signals
        signal.signal(signal.SIGINT, _interrupt)
    try:
        return _run()
    except KeyboardInterrupt:
        pass
    except Exception:
        if not was_interrupted():
            raise
    sys.stderr.write("Interrupted\n")
    sys.exit(INTERRUPTED)


def was_interrupted() -> bool:
    """Whether Ctrl-C was pressed: libraries turn it into errors of their own while they load."""
    return _pressed


def _interrupt(number: int, frame: FrameType | None) -> None:
    global _pressed
    _pressed = True
    signal.default_int_handler(number, frame)


def _run() -> None:
    missing = [name for name in ("click", "rich") if importlib.util.find_spec(name) is None]
    if missing:
        sys.stderr.write(
            f"Error: the command line needs {' and '.join(missing)}: pip install 'hsiclasso[cli]'\n"
        )
        sys.exit(2)
    from hsiclasso.cli.app import app

    app(prog_name="hsiclasso")
