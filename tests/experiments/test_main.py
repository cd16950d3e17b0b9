"""The command: what it runs, what it writes, what it says."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from experiments import __main__ as command
from experiments.contenders import Contender
from experiments.datasets import WrongDataError
from experiments.tidy import Task, TidyFile, rows_of


class Counted:
    """A study with one task for each run."""

    timed, runs = False, 2
    methods, sets = {name: Contender(None) for name in "ab"}, ("d", "other")

    def __init__(self, name, error=None):
        self.name, self.error = name, error

    def candidates(self, request):
        assert request.folder == Path("somewhere")
        return [(Task(self.name, "d", method, 1, 1, 0), None) for method in self.methods]

    def perform(self, task, folder):
        if self.error is not None:
            raise self.error
        return rows_of(task, 0, [(1, "value", 1.0)])


@pytest.fixture
def run(tmp_path, monkeypatch):
    """Run the command with studies of its own; returns the code and the file of results."""
    one, two = Counted("one"), Counted("two")
    targets = {"first": [(one, None)], "second": [(one, ("a",)), (two, None)], "page": []}
    monkeypatch.setattr(command, "TARGETS", targets)
    drawn = []
    monkeypatch.setattr(command, "write_figures", lambda file, out: drawn.append((len(file), out)))

    def call(*arguments):
        out = ["--out", str(tmp_path / "out"), "--data", "somewhere", "--jobs", "1"]
        code = command.main([*arguments, *out])
        return code, TidyFile(tmp_path / "out" / "paper.csv.gz")

    call.studies = {"one": one, "two": two}
    call.out, call.drawn = tmp_path / "out", drawn
    return call


def test_a_target_runs_its_studies_and_writes_figures_and_page(run):
    code, file = run("first")
    assert (code, len(file)) == (0, 4)
    assert run.drawn == [(4, run.out)]
    page = (run.out / "README.md").read_text()
    assert "](figure1.png)" in page
    assert "](results/figure" not in page


def test_only_the_methods_that_a_figure_needs(run):
    _, file = run("second", "--runs", "1")
    assert set(file.frame("one")["method"]) == {"a"}
    assert set(file.frame("two")["method"]) == {"a", "b"}


def test_all_is_everything_and_each_study_once(run):
    _, file = run("all")
    assert len(file) == 8


def test_methods_and_sets_are_a_choice(run):
    _, file = run("all", "--methods", "b")
    assert set(file.frame("one")["method"]) == {"b"}
    _, file = run("all", "--methods", "a", "--sets", "other")
    assert set(file.frame("one")["method"]) == {"b"}


def test_failures_are_told_by_the_code(run):
    run.studies["one"].error = RuntimeError("no")
    assert run("first")[0] == 1


def test_an_interrupt_writes_what_there_is(run, capsys):
    run.studies["two"].error = KeyboardInterrupt()
    code, file = run("all")
    assert (code, len(file)) == (130, 4)
    assert "The same command goes on" in capsys.readouterr().err
    assert (run.out / "README.md").exists()


def test_wrong_data_end_the_command_with_the_reason(run, capsys, monkeypatch):
    def wrong(request):
        raise WrongDataError("x.npz has the wrong checksum.")

    monkeypatch.setattr(run.studies["one"], "candidates", wrong, raising=False)
    assert run("first")[0] == 2
    assert "wrong checksum" in capsys.readouterr().err


def test_a_folder_that_cannot_be_used_is_told_before_any_work(run, capsys):
    run.out.write_text("a file")
    assert command.main(["first", "--out", str(run.out), "--data", "somewhere"]) == 2
    assert f"--out {run.out}: " in capsys.readouterr().err
    assert run.drawn == []


def test_results_that_cannot_be_read_are_left_alone(run, capsys):
    run.out.mkdir()
    for content in (b"no gzip", b"\x1f\x8b\x08\x00 broken"):
        (run.out / "paper.csv.gz").write_bytes(content)
        assert command.main(["first", "--out", str(run.out), "--data", "somewhere"]) == 2
        assert "cannot be read as results" in capsys.readouterr().err
        assert (run.out / "paper.csv.gz").read_bytes() == content


def test_the_page_alone_runs_nothing(run):
    code, file = run("page")
    assert (code, len(file)) == (0, 0)
    assert (run.out / "README.md").exists()


@pytest.mark.parametrize("arguments", [["figure9"], ["first", "--runs", "0"], []])
def test_what_cannot_be_asked_for_is_refused_before_any_work(run, arguments, capsys):
    with pytest.raises(SystemExit) as stop:
        run(*arguments)
    assert stop.value.code == 2
    assert "usage" in capsys.readouterr().err
    assert not run.out.exists()


def test_methods_and_sets_that_do_not_exist_are_named(run, capsys):
    with pytest.raises(SystemExit):
        command.main(["all", "--methods", "HSIC Laso"])
    assert "HSIC Laso" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        command.main(["all", "--sets", "nothing"])
    assert "nothing" in capsys.readouterr().err


def test_every_study_of_a_target_has_a_name_of_its_own():
    studies = {study for pairs in command.TARGETS.values() for study, _ in pairs}
    assert len({study.name for study in studies}) == len(studies)


def test_the_library_does_not_need_the_experiments():
    code = "import sys, hsiclasso.cli; sys.exit('experiments' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


#: The command, which tells of every task and draws nothing.
TALKATIVE = """
import runpy
import experiments.figures, experiments.runner
experiments.runner._TELL_EVERY = 0
experiments.figures.write_figures = lambda file, out: None
runpy.run_module("experiments", run_name="__main__", alter_sys=True)
"""


def test_a_signal_to_the_running_command_saves_what_is_done(tmp_path):
    """Two real processes are at work when the signal comes; none is left after it.

    The signal of a batch system has the handler of an interrupt, and so stands for both.
    """
    asked = ["figure1ab", "--methods", "Lasso", "--sets", "Data1", "--jobs", "2"]
    asked += ["--runs", "5000", "--out", str(tmp_path)]
    with subprocess.Popen(
        [sys.executable, "-c", TALKATIVE, *asked],
        cwd=Path(command.__file__).parents[1],
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        # the first such line comes before any work, the next after a task
        for _ in range(2):
            next(line for line in process.stderr if "tasks left" in line)
        process.send_signal(signal.SIGTERM)
        said = process.stderr.read()  # ends once no process holds the other end
    assert process.returncode == 130
    assert "interrupted; what is done is saved" in said
    assert "Traceback" not in said
    file = TidyFile(tmp_path / "paper.csv.gz")
    assert len(file) > 0
    assert "| figure1 | 1 | 1 |" in (tmp_path / "README.md").read_text()
