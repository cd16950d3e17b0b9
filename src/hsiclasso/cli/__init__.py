"""The command ``hsiclasso`` (needs the extra ``cli``)."""

from __future__ import annotations

import importlib.util
import sys

__all__ = ["main"]


def main() -> None:
    """Run the command line, or say which extra it needs."""
    missing = [name for name in ("click", "rich") if importlib.util.find_spec(name) is None]
    if missing:
        sys.stderr.write(
            f"Error: the command line needs {' and '.join(missing)}: pip install 'hsiclasso[cli]'\n"
        )
        sys.exit(2)
    from hsiclasso.cli.app import app

    app(prog_name="hsiclasso")
