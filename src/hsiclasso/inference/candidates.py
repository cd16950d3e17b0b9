"""Tests of the features that a path selected: each alone, and each given the others."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from joblib import Parallel, delayed, effective_n_jobs

from hsiclasso._blas import single_threaded_blas
from hsiclasso._types import BoolArray, FloatArray
from hsiclasso.dependence import Progress, Scaled
from hsiclasso.dependence.features import factor_scaled
from hsiclasso.errors import InvalidInputError
from hsiclasso.inference.conditional import Examined, Others, conditional_p_value
from hsiclasso.inference.permutation import MIN_SAMPLES, Spectrum, permutation_p_value
from hsiclasso.kernels import HSIC, Embedding, Measure, Samples
from hsiclasso.selectors.pipeline import Selection, target_matrix
from hsiclasso.targets.embedded import target_rows
from hsiclasso.targets.matrix import TargetMatrix

__all__ = ["Candidates"]

#: Relative error of the matrices that are tested, far below that of a p-value from draws.
_MATRIX_ERROR = 1e-4
#: Least share of the samples on which no candidate may be missing.
_LEAST_COMPLETE = 0.5


@dataclass(frozen=True)
class Candidates:
    """The candidates of a path and the target, on the samples on which all of them are known."""

    features: tuple[Examined, ...]
    #: Rows of the target's matrix, shape (p, n).
    target: FloatArray
    samples: Samples

    @classmethod
    def of(cls, selection: Selection) -> Candidates:
        """Take the features of a selection, which has no weighted samples."""
        features, samples = selection.features, selection.features.samples
        measure, matrix = _compared(selection)
        scaled = selection.problem.scaled(selection.selected)
        used = np.ones(samples.n, dtype=bool)
        for one in scaled:
            used &= one.samples.shares[0] > 0
        n = int(np.count_nonzero(used))
        _check_number(n, samples)
        covariates = samples.covariates
        kept = Samples(n, covariates=None if covariates is None else covariates[:, used])
        target = target_rows(matrix, samples, features.gram_error)
        return cls(
            tuple(_examined(one, used, samples, measure) for one in scaled),
            kept.remove(target[:, used].copy()),
            kept,
        )

    def p_values(
        self, n_draws: int, rng: np.random.Generator, n_jobs: int | None, progress: Progress | None
    ) -> tuple[FloatArray, FloatArray]:
        """Return the marginal and the conditional p-value of each candidate, shapes (m,)."""
        everything = range(len(self.features))
        streams = rng.spawn(len(self.features))
        nothing = Others((), self.samples)

        def test(k: int) -> tuple[float, float]:
            one, own = self.features[k], streams[k]
            alone = self._alone(one, nothing, n_draws, own)
            if len(self.features) == 1:
                return alone, alone
            rows = (self.features[j].rows for j in everything if j != k)
            others = Others(rows, self.samples)
            return alone, conditional_p_value(one, self.target, others, n_draws, own)

        found = []
        with single_threaded_blas():
            workers = Parallel(effective_n_jobs(n_jobs), prefer="threads", return_as="generator")
            for pair in workers(delayed(test)(k) for k in everything):
                found.append(pair)
                if progress is not None:
                    progress("tests", len(found), len(self.features))
        pairs = np.array(found).reshape(-1, 2)
        return pairs[:, 0], pairs[:, 1]

    def _alone(
        self, one: Examined, nothing: Others, n_draws: int, rng: np.random.Generator
    ) -> float:
        """Return the p-value of one feature; moments of all permutations, without covariates."""
        by_draws = conditional_p_value(one, self.target, nothing, n_draws, rng)
        if self.samples.covariates is not None:
            return by_draws
        statistic = float(np.square(one.rows @ self.target.T).sum())
        spectra = Spectrum.of(one.rows), Spectrum.of(self.target)
        return max(by_draws, float(permutation_p_value(statistic, *spectra, self.samples.n)))


def _compared(selection: Selection) -> tuple[Measure, TargetMatrix]:
    """Return the measure of the tests, and the target's matrix for it.

    It is that of the selection, but HSIC in place of NOCCO: shrunk eigenvalues let single samples
    weigh so much that whether two of them coincide decides, and a test finds less.
    """
    measure = selection.problem.measure
    if isinstance(measure, Embedding) or not measure.regularisation:
        return measure, selection.target
    plain = HSIC()
    return plain, target_matrix(replace(selection.inputs, measure=plain))


def _check_number(n: int, samples: Samples) -> None:
    """Raise if too few samples are left for tests."""
    n_used = int(np.count_nonzero(samples.shares))
    if n_used < MIN_SAMPLES:
        raise InvalidInputError(
            f"n_samples={n_used}, but the tests need {MIN_SAMPLES} or more: add samples."
        )
    if n < max(MIN_SAMPLES, _LEAST_COMPLETE * n_used):
        raise InvalidInputError(
            f"Only {n} of {n_used} samples have no missing value among the candidates, but the "
            "tests need half of them: fill in missing values, or leave out columns with many."
        )


def _examined(one: Scaled, used: BoolArray, samples: Samples, measure: Measure) -> Examined:
    """Restrict a feature to the samples that are used."""
    kept = samples if used.all() else samples.only(used)
    factor = factor_scaled(replace(one, samples=kept), measure, _MATRIX_ERROR)
    return Examined(one.z[:, used], factor.rows[:, used], one.kernel.of_labels)
