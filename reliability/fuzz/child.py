"""The process in which cases run: it says which case begins, and what came of it."""

from __future__ import annotations

import json
import os
import resource
import shutil
import sys
import tempfile
import time
import traceback
import warnings
from pathlib import Path
from zlib import crc32

import numpy as np

from hsiclasso.dependence import budget
from hsiclasso.errors import ChunkFailedError, InvalidInputError, MissingExtraError
from reliability.fuzz.damage import damage_folder
from reliability.fuzz.readers import READERS, Reader
from reliability.records import ROOT
from tests.data.test_doors import N

#: Address space that a case may add to what the process has after a valid file.
_MEMORY = 2 * 2**30
_OWN = (InvalidInputError, MissingExtraError, ChunkFailedError)


def main(seed: int, cases: list[tuple[str, int]], saved: str | None) -> None:
    """Run cases, each a reader and a number; print a line before and after each of them."""
    warnings.simplefilter("ignore")
    budget._CHUNK = 4 * 8 * N  # several chunks, also of a small table
    with tempfile.TemporaryDirectory() as place:
        folder, names = Path(place), dict.fromkeys(name for name, _ in cases)
        for name in names:  # valid files must be read; their memory is not counted
            valid = folder / name / "valid"
            valid.mkdir(parents=True)
            READERS[name].make(valid)
            READERS[name].read(_copy(valid))
        _limit_memory()
        for k, (name, number) in enumerate(cases):
            _say(begins=k)
            case = _copy(folder / name / "valid")
            rng = np.random.default_rng([seed, crc32(name.encode()), number])
            damage_folder(rng, case)
            kept = Path(saved) / f"{name}-{seed}-{number}" if saved else None
            if kept:  # before the case: it may be the last of this process
                shutil.copytree(case, kept, dirs_exist_ok=True)
            start = time.perf_counter()
            answer, words = _answer(READERS[name], case)
            _say(ends=k, answer=answer, words=words, seconds=time.perf_counter() - start)
            if kept and answer in ("read", "refused"):
                shutil.rmtree(kept)


def _copy(valid: Path) -> Path:
    case = valid.parent / "case"
    shutil.rmtree(case, ignore_errors=True)
    shutil.copytree(valid, case)
    return case


def _answer(reader: Reader, case: Path) -> tuple[str, str]:
    """Return the class of the answer, and its words; for foreign errors, where they come from."""
    try:
        reader.read(case)
    except _OWN as error:
        return "refused", str(error)
    except MemoryError as error:
        return "memory", _origin(error)
    except Exception as error:
        return "foreign", _origin(error)
    return "read", ""


def _origin(error: BaseException) -> str:
    """Return the error, and the last lines of the project that it passed."""
    frames = [
        frame
        for frame in traceback.extract_tb(error.__traceback__)
        if frame.filename.startswith(f"{ROOT}{os.sep}src")
    ]
    places = [f"{Path(frame.filename).name}:{frame.lineno}" for frame in frames[-2:]]
    words = " ".join(str(error).split())[:160]
    return f"{type(error).__name__} at {' > '.join(places)}: {words}"


def _limit_memory() -> None:
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    most = pages * resource.getpagesize() + _MEMORY
    resource.setrlimit(resource.RLIMIT_AS, (most, most))


def _say(**found: object) -> None:
    print(json.dumps(found), file=sys.__stdout__, flush=True)


if __name__ == "__main__":
    main(**json.loads(sys.stdin.read()))
