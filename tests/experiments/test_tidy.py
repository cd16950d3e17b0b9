import gzip
import os

import pytest

from experiments.tidy import TASK_SECONDS, Task, TidyFile, rows_of


def _task(run: int = 0, method: str = "a") -> Task:
    return Task("study", "data", method, 80, 10, run)


def _rows(task: Task):
    return rows_of(task, 7, [(5, "accuracy", 0.123456789), (5, TASK_SECONDS, 2.0)])


def test_what_is_saved_is_read_again(tmp_path):
    file = TidyFile(tmp_path / "new" / "x.csv.gz")
    file.add(_rows(_task(1)))
    file.add(_rows(_task(0)))
    file.save()
    again = TidyFile(file.path)
    assert _task(0) in again
    assert _task(1) in again
    assert _task(2) not in again
    assert len(again) == 2
    frame = again.frame("study")
    assert frame["value"].tolist() == [0.12346, 2.0] * 2
    assert frame["run"].tolist() == [0, 0, 1, 1]
    assert set(frame["seed"]) == {7}
    assert again.frame("another").empty


def test_equal_results_are_equal_files_in_whatever_order_they_came(tmp_path):
    one, two = TidyFile(tmp_path / "one.gz"), TidyFile(tmp_path / "two.gz")
    tasks = [_task(run, method) for run in range(3) for method in "ab"]
    for task in tasks:
        one.add(_rows(task))
    for task in reversed(tasks):
        two.add(_rows(task))
    one.save()
    two.save()
    assert one.path.read_bytes() == two.path.read_bytes()
    # so that means, which depend on the order in the last digit, are those of the saved file
    assert one.frame("study").equals(two.frame("study"))


def test_a_task_is_replaced_whole(tmp_path):
    file = TidyFile(tmp_path / "x.gz")
    file.add(_rows(_task()))
    file.add(rows_of(_task(), 8, [(5, "accuracy", 1.0)]))
    assert file.frame("study")["value"].tolist() == [1.0]


def test_a_file_that_cannot_be_written_leaves_the_old_one(tmp_path, monkeypatch):
    file = TidyFile(tmp_path / "x.gz")
    file.add(_rows(_task()))
    file.save()
    before = file.path.read_bytes()

    def full(*_):
        raise OSError("no space")

    monkeypatch.setattr(os, "replace", full)
    file.add(_rows(_task(1)))
    with pytest.raises(OSError, match="no space"):
        file.save()
    assert file.path.read_bytes() == before


def test_another_file_is_refused(tmp_path):
    path = tmp_path / "x.gz"
    with gzip.open(path, "wt") as stream:
        stream.write("a,b\n1,2\n")
    with pytest.raises(ValueError, match="no file of results"):
        TidyFile(path)


def test_seconds_are_gathered_by_group(tmp_path):
    file = TidyFile(tmp_path / "x.gz")
    for run in range(3):
        file.add(_rows(_task(run)))
    assert file.task_seconds() == {("study", "data", "a", 80, 10): [2.0, 2.0, 2.0]}
