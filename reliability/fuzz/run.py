"""Running cases in children, and counting their answers."""

from __future__ import annotations

import json
import os
import queue
import signal
import subprocess
import sys
import threading
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TextIO

from reliability.records import ROOT

#: How a child is started.
_COMMAND = [sys.executable, "-m", "reliability.fuzz.child"]
#: Seconds until a case counts as a hang, and until a child must have begun.
_PATIENCE, _START = 60, 300
#: Answers that are defects.
DEFECTS = ("foreign", "memory", "crash", "hang")


@dataclass
class Tally:
    """Answers of cases."""

    answers: dict[str, Counter[str]] = field(default_factory=dict)  # by reader
    defects: list[dict[str, Any]] = field(default_factory=list)
    slowest: float = 0.0

    def add(self, name: str, number: int, answer: str, words: str, seconds: float) -> None:
        """Count an answer; keep what is needed to repeat a defect."""
        self.answers.setdefault(name, Counter())[answer] += 1
        self.slowest = max(self.slowest, seconds)
        if answer in DEFECTS:
            found = {"reader": name, "number": number, "answer": answer, "words": words}
            self.defects.append(found)

    def to_dict(self) -> dict[str, Any]:
        """Return counts by reader, and every kind of defect once."""
        kinds = Counter(f"{one['reader']}: {one['words'].split(': ')[0]}" for one in self.defects)
        counts = {name: dict(sorted(found.items())) for name, found in self.answers.items()}
        return {
            "answers": counts,
            "defects": dict(kinds),
            "slowest_seconds": round(self.slowest, 2),
        }


def run(seed: int, cases: list[tuple[str, int]], saved: Path | None = None) -> Tally:
    """Run cases in children; a child that dies or hangs is replaced, behind its last case."""
    tally = Tally()
    while cases:
        cases = cases[_one_child(seed, cases, saved, tally) :]
    return tally


def _one_child(seed: int, cases: list[tuple[str, int]], saved: Path | None, tally: Tally) -> int:
    """Run cases in one child as far as it comes; return how many there were."""
    environment = {
        **os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "src")]),
        "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "POLARS_MAX_THREADS": "1",
    }  # fmt: skip
    child = subprocess.Popen(
        _COMMAND,
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        cwd=ROOT, env=environment,
    )  # fmt: skip
    said: queue.Queue[str] = queue.Queue()
    errors: list[str] = []
    threads = [
        threading.Thread(target=_forward, args=(child.stdout, said.put)),
        threading.Thread(target=_forward, args=(child.stderr, errors.append)),
    ]
    for thread in threads:
        thread.start()
    assert child.stdin is not None
    child.stdin.write(json.dumps({"seed": seed, "cases": cases, "saved": saved and str(saved)}))
    child.stdin.close()
    at, hung = None, False
    while not hung:
        try:
            line = said.get(timeout=_START if at is None else _PATIENCE)
        except queue.Empty:
            hung = True
            child.kill()
            break
        if not line:
            break
        found = json.loads(line)
        if "begins" in found:
            at = found["begins"]
        else:
            tally.add(*cases[found.pop("ends")], **found)
    code = child.wait()
    for thread in threads:
        thread.join()
    assert child.stdout is not None
    assert child.stderr is not None
    child.stdout.close()
    child.stderr.close()
    if at is None:
        raise RuntimeError(f"the child did not begin:\n{''.join(errors)}")
    if code == 0:
        return len(cases)
    words = f"no answer in {_PATIENCE} s" if hung else f"{_name(code)}: {''.join(errors)[-300:]}"
    tally.add(*cases[at], "hang" if hung else "crash", words, float(_PATIENCE if hung else 0))
    return at + 1


def _name(code: int) -> str:
    return signal.Signals(-code).name if code < 0 else f"exit code {code}"


def _forward(stream: TextIO, put: Any) -> None:
    """Pass lines on, and an empty one at the end."""
    for line in stream:
        put(line)
    put("")
