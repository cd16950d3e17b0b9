"""Transforms of real targets, and zero/one tables: what two defaults rest on.

``python -m experiments.target_transforms [recovery splits binary genotypes] [--runs 5] [--jobs 2]``

- *recovery*: HSIC and NOCCO Lasso on Data1 and Data2, 100 and 200 samples of 1000 features, with
  the target as it is, its ranks, its normal scores, and the default.
- *splits*: the same on real regression sets, and on tasks made of expression data: one gene, of
  large variance, is predicted from the others. A support vector machine scores 5, 10 and 20
  features on the samples that were held out (`experiments.redundancy_cap`).
- *binary*: HSIC and normalised HSIC on tables of zeros and ones: mutations of HIV, and words of
  newsgroups that occur or not.
- *genotypes*: the same on three PLINK tables with a simulated phenotype: ten causal variants, with
  effects of equal variance, explain half of it. The share of them that is found is counted; a
  variant whose correlation with a causal one is above 0.8 counts as it.

Results go to one tidy file, and runs that are in it are not repeated. Tables are written to
``docs/data.md``.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np
import pandas as pd

from experiments.command import ROOT, Command, start
from experiments.contenders import CLASSES, REAL, Contender
from experiments.datasets import MissingDataError
from experiments.embedding import CLASS_SETS, REGRESSION_SETS, RealSet
from experiments.markdown import number, table
from experiments.redundancy_cap import FAMILIES, NOTHING, Judge, OnSplits
from experiments.runner import Request, tell
from experiments.tidy import Row, Task, TidyFile, rows_of
from hsiclasso import HSICLasso, Real, as_source, make_data1, make_data2

PAGE = ROOT / "docs" / "data.md"
FIRST_SEED = 3_100_000
TRANSFORMS = {"raw": None, "ranks": "rank", "normal scores": "normal", "default": "auto"}
SIZES = (5, 10, 20)
DESIGNS = {"Data1": make_data1, "Data2": make_data2}
#: Sets whose genes are predicted from each other, and the place of the gene by variance.
GENES = {"TOX_171": 5, "Prostate_GE": 5, "ALLAML": 5, "colon": 3, "lymphoma": 9, "GLIOMA": 7}
WORDS = ("PCMAC", "BASEHOCK", "RELATHE")
PLINK = {"toydata.5chrom": (500, 10000), "bigsnpr_example": (517, 4542)}
N_CAUSAL = 10


def _gene(folder: Path, name: str) -> tuple[np.ndarray, np.ndarray]:
    """Read expression data; one gene is the target."""
    source = name.removesuffix(", a gene")
    X, _ = CLASS_SETS[source].read(folder, source)
    target = int(np.argsort(-X.var(axis=0))[GENES[source]])
    return np.delete(X, target, axis=1), X[:, target]


def _words(folder: Path, name: str) -> tuple[np.ndarray, np.ndarray]:
    """Read counts of words; only whether a word occurs is kept."""
    X, y = CLASS_SETS["colon"].read(folder, name)
    return (X > 0).astype(float), y


GENE_SETS = {
    f"{name}, a gene": RealSet(CLASS_SETS[name].n, CLASS_SETS[name].d - 1, REAL, _gene)
    for name in GENES
}
BINARY_SETS = {"hiv_nrti_azt": REGRESSION_SETS["hiv_nrti_azt"]} | {
    name: RealSet(n, d, CLASSES, _words)
    for name, (n, d) in zip(WORDS, ((1943, 3289), (1993, 4862), (1427, 4322)), strict=True)
}


def _names(*methods: str) -> dict[str, Contender]:
    return {name: Contender(lambda *_: NOTHING) for name in methods}


@dataclass(frozen=True, eq=False)
class Recovery:
    """Share of the causal features that are found, by transform."""

    name: str
    methods: dict[str, Contender]
    runs: int
    timed = False
    sets = tuple(DESIGNS)

    def candidates(self, request: Request) -> Iterator[tuple[Task, str | None]]:
        """Yield every size of every design with every method."""
        for data in self.sets:
            for n in (100, 200):
                for method in self.methods:
                    yield Task(self.name, data, method, n, 1000, 0), None

    def perform(self, task: Task, folder: Path) -> list[Row]:
        """Select from one draw with every transform."""
        seed = FIRST_SEED + 1000 * task.n + task.run
        X, y, causal = DESIGNS[task.data](task.n, task.d, random_state=seed)
        values = []
        for words, transform in TRANSFORMS.items():
            target = Real(transform=transform)
            selector = FAMILIES[task.method](len(causal), target=target, n_jobs=1).fit(X, y)
            found = np.isin(causal, selector.selected_).mean()
            values.append((len(causal), f"fraction, {words}", found))
        return rows_of(task, seed, values)


class Transforms(OnSplits):
    """Prediction from features that are selected with each transform."""

    def values(self, method: str, judge: Judge, seed: int) -> Iterator[tuple[int, str, float]]:
        """Judge the features of every transform and number."""
        for words, transform in TRANSFORMS.items():
            yield from _judged(judge, method, words, {"target": Real(transform=transform)})


class Measures(OnSplits):
    """Prediction from features that are selected by HSIC and by normalised HSIC."""

    def values(self, method: str, judge: Judge, seed: int) -> Iterator[tuple[int, str, float]]:
        """Judge the features of both measures and every number."""
        for measure in ("hsic", "nhsic"):
            yield from _judged(judge, method, measure, {"measure": measure})


def _judged(
    judge: Judge, method: str, words: str, options: dict
) -> Iterator[tuple[int, str, float]]:
    made = judge.fit(method, min(SIZES[-1], judge.X.shape[1]), **options)
    for m in SIZES:
        found = made.path.selected_of_size(m, NOTHING)
        yield m, f"score, {words}", judge(made.selected[:m] if found is None else found)


@dataclass(frozen=True, eq=False)
class Genotypes:
    """Share of the causal variants of simulated phenotypes that are found by each measure."""

    name: str
    methods: dict[str, Contender]
    runs: int
    timed = False
    sets = tuple(PLINK)

    def candidates(self, request: Request) -> Iterator[tuple[Task, str | None]]:
        """Yield every table; one that is not there is left out."""
        for data, (n, d) in PLINK.items():
            try:
                _calls(data, request.folder)
            except (MissingDataError, FileNotFoundError) as error:
                tell(f"{data} is left out. {error}")
                continue
            for method in self.methods:
                yield Task(self.name, data, method, n, d, 0), None

    def perform(self, task: Task, folder: Path) -> list[Row]:
        """Simulate a phenotype and select with both measures."""
        calls, seed = _calls(task.data, folder), FIRST_SEED + task.run
        rng = np.random.default_rng(seed)
        common = np.flatnonzero(calls.mean(axis=0) > 0.02)  # as mean alleles: 1% of chromosomes
        causal = rng.choice(common, N_CAUSAL, replace=False)
        z = (calls - calls.mean(axis=0))[:, causal] / calls[:, causal].std(axis=0)
        signal = z @ rng.choice([-1.0, 1.0], N_CAUSAL)
        y = signal / signal.std() + rng.standard_normal(len(calls))
        values = []
        for measure in ("hsic", "nhsic"):
            found = HSICLasso(2 * N_CAUSAL, measure=measure, n_jobs=1).fit(calls, y).selected_
            near = np.abs(np.corrcoef(calls[:, np.append(found, causal)].T))
            share = (near[: found.size, found.size :].max(axis=0) > 0.8).mean()
            values.append((2 * N_CAUSAL, f"fraction, {measure}", share))
        return rows_of(task, seed, values)


@lru_cache(maxsize=2)
def _calls(name: str, folder: Path) -> np.ndarray:
    """Read genotype calls without variants that are missing somewhere or do not vary."""
    file = folder / "formats" / "plink" / f"{name}.bed"
    if not file.exists():
        raise MissingDataError(f"{file} does not exist.")
    source = as_source(file)
    calls = source.block(np.arange(source.n_features))
    calls = np.asarray(calls, dtype=float)
    calls = calls[:, ~np.isnan(calls).any(axis=0)]
    return calls[:, np.ptp(calls, axis=0) > 0]


_LASSOS = ("HSIC Lasso", "NOCCO Lasso")
STUDIES = {
    "recovery": Recovery("recovery", _names(*_LASSOS), 40),
    "splits": Transforms("splits", REGRESSION_SETS | GENE_SETS, _names(*_LASSOS), 6),
    "binary": Measures("binary", BINARY_SETS, _names("HSIC Lasso"), 5),
    "genotypes": Genotypes("genotypes", _names("HSIC Lasso"), 20),
}


def _lines(file: TidyFile, study: str, words: str, first: str) -> list[str]:
    """Means by what was tried; but for the first, the difference from it with standard errors."""
    frame = file.frame(study)
    frame = frame[frame["metric"].str.startswith(words)].astype({"value": float})
    if frame.empty:
        return []
    frame = frame.assign(of=frame["metric"].str[len(words) :])
    tried = list(dict.fromkeys(frame["of"]))
    body = []
    for (method, data, n, m), rows in frame.groupby(["method", "data", "n", "m"], sort=False):
        values = rows.pivot(index="run", columns="of", values="value")
        cells = [number(values[tried[0]].mean())]
        for one in tried[1:]:
            apart = values[one] - values[tried[0]]
            error = apart.std(ddof=1) / np.sqrt(len(apart)) if len(apart) > 1 else np.nan
            cells.append(f"{number(values[one].mean())} ({apart.mean():+.3f} ± {number(error)})")
        body.append([f"{method}, {data}, n = {n}, {m}", *cells, len(values)])
    return table([first, *tried, "runs"], body)


def _over_sets(file: TidyFile) -> list[str]:
    """Mean gains over the raw target, over all sets."""
    frame = file.frame("splits")
    frame = frame[frame["metric"].str.startswith("score, ")].astype({"value": float})
    if frame.empty:
        return []
    means = frame.groupby(["method", "m", "data", "metric"])["value"].mean().unstack()
    gains: pd.DataFrame = means.sub(means["score, raw"], axis=0)
    body = []
    for (method, m), rows in gains.groupby(["method", "m"], sort=False):
        cells = []
        for words in list(TRANSFORMS)[1:]:
            values = rows[f"score, {words}"]
            error = values.std(ddof=1) / np.sqrt(len(values)) if len(values) > 1 else np.nan
            cells.append(f"{values.mean():+.3f} ± {number(error)}, worst {values.min():+.3f}")
        body.append([f"{method}, {m} features of {len(rows)} sets", *cells])
    return table(["gain in R^2 over raw", *list(TRANSFORMS)[1:]], body)


def _folded(lines: list[str], words: str) -> list[str]:
    if not lines:
        return []
    return [f"<details><summary>{words}</summary>", "", *lines, "</details>", ""]


def blocks_of(file: TidyFile) -> dict[str, str]:
    """Return what is written to the page."""
    transforms = [
        *_lines(file, "recovery", "fraction, ", "causal features found"),
        *_over_sets(file),
        *_folded(_lines(file, "splits", "score, ", "R^2"), "set by set"),
    ]
    binary = [
        *_lines(file, "binary", "score, ", "accuracy or R^2"),
        *_lines(file, "genotypes", "fraction, ", "causal variants found"),
    ]
    return {"transforms": "\n".join(transforms), "zero or one": "\n".join(binary)}


main = Command("target_transforms", __doc__ or "", STUDIES, PAGE, blocks_of)


if __name__ == "__main__":
    start("experiments.target_transforms")
