"""Tables past memory and past one process: time, memory, workers, interruptions.

``python -m benchmarks.scale [--cases NAME ...] [--folder DIR] [--repeats 2] [--small]``

Data are made on disk once, in `--folder`, and used again. Every measurement has a process of its
own, which compiles its loops on a small table first. *Peak* is all memory that was resident during
the work, interpreter and libraries included; pages of memory-mapped files count. Both sides of a
ratio are measured in turns, on all cores, with files in the system's cache.

- *zarr*: n = 1000, d = 1,000,000 float32 in Zarr, 50 features, against reading the store with as
  many threads and taking the mean and variance of each column.
- *plink*: genotypes of n = 5000, d = 500,000 with 1% missing calls, 50 SNPs, against decoding the
  file with bed-reader.
- *anndata*: n = 50,000, d = 20,000 counts, CSR, 5% stored, 30 genes, against scanpy's
  `highly_variable_genes(flavor="seurat_v3")`, reading the file included for both.
- *tall*: n = 1,000,000, d = 200 float32 in memory, 10 features; a usual and a heavy-tailed target.
- *wide*: n = 1000, d = 100,000 float32 in memory, 50 features, against `f_regression`.
- *workers*: the same store on a local Dask cluster, 50 features: one worker process against two,
  and two against two threads. The workers are set up as the guide says.
- *killed*: a selection, a part of one and a worker are killed half-way; what is computed again.
"""

import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from statistics import median

import numpy as np

from benchmarks.apart import ROOT, call_apart, say
from benchmarks.memory import peak_mb, reset_peak, rss_mb
from benchmarks.report import Page, Row
from benchmarks.timing import timed

_SEED = 0


def _signal(columns, rng):
    """A target that depends on four columns (n, 4)."""
    a, b, c, d = np.asarray(columns, dtype=float).T
    return -2 * np.sin(2 * a) + b**2 + c + np.exp(-d) + rng.standard_normal(len(a))


def _causal(d: int):
    return np.linspace(0.1, 0.9, 4) * d // 1


def make_zarr(path: str, n: int, d: int) -> None:
    """Write normal numbers and their target."""
    import zarr

    rng = np.random.default_rng(_SEED)
    width = 1000
    table = zarr.create_array(path, shape=(n, d), dtype="f4", chunks=(n, width))
    causal, columns = _causal(d).astype(int), []
    for start in range(0, d, width):
        block = rng.standard_normal((n, min(width, d - start)), dtype=np.float32)
        table[:, start : start + width] = block
        columns += [block[:, j - start] for j in causal if start <= j < start + width]
    np.save(f"{path}.y.npy", _signal(np.column_stack(columns), rng))


def make_plink(path: str, n: int, d: int) -> None:
    """Write genotypes, two bits each: pairs of random alleles, and 1% missing calls."""
    rng = np.random.default_rng(_SEED)
    stem, width, n_bytes = Path(path).with_suffix(""), 2000, -(-n // 4)
    effect = np.zeros(n)
    causal = set(_causal(d).astype(int).tolist())
    with stem.with_suffix(".bed").open("wb") as file:
        file.write(bytes([0x6C, 0x1B, 0x01]))
        for start in range(0, d, width):
            size = (min(width, d - start), n_bytes)
            first, second = (
                rng.integers(0, 256, size, dtype=np.uint8)
                & np.where(rng.random((size[0], 1)) < 0.5, 0xFF, rng.integers(0, 256, size)).astype(
                    np.uint8
                )
                & 0x55
                for _ in range(2)
            )
            # two copies are 00, one is 10, none is 11; missing is 01
            calls = (~(first | second) & 0x55) | ((~(first & second) & 0x55) << 1)
            for row in range(size[0]):
                if start + row in causal:
                    pairs = (calls[row, :, None] >> np.array([0, 2, 4, 6])) & 3
                    effect += np.array([2, 0, 1, 0])[pairs.ravel()[:n]]
            where = rng.integers(0, size, (size[0] * n // 100, 2))
            shift = 2 * rng.integers(0, 4, len(where))
            keep = ~(3 << shift) & 0xFF
            calls[where[:, 0], where[:, 1]] &= keep.astype(np.uint8)
            calls[where[:, 0], where[:, 1]] |= (1 << shift).astype(np.uint8)
            file.write(calls.astype(np.uint8).tobytes())
    y = effect + rng.standard_normal(n)
    stem.with_suffix(".fam").write_text(
        "".join(f"f{i} i{i} 0 0 {1 + i % 2} {y[i]:.6f}\n" for i in range(n))
    )
    stem.with_suffix(".bim").write_text(
        "".join(f"{1 + j * 22 // d} rs{j} 0 {j + 1} A G\n" for j in range(d))
    )


def make_anndata(path: str, n: int, d: int) -> None:
    """Write counts of cells in four classes that differ in some genes."""
    import anndata
    import pandas as pd
    from scipy import sparse

    rng = np.random.default_rng(_SEED)
    label = rng.integers(0, 4, n)
    parts = []
    for start in range(0, n, 5000):
        rows = min(5000, n - start)
        part = sparse.random_array(
            (rows, d), density=0.05, format="csr", dtype=np.float32, rng=rng,
            data_sampler=lambda size: 1.0 + rng.negative_binomial(1, 0.4, size),
        )  # fmt: skip
        marker = np.zeros((rows, d), dtype=bool)
        for k in range(4):
            marker[np.ix_(label[start : start + rows] == k, np.arange(10) * 97 % d + k)] = True
        extra = sparse.csr_array(marker * rng.poisson(2, (rows, d)).astype(np.float32))
        parts.append((part + extra).astype(np.float32))
    cells = pd.DataFrame({"kind": pd.Categorical.from_codes(label, list("abcd"))})
    cells.index = cells.index.astype(str)
    genes = pd.DataFrame(index=[f"gene{j}" for j in range(d)])
    anndata.AnnData(sparse.csr_matrix(sparse.vstack(parts)), cells, genes).write_h5ad(path)


def _selector(n_features: int, **options):
    from hsiclasso import HSICLasso

    return HSICLasso(n_features, **options)


def _measured(work) -> dict:
    """Do some work; return its time, memory, and what it selected."""
    before = rss_mb()
    reset_peak()
    fitted, wall, cpu = timed(work)
    selected = getattr(fitted, "selected_", np.zeros(0)).tolist()
    return {"wall": wall, "cpu": cpu, "peak": peak_mb(), "before": before, "selected": selected}


def _warm(X, y, **options) -> None:
    """Fit a small table of the same kind, which compiles the loops."""
    _selector(3, **options).fit(X, y)


def select_zarr(path: str) -> dict:
    """Select from the store."""
    import zarr

    X, y = zarr.open_array(path, mode="r"), np.load(f"{path}.y.npy")
    _warm(np.asarray(X[:, :600]), y)
    return _measured(lambda: _selector(50).fit(X, y))


def read_zarr(path: str) -> dict:
    """Read the store, and take the mean and variance of each column."""
    import zarr

    X = zarr.open_array(path, mode="r")
    width = 8 * X.chunks[1]

    def moments(start: int):
        block = X[:, start : start + width]
        return block.mean(axis=0), block.var(axis=0)

    def work() -> None:
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            list(pool.map(moments, range(0, X.shape[1], width)))

    return _measured(work)


def select_plink(path: str) -> dict:
    """Select SNPs."""
    rng = np.random.default_rng(0)
    small = rng.integers(0, 3, (300, 500)).astype(np.int8)
    _warm(small, rng.standard_normal(300))
    _warm(np.where(rng.random(small.shape) < 0.1, np.nan, small), small[:, 0], missing="ignore")
    return _measured(lambda: _selector(50, missing="ignore").fit(path, "phenotype"))


def read_plink(path: str) -> dict:
    """Decode all genotypes to int8, block by block."""
    from bed_reader import open_bed

    width = 5000

    def work() -> None:
        with open_bed(path, num_threads=os.cpu_count()) as bed:
            for start in range(0, bed.sid_count, width):
                bed.read(index=np.s_[:, start : start + width], dtype="int8")

    return _measured(work)


def select_anndata(path: str) -> dict:
    """Select genes."""
    import anndata
    from scipy import sparse

    rng = np.random.default_rng(0)
    small = sparse.random_array((25_000, 60), density=0.05, format="csr", rng=rng)
    with tempfile.TemporaryDirectory() as folder:
        for table in (small, (5 * small).ceil()):  # numbers and counts
            cells = anndata.AnnData(sparse.csr_matrix(table.astype(np.float32)))
            cells.obs["kind"] = rng.choice(list("abcd"), 25_000)
            cells.write_h5ad(f"{folder}/cells.h5ad")
            _warm(f"{folder}/cells.h5ad", "kind")
    return _measured(lambda: _selector(30).fit(path, "kind"))


def scanpy_genes(path: str) -> dict:
    """Scanpy's highly variable genes of the same file."""
    import scanpy

    def work() -> None:
        cells = scanpy.read_h5ad(path)
        scanpy.pp.highly_variable_genes(cells, flavor="seurat_v3", n_top_genes=2000)

    return _measured(work)


def select_tall(n: int, d: int, heavy: bool) -> dict:
    """Select from many samples in memory."""
    rng = np.random.default_rng(_SEED)
    X = np.empty((n, d), dtype=np.float32)
    for start in range(0, n, 50_000):
        X[start : start + 50_000] = rng.standard_normal(X[start : start + 50_000].shape, np.float32)
    columns = X[:, _causal(d).astype(int)]
    y = columns[:, 0] * np.exp(2.0 * columns[:, 1]) if heavy else _signal(columns, rng)
    _warm(X[:30_000, :30].copy(), y[:30_000])
    return {**_measured(lambda: _selector(10).fit(X, y)), "data": X.nbytes / 2**20}


def select_wide(n: int, d: int) -> dict:
    """Select from many features in memory, in turns with `f_regression`."""
    from sklearn.feature_selection import f_regression

    rng = np.random.default_rng(_SEED)
    X = rng.standard_normal((n, d), dtype=np.float32)
    y = _signal(X[:, _causal(d).astype(int)], rng)
    works = {"ours": lambda: _selector(50).fit(X, y), "f_regression": lambda: f_regression(X, y)}
    runs = [{name: timed(work)[1] for name, work in works.items()} for _ in range(6)][1:]
    return {name: median(run[name] for run in runs) for name in works}


def select_on_workers(path: str, n_workers: int) -> dict:
    """Select on a local Dask cluster; 0 stands for two threads of this process."""
    import zarr

    from hsiclasso import Resources

    X, y = zarr.open_array(path, mode="r"), np.load(f"{path}.y.npy")
    if not n_workers:
        _warm(np.asarray(X[:, :600]), y)
        return _measured(lambda: _selector(50, n_jobs=2).fit(X, y))
    import dask
    from distributed import Client, LocalCluster

    # workers keep the memory of a chunk for the next one, as docs/scale.md advises
    settings = dict.fromkeys(("MALLOC_TRIM_THRESHOLD_", "MALLOC_MMAP_THRESHOLD_"), str(2**30))
    # and a worker is one thread: Zarr would take other cores to decode
    settings |= {"ZARR_THREADING__MAX_WORKERS": "1", "ZARR_ASYNC__CONCURRENCY": "1"}
    dask.config.set({"distributed.nanny.pre-spawn-environ": settings})
    options = {"n_workers": n_workers, "threads_per_worker": 1, "dashboard_address": ":0"}
    with LocalCluster(**options) as cluster, Client(cluster) as client:
        resources = Resources(client=client)
        _warm(X, y, resources=resources)  # compiles in every worker
        before = client.run(time.process_time)
        run = _measured(lambda: _selector(50, resources=resources).fit(X, y))
        after = client.run(time.process_time)
        run["cpu"] += sum(after[worker] - before[worker] for worker in before)
        return run


def _two_sides(case: str, functions: tuple[str, str], path: str, chosen, bars) -> Iterator[Row]:
    """Compare our selection with what a peer does to the same file, in turns."""
    ratio_bar, memory_bar, words = bars
    runs = []
    for _ in range(chosen.repeats):
        say(f"{case}: {functions[0]} and {functions[1]}")
        runs.append([call_apart("benchmarks.scale", name, path)[0] for name in functions])
    ours, theirs = (median(run[side]["wall"] for run in runs) for side in (0, 1))
    peak = max(run[0]["peak"] for run in runs)
    cpu = [run["cpu"] for run in runs[0]]
    note = f"{ours:.1f} s against {theirs:.1f} s; CPU {cpu[0]:.1f} against {cpu[1]:.1f} s"
    yield Row(case, f"selection / {words}, wall", ours / theirs, "x", at_most=ratio_bar, note=note)
    yield Row(case, "peak memory", peak, " MB", at_most=memory_bar,
              note=f"{runs[0][1]['peak']:.0f} MB for the other side")  # fmt: skip


def _file(chosen, name: str, make: str, *size: int) -> str:
    """Make a file of data, unless it is there."""
    folder = chosen.folder / "x".join(map(str, size))
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / name
    if not path.exists():
        say(f"making {name}, {size[0]} x {size[1]}")
        call_apart("benchmarks.scale", make, str(path), *size)
    return str(path)


def zarr_case(chosen) -> Iterator[Row]:
    """A store four times as large as the memory that is allowed."""
    path = _file(chosen, "table.zarr", "make_zarr", 1000, 20_000 if chosen.small else 1_000_000)
    bars = (2.0, 1500, "reading, mean and variance")
    yield from _two_sides("zarr", ("select_zarr", "read_zarr"), path, chosen, bars)


def plink_case(chosen) -> Iterator[Row]:
    """Genotypes."""
    n, d = (500, 20_000) if chosen.small else (5000, 500_000)
    path = _file(chosen, "cohort.bed", "make_plink", n, d)
    bars = (3.0, 1000, "decoding")
    yield from _two_sides("plink", ("select_plink", "read_plink"), path, chosen, bars)


def anndata_case(chosen) -> Iterator[Row]:
    """Cells."""
    n, d = (5000, 2000) if chosen.small else (50_000, 20_000)
    path = _file(chosen, "cells.h5ad", "make_anndata", n, d)
    bars = (2.0, 2000, "highly variable genes")
    yield from _two_sides("anndata", ("select_anndata", "scanpy_genes"), path, chosen, bars)


def tall_case(chosen) -> Iterator[Row]:
    """Many samples."""
    n, d = (100_000, 50) if chosen.small else (1_000_000, 200)
    for heavy in (False, True):
        say(f"tall: {'heavy-tailed' if heavy else 'usual'} target")
        (run,) = call_apart("benchmarks.scale", "select_tall", n, d, heavy)
        words = "heavy-tailed target" if heavy else "usual target"
        note = f"CPU {run['cpu']:.1f} s"
        yield Row("tall", f"{words}, wall", run["wall"], " s", at_most=60, note=note)
        note = f"{run['peak']:.0f} MB; {run['before']:.0f} MB before the fit"
        yield Row("tall", f"{words}, peak memory / data", run["peak"] / run["data"], "x",
                  at_most=2, note=note)  # fmt: skip


def wide_case(chosen) -> Iterator[Row]:
    """Many features in memory."""
    runs = [
        call_apart("benchmarks.scale", "select_wide", 1000, 10_000 if chosen.small else 100_000)[0]
        for _ in range(chosen.repeats)
    ]
    ours, theirs = (median(run[name] for run in runs) for name in ("ours", "f_regression"))
    note = f"{ours:.2f} s against {theirs:.2f} s"
    yield Row("wide", "selection / f_regression, wall", ours / theirs, "x", at_most=2.5, note=note)


def workers_case(chosen) -> Iterator[Row]:
    """Worker processes."""
    path = _file(chosen, "table.zarr", "make_zarr", 1000, 20_000 if chosen.small else 1_000_000)
    runs = {}
    for _ in range(chosen.repeats):
        for number in (0, 1, 2):
            say(f"workers: {number or 'threads'}")
            (run,) = call_apart("benchmarks.scale", "select_on_workers", path, number)
            runs.setdefault(number, []).append(run)
    threads, one, two = (median(run["wall"] for run in runs[number]) for number in (0, 1, 2))
    note = f"{one:.2f} s with one, {two:.2f} s with two, {threads:.2f} s with two threads"
    yield Row("workers", "one worker / two workers, wall", one / two, "x", at_least=1.7, note=note)
    # beside one worker, the client and the scheduler work on the second core already
    work = median(run["cpu"] for run in runs[1])
    yield Row("workers", "the same, if both cores were never idle", one / (work / 2), "x",
              note=f"{work:.2f} s of CPU with one worker")  # fmt: skip
    yield Row("workers", "two workers / two threads, wall", two / threads, "x", at_most=1.3)


class LoggedArray:
    """A Zarr array that notes in a file who reads it."""

    def __init__(self, path: str, log: str) -> None:
        import zarr

        self.path, self.log = path, log
        self.array = zarr.open_array(path, mode="r")
        self.shape, self.dtype, self.chunks = (
            self.array.shape, self.array.dtype, self.array.chunks
        )  # fmt: skip

    def __reduce__(self):
        return LoggedArray, (self.path, self.log)

    def __getitem__(self, key):
        with open(self.log, "a") as file:
            file.write(f"{os.getpid()}\n")
        return self.array[key]


def lose_worker(path: str) -> dict:
    """Kill a worker when half of the chunks were read; count the chunks that are read again."""
    from threading import Thread

    from distributed import Client, LocalCluster

    from hsiclasso import Resources
    from hsiclasso.data.stored import StoredArray

    y = np.load(f"{path}.y.npy")
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder, "log")
        log.touch()
        X = StoredArray(LoggedArray(path, str(log)))
        n_chunks = len(X.chunks(2**20 * 400 // 64))
        options = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": ":0"}
        with LocalCluster(**options) as cluster, Client(cluster) as client:
            chosen = _selector(20, resources=Resources("400MiB", client=client))

            def kill() -> None:
                while len(lines := log.read_text().split()) < n_chunks // 2:
                    time.sleep(0.005)
                os.kill(int(lines[-1]), signal.SIGKILL)

            killer = Thread(target=kill)
            killer.start()
            found = chosen.fit(X, y)
            killer.join()
            n_read = len(log.read_text().split())
        expected = _selector(20, resources=Resources("400MiB")).fit(X, y)
    same = found.result_.names == expected.result_.names
    error = float(np.abs(found.coef_ - expected.coef_).max() / expected.coef_.max())
    return {"again": n_read / n_chunks - 1, "same": same, "error": error}


def killed_case(chosen) -> Iterator[Row]:
    """Kill processes half-way, and count what is computed again."""
    path = _file(chosen, "table.zarr", "make_zarr", 1000, 20_000 if chosen.small else 200_000)
    command = [sys.executable, "-m", "hsiclasso.cli"]
    asked = [path, "--target-file", f"{path}.y.npy", "-k", "20", "--memory-limit", "400MB"]
    whole = _json([*command, "select", *asked, "--neighbors", "0", "--json"])
    n_chunks = _json([*command, "plan", *asked, "--neighbors", "0", "--json"])["n_chunks"]
    with tempfile.TemporaryDirectory() as folder:
        kept, job = Path(folder, "kept"), Path(folder, "job")
        once = [*command, "select", *asked, "--neighbors", "0", "--checkpoint", str(kept), "--json"]
        before = _kill_at(once, kept, n_chunks // 2)
        found = _json(once)
        yield _repeated("the client", 1 - before / n_chunks, found, whole)
        _json([*command, "split", asked[0], str(job), "--parts", "2", *asked[1:]], parse=False)
        before = _kill_at([*command, "run", str(job), "1"], job, n_chunks // 4)
        for number in ("1", "2"):
            _json([*command, "run", str(job), number], parse=False)
        found = _json([*command, "merge", str(job), "--json"])
        yield _repeated("a part of two", 1 - before / (n_chunks // 2), found, whole)
    (run,) = call_apart("benchmarks.scale", "lose_worker", path)
    note = f"weights differ by {run['error']:.0e}" if run["same"] else "ANOTHER RESULT"
    yield Row("killed", "a worker of two: chunks read again / all", run["again"], "x", at_most=0.6,
              note=note)  # fmt: skip


def _repeated(what: str, share: float, found: dict, whole: dict) -> Row:
    same = found["features"] == whole["features"]
    note = "identical result" if same else "ANOTHER RESULT"
    words = f"{what}: work after the restart / all of it"
    return Row("killed", words, share if same else np.inf, "x", at_most=0.6, note=note)


def _json(command: list[str], parse: bool = True) -> dict:
    done = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True)
    return json.loads(done.stdout) if parse else {}


def _kill_at(command: list[str], folder: Path, n_chunks: int) -> int:
    """Kill a process that has finished a number of chunks; return how many are complete."""
    process = subprocess.Popen(
        command, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    chunks = folder / "relevance"
    while process.poll() is None:
        if chunks.exists() and len(list(chunks.glob("*.npz"))) >= n_chunks:
            process.send_signal(signal.SIGKILL)
            process.wait()
        time.sleep(0.005)
    return len(list(chunks.glob("*.npz")))


_CASES = {
    "zarr": zarr_case, "plink": plink_case, "anndata": anndata_case, "tall": tall_case,
    "wide": wide_case, "workers": workers_case, "killed": killed_case,
}  # fmt: skip


def measure(chosen: argparse.Namespace) -> Iterator[list[Row]]:
    """Measure the cases that are asked for."""
    for name in chosen.cases:
        for row in _CASES[name](chosen):
            yield [row]


PAGE = Page(
    "Scale", "scale.md", __doc__, measure, repeats=2,
    options={
        "--cases": {"nargs": "+", "choices": list(_CASES), "default": list(_CASES)},
        "--folder": {"type": Path, "default": Path(tempfile.gettempdir(), "hsiclasso-scale")},
    },
)  # fmt: skip

if __name__ == "__main__":
    raise SystemExit(PAGE.main())
