"""Resident memory of this process, in MB (2**20 bytes)."""

import resource
import sys
from pathlib import Path

_STATUS = Path("/proc/self/status")
_CLEAR = Path("/proc/self/clear_refs")


def rss_mb() -> float:
    """Memory resident now; where the system does not tell, the peak so far."""
    return _status("VmRSS") if _STATUS.exists() else _peak_of_lifetime()


def reset_peak() -> None:
    """Forget the peak so far, where the system allows it (Linux does)."""
    if _CLEAR.exists():
        _CLEAR.write_text("5")


def peak_mb() -> float:
    """Peak since `reset_peak`; where the system does not tell, since the process began.

    On Linux this is VmHWM and not ``ru_maxrss``, which a new process inherits from its parent.
    """
    return _status("VmHWM") if _STATUS.exists() else _peak_of_lifetime()


def _status(field: str) -> float:
    for line in _STATUS.read_text().splitlines():
        if line.startswith(field + ":"):
            return int(line.split()[1]) / 1024
    raise OSError(f"{_STATUS} has no field {field}.")


def _peak_of_lifetime() -> float:
    unit = 2**20 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit
