"""Tables with features of every kind."""

from __future__ import annotations

import numpy as np
import pytest

pd = pytest.importorskip("pandas")

N = 150


@pytest.fixture(scope="session")
def patients():
    """Return numbers, doses, categories, text and missing values; and what the target follows."""
    rng = np.random.default_rng(3)
    frame = pd.DataFrame(rng.standard_normal((N, 6))).rename(columns="lab{}".format)
    frame["dose"] = rng.integers(0, 3, N)
    frame["sex"] = pd.Categorical(rng.choice(["f", "m"], N))
    frame["site"] = rng.choice([f"site {k}" for k in range(11)], N)
    risk = np.abs(frame["lab1"]) + (frame["sex"] == "f") + 0.5 * frame["dose"]
    risk = (risk + 0.2 * rng.standard_normal(N)).rename("risk")
    frame.loc[::7, "lab1"] = np.nan
    return frame, risk
