"""Missing calls: many genotypes were not read."""

from pathlib import Path

import numpy as np

from experiments.any_data.recoveries import Recoveries
from experiments.any_data.section import Section, image, table
from experiments.datasets import data_file
from experiments.plink import Genotypes, read_plink
from hsiclasso import HSICLasso, Ignore

RATES = (0.1, 0.2, 0.3, 0.4, 0.5)
_RUNS = 12
_STEP = 3
_SELECTED = 10
_LEAST = 0.3
_EXPLAINED = 0.2
_FIGURE = "any_data_missing.png"
_ERASED = "calls erased in half of the SNPs (%)"
_SOURCE = "inst/extdata/example.bed of github.com/privefl/bigsnpr"
_SOME = "a PLINK set of 100 x 100 calls, 22% of them missing, whose origin is not recorded"

SCHEMES = {
    "(a) missing by chance": 0.0,
    "(b) missing more often at high phenotypes": 0.5,
}


def _ignore(calls: np.ndarray, y: np.ndarray) -> np.ndarray:
    return HSICLasso(_SELECTED, missing=Ignore(_LEAST)).fit(calls, y).selected_


def _mean(calls: np.ndarray, y: np.ndarray) -> np.ndarray:
    filled = np.where(np.isnan(calls), np.nanmean(calls, axis=0), calls)
    return HSICLasso(_SELECTED).fit(filled, y).selected_


def _complete(calls: np.ndarray, y: np.ndarray) -> np.ndarray:
    whole = np.flatnonzero(~np.isnan(calls).any(axis=0))
    return whole[HSICLasso(_SELECTED).fit(calls[:, whole], y).selected_]


METHODS = {
    'missing="ignore"': _ignore,
    "mean filled in": _mean,
    "incomplete SNPs dropped": _complete,
}


def run(folder: Path) -> Section:
    """Recover causal SNPs where half of the SNPs miss calls."""
    plink = Path("formats") / "plink"
    stems = {}
    for name, source in (("bigsnpr_example", _SOURCE), ("some_missing", _SOME)):
        stems[name] = data_file(folder, str(plink / f"{name}.bed"), source).with_suffix("")
    calls = read_plink(stems["bigsnpr_example"]).calls[:, ::_STEP]
    outcomes = recoveries(calls)
    return Section(
        "3. Missing calls: genotypes from PLINK files",
        [*_erased(calls, outcomes), *_as_they_are(read_plink(stems["some_missing"]))],
        {_FIGURE: outcomes.draw(_ERASED, "causal SNPs among ten selected", 100)},
    )


def phenotype(calls: np.ndarray, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Draw three causal SNPs - dominant, recessive, heterozygote - and a phenotype of them."""
    frequency = calls.mean(axis=0) / 2
    common = np.flatnonzero(np.abs(frequency - 0.5) < 0.25)
    causal = rng.choice(common, 3, replace=False)
    minor = np.where(frequency[causal] > 0.5, 2 - calls[:, causal], calls[:, causal])
    effects = np.column_stack([minor[:, 0] > 0, minor[:, 1] == 2, minor[:, 2] == 1]).astype(float)
    signal = ((effects - effects.mean(axis=0)) / effects.std(axis=0)).sum(axis=1)
    noise = rng.standard_normal(len(calls))
    y = np.sqrt(_EXPLAINED) * signal / signal.std() + np.sqrt(1 - _EXPLAINED) * noise
    return y, causal


def erase(
    calls: np.ndarray, y: np.ndarray, rate: float, uneven: float, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Erase calls of a random half of the SNPs; return the rest, and which SNPs were hit."""
    hit = rng.random(calls.shape[1]) < 0.5
    share = rate * (1 + uneven * np.where(y > np.median(y), 1, -1))
    gone = (rng.random(calls.shape) < share[:, None]) & hit
    return np.where(gone, np.nan, calls), hit


def recoveries(calls: np.ndarray) -> Recoveries:
    """Share of causal SNPs found, and of selected SNPs with erased calls."""
    found = Recoveries(list(SCHEMES), list(METHODS), RATES)
    for run_number in range(_RUNS):
        rng = np.random.default_rng(run_number)
        y, causal = phenotype(calls, rng)
        for scheme, uneven in SCHEMES.items():
            for rate in RATES:
                seen, hit = erase(calls, y, rate, uneven, rng)
                for name, select in METHODS.items():
                    chosen = select(seen, y)
                    scores = (float(np.isin(causal, chosen).mean()), float(hit[chosen].mean()))
                    found.add(scheme, name, rate, *scores)
    return found


def _erased(calls: np.ndarray, outcomes: Recoveries) -> list[str]:
    n, d = calls.shape
    rates = [f"{rate:.0%}" for rate in RATES]
    rows = [
        [f"{scheme[:3]} {name}", *outcomes.others(scheme, name)]
        for scheme in SCHEMES
        for name in METHODS
    ]
    return [
        f"bigsnpr_example, every third SNP: {n} samples x {d} SNPs, complete. Its phenotype has no "
        "known causes, so one is simulated from three common SNPs, dominant, recessive and "
        f"heterozygote, which explain {_EXPLAINED:.0%} of its variance. Then calls of a random "
        "half of the SNPs are erased, by chance, or three times as often where the phenotype is "
        f"above its median; ten SNPs are selected (`Ignore({_LEAST})`). {_RUNS} runs, seeds "
        f"0 to {_RUNS - 1}; share of the causal SNPs selected, and its standard error:",
        image(_FIGURE, "Causal SNPs found against the share of erased calls"),
        *outcomes.tables("", rates),
        table(["share of selected SNPs with erased calls (0.5 of all)", *rates], rows),
    ]


def _as_they_are(genotypes: Genotypes) -> list[str]:
    """Select from a file with missing calls of its own."""
    calls, missing = genotypes.numbers(), genotypes.missing
    n, d = calls.shape
    y, causal = _phenotype_with_gaps(genotypes)
    selector = HSICLasso(5, missing="ignore").fit(calls, y)
    rows = [
        [str(genotypes.variants[f.index]), "causal" if f.index in causal else "",
         f"{f.weight:.4f}", f"{f.n_observed} of {n}"]
        for f in selector.result_.features
    ]  # fmt: skip
    seldom = [j for j in causal if selector.n_observed_[j] < 0.7 * n]
    lost = ", ".join(str(genotypes.variants[j]) for j in seldom) or "neither"
    return [
        f"some_missing: {n} samples x {d} SNPs, {missing.mean():.0%} of the calls missing; "
        f"{np.count_nonzero(~missing.any(axis=0))} SNPs and "
        f"{np.count_nonzero(~missing.any(axis=1))} samples are complete, so dropping either leaves "
        "nothing. It has no phenotype: one is simulated from its two SNPs of highest minor allele "
        "frequency, dominant, with unread genotypes drawn from the frequencies of the SNP (seed "
        f'0). Five SNPs selected with `missing="ignore"`, which asks for half of the samples; '
        f"`Ignore(0.7)` would leave out, of the causal SNPs, {lost}:",
        table(["SNP", "", "weight", "`n_observed`"], rows),
    ]


def _phenotype_with_gaps(genotypes: Genotypes) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    calls = genotypes.numbers()
    frequency = np.nanmean(calls, axis=0) / 2
    causal = np.argsort(np.abs(frequency - 0.5))[:2]
    whole = calls[:, causal]
    for column in whole.T:
        gone = np.isnan(column)
        column[gone] = rng.choice(column[~gone], np.count_nonzero(gone))
    minor = np.where(frequency[causal] > 0.5, 2 - whole, whole)
    return (minor > 0).sum(axis=1) + 0.5 * rng.standard_normal(len(whole)), causal
