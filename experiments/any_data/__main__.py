"""HSIC Lasso on targets and columns of many kinds.

``python -m experiments.any_data [--data FOLDER] [--out experiments/results] [--only NAME ...]``

Writes ``any_data.md`` and its figures. Needs the extra ``plots``, h5py for the single cells, and
the data sets that `experiments.datasets` names; a part whose data are absent says so.
"""

import argparse
import time
from pathlib import Path

from experiments.any_data import batch, cells, genotypes, labels, mutations, survival
from experiments.datasets import MissingDataError, add_data_option

_OUT = Path(__file__).resolve().parents[1] / "results"
_PARTS = {
    "mutations": mutations.run,
    "cells": cells.run,
    "genotypes": genotypes.run,
    "labels": labels.run,
    "survival": survival.run,
    "batch": batch.run,
}


def main() -> None:
    """Run the parts, and write the report."""
    parser = argparse.ArgumentParser(description="HSIC Lasso on any target and any column.")
    add_data_option(parser)
    parser.add_argument("--out", type=Path, default=_OUT)
    parser.add_argument("--only", nargs="+", choices=list(_PARTS), default=list(_PARTS))
    chosen = parser.parse_args()
    chosen.out.mkdir(parents=True, exist_ok=True)
    texts = ["# Any target, any column", "Made by `python -m experiments.any_data`."]
    for name in chosen.only:
        start = time.perf_counter()
        try:
            texts.append(_PARTS[name](chosen.data).write(chosen.out))
        except MissingDataError as error:
            texts.append(f"## {name}: left out\n\n{error}")
            print(error)
        print(f"{name}: {time.perf_counter() - start:.0f} s")
    if chosen.only == list(_PARTS):
        (chosen.out / "any_data.md").write_text("\n\n".join(texts) + "\n")
    else:
        print("\n\n".join(texts[2:]))


if __name__ == "__main__":
    main()
