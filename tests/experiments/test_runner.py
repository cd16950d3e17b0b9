from dataclasses import dataclass
from pathlib import Path

import pytest
from threadpoolctl import threadpool_info

from experiments.contenders import Contender
from experiments.runner import Clock, Failure, Request, announce, duration, plan, tasks_of
from experiments.tidy import TASK_SECONDS, Task, TidyFile, rows_of
from tests.experiments.running import done

EVERYTHING = Request(None, None, None, Path())


@dataclass(frozen=True)
class Squares:
    """A study that squares numbers, and notes what it was asked to do."""

    log: Path
    name: str = "squares"
    timed: bool = True
    runs: int = 4
    methods = {"a": Contender(None), "b": Contender(None), "c": Contender(None)}  # noqa: RUF012

    def candidates(self, request):
        for method in "ab":
            yield Task(self.name, "d", method, 1, 1, 0), None
        for d in (1, 2):
            yield Task(self.name, "d", "c", 1, d, 0), "it is no good"

    def perform(self, task, folder):
        with self.log.open("a") as stream:
            stream.write(f"{task.method}{task.run}\n")
        if (task.method, task.run) == ("b", 3):
            raise RuntimeError("three is too much")
        return rows_of(task, 0, [(1, "square", task.run**2)])


@pytest.fixture
def study(tmp_path):
    return Squares(tmp_path / "log")


def test_all_is_done_once_and_never_again(study, tmp_path):
    file = TidyFile(tmp_path / "x.gz")
    assert done(study, Request(3, None, None, Path()), file, 1) == []
    assert study.log.read_text().split() == ["a0", "b0", "a1", "b1", "a2", "b2"]
    assert done(study, Request(3, None, None, Path()), TidyFile(file.path), 1) == []
    assert len(study.log.read_text().split()) == 6
    squares = file.frame("squares").query("metric == 'square'")
    assert (squares["value"] == squares["run"] ** 2).all()
    assert set(file.frame("squares")["metric"]) == {"square", TASK_SECONDS}


def test_more_runs_only_add_what_lacks(study, tmp_path):
    file = TidyFile(tmp_path / "x.gz")
    done(study, Request(1, None, None, Path()), file, 1)
    done(study, Request(2, None, None, Path()), file, 1)
    assert study.log.read_text().split() == ["a0", "b0", "a1", "b1"]


def test_only_methods_and_data_asked_for(study, tmp_path):
    file = TidyFile(tmp_path / "x.gz")
    done(study, Request(2, ("a",), None, Path()), file, 1)
    assert study.log.read_text().split() == ["a0", "a1"]
    done(study, Request(2, None, ("other",), Path()), file, 1)
    assert len(study.log.read_text().split()) == 2


def test_one_failure_does_not_stop_the_others_and_is_tried_again(study, tmp_path, capsys):
    file = TidyFile(tmp_path / "x.gz")
    failures = done(study, EVERYTHING, file, 1)
    assert [type(failure) for failure in failures] == [Failure]
    assert "RuntimeError at test_runner.py" in failures[0].message
    assert "three is too much" in capsys.readouterr().err
    assert len(TidyFile(file.path)) == 7
    done(study, EVERYTHING, file, 1)
    assert study.log.read_text().split()[8:] == ["b3"]


def test_an_interrupt_keeps_what_is_done(study, tmp_path, monkeypatch):
    file = TidyFile(tmp_path / "x.gz")
    whole = Squares.perform

    def interrupted(self, task, folder):
        if task.run == 1:
            raise KeyboardInterrupt
        return whole(self, task, folder)

    monkeypatch.setattr(Squares, "perform", interrupted)
    with pytest.raises(KeyboardInterrupt):
        done(study, EVERYTHING, file, 1)
    assert len(TidyFile(file.path)) == 2


def test_what_is_left_out_is_told_once_for_each_reason(study, tmp_path, capsys):
    done(study, Request(1, None, None, Path()), TidyFile(tmp_path / "x.gz"), 1)
    said = capsys.readouterr().err
    assert said.count("left out") == 1
    assert "squares: c is left out on d (1 x 1), d (1 x 2): it is no good." in said
    done(study, Request(1, ("a",), None, Path()), TidyFile(tmp_path / "x.gz"), 1)
    assert "left out" not in capsys.readouterr().err


def test_nothing_to_run_is_not_called_done(study, tmp_path, capsys):
    file = TidyFile(tmp_path / "x.gz")
    done(study, Request(1, ("c",), None, Path()), file, 1)
    assert "squares: there is nothing that can be run." in capsys.readouterr().err
    done(study, Request(1, ("a",), None, Path()), file, 1)
    done(study, Request(1, ("a",), None, Path()), file, 1)
    assert "squares: everything is done already." in capsys.readouterr().err


def test_slow_methods_have_fewer_runs_unless_they_are_asked_for(study):
    study.methods["a"] = Contender(None, runs=2)
    try:
        runs = [(task.method, task.run) for task in tasks_of(study, EVERYTHING)]
        asked = tasks_of(study, Request(3, None, None, Path()))
    finally:
        study.methods["a"] = Contender(None)
    assert runs == [("a", 0), ("b", 0), ("a", 1), ("b", 1), ("b", 2), ("b", 3)]
    assert [task.run for task in asked] == [0, 0, 1, 1, 2, 2]


@dataclass(frozen=True)
class Threads:
    """A study that tells how many threads BLAS may use, and in which process."""

    name: str = "threads"
    timed: bool = False
    runs: int = 4
    methods = {"m": Contender(None)}  # noqa: RUF012

    def candidates(self, request):
        yield Task(self.name, "d", "m", 1, 1, 0), None

    def perform(self, task, folder):
        import os

        import numpy as np

        np.ones((4, 4)) @ np.ones((4, 4))
        most = max(pool["num_threads"] for pool in threadpool_info())
        return rows_of(task, 0, [(1, "threads", most), (1, "process", os.getpid())])


@pytest.mark.parametrize("jobs", [1, 2])
def test_every_process_has_one_thread(tmp_path, jobs):
    file = TidyFile(tmp_path / "x.gz")
    assert done(Threads(), EVERYTHING, file, jobs) == []
    frame = file.frame("threads")
    assert set(frame.query("metric == 'threads'")["value"]) == {1.0}
    assert len(frame) == 12


def test_timed_studies_run_in_this_process(tmp_path):
    import os

    file = TidyFile(tmp_path / "x.gz")
    done(Threads(timed=True), EVERYTHING, file, 2)
    assert set(file.frame("threads").query("metric == 'process'")["value"]) == {float(os.getpid())}


def test_the_clock_learns():
    tasks = [Task("s", "d", method, 1, 1, run) for run in range(3) for method in "ab"]
    clock = Clock(tasks, {tasks[0].group: [10.0]}, 2)
    assert clock.estimate() == (15.0, 1)
    assert "1 kinds of task not timed" in clock.words()
    clock.done(tasks[1], 4.0)
    assert clock.estimate() == (15.0 + 4.0, 0)
    clock.done(tasks[0], None)
    assert clock.estimate() == (14.0, 0)
    assert clock.words() == "4 tasks left, about 14 s"


def test_the_time_of_all_is_told_before_any_work(study, tmp_path, capsys):
    file = TidyFile(tmp_path / "x.gz")
    for run in range(2):
        for method in "ab":
            task = Task("squares", "d", method, 1, 1, run)
            file.add(rows_of(task, 0, [(1, "square", 0), (1, TASK_SECONDS, 30.0)]))
    works = [plan(one, EVERYTHING, file) for one in (study, Threads(), Squares(study.log, "new"))]
    announce(works, file, 2)
    told = capsys.readouterr().err
    # four tasks are left of the first study, which is timed: 120 s; the others are not known
    assert "squares: 4 tasks left, about 2 min." in told
    assert "threads: 4 tasks left, about 0 s, and 1 kinds of task not timed yet." in told
    assert "in all about 2 min, and 3 kinds of task not timed yet, on 2 cores." in told
    assert not study.log.exists()


def test_nothing_is_announced_where_nothing_is_left(study, tmp_path, capsys):
    file = TidyFile(tmp_path / "x.gz")
    done(study, Request(1, ("a",), None, Path()), file, 1)
    capsys.readouterr()
    works = [plan(study, Request(1, ("a",), None, Path()), file)]
    announce(works, file, 2)
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(0.4, "0 s"), (89, "89 s"), (100, "2 min"), (5000, "83 min"), (7300, "2 h 02 min")],
)
def test_durations_are_for_people(seconds, words):
    assert duration(seconds) == words
