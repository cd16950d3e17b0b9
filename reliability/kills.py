"""kill -9 at random moments, a full disk, another locale, another clock.

``python -m reliability.kills [--points 20] [--scenarios memory streamed ...] [--seed 0]``

Each scenario runs in a process group of its own, once undisturbed and then killed at random
moments of that time. Every file that is there afterwards must be complete, the same command must
then give the identical answer, and no process of the group may stay. `workers` runs two Dask
workers, which lose their parent. A killed run continues under another locale, time zone and clock
(set back by ten years) in turns.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np

from reliability import records
from reliability.records import ROOT
from reliability.writers import WRITERS, result_of, shell, small_chunks

#: Rows and columns of the table.
N, D = 400, 3000
#: Seconds that a run may take.
_MOST = 300
#: Where a killed run continues: as it was, or in another place and time.
_PLACES: tuple[dict[str, str], ...] = (
    {},
    {"LC_ALL": "C", "PYTHONUTF8": "0", "TZ": "Asia/Kathmandu"},
    {"RELIABILITY_CLOCK": "-315360000", "LANG": "tr_TR.UTF-8"},
)


def _data(folder: Path) -> tuple[Any, Any]:
    rng = np.random.default_rng(1)
    X = rng.standard_normal((N, D), dtype=np.float32)
    return X, X[:, 3] + X[:, 7] ** 2 + np.abs(X[:, 1500])


def _fit(X: Any, y: Any, **resources: Any) -> str:
    from hsiclasso import HSICLasso, Resources

    selector = HSICLasso(8, resources=Resources(**resources), n_neighbors=2)
    return result_of(selector.fit(X, y))


def in_memory(folder: Path) -> None:
    """Fit on an array many times, and write every answer to the same file."""
    from hsiclasso.data.atomic import write_atomically

    X, y = _data(folder)
    for _ in range(20):
        write_atomically(folder / "answer.json", _fit(X, y).encode())


def streamed(folder: Path) -> None:
    """Fit on a file by chunks."""
    _answer(folder, _fit(str(folder / "X.npy"), _data(folder)[1]))


def checkpointed(folder: Path) -> None:
    """Fit on a file by chunks, which are kept."""
    found = _fit(str(folder / "X.npy"), _data(folder)[1], checkpoint=folder / "kept")
    _answer(folder, found)


def workers(folder: Path) -> None:
    """Fit on a file by chunks on two Dask workers, which are kept."""
    from distributed import Client, LocalCluster

    options: dict[str, Any] = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": None}
    with LocalCluster(**options, silence_logs=50) as cluster, Client(cluster) as client:
        file = str(folder / "X.npy")
        found = _fit(file, _data(folder)[1], checkpoint=folder / "kept", client=client)
    _answer(folder, found)


def results(folder: Path) -> None:
    """Write results of every kind, again and again."""
    for _ in range(3):
        for name in ("csv", "json", "png", "report", "h5ad"):
            if name != "h5ad" or (folder / "t.h5ad").exists():
                WRITERS[name].write(folder)
    _answer(folder, WRITERS["csv"].write(folder))


def _answer(folder: Path, found: str) -> None:
    from hsiclasso.data.atomic import write_atomically

    write_atomically(folder / "answer.json", found.encode())


SCENARIOS = {
    "memory": in_memory, "streamed": streamed, "checkpointed": checkpointed, "workers": workers,
    "results": results,
}  # fmt: skip


def serve(scenario: str, folder: Path) -> None:
    """Run a scenario in this process; say when the work begins."""
    warnings.simplefilter("ignore")
    shift = float(os.environ.get("RELIABILITY_CLOCK", 0))
    if shift:
        clock = time.time
        time.time = lambda: clock() + shift
    small_chunks(30 * N)
    shell("--version")
    rng = np.random.default_rng(0)
    _fit(rng.standard_normal((50, 30)), rng.standard_normal(50))  # loads what is compiled
    print("begins", flush=True)
    SCENARIOS[scenario](folder)


def _start(scenario: str, folder: Path, place: dict[str, str]) -> subprocess.Popen[str]:
    environment = {
        **os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "src")]), **place
    }  # fmt: skip
    child = subprocess.Popen(
        [sys.executable, "-m", "reliability.kills", "--serve", scenario, str(folder)],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=ROOT, env=environment,
        start_new_session=True,
    )  # fmt: skip
    assert child.stdout is not None
    if child.stdout.readline().strip() != "begins":
        raise RuntimeError(child.communicate()[1])
    return child


def _finish(child: subprocess.Popen[str]) -> None:
    _, errors = child.communicate(timeout=_MOST)
    if child.returncode:
        raise RuntimeError(errors[-3000:])


def _is_gone(group: int) -> bool:
    """Whether all processes of a group have ended within half a minute; ends the others."""
    for _ in range(300):
        try:
            os.killpg(group, 0)
        except ProcessLookupError:
            return True
        time.sleep(0.1)
    os.killpg(group, signal.SIGKILL)
    return False


def _incomplete(folder: Path) -> list[str]:
    """Return what is there under its own name and not whole."""
    whole = [
        (WRITERS[name].made[0], WRITERS[name].complete)
        for name in ("csv", "json", "png", "report", "h5ad", "checkpoint")
    ]
    whole.append(("answer.json", lambda file: bool(json.loads(file.read_text()))))
    wrong = []
    for name, complete in whole:
        try:
            if (folder / name).exists() and not complete(folder / name):
                wrong.append(f"{name} is not complete")
        except Exception as error:
            wrong.append(f"{name} cannot be read ({error})")
    return wrong


def torture(scenario: str, points: int, seed: int) -> dict[str, Any]:
    """Kill a scenario at random moments; return how often, and what was wrong."""
    from reliability.writers import make_data

    rng, wrong, killed = np.random.default_rng(seed), list[str](), 0
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        make_data(folder)
        np.save(folder / "X.npy", _data(folder)[0])
        begun = time.perf_counter()
        child = _start(scenario, folder, {})
        work = time.perf_counter()
        _finish(child)
        seconds = time.perf_counter() - work
        kept = {file.name for file in folder.iterdir()} - {"X.npy", "t.csv", "t.h5ad"}
        expected = (folder / "answer.json").read_text()
        for k in range(points):
            _clear(folder, kept)
            child = _start(scenario, folder, {})
            moment = float(rng.uniform(0, seconds))
            time.sleep(moment)
            child.kill()
            child.communicate()
            killed += child.returncode == -signal.SIGKILL
            problems = [] if _is_gone(child.pid) else ["processes stay"]
            problems += _incomplete(folder)
            try:
                _finish(_start(scenario, folder, _PLACES[k % len(_PLACES)]))
                if (folder / "answer.json").read_text() != expected:
                    problems.append("the answer differs")
            except RuntimeError as error:
                problems.append(f"another run fails ({error})")
            wrong += [f"{scenario}, {moment:.3f} of {seconds:.3f} s: {one}" for one in problems]
    return {
        "points": points, "killed": killed, "seconds_of_work": round(seconds, 2), "wrong": wrong,
        "seconds": round(time.perf_counter() - begun, 1),
    }  # fmt: skip


def _clear(folder: Path, names: set[str]) -> None:
    import shutil

    for file in folder.iterdir():
        if file.is_dir() and file.name in names:
            shutil.rmtree(file)
        elif file.name in names or file.name.endswith(".part"):
            file.unlink()


def main() -> None:
    """Serve a scenario, or torture those that are asked for."""
    parser = argparse.ArgumentParser(prog="python -m reliability.kills")
    parser.add_argument("--points", type=int, default=20)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--scenarios", nargs="*", choices=list(SCENARIOS), default=list(SCENARIOS))
    parser.add_argument("--record", action="store_true", help="write the record of the page")
    parser.add_argument("--serve", nargs=2, metavar=("SCENARIO", "FOLDER"), help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.serve:
        serve(asked.serve[0], Path(asked.serve[1]))
        return
    found = {name: torture(name, asked.points, asked.seed) for name in asked.scenarios}
    if asked.record:
        records.save("kills", {"scenarios": found})
    print(json.dumps(found, indent=1))


if __name__ == "__main__":
    main()
