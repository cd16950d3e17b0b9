#!/usr/bin/env -S uv run --script
# /// script
# dependencies = ["nox>=2025.2.9"]
# ///
"""Sessions for nox: ``nox -s tests``, ``nox -s tests-3.13``, ``nox -s minimum``, ``nox -s slow``.

`check.py` runs all checks in the environment that is active; these sessions make environments.
"""

import nox

nox.needs_version = ">=2025.2.9"
nox.options.default_venv_backend = "uv|virtualenv"

#: Oldest versions that pyproject.toml allows.
MINIMUM = ("numpy==1.26.*", "scipy==1.12.*", "scikit-learn==1.6.*", "numba==0.60.*")
#: The same of the extras, but for anndata, which cannot write Zarr 3 with the others.
EXTRAS = (
    "pandas==2.2.*", "polars==1.0.*", "pyarrow==16.*", "openpyxl==3.1.*", "h5py==3.10.*",
    "zarr==3.1.*", "zstandard==0.20.*", "bed-reader==1.0.*", "matplotlib==3.8.*", "click==8.2.*",
    "rich==13.*", "dask[array,dataframe,distributed]==2025.3.*",
)  # fmt: skip
#: Stations of the package that are tested with them.
STATIONS = ("data", "kernels", "targets", "dependence", "solvers", "selectors")


@nox.session(python=["3.11", "3.12", "3.13", "3.14"])
def tests(session: nox.Session) -> None:
    """Run every check."""
    session.install("-e", ".[dev]")
    session.run("python", "check.py")


@nox.session(python="3.11", default=False)
def minimum(session: nox.Session) -> None:
    """Test with the oldest versions of the dependencies."""
    tools = ("pytest==8.*", "pytest-xdist", "hypothesis", "clarabel==0.9.*")
    session.install("-e", ".", *MINIMUM, *EXTRAS, *tools)
    session.run(
        "pytest", "-n", "auto", *(f"tests/{station}" for station in STATIONS),
        # scikit-learn 1.6 fails itself where tags say that features may be categories
        "-k", "not check_positive_only_tag_during_fit",
    )  # fmt: skip


@nox.session(python="3.11", default=False)
def versions(session: nox.Session) -> None:
    """Compare the oldest versions of the core's dependencies with the newest: the same features."""
    old, new = (session.create_tmp() + f"/{age}" for age in ("oldest", "newest"))
    for folder, packages in ((old, MINIMUM), (new, ())):
        session.run("python", "-m", "venv", folder, external=True)
        session.run(f"{folder}/bin/pip", "install", "-q", ".", *packages, external=True)
    session.run(
        f"{new}/bin/python", "-m", "reliability.cpus", "--few", "--environments",
        f"oldest={old}/bin/python", external=True,
    )  # fmt: skip


@nox.session(default=False)
def slow(session: nox.Session) -> None:
    """Test error rates on many draws."""
    session.install("-e", ".[dev]")
    session.run("pytest", "-m", "slow", "-n", "auto")


if __name__ == "__main__":
    nox.main()
