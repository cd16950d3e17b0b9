"""Records of runs: one JSON file each, from which the page is made."""

import json
import platform
from importlib.metadata import version
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
RESULTS = Path(__file__).parent / "results"


def save(name: str, found: dict[str, Any]) -> None:
    """Write what a run found, and on what it ran."""
    RESULTS.mkdir(exist_ok=True)
    record = {"on": _machine(), **found}
    (RESULTS / f"{name}.json").write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")


def has(name: str) -> bool:
    """Return whether a run was recorded."""
    return (RESULTS / f"{name}.json").exists()


def load(name: str) -> dict[str, Any]:
    """Read a record."""
    found: dict[str, Any] = json.loads((RESULTS / f"{name}.json").read_text(encoding="utf-8"))
    return found


def _machine() -> dict[str, str]:
    packages = ("numpy", "scipy", "scikit-learn", "numba")
    return {
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        **{package: version(package) for package in packages},
    }
