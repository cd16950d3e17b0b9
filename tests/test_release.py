"""What is released: wheel and sdist are complete, and the wheel runs without the checkout."""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
import tarfile
import tomllib
import venv
import zipfile
from pathlib import Path

import pytest

import hsiclasso

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    folder = tmp_path_factory.mktemp("built")
    command = [sys.executable, "-m", "hatchling", "build", "-d", str(folder)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    (wheel,), (sdist,) = folder.glob("*.whl"), folder.glob("*.tar.gz")
    return wheel, sdist


def test_the_version_has_one_home(built):
    assert all(f"hsiclasso-{hsiclasso.__version__}" in path.name for path in built)
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert f"\nversion: {hsiclasso.__version__}\n" in citation


def test_the_conda_recipe_asks_for_the_same_packages():
    yaml = pytest.importorskip("yaml")
    recipe = yaml.safe_load((ROOT / "packaging" / "recipe.yaml").read_text(encoding="utf-8"))
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    wanted = [*project["dependencies"], *extras["cli"], *extras["plots"]]
    wanted = [name.replace("matplotlib", "matplotlib-base") for name in wanted if "[" not in name]
    python, *packages = recipe["requirements"]["run"]
    assert sorted(name.replace(" ", "") for name in packages) == sorted(wanted)
    context = recipe["context"]
    assert context["version"] == hsiclasso.__version__
    assert project["requires-python"] == f">={context['python_min']}"
    assert python == "python >=${{ python_min }}"
    (command,) = recipe["build"]["python"]["entry_points"]
    name, _, function = command.partition(" = ")
    assert project["scripts"] == {name: function}


def test_the_wheel_has_the_package_and_nothing_else(built):
    with zipfile.ZipFile(built[0]) as wheel:
        names = wheel.namelist()
    assert {name.split("/")[0] for name in names} == {
        "hsiclasso", f"hsiclasso-{hsiclasso.__version__}.dist-info"
    }  # fmt: skip
    assert "hsiclasso/py.typed" in names
    sources = {str(file.relative_to(ROOT / "src")) for file in ROOT.glob("src/hsiclasso/**/*.py")}
    assert sources <= {name.replace("/", os.sep) for name in names}


def test_the_sdist_can_be_tested(built):
    with tarfile.open(built[1]) as sdist:
        names = {name.split("/", 1)[1] for name in sdist.getnames()}
    wanted = {"check.py", "pyproject.toml", "README.md", "LICENSE", "tests/oracles.py",
              "docs/data.md", "benchmarks/pairs.py", "experiments/README.md"}  # fmt: skip
    assert wanted <= names
    assert built[1].stat().st_size < 20e6


def test_the_wheel_runs_in_an_environment_of_its_own(built, tmp_path):
    """The dependencies are those of this environment; the package is that of the wheel."""
    home = tmp_path / "home"
    venv.create(home, with_pip=False)
    python = home / ("Scripts" if os.name == "nt" else "bin") / "python"
    own = subprocess.run(
        [python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"],
        check=True, capture_output=True, text=True,
    ).stdout.strip()  # fmt: skip
    with zipfile.ZipFile(built[0]) as wheel:
        wheel.extractall(own)
    # a path file, whose own path files are not read: the checkout stays out
    (Path(own) / "dependencies.pth").write_text(sysconfig.get_path("purelib") + "\n")
    code = "import sys, hsiclasso, hsiclasso.cli as cli; print(hsiclasso.__file__); cli.main()"
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("PYTHON", "COV_"))}
    done = subprocess.run(
        [python, "-c", code, "demo"], cwd=tmp_path, capture_output=True, text=True,
        env=environment, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(own)
    assert "Certificate" in done.stdout
