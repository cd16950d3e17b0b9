"""The cases of the engine benchmark: what is measured, and the bar it has to clear.

A case is a function of a `Runner` and a `Sizes`; it yields rows.
"""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from statistics import median

from benchmarks.apart import run_python
from benchmarks.job import DATA, Job
from benchmarks.report import Row
from benchmarks.runner import Measurement, Runner

_BLOCKS = {"B": 20, "M": 3, "n_jobs": 1}
_FULL = {"B": 0, "n_jobs": 1}
#: The problem that pyHSICLasso solves.
_NORMALISED = {"measure": "nhsic", "max_redundancy": 1.0, "raw": True}
#: Arguments of a Gaussian kernel of the features.
_NARROW = {"gaussian": {"width": 0.25}}
_NARROW_BY_FACTORS = {"gaussian": {"width": 0.25, "expansion": "cholesky"}}
_NO_PEER = "skipped: pyHSICLasso is not installed for this interpreter"


@dataclass(frozen=True)
class Sizes:
    """Sizes of the tables, (n, d) unless said otherwise."""

    blocks: tuple[int, int] = (1000, 10_000)
    exact: tuple[int, int] = (200, 10_000)
    wide: tuple[int, int] = (1000, 100_000)
    nocco: tuple[int, int] = (1000, 10_000)
    embedding: tuple[int, int] = (1000, 10_000)
    tall_n: tuple[int, ...] = (25_000, 50_000, 100_000)  #: each with the last of `tall_d`
    tall_d: tuple[int, ...] = (250, 500, 1000)  #: each with the last of `tall_n`
    n_features: int = 50  #: features to select
    tall_features: int = 20  #: the same for tall tables
    mi_columns: int = 500  #: columns on which mutual information is measured
    starts: int = 5  #: processes started to time the start-up


SCALES = {
    "full": Sizes(),
    "small": Sizes(
        blocks=(60, 200),
        exact=(60, 200),
        wide=(60, 1000),
        nocco=(60, 200),
        embedding=(60, 200),
        tall_n=(250, 500, 1000),
        tall_d=(25, 50, 100),
        n_features=10,
        tall_features=5,
        mi_columns=50,
        starts=1,
    ),
}


def _table_of(case: str, sizes: Sizes) -> tuple[str, int, int, int]:
    """Return the name of a case, samples, columns and features to select."""
    (n, d), k = getattr(sizes, case), sizes.n_features
    return f"{case}: n={n}, d={d}, {k} features", n, d, k


def blocks(runner: Runner, sizes: Sizes) -> Iterator[Row]:
    """Against pyHSICLasso as its users run it, with blocks."""
    name, n, d, k = _table_of("blocks", sizes)
    ours = runner.measure(Job("HSICLasso", n, d, k))
    core = runner.measure(Job("HSICLasso", n, d, k, without=("pandas",)))
    yield _memory(name, core, 300)
    yield Row(
        name, "the same where scikit-learn finds pandas, and loads it", ours.peak_mb - ours.data_mb,
        " MB",
    )  # fmt: skip
    yield Row(name, "peak memory beyond what was resident before the fit", ours.added_mb, " MB")
    if not _has_peer():
        yield Row(name, "pyHSICLasso", note=_NO_PEER)
        return
    peer = runner.measure(Job("pyHSICLasso", n, d, k, options=_BLOCKS), repeats=1)
    yield Row(
        name, "pyHSICLasso B=20, M=3 / HSICLasso, wall", _ratio(peer, ours), "x", at_least=100
    )
    yield Row(name, "the same, peak memory", peer.peak_mb / ours.peak_mb, "x")
    exact = runner.measure(Job("HSICLasso", n, d, k, options=_NORMALISED))
    shared = len(set(exact.selected) & set(peer.selected))
    approximate = "blocks approximate the normalised HSIC that HSICLasso computes exactly"
    yield Row(name, f"features of {k} that blocks and 'nhsic' share", shared, note=approximate)
    yield _both_cores(runner, name, n, max(d // 20, 2 * k), k)


def _both_cores(runner: Runner, name: str, n: int, d: int, k: int) -> Row:
    """Measure what pyHSICLasso gains by its own parallelism."""
    one = runner.measure(Job("pyHSICLasso", n, d, k, options=_BLOCKS), repeats=1)
    every = {**_BLOCKS, "n_jobs": -1}
    many = runner.measure(Job("pyHSICLasso", n, d, k, options=every), repeats=1)
    what = f"pyHSICLasso, n_jobs=-1 / n_jobs=1, wall, d={d}"
    return Row(name, what, _ratio(many, one), "x", note="above 1: its workers do not pay")


def exact(runner: Runner, sizes: Sizes) -> Iterator[Row]:
    """Against pyHSICLasso without blocks, which solves the same problem."""
    name, n, d, k = _table_of("exact", sizes)
    ours = runner.measure(Job("HSICLasso", n, d, k, options=_NORMALISED))
    if not _has_peer():
        yield Row(name, "pyHSICLasso", note=_NO_PEER)
        return
    peer = runner.measure(Job("pyHSICLasso", n, d, k, options=_FULL), repeats=1)
    yield Row(name, "pyHSICLasso B=0 / HSICLasso, wall", _ratio(peer, ours), "x", at_least=100)
    yield Row(name, "the same, peak memory", peer.peak_mb / ours.peak_mb, "x")
    shared = len(set(ours.selected) & set(peer.selected))
    yield Row(name, f"features of {k} that both select", shared, at_least=k)
    places = sum(a == b for a, b in zip(ours.selected, peer.selected, strict=False))
    yield Row(name, "the same, in the same place by weight", places, at_least=k)
    yield Row(name, "largest difference of a weight / largest weight", _weight_gap(ours, peer))


def _weight_gap(ours: Measurement, peer: Measurement) -> float:
    mine = dict(zip(ours.selected, ours.weights, strict=True))
    theirs = dict(zip(peer.selected, peer.weights, strict=True))
    gaps = (abs(mine.get(j, 0.0) - theirs.get(j, 0.0)) for j in mine.keys() | theirs.keys())
    return max(gaps) / max(mine.values())


def wide(runner: Runner, sizes: Sizes) -> Iterator[Row]:
    """Against scikit-learn's scores of single features, one linear and one not."""
    name, n, d, k = _table_of("wide", sizes)
    ours = runner.measure(Job("HSICLasso", n, d, k))
    linear = runner.measure(Job("f_regression", n, d, k))
    yield Row(
        name, "HSICLasso / f_regression, wall", _ratio(ours, linear), "x", at_most=10, note="aim: 5"
    )
    information = runner.measure(
        Job("mutual_info_regression", n, d, k, columns=sizes.mi_columns), repeats=1
    )
    scaled = information.wall * d / sizes.mi_columns
    yield Row(
        name,
        "mutual_info_regression / HSICLasso, wall",
        scaled / ours.wall,
        "x",
        at_least=200,
        note=f"one job on {sizes.mi_columns} random columns, times {d // sizes.mi_columns}",
    )


def tall(runner: Runner, sizes: Sizes) -> Iterator[Row]:
    """Memory with many samples, and growth with n and with d."""
    n, d = sizes.tall_n[-1], sizes.tall_d[-1]
    k = sizes.tall_features
    name = f"tall: n={n}, d={d}, {k} features"
    largest = runner.measure(Job("HSICLasso", n, d, k))
    data = "data included"
    yield Row(
        name, "peak memory / data", largest.peak_mb / largest.data_mb, "x", at_most=2, note=data
    )
    by_n = [runner.measure(Job("HSICLasso", size, d, k)) for size in sizes.tall_n]
    by_d = [runner.measure(Job("HSICLasso", n, size, k)) for size in sizes.tall_d]
    yield from _growth(name, "n", sizes.tall_n, by_n)
    yield from _growth(name, "d", sizes.tall_d, by_d)


def _growth(
    name: str, axis: str, points: tuple[int, ...], measured: list[Measurement]
) -> Iterator[Row]:
    for i in range(1, len(points)):
        what = f"time, {axis} = {points[i]} / {points[i - 1]}"
        yield Row(name, what, _ratio(measured[i], measured[i - 1]), "x", at_most=2.3)


def nocco(runner: Runner, sizes: Sizes) -> Iterator[Row]:
    """What the inverse of NOCCO costs, beside HSIC: for the same target, and by default."""
    name, n, d, k = _table_of("nocco", sizes)
    plain, inverse = (
        runner.measure(Job(method, n, d, k, options={"raw": True}))
        for method in ("HSICLasso", "NOCCOLasso")
    )
    yield Row(name, "NOCCOLasso / HSICLasso, wall", _ratio(inverse, plain), "x", at_most=2.5)
    ranks = runner.measure(Job("NOCCOLasso", n, d, k))
    note = "by default it takes ranks of the target, whose matrix has a higher rank"
    yield Row(name, "NOCCOLasso of ranks / the same, wall", _ratio(ranks, plain), "x", note=note)


def embedding(runner: Runner, sizes: Sizes) -> Iterator[Row]:
    """Embedding Lasso, which passes over the table several times, beside HSIC Lasso."""
    name, n, d, k = _table_of("embedding", sizes)
    plain = runner.measure(Job("HSICLasso", n, d, k))
    ours = runner.measure(Job("EmbeddingLasso", n, d, k))
    yield Row(name, "EmbeddingLasso / HSICLasso, wall", _ratio(ours, plain), "x", at_most=15)
    yield _memory(name, ours, 500)
    for what, job in (
        (f"n = {n // 2}", Job("EmbeddingLasso", n // 2, d, k)),
        (f"n = {2 * n}", Job("EmbeddingLasso", 2 * n, d, k)),
        (f"d = {d // 2}", Job("EmbeddingLasso", n, d // 2, k)),
        (f"d = {2 * d}", Job("EmbeddingLasso", n, 2 * d, k)),
        (f"{k // 5} features", Job("EmbeddingLasso", n, d, k // 5)),
        (f"{2 * k} features", Job("EmbeddingLasso", n, d, 2 * k)),
    ):
        yield Row(name, f"time with {what}", runner.measure(job).wall, " s")
    if not _has_peer():
        yield Row(name, "pyHSICLasso", note=_NO_PEER)
        return
    peer = runner.measure(Job("pyHSICLasso", n, d, k, options=_BLOCKS), repeats=1)
    yield Row(
        name, "pyHSICLasso B=20, M=3 / EmbeddingLasso, wall", _ratio(peer, ours), "x", at_least=10
    )


_FIRST_FITS = """
import time
from hsiclasso import HSICLasso, make_data2
X, y, _ = make_data2(100, 100, random_state=0)
times = [time.perf_counter()]
for _ in range(2):
    HSICLasso(5).fit(X, y)
    times.append(time.perf_counter())
print(times[1] - times[0] - (times[2] - times[1]))
"""
_IMPORT = """
import time
import sklearn.feature_selection
start = time.perf_counter()
from hsiclasso import HSICLasso
print(time.perf_counter() - start)
"""


def startup(runner: Runner, sizes: Sizes) -> Iterator[Row]:
    """What a new process pays before it computes."""
    name = "startup: n=100, d=100, 5 features"
    first = _timed(_FIRST_FITS, sizes.starts)
    yield Row(
        name,
        "first fit minus second fit",
        first,
        " s",
        at_most=3,
        note="warm compile cache, starting Numba included",
    )
    loading = _timed(_IMPORT, sizes.starts)
    yield Row(
        name,
        "from hsiclasso import HSICLasso",
        loading,
        " s",
        at_most=0.5,
        note="after import sklearn.feature_selection",
    )


def _timed(code: str, starts: int) -> float:
    """Median of the number that code prints in a new process; the first run does not count."""
    return median([json.loads(run_python("-c", code)) for _ in range(starts + 1)][1:])


def images(runner: Runner, sizes: Sizes) -> Iterator[Row]:
    """Times on the paper's two largest image sets."""
    shapes = {"orlraws10P": (100, 10_304), "pixraw10P": (100, 10_000)}
    for data, (n, d) in shapes.items():
        name = f"images: {data}, {sizes.n_features} features"
        if not (DATA / f"{data}.npz").exists():
            yield Row(name, "all methods", note=f"skipped: {data}.npz is not in the data folder")
            continue
        ways = {"HSICLasso": {}, "HSICLasso nhsic": _NORMALISED, "NOCCOLasso": {}}
        for words, options in ways.items():
            job = Job(words.split()[0], n, d, sizes.n_features, data, options=options)
            yield Row(name, words, runner.measure(job).wall, " s")
        # narrow kernels have factors of nearly full rank, and the path is long
        packed, factors = (
            runner.measure(Job("HSICLasso", n, d, sizes.n_features, data, options=options))
            for options in (_NARROW, _NARROW_BY_FACTORS)
        )
        yield Row(name, "width 0.25, by factors / packed, wall", _ratio(factors, packed), "x")


def _memory(name: str, measured: Measurement, most: float) -> Row:
    beyond, libraries = measured.peak_mb - measured.data_mb, "interpreter and libraries included"
    return Row(name, "peak memory beyond the data", beyond, " MB", at_most=most, note=libraries)


def _ratio(slow: Measurement, fast: Measurement) -> float:
    return slow.wall / fast.wall


def _has_peer() -> bool:
    return find_spec("pyHSICLasso") is not None


CASES: dict[str, Callable[[Runner, Sizes], Iterator[Row]]] = {
    case.__name__: case for case in (blocks, exact, wide, tall, nocco, embedding, startup, images)
}
