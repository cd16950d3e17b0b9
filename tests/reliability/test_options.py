"""Whatever is typed, the shell answers with a result, or with one line that says what to do.

More examples: ``pytest --hypothesis-profile=thorough tests/reliability/test_options.py``.
"""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

import pytest

click = pytest.importorskip("click")
pytest.importorskip("pandas")
from click.testing import CliRunner  # noqa: E402
from hypothesis import HealthCheck, given, settings  # noqa: E402
from hypothesis import strategies as st  # noqa: E402

from hsiclasso.cli.app import app  # noqa: E402
from tests.cli.helpers import NO_TERMINAL, cohort, write  # noqa: E402

#: Files of an example's folder, and paths that no example can use.
FILES = ("cohort.csv", "groups.csv", "empty.csv", "folder", "absent.csv", "", "no/such/r.csv")
COLUMNS = ("lab0", "lab2", "sex", "site", "risk", "grade", "ill", "far", "months", "died", "w")
INTEGERS = ("-1", "0", "1", "2", "3", "7", "-0", "1.5", "x", "", "9" * 30)
FLOATS = ("0", "0.1", "0.5", "1", "2", "-1", "nan", "inf", "-inf", "1e-300", "1e300", "x", "")
TEXTS = (
    "", "=", ",", ":", "a=", "=gaussian", "gaussian", "gaussian:0", "gaussian:nan", "laplace:1,2",
    "gaussian:1e400", "number=linear", "sex=delta", "ratio:0.1", "ratio:2", "ratio:", "aic", "bic",
    "all", "all:2", "all:0", "spread:3", "selected", "lab0,lab1", "lab0,", "p=lab0,lab1", "auto",
    "2GB", "1KB", "-2GB", "1e400", "hsic_lasso,mrmr", "mrmr,", "tab", "utf-16", "latin-1", "\\",
    "#", "0.3", "-0.1", "\x1b[31m", "é", "=1+1", "lab0", "risk",
)  # fmt: skip
#: Their values may ask for hours of work, or for an answer from another machine.
SMALL = {"--stability", "--n-permutations", "--n-jobs", "--parts"}
NEVER = {"--scheduler", "--help", "--help-all"}
#: Examples of a command, unless the profile asks for more.
EXAMPLES = settings().max_examples * 5 // 8
COMMANDS = ("select", "test", "plan", "compare", "split")


def values(option):
    """Strategy of one value of an option."""
    kind = option.type
    if isinstance(kind, click.Choice):
        return st.sampled_from([*kind.choices, "nonsense", ""])
    if isinstance(kind, click.Path):
        suffixes = ("csv", "tsv", "json", "png", "svg", "html", "h5ad", "gif", "npy", "npz")
        made = [f"made.{suffix}" for suffix in suffixes]
        return st.sampled_from([*FILES, *made])
    if kind is click.INT or option.opts[-1] in SMALL:
        return st.sampled_from(INTEGERS[:-1] if option.opts[-1] in SMALL else INTEGERS)
    if kind is click.FLOAT:
        return st.sampled_from(FLOATS)
    return st.sampled_from([*TEXTS, *COLUMNS]) | st.text(max_size=5)


@st.composite
def typed(draw, command):
    """Strategy of the words after a command: most name a table and a target that exist."""
    options = [
        param
        for param in app.commands[command].params
        if isinstance(param, click.Option) and not NEVER & {*param.opts}
    ]
    words = [draw(st.sampled_from(["cohort.csv"] * 8 + list(FILES)))]
    if command == "split":
        words += ["work", "--parts", draw(values_of("--parts", options))]
    if draw(st.integers(0, 9)):
        words += ["-t", draw(st.sampled_from(["risk", "ill", "far", "grade"]))]
    if command == "compare":  # the others take long
        words += ["--methods", draw(st.sampled_from(["mrmr", "hsic_lasso,hsic_ranking", "x", ""]))]
        options = [option for option in options if "--methods" not in option.opts]
    for option in draw(st.lists(st.sampled_from(options), max_size=3)):
        words.append(option.opts[-1])
        if not option.is_flag:
            words += [draw(values(option)) for _ in range(option.nargs)]
    return words


def values_of(name, options):
    return values(next(option for option in options if name in option.opts))


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("files")
    write(folder / "cohort.csv", {name: cells[:40] for name, cells in cohort().items()})
    (folder / "groups.csv").write_text("feature,group\nlab0,a\nlab1,a\nlab2,b\n")
    (folder / "empty.csv").write_text("")
    (folder / "folder").mkdir()
    return folder


@pytest.mark.filterwarnings("ignore")  # as in a shell, where they do not end the work
@pytest.mark.parametrize("command", COMMANDS)
@settings(max_examples=EXAMPLES, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_a_result_or_one_line(command, files, data):
    words = data.draw(typed(command), label="words")
    with tempfile.TemporaryDirectory() as place, pytest.MonkeyPatch.context() as patch:
        folder = Path(place, "files")
        shutil.copytree(files, folder)
        patch.chdir(folder)
        before = contents(folder)
        done = CliRunner(env=NO_TERMINAL).invoke(app, [command, *words])
        assert done.exit_code in (0, 2), done.exception
        assert isinstance(done.exception, SystemExit | None)
        after = contents(folder)
        assert before.items() <= after.items()  # what was read is as it was
        if done.exit_code == 2:
            assert done.stdout == ""
            assert "Traceback" not in done.stderr
            *_, last = done.stderr.splitlines()
            assert last.startswith("Error: ")
            assert {
                name for name in after.keys() - before.keys() if name.startswith("made.")
            } == set()


def contents(folder):
    return {
        str(file.relative_to(folder)): file.read_bytes()
        for file in folder.rglob("*")
        if file.is_file()
    }
