"""Golden results: what the selectors return today, so that a later version can be compared.

    python -m benchmarks.golden record            # fit every case, write results/golden.json
    python -m benchmarks.golden check             # fit every case again, compare with the file
    python -m benchmarks.golden check --only NAME

A case is described in words that do not depend on the parameters of the estimators; `fit` alone
translates them, and is all that has to change if the parameters do. Cases differ in what is
stored (dtype, sparse, frames, gaps), in the target, the kernels, the measure, the penalty and
the solver, and in the size of the table, since few and many samples take different ways through
the code.

The features must be the same, in the same order. The largest difference of a weight, relative
to the largest weight, must be at most the tolerance of the case: 1e-8, or 1e-5 where the Gram
matrices are approximated to 1e-6 in a way that another version may well choose differently. A
case has a twin, ``..._tight``, whose matrices are exact to 1e-10 and whose weights must agree to
1e-8 in any version. Differences of relevance are printed and decide nothing.

The real sets are read from ``shared/data`` beside the repository, or from the folder that the
environment variable HSICLASSO_DATA names; without them their cases are skipped.
"""

import argparse
import json
import os
import sys
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse
from scipy.stats import norm

FILE = Path(__file__).resolve().parent / "results" / "golden.json"
DATA = Path(__file__).resolve().parents[2] / "shared" / "data"
#: Tolerances of weights, relative to the largest.
STRICT, LOOSE = 1e-8, 1e-5
#: Largest difference that rounding makes where nothing is computed in another way.
EXACT = 1e-12


class AbsentError(Exception):
    """Something that a case needs is not on this machine."""


# ---------------------------------------------------------------------------------------- cases


@dataclass(frozen=True)
class Kernel:
    """A kernel with options of its own.

    Attributes
    ----------
    name : str
        ``"gaussian"``, ``"laplace"``, ``"delta"``, ``"plain_delta"``, ``"linear"``,
        ``"polynomial"``, ``"diffusion"`` or ``"regularised_laplacian"``.
    width : float, "median" or tuple
        Of a Gaussian or Laplace kernel.
    degree, offset : int and float
        Of a polynomial.
    beta : float
        Of a graph kernel.
    """

    name: str
    width: Any = 1.0
    degree: int = 2
    offset: float = 1.0
    beta: float = 1.0


@dataclass(frozen=True)
class Case:
    """One selection.

    Attributes
    ----------
    name : str
    data : callable
        Returns X and y.
    n_features, alpha, alpha_ratio, criterion
        Where the path ends.
    measure : {"hsic", "nhsic", "nocco"}
    epsilon : float or None
        Regularisation of NOCCO; None for the default.
    kernel : str, Kernel or mapping of columns, joint features, kinds or dtypes to these
        Of the features.
    width : float, "median" or tuple
        Of the features' kernels that are given by name.
    target : str
        ``"auto"``, ``"classification"``, ``"regression"``, ``"ordinal"``, ``"counts"``,
        ``"multilabel"``, ``"survival"``, ``"affinity"``, ``"graph"`` or ``"objects"``.
    target_kernel : str, Kernel or callable
        Of a graph ``"diffusion"`` or ``"regularised_laplacian"``; of objects, a function of two.
    target_width, target_transform, multioutput
        Width of the target's kernel, ``"rank"`` or None, ``"joint"`` or ``"average"``.
    weights, groups, group_weights, n_groups, l1_ratio, ridge, positive, solver
        Penalty and solver.
    keep, exclude : sequence of columns
    joint : mapping of names to columns
    covariates : sequence of columns
    covariate_values : callable
        Returns covariates that are no columns of X, given the number of samples.
    covariate_method : {"project", "subtract"}
    missing : {"error", "ignore"}
    min_observed : float or int
    missing_target : {"error", "drop"}
    gram_error : float
        Relative error that the Gram matrix of a feature may have.
    embedding : {"auto", "table", "cholesky"}
    sample_weight : callable
        Returns the weights of the samples, given their number.
    tolerance : float
        Largest difference of a weight, relative to the largest weight.
    twin : bool
        Whether the case is run with tight Gram matrices too.
    """

    name: str
    data: Callable[[], tuple[Any, Any]]
    n_features: int | None = 8
    alpha: float | None = None
    alpha_ratio: float | None = None
    criterion: str | None = None
    measure: str = "hsic"
    epsilon: float | None = None
    kernel: Any = "auto"
    width: Any = 1.0
    target: str = "auto"
    target_kernel: Any = "auto"
    target_width: Any = 1.0
    target_transform: str | None = None
    multioutput: str = "auto"
    weights: Any = None
    groups: Any = None
    group_weights: Mapping[Any, float] | None = None
    n_groups: int | None = None
    l1_ratio: float = 0.0
    ridge: float = 0.0
    positive: bool = True
    solver: str = "auto"
    keep: Sequence[Any] | None = None
    exclude: Sequence[Any] | None = None
    joint: Mapping[str, Any] | None = None
    covariates: Sequence[Any] | None = None
    covariate_values: Callable[[int], Any] | None = None
    covariate_method: str = "project"
    missing: str = "error"
    min_observed: float = 0.5
    missing_target: str = "error"
    gram_error: float = 1e-6
    embedding: str = "auto"
    sample_weight: Callable[[int], Any] | None = None
    tolerance: float = STRICT
    twin: bool = True


def fit(case: Case) -> Any:  # noqa: C901
    """Fit the estimator that a case describes: all that knows the names of its parameters."""
    import hsiclasso

    def kernel(spec: Any) -> Any:
        if isinstance(spec, Mapping):
            return {key: kernel(value) for key, value in spec.items()}
        if not isinstance(spec, Kernel):
            return spec
        return {
            "gaussian": lambda: hsiclasso.Gaussian(spec.width),
            "laplace": lambda: hsiclasso.Laplace(spec.width),
            "delta": lambda: hsiclasso.Delta(),
            "plain_delta": lambda: hsiclasso.Delta(by_count=False),
            "linear": lambda: hsiclasso.Linear(),
            "polynomial": lambda: hsiclasso.Polynomial(spec.degree, spec.offset),
            "diffusion": lambda: hsiclasso.Diffusion(spec.beta),
            "regularised_laplacian": lambda: hsiclasso.RegularisedLaplacian(spec.beta),
        }[spec.name]()

    def features_kernel() -> Any:
        usual = case.embedding == "auto" and case.width == 1.0
        gaussian = hsiclasso.Gaussian(case.width, case.embedding)

        def sized(spec: Any) -> Any:
            if spec == "gaussian":
                return gaussian
            return hsiclasso.Laplace(case.width) if spec == "laplace" else kernel(spec)

        if isinstance(case.kernel, Mapping):
            rules = {key: sized(spec) for key, spec in case.kernel.items()}
            return rules if usual else {"number": gaussian} | rules
        if case.kernel == "auto":
            return "auto" if usual else {"number": gaussian}
        made = sized(case.kernel)
        if isinstance(made, hsiclasso.Gaussian) and case.embedding != "auto":
            made = hsiclasso.Gaussian(made.width, case.embedding)
        return made

    def target() -> Any:
        spec = case.target_kernel
        if isinstance(spec, str) and spec in ("gaussian", "auto") and case.target_width != 1.0:
            spec = hsiclasso.Gaussian(case.target_width)
        elif isinstance(spec, str) and spec == "laplace":
            spec = hsiclasso.Laplace(case.target_width)
        given: dict[str, Any] = {"kernel": kernel(spec), "transform": case.target_transform}
        given |= {"outputs": case.multioutput, "missing": case.missing_target}
        usual = {"kernel": "auto", "transform": None, "outputs": "auto", "missing": "error"}
        given = {k: v for k, v in given.items() if isinstance(v, object) and v is not usual[k]}
        given = {k: v for k, v in given.items() if not (isinstance(v, str) and v == usual[k])}
        if case.target == "objects":
            return hsiclasso.Objects(given.pop("kernel"), **given)
        kinds = {
            "auto": hsiclasso.Auto,
            "classification": hsiclasso.Classes,
            "regression": hsiclasso.Real,
            "ordinal": hsiclasso.Ordinal,
            "counts": hsiclasso.Counts,
            "multilabel": hsiclasso.Labels,
            "survival": hsiclasso.Survival,
            "affinity": hsiclasso.Affinity,
            "graph": hsiclasso.Graph,
        }
        return kinds[case.target](**given)

    def penalty() -> Any:
        if case.ridge:
            raise AbsentError("the elastic net has another meaning now")
        if case.groups is not None:
            return hsiclasso.GroupLasso(
                case.groups, case.l1_ratio, case.group_weights, case.weights, case.n_groups
            )
        return hsiclasso.Lasso(case.weights, case.positive)

    alpha: Any = case.criterion or case.alpha
    if case.alpha_ratio is not None:
        alpha = hsiclasso.AlphaRatio(case.alpha_ratio)
    measure: Any = case.measure
    if case.epsilon is not None:
        measure = hsiclasso.NOCCO(case.epsilon)
    missing: Any = case.missing
    if case.missing == "ignore" and case.min_observed != 0.5:
        missing = hsiclasso.Ignore(case.min_observed)
    selector = hsiclasso.HSICLasso(
        case.n_features,
        alpha=alpha,
        measure=measure,
        kernel=features_kernel(),
        target=target(),
        penalty=penalty(),
        keep=case.keep,
        exclude=case.exclude,
        joint=case.joint,
        covariates=hsiclasso.Covariates(case.covariates, case.covariate_method),
        missing=missing,
        solver=case.solver,
        gram_error=case.gram_error,
    )
    X, y = case.data()
    n = X.shape[0]
    return selector.fit(
        X,
        y,
        sample_weight=None if case.sample_weight is None else case.sample_weight(n),
        covariates=None if case.covariate_values is None else case.covariate_values(n),
    )


def tight(case: Case) -> list[Case]:
    """Return the twin of a case, whose Gram matrices are as good as exact, if it has one."""
    if not case.twin:
        return []
    return [replace(case, name=f"{case.name}_tight", gram_error=1e-10, tolerance=STRICT)]


# ----------------------------------------------------------------------------------------- data


def table(
    n: int, d: int, seed: int, storage: str = "float64", target: str = "real", gaps: float = 0.0
) -> tuple[Any, Any]:
    """Make a table whose first columns, and few others, tell about the target."""
    rng = np.random.default_rng(seed)
    Z = rng.normal(size=(n, d))
    Z[:, 1:] += 0.4 * Z[:, :-1]
    score = (
        1.2 * np.sin(1.5 * Z[:, 0])
        + 0.9 * np.abs(Z[:, 1])
        + 0.8 * np.tanh(2 * Z[:, 2])
        + 0.7 * Z[:, 3]
        + 0.5 * Z[:, 4] * np.abs(Z[:, 4])
        + 0.3 * rng.normal(size=n)
    )
    X = STORAGES[storage](Z, rng)
    y = TARGETS[target](Z, score, rng)
    if gaps:
        X = _with_gaps(X, rng.random((n, d)) < gaps)
    return X, y


def _with_gaps(X: Any, where: Any) -> Any:
    if sparse.issparse(X):  # of the stored entries
        X = X.tocsc().astype(np.float64)
        X.data[where.ravel()[: X.nnz]] = np.nan
        return X
    if hasattr(X, "mask"):
        return X.mask(where)
    X = X.astype(np.float32 if X.dtype == np.float32 else np.float64)
    X[where] = np.nan
    return X


def _copies(Z: Any, rng: Any) -> Any:
    """Constant columns, equal ones and nearly equal ones."""
    X = Z.copy()
    X[:, [5, 11]] = 3.5
    X[:, 7] = X[:, 0]
    X[:, 9] = X[:, 1]
    X[:, 12] = X[:, 2] + 0.05 * rng.normal(size=len(Z))
    return X


def _near(Z: Any, rng: Any) -> Any:
    """Columns that are nearly equal to those that matter."""
    X = Z.copy()
    X[:, 7:10] = X[:, :3] + 0.2 * rng.normal(size=(len(Z), 3))
    return X


def _tails(Z: Any, rng: Any) -> Any:
    """Cauchy and log-normal columns in turn, and a few of normal size."""
    X = Z.copy()
    X[:, 0::3] = np.tan(np.pi * (norm.cdf(Z[:, 0::3]) - 0.5))
    X[:, 1::3] = np.exp(1.8 * Z[:, 1::3])
    return X


def _pandas() -> Any:
    try:
        import pandas
    except ImportError:
        raise AbsentError("pandas is not installed") from None
    return pandas


def _frame(Z: Any, rng: Any) -> Any:
    """A frame with columns of numbers, categories, text, truth values and whole numbers."""
    pd = _pandas()
    columns: dict[str, Any] = {f"number{j}": Z[:, j] for j in range(Z.shape[1])}
    columns["number0"] = pd.Categorical.from_codes(
        np.digitize(Z[:, 0], [-0.8, 0, 0.8]), list("dacb")
    )
    columns["number1"] = np.array(["near", "far", "out"])[np.digitize(np.abs(Z[:, 1]), [0.5, 1.2])]
    columns["number2"] = Z[:, 2] > 0.2
    columns["number3"] = np.round(2 * Z[:, 3]).astype(np.int64)
    columns["number4"] = Z[:, 4].astype(np.float32)
    columns["number6"] = pd.Categorical(np.round(Z[:, 6]).astype(int))
    columns["number7"] = Z[:, 7] > 0
    frame = pd.DataFrame(columns)
    return frame.rename(columns={f"number{j}": f"column{j}" for j in range(Z.shape[1])})


STORAGES: dict[str, Callable[[Any, Any], Any]] = {
    "float64": lambda Z, rng: np.ascontiguousarray(Z),
    "fortran": lambda Z, rng: np.asfortranarray(Z),
    "float32": lambda Z, rng: Z.astype(np.float32),
    "genotypes": lambda Z, rng: np.digitize(Z, [-0.4, 0.9]).astype(np.int8),
    "forty": lambda Z, rng: np.clip(np.round(7 * Z + 20), 0, 39).astype(np.uint8),
    "bytes": lambda Z, rng: np.clip(np.round(45 * Z + 128), 0, 255).astype(np.uint8),
    "int16": lambda Z, rng: np.round(100 * Z).astype(np.int16),
    "bool": lambda Z, rng: Z > 0.3,
    "counts": lambda Z, rng: sparse.csr_matrix(rng.poisson(np.exp(1.2 * Z - 1.5))),
    "sparse": lambda Z, rng: sparse.csc_matrix(np.maximum(Z - 0.7, 0)),
    "tails": _tails,
    "copies": _copies,
    "near": _near,
    "frame": _frame,
}


def _survival(Z: Any, score: Any, rng: Any) -> Any:
    time_, end = rng.exponential(np.exp(-score)), rng.exponential(1.5, size=score.size)
    return np.column_stack([np.minimum(time_, end), time_ <= end])


def _structured(Z: Any, score: Any, rng: Any) -> Any:
    both = _survival(Z, score, rng)
    y = np.empty(score.size, dtype=[("event", bool), ("time", float)])
    y["time"], y["event"] = both[:, 0], both[:, 1] > 0
    return y


def _sparse_affinity(Z: Any, score: Any, rng: Any) -> Any:
    apart = np.abs(score[:, None] - score)
    return sparse.csr_matrix(np.where(apart < 0.4, np.exp(-apart), 0.0))


def _neighbours(Z: Any, score: Any, rng: Any) -> Any:
    """Links of every sample to the four that are nearest to it."""
    apart = np.abs(score[:, None] - score)
    nearest = np.argsort(apart, axis=1)[:, 1:5]
    links = np.zeros(apart.shape)
    np.put_along_axis(links, nearest, 1.0, axis=1)
    return sparse.csr_matrix(np.maximum(links, links.T))


def _chain(Z: Any, score: Any, rng: Any) -> Any:
    """Links of every sample to the three that follow it in the order of the score."""
    order, n = np.argsort(score), score.size
    one = np.concatenate([order[:-step] for step in (1, 2, 3)])
    other = np.concatenate([order[step:] for step in (1, 2, 3)])
    links = sparse.coo_matrix((np.ones(one.size), (one, other)), shape=(n, n)).tocsr()
    return links + links.T


def _strings(Z: Any, score: Any, rng: Any) -> list[str]:
    """Twelve letters each, more of them late ones the larger the score."""
    share = norm.cdf(score - score.mean())
    letters = rng.binomial(5, share[:, None], size=(score.size, 12))
    return ["".join("abcdef"[k] for k in row) for row in letters]


def _with_holes(Z: Any, score: Any, rng: Any) -> Any:
    y = score.copy()
    y[rng.random(y.size) < 0.1] = np.nan
    return y


def _ordered(Z: Any, score: Any, rng: Any) -> Any:
    words = ["poor", "fair", "good", "great"]
    codes = np.digitize(score, np.quantile(score, [0.2, 0.5, 0.8]))
    return _pandas().Series(_pandas().Categorical.from_codes(codes, words, ordered=True))


def _classes(score: Any) -> Any:
    return np.digitize(score, np.quantile(score, [0.3, 0.65]))


TARGETS: dict[str, Callable[[Any, Any, Any], Any]] = {
    "real": lambda Z, score, rng: score,
    "heavy": lambda Z, score, rng: np.sinh(2 * score),
    "holes": _with_holes,
    "outputs": lambda Z, score, rng: np.column_stack([score, Z[:, 5] + 0.5 * Z[:, 0] ** 2]),
    "classes": lambda Z, score, rng: _classes(score),
    "text": lambda Z, score, rng: np.array(["low", "middle", "high"])[_classes(score)],
    "two_texts": lambda Z, score, rng: np.column_stack(
        [np.array(["a", "b", "c"])[_classes(score)], np.where(Z[:, 5] > 0, "yes", "no")]
    ),
    "labels": lambda Z, score, rng: np.column_stack(
        [score > 0.2, score > 1.2, Z[:, 5] + 0.3 * score > 0]
    ).astype(int),
    "grades": lambda Z, score, rng: np.digitize(score, np.quantile(score, [0.1, 0.3, 0.6, 0.8])),
    "ordered": _ordered,
    "counts": lambda Z, score, rng: rng.poisson(np.exp(0.7 * score)),
    "survival": _survival,
    "structured": _structured,
    "affinity": lambda Z, score, rng: np.exp(-0.5 * (score[:, None] - score) ** 2),
    "indefinite": lambda Z, score, rng: np.tanh(0.8 * np.outer(score, score) - 0.5),
    "sparse_affinity": _sparse_affinity,
    "links": _neighbours,
    "chain": _chain,
    "dense_links": lambda Z, score, rng: _neighbours(Z, score, rng).toarray(),
    "strings": _strings,
}


@cache
def _triples(word: str) -> frozenset[str]:
    return frozenset(word[i : i + 3] for i in range(len(word) - 2))


def shared_triples(a: str, b: str) -> float:
    """Runs of three letters that two words share: positive semi-definite."""
    one, other = _triples(a), _triples(b)
    return len(one & other) / np.sqrt(len(one) * len(other))


def matching_letters(a: str, b: str) -> float:
    """Minus the cube root of the number of places where two words differ: indefinite."""
    return -np.cbrt(sum(x != y for x, y in zip(sorted(a), sorted(b), strict=True)))


def real_weights(n: int) -> Any:
    return np.random.default_rng(71).gamma(3.0, size=n)


def weights_with_zeros(n: int) -> Any:
    return np.random.default_rng(72).integers(0, 4, size=n).astype(float)


def numeric_covariates(n: int) -> Any:
    return np.random.default_rng(73).normal(size=(n, 2))


def batches(n: int) -> Any:
    return np.random.default_rng(74).choice(np.array(["first", "second", "third"]), size=n)


def real_set(stem: str) -> tuple[Any, Any]:
    """Read X and y of a real set."""
    folders = [DATA, *(Path(folder) for folder in [os.environ.get("HSICLASSO_DATA")] if folder)]
    for folder in folders:
        path = folder / f"{stem}.npz"
        if path.is_file():
            with np.load(path, allow_pickle=False) as file:
                return file["X"], file["y"]
    raise AbsentError(f"no {stem}.npz in shared/data, nor in HSICLASSO_DATA")


# --------------------------------------------------------------------------------- all the cases

few = partial(table, 100, 40)  # packed Gram matrices serve so few samples
some = partial(table, 180, 40)
many = partial(table, 400, 60)


def _plain() -> list[Case]:
    """Tables of real numbers, sizes, measures, widths and embeddings."""
    real, wide = partial(some, 1), partial(few, 2)
    return [
        Case("real", real),
        Case("real_few_samples", wide),
        Case("real_few_samples_nhsic", wide, measure="nhsic"),
        Case("real_few_samples_nocco", wide, measure="nocco"),
        Case("real_128_samples", partial(table, 128, 50, 3)),
        Case("real_129_samples", partial(table, 129, 50, 3)),
        Case("real_nhsic", real, measure="nhsic"),
        Case("real_nocco", real, measure="nocco"),
        Case("real_nocco_epsilon", real, measure="nocco", epsilon=0.02),
        Case("real_large", partial(table, 2000, 60, 4), n_features=12),
        Case("real_large_nocco", partial(table, 2000, 60, 4), n_features=12, measure="nocco"),
        Case("fortran", partial(some, 5, storage="fortran")),
        Case("float32", partial(some, 6, storage="float32")),
        Case("int16", partial(some, 7, storage="int16")),
        Case("default_number", partial(many, 8), n_features=None),
        Case("copies", partial(some, 9, storage="copies")),
        Case("copies_few_samples", partial(few, 9, storage="copies")),
        Case("copies_nocco", partial(some, 9, storage="copies"), measure="nocco"),
        Case("all_features", partial(table, 150, 12, 10), n_features=12),
        Case("narrow", real, width=0.5),
        Case("narrow_few_samples", wide, width=0.5),
        Case("narrow_nocco", real, width=0.5, measure="nocco"),
        Case("median", real, width="median"),
        Case("median_few_samples", wide, width="median", target_width="median"),
        Case("widths", real, width=(0.5, 1.0, 2.0), tolerance=LOOSE),
        Case("widths_median_nocco", real, width=(0.5, "median"), measure="nocco", tolerance=LOOSE),
        Case("table", real, embedding="table", twin=False),
        Case("table_nocco", real, embedding="table", measure="nocco", twin=False),
        Case("cholesky", real, embedding="cholesky", tolerance=LOOSE),
        Case("cholesky_few_samples", wide, embedding="cholesky", tolerance=LOOSE),
        Case("tails", partial(some, 11, storage="tails"), tolerance=LOOSE),
        Case("tails_few_samples", partial(few, 12, storage="tails"), tolerance=LOOSE),
        Case("tails_nhsic", partial(many, 13, storage="tails"), measure="nhsic", tolerance=LOOSE),
        Case("tails_nocco", partial(some, 11, storage="tails"), measure="nocco", tolerance=LOOSE),
        Case("target_tails", partial(many, 14, target="heavy")),
        Case("target_ranks", partial(many, 14, target="heavy"), target_transform="rank"),
    ]


def _targets() -> list[Case]:
    """Every kind of target."""
    outputs, labels = partial(some, 21, target="outputs"), partial(some, 22, target="labels")
    words = partial(few, 23, target="strings")
    links = partial(some, 24, target="links")
    return [
        Case("outputs_joint", outputs, multioutput="joint"),
        Case("outputs_average", outputs, multioutput="average"),
        Case("outputs_joint_nocco", outputs, multioutput="joint", measure="nocco"),
        Case("classes", partial(some, 25, target="classes")),
        Case("classes_few_samples", partial(few, 25, target="classes")),
        Case("classes_text", partial(some, 25, target="text")),
        Case("classes_nhsic", partial(some, 25, target="classes"), measure="nhsic"),
        Case("classes_nocco", partial(some, 25, target="classes"), measure="nocco"),
        Case("classes_plain_delta", partial(some, 25, target="text"), target_kernel="plain_delta"),
        Case("classes_two_columns", partial(some, 26, target="two_texts")),
        Case("classes_as_numbers", partial(some, 25, target="classes"), target="regression"),
        Case("labels", labels, target="multilabel"),
        Case("labels_joint", labels, target="multilabel", multioutput="joint"),
        Case("ordinal", partial(some, 27, target="grades"), target="ordinal"),
        Case("counts_target", partial(some, 28, target="counts"), target="counts"),
        Case("survival", partial(some, 29, target="survival"), target="survival"),
        Case("survival_structured", partial(many, 29, target="structured")),
        Case("survival_nocco", partial(some, 29, target="survival"), target="survival",
             measure="nocco"),
        Case("affinity", partial(table, 150, 80, 30, target="affinity"), target="affinity"),
        Case("affinity_by_products", partial(table, 300, 20, 30, target="affinity"),
             target="affinity"),
        Case("affinity_nocco", partial(some, 30, target="affinity"), target="affinity",
             measure="nocco"),
        Case("affinity_indefinite", partial(table, 150, 80, 31, target="indefinite"),
             target="affinity"),
        Case("affinity_indefinite_by_products", partial(table, 300, 20, 31, target="indefinite"),
             target="affinity"),
        Case("affinity_sparse", partial(some, 32, target="sparse_affinity"), target="affinity"),
        Case("affinity_sparse_nhsic", partial(some, 32, target="sparse_affinity"),
             target="affinity", measure="nhsic"),
        Case("graph_diffusion", links, target="graph", target_kernel="diffusion"),
        Case("graph_diffusion_long", partial(some, 24, target="dense_links"), target="graph",
             target_kernel=Kernel("diffusion", beta=5.0)),
        Case("graph_laplacian", links, target="graph", target_kernel="regularised_laplacian"),
        Case("graph_laplacian_nocco", links, target="graph", measure="nocco",
             target_kernel=Kernel("regularised_laplacian", beta=3.0)),
        Case("graph_large", partial(table, 4100, 6, 35, target="chain"), n_features=4,
             target="graph", target_kernel="diffusion", twin=False),
        Case("strings", words, target="objects", target_kernel=shared_triples),
        Case("strings_nocco", words, target="objects", target_kernel=shared_triples,
             measure="nocco"),
        Case("strings_indefinite", words, target="objects", target_kernel=matching_letters),
        Case("target_median", partial(some, 33), target_width="median"),
        Case("target_widths", partial(some, 33), target_width=(0.3, 1.0), tolerance=LOOSE),
        Case("target_laplace", partial(some, 33), target_kernel="laplace"),
        Case("target_laplace_narrow_nhsic", partial(some, 33), target_kernel="laplace",
             target_width=0.5, measure="nhsic"),
        Case("target_laplace_outputs", outputs, target_kernel="laplace", multioutput="average"),
        Case("target_linear", partial(some, 33), target_kernel="linear"),
        Case("target_polynomial", partial(some, 33),
             target_kernel=Kernel("polynomial", degree=3, offset=0.5)),
        Case("target_holes", partial(some, 34, target="holes"), missing_target="drop"),
        Case("target_holes_genotypes", partial(some, 34, storage="genotypes", target="holes"),
             missing_target="drop"),
        Case("target_holes_sparse", partial(many, 34, storage="sparse", target="holes"),
             missing_target="drop", tolerance=LOOSE),
        Case("target_holes_frame", partial(some, 34, storage="frame", target="holes"),
             missing_target="drop"),
        Case("ordered_category", partial(some, 27, target="ordered")),
    ]  # fmt: skip


def _kernels() -> list[Case]:
    """Every kernel of features."""
    real, steps = partial(some, 41), partial(some, 42, storage="genotypes")
    frame = partial(some, 43, storage="frame")
    return [
        Case("laplace", real, kernel="laplace"),
        Case("laplace_few_samples", partial(few, 41), kernel="laplace", width="median"),
        Case("laplace_nhsic", real, kernel="laplace", measure="nhsic"),
        Case("laplace_nocco", real, kernel="laplace", measure="nocco"),
        Case("laplace_both", real, kernel="laplace", target_kernel="laplace"),
        Case("laplace_classes", partial(some, 41, target="classes"), kernel="laplace"),
        Case("laplace_affinity", partial(some, 41, target="affinity"), kernel="laplace",
             target="affinity"),
        Case("delta", steps, kernel="delta"),
        Case("plain_delta", steps, kernel="plain_delta"),
        Case("delta_of_floats", partial(_whole_floats, 44), kernel="delta"),
        Case("plain_delta_nocco", steps, kernel="plain_delta", measure="nocco"),
        Case("linear", real, kernel="linear"),
        Case("polynomial", real, kernel="polynomial"),
        Case("polynomial_cubic", real, kernel=Kernel("polynomial", degree=3, offset=0.5),
             measure="nhsic"),
        Case("kernels_by_column", real, kernel={
            0: "laplace", 1: Kernel("gaussian", width=0.4), 2: "linear",
            3: Kernel("polynomial", degree=3), 5: Kernel("gaussian", width=(0.5, 2.0)),
        }, tolerance=LOOSE),
        Case("kernels_by_kind", frame, kernel={
            "number": Kernel("gaussian", width=0.7), "category": "delta", "bool": "gaussian",
        }),
        Case("kernels_by_dtype", frame, kernel={
            "float32": "linear", "int64": "plain_delta", "column8": "polynomial",
        }),
    ]  # fmt: skip


def _whole_floats(seed: int) -> tuple[Any, Any]:
    X, y = table(180, 30, seed)
    return np.round(1.5 * X), y


def _storages() -> list[Case]:
    """Small whole numbers, booleans, sparse matrices and frames."""
    steps, forty = partial(some, 51, storage="genotypes"), partial(many, 52, storage="forty")
    counts, floats = partial(many, 53, storage="counts"), partial(many, 54, storage="sparse")
    frame, flags = partial(some, 55, storage="frame"), partial(some, 56, storage="bool")
    return [
        Case("genotypes", steps),
        Case("genotypes_few_samples", partial(few, 51, storage="genotypes")),
        Case("genotypes_classes", partial(many, 51, storage="genotypes", target="classes")),
        Case("genotypes_nhsic", steps, measure="nhsic"),
        Case("genotypes_nocco", steps, measure="nocco"),
        Case("genotypes_large", partial(table, 2000, 60, 57, storage="genotypes")),
        Case("genotypes_median", steps, width="median"),
        Case("genotypes_widths", steps, width=(0.5, 1.5), tolerance=LOOSE),
        Case("genotypes_laplace", steps, kernel="laplace"),
        Case("forty_levels", forty),
        Case("forty_levels_nocco", forty, measure="nocco"),
        Case("bytes", partial(many, 58, storage="bytes")),
        Case("bool", flags),
        Case("bool_nocco", flags, measure="nocco"),
        Case("bool_gaussian", flags, kernel="gaussian"),
        Case("sparse_counts", counts, tolerance=LOOSE),
        Case("sparse_counts_classes", partial(many, 53, storage="counts", target="classes"),
             tolerance=LOOSE),
        Case("sparse_counts_nocco", counts, measure="nocco", tolerance=LOOSE),
        Case("sparse_floats", floats, tolerance=LOOSE),
        Case("sparse_floats_nhsic", floats, measure="nhsic", tolerance=LOOSE),
        Case("sparse_floats_few_samples", partial(few, 54, storage="sparse"), tolerance=LOOSE),
        Case("sparse_floats_widths", floats, width=(0.5, 1.0), tolerance=LOOSE),
        Case("sparse_delta", counts, kernel="delta"),
        Case("sparse_weights", floats, sample_weight=real_weights, tolerance=LOOSE),
        Case("sparse_laplace", floats, kernel="laplace"),
        Case("frame", frame),
        Case("frame_nocco", frame, measure="nocco"),
        Case("frame_classes", partial(some, 55, storage="frame", target="text"), measure="nhsic"),
    ]  # fmt: skip


def _missing() -> list[Case]:
    """Missing values, weights of the samples, and covariates."""
    ignore = {"missing": "ignore", "tolerance": LOOSE}
    gaps = partial(some, 161, gaps=0.1)
    whole = partial(some, 62, storage="genotypes", gaps=0.1)
    frame, real = partial(some, 63, storage="frame", gaps=0.08), partial(some, 64)
    steps = partial(some, 65, storage="genotypes")
    return [
        Case("missing", gaps, **ignore),
        Case("missing_few_samples", partial(few, 161, gaps=0.1), **ignore),
        Case("missing_nhsic", gaps, measure="nhsic", **ignore),
        Case("missing_nocco", gaps, measure="nocco", **ignore),
        Case("missing_classes", partial(some, 161, target="classes", gaps=0.1), **ignore),
        Case("missing_much", partial(some, 161, gaps=0.6), min_observed=60, **ignore),
        Case("missing_laplace", gaps, kernel="laplace", **ignore),
        Case("missing_weights", gaps, sample_weight=real_weights, **ignore),
        Case("missing_affinity", partial(some, 161, target="affinity", gaps=0.1), target="affinity",
             **ignore),
        Case("missing_genotypes", whole, **ignore),
        Case("missing_genotypes_delta", whole, kernel="delta", **ignore),
        Case("missing_genotypes_nocco", whole, measure="nocco", **ignore),
        Case("missing_genotypes_weights", whole, sample_weight=real_weights, **ignore),
        Case("missing_tails", partial(some, 66, storage="tails", gaps=0.1), **ignore),
        Case("missing_frame", frame, **ignore),
        Case("missing_frame_nocco", frame, measure="nocco", **ignore),
        Case("missing_sparse", partial(many, 67, storage="sparse", gaps=0.1), **ignore),
        Case("missing_covariates", gaps, covariate_values=numeric_covariates, **ignore),
        Case("nothing_missing", real, **ignore),
        Case("weights", real, sample_weight=real_weights),
        Case("weights_zeros", real, sample_weight=weights_with_zeros),
        Case("weights_nocco", real, sample_weight=real_weights, measure="nocco"),
        Case("weights_classes", partial(some, 64, target="classes"), sample_weight=real_weights),
        Case("weights_genotypes", steps, sample_weight=real_weights),
        Case("weights_laplace", real, sample_weight=weights_with_zeros, kernel="laplace"),
        Case("weights_median_nhsic", real, sample_weight=real_weights, width="median",
             measure="nhsic"),
        Case("weights_zeros_genotypes", steps, sample_weight=weights_with_zeros),
        Case("weights_zeros_sparse", partial(many, 68, storage="counts"),
             sample_weight=weights_with_zeros, tolerance=LOOSE),
        Case("weights_survival", partial(some, 64, target="survival"), target="survival",
             sample_weight=weights_with_zeros),
        Case("covariate_columns", real, covariates=[1, 6]),
        Case("covariates_numeric", real, covariate_values=numeric_covariates),
        Case("covariates_batches", real, covariate_values=batches),
        Case("covariates_frame", partial(some, 63, storage="frame"),
             covariates=["column0", "column4"]),
        Case("covariates_nocco", real, covariates=[0], measure="nocco"),
        Case("covariates_genotypes", steps, covariates=[0], covariate_values=batches),
        Case("covariates_laplace", real, covariates=[0], kernel="laplace"),
        Case("covariates_weights", real, covariates=[0], sample_weight=real_weights),
        Case("subtract_numeric", real, covariates=[0], covariate_method="subtract"),
        Case("subtract_batches", real, covariate_values=batches, covariate_method="subtract"),
        Case("subtract_frame_nocco", partial(some, 63, storage="frame"), measure="nocco",
             covariates=["column0", "column4"], covariate_method="subtract"),
        Case("subtract_laplace", real, covariates=[0], covariate_method="subtract",
             target_kernel="laplace"),
    ]  # fmt: skip


def _penalties() -> list[Case]:
    """Joint features, penalties, solvers and ways to stop."""
    real, frame = partial(some, 182), partial(some, 82, storage="frame")
    pairs = {"first": [0, 1], "second": [2, 5, 6], "third": [10, 11]}
    fives = np.arange(40) // 5
    joint = {"joint": pairs, "tolerance": LOOSE}
    return [
        Case("joint", real, **joint),
        Case("joint_few_samples", partial(few, 182), **joint),
        Case("joint_nocco", real, measure="nocco", **joint),
        Case("joint_median", real, width="median", **joint),
        Case("joint_linear", real, kernel={"first": "linear"}, **joint),
        Case("joint_polynomial", real, kernel="polynomial", **joint),
        Case("joint_widths", real, width=(0.5, 1.5), **joint),
        Case("joint_missing", partial(some, 182, gaps=0.05), missing="ignore", **joint),
        Case("joint_weights", real, sample_weight=real_weights, measure="nhsic", **joint),
        Case("joint_labels", frame, joint={"both": ["column0", "column1"]}, tolerance=LOOSE),
        Case("keep_exclude", real, keep=[20, 2], exclude=[0, 4]),
        Case("keep_exclude_names", frame, keep=["column9"], exclude=["column3", "column0"]),
        Case("penalty_weights", real, weights=1 + np.arange(40) % 3 / 2),
        Case("penalty_weights_some", real, weights={0: 3.0, 7: 0.2, 4: np.inf}, measure="nhsic"),
        Case("elastic_net", real, n_features=None, alpha_ratio=0.1, ridge=0.05),
        Case("elastic_net_near_copies", partial(some, 182, storage="near"), n_features=None,
             alpha=100.0, ridge=0.02),
        Case("elastic_net_number", real, ridge=0.1, measure="nhsic"),
        Case("groups", real, groups=fives, n_features=None, n_groups=3),
        Case("groups_penalty", real, groups=fives, n_features=None, alpha_ratio=0.3),
        Case("groups_weights", real, groups=fives, n_features=None, alpha_ratio=0.3,
             group_weights={0: 4.0, 7: 0.5}),
        Case("groups_nocco", real, groups=fives, n_features=None, alpha_ratio=0.4,
             measure="nocco"),
        Case("groups_sparse", real, groups=fives, n_features=None, alpha_ratio=0.2, l1_ratio=0.6),
        Case("groups_sparse_keep", real, groups=fives, n_features=None, alpha_ratio=0.2,
             l1_ratio=0.5, keep=[33], exclude=[1]),
        Case("groups_some", real, groups={0: "a", 1: "a", 2: "a", 20: "b", 21: "b"},
             n_features=None, n_groups=4),
        Case("groups_dal", real, groups=fives, n_features=None, alpha_ratio=0.3, solver="dal"),
        Case("signed", real, n_features=None, alpha_ratio=0.05, positive=False),
        Case("signed_nhsic", real, n_features=None, alpha_ratio=0.08, positive=False,
             measure="nhsic"),
        Case("solver_cd", real, n_features=None, alpha_ratio=0.1, solver="cd"),
        Case("solver_cd_number", real, solver="cd"),
        Case("solver_dal", real, n_features=None, alpha_ratio=0.1, solver="dal"),
        Case("solver_homotopy", real, n_features=None, alpha_ratio=0.1, solver="homotopy"),
        Case("bic", partial(many, 84), n_features=None, criterion="bic"),
        Case("aic_nocco", real, n_features=None, criterion="aic", measure="nocco"),
        Case("bic_groups", partial(many, 84), n_features=None, criterion="bic",
             groups=np.arange(60) // 5),
        Case("alpha", real, n_features=None, alpha=100.0),
        Case("alpha_nhsic", real, n_features=None, alpha=0.05, measure="nhsic"),
        Case("alpha_zero", partial(table, 150, 15, 83), n_features=None, alpha=0.0),
        Case("alpha_ratio", real, n_features=None, alpha_ratio=0.1),
        Case("alpha_ratio_nocco", real, n_features=None, alpha_ratio=0.2, measure="nocco"),
    ]  # fmt: skip


def _real_sets() -> list[Case]:
    read = partial(partial, real_set)
    return [
        Case("TOX_171", read("TOX_171"), n_features=20),
        Case("TOX_171_nocco", read("TOX_171"), n_features=20, measure="nocco"),
        Case("warpAR10P", read("warpAR10P"), n_features=20),
        Case("rat_eye_trim32", read("rat_eye_trim32"), n_features=20),
        Case("MLL_leukemia", read("MLL_leukemia"), n_features=20),
        Case("colon", read("extra/colon"), n_features=20),
        Case("madelon", read("extra/madelon"), n_features=20),
        Case("hiv_nrti_azt", read("extra/hiv_nrti_azt"), n_features=20),
    ]


def all_cases() -> list[Case]:
    """Return the cases, each with a name of its own."""
    parts = (_plain, _targets, _kernels, _storages, _missing, _penalties, _real_sets)
    given = [case for part in parts for case in part()]
    cases = [twin for case in given for twin in (case, *tight(case))]
    names = [case.name for case in cases]
    assert len(set(names)) == len(names), "two cases have the same name"
    return cases


# ------------------------------------------------------------------------- recording and checking


def describe(selector: Any) -> dict[str, Any]:
    """Return what is recorded of a fitted selector; floats keep all their digits in JSON."""
    relevance = np.asarray(selector.relevance_, dtype=float)
    top = np.argsort(-relevance, kind="stable")[:5]
    return {
        "selected": np.asarray(selector.selected_).tolist(),
        "weights": np.asarray(selector.coef_)[selector.selected_].tolist(),
        "alpha": float(selector.result_.solution.alpha),
        "status": str(selector.result_.status),
        "top": top.tolist(),
        "top_relevance": relevance[top].tolist(),
        "relevance_sum": float(relevance.sum()),
        "duality_gap": float(selector.result_.certificate.duality_gap),
    }


def run(case: Case) -> tuple[dict[str, Any], Any, float]:
    """Fit a case: what is recorded, the relevance of all columns, and the seconds it took."""
    start = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        selector = fit(case)
    seconds = time.perf_counter() - start
    return describe(selector), np.asarray(selector.relevance_, dtype=float), seconds


def record() -> int:
    """Write the results of all cases; keep those of cases that cannot run here."""
    before = json.loads(FILE.read_text())["cases"] if FILE.is_file() else {}
    found, total = {}, 0.0
    for case in all_cases():
        try:
            found[case.name], _, seconds = run(case)
        except AbsentError as error:
            kept = case.name in before
            print(f"{case.name:32} skipped: {error}{'; its old record is kept' if kept else ''}")
            if kept:
                found[case.name] = before[case.name]
            continue
        total += seconds
        size, status = len(found[case.name]["selected"]), found[case.name]["status"]
        print(f"{case.name:32} {size:3} features  {status:12} {seconds:6.2f} s", flush=True)
    versions = {name: version(name) for name in ("numpy", "scipy", "numba")}
    lines = [f"  {json.dumps(name)}: {json.dumps(found[name], allow_nan=False)}" for name in found]
    text = f'{{"versions": {json.dumps(versions)},\n"cases": {{\n' + ",\n".join(lines) + "\n}}\n"
    FILE.write_text(text)
    print(f"{len(found)} cases recorded, {total:.1f} s")
    return 0


def check(only: str | None = None) -> int:
    """Compare with the file; return the exit code."""
    cases = [case for case in all_cases() if only in (None, case.name)]
    if not cases:
        print(f"no case is called {only!r}")
        return 2
    start = time.perf_counter()
    golden = json.loads(FILE.read_text())["cases"]
    print(f"{'case':32} features   weights  relevance    allowed  seconds")
    outcomes = [_check_case(case, golden.get(case.name)) for case in cases]
    if only is None:
        for name in golden.keys() - {case.name for case in cases}:
            print(f"{name:32} recorded, but no case any more")
    bad, skipped, exact = (outcomes.count(word) for word in ("bad", "skipped", "exact"))
    same = len(outcomes) - bad - skipped
    print(
        f"{same} of {len(outcomes)} cases as recorded ({exact} of them to {EXACT:.0e}), {bad} not, "
        f"{skipped} skipped; {time.perf_counter() - start:.1f} s"
    )
    return 1 if bad else 0


def _check_case(case: Case, old: dict[str, Any] | None) -> str:
    """Run a case, print how it compares, and say whether it is exact, good, bad or skipped."""
    if old is None:
        print(f"{case.name:32} NOT RECORDED")
        return "bad"
    try:
        new, relevance, seconds = run(case)
    except AbsentError as error:
        print(f"{case.name:32} skipped: {error}")
        return "skipped"
    except Exception as error:  # the other cases are still worth seeing
        print(f"{case.name:32} FAILED: {type(error).__name__}: {error}")
        return "bad"
    same = new["selected"] == old["selected"]
    apart = _difference(new["weights"], old["weights"]) if same else np.inf
    at_top = _difference(relevance[old["top"]], old["top_relevance"])
    in_all = abs(new["relevance_sum"] - old["relevance_sum"]) / abs(old["relevance_sum"])
    good = same and apart <= case.tolerance
    print(
        f"{case.name:32} {'same' if same else 'DIFFER':8} {apart:9.1e}  {max(at_top, in_all):9.1e}"
        f"  {case.tolerance:9.0e}  {seconds:7.2f}{'' if good else '  <-- BAD'}",
        flush=True,
    )
    if new["status"] != old["status"]:
        print(f"    status {new['status']}, was {old['status']}")
    if not same:
        print(f"    selected {new['selected']}\n    recorded {old['selected']}")
    if not good:
        return "bad"
    return "exact" if apart <= EXACT else "good"


def _difference(new: Any, old: Any) -> float:
    """Largest difference, relative to the largest entry of the old."""
    new, old = np.asarray(new, dtype=float), np.asarray(old, dtype=float)
    if not old.size or not np.abs(old).max():
        return float(np.abs(new).max(initial=0.0))
    return float(np.abs(new - old).max() / np.abs(old).max())


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.golden")
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("record", help="write the results of all cases")
    checking = commands.add_parser("check", help="compare with what was recorded")
    checking.add_argument("--only", metavar="NAME", help="one case")
    arguments = parser.parse_args()
    return record() if arguments.command == "record" else check(arguments.only)


if __name__ == "__main__":
    sys.exit(main())
