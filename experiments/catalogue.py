"""The real data sets of the paper: what they are, where they come from, and how they are loaded.

A set lies in the data folder as ``<name>.npz`` with arrays `X` and `y`, or as the original file of
its public source, which ``python -m experiments.download`` fetches; both give the same arrays.
"""

import zipfile
import zlib
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from experiments.contenders import CLASSES, REAL
from experiments.datasets import (
    VARIABLE,
    Arrays,
    MissingDataError,
    WrongDataError,
    checksum,
    read_features,
)


@dataclass(frozen=True)
class Original:
    """A file of a public source.

    Attributes
    ----------
    address
        Where it is fetched from.
    where
        The same in words.
    sha256, size
        Its checksum and its bytes; None if the source may change the file.
    """

    address: str
    where: str
    sha256: str | None = None
    size: int | None = None

    @property
    def name(self) -> str:
        """Its file name."""
        return self.address.rsplit("/", 1)[1]


def _github(repository: str, commit: str, path: str, sha256: str, size: int) -> Original:
    address = f"https://raw.githubusercontent.com/{repository}/{commit}/{path}"
    return Original(address, f"{path} of github.com/{repository}", sha256, size)


def _skfeature(file: str, sha256: str, size: int) -> Original:
    commit = "48cffad4e88ff4b9d2f1c7baffb314d1b3303792"
    path = f"skfeature/data/{file}"
    return _github("jundongl/scikit-feature", commit, path, sha256, size)


@dataclass(frozen=True)
class Entry:
    """A data set.

    Attributes
    ----------
    title
        What tables and figures call it.
    n, d, kind
        Samples, features, and kind of target.
    classes
        How many there are; None for a real target.
    npz
        Checksum of ``<name>.npz``; None if there is none to compare with.
    original
        Its public source; None if no address is known.
    own
        Names of a file of the user's, which has no checksum.
    decimals
        Decimals of the published values, if single precision blurs them.
    """

    title: str
    n: int
    d: int
    kind: str
    classes: int | None = None
    npz: str | None = None
    original: Original | None = None
    own: tuple[str, ...] = ()
    decimals: int | None = None

    def files(self, name: str) -> dict[str, str | None]:
        """Names of the files that hold the set, as looked for, with their checksums."""
        stored = {f"{name}.npz": self.npz} if self.npz else {}
        original = {self.original.name: self.original.sha256} if self.original else {}
        return stored | original | dict.fromkeys(self.own)

    def remedy(self, name: str) -> str:
        """Say where the set comes from and how to get it."""
        if self.original is None:
            return (
                f"it comes from {_COLLECTION}, of which no address is known that can be "
                "relied on; put your own file there"
            )
        command = f"python -m experiments.download {name}"
        return f"it comes from {self.original.where}; get it with '{command}'"


_COLLECTION = "the feature selection collection of Arizona State University (ASU)"
_GEO = "https://ftp.ncbi.nlm.nih.gov/geo/series/GSE5nnn/GSE5680/matrix"

CATALOGUE: dict[str, Entry] = {
    "warpAR10P": Entry(
        "AR10P", 130, 2400, CLASSES, 10,
        "ead434a27276674e7c30541a5fecf7378fbaaecfa2f0a777bc1d535a36ad92d6",
        _skfeature("warpAR10P.mat",
                   "92b5f7e72b5715ada8f2df16e6d8e5effd8e0034a53a656ed9ef76e3f727d413", 279711),
    ),
    "warpPIE10P": Entry(
        "PIE10P", 210, 2420, CLASSES, 10,
        "f0e14ba6a86160ebccf016472166877c5d062fea357ec008a738b9a9681c7fa0",
        _skfeature("warpPIE10P.mat",
                   "0d22b0e4fe224ea7347ae266370b6eb0d724d5fd0ad7da71261a58c24e08c3c2", 458267),
    ),
    "pixraw10P": Entry(
        "PIX10P", 100, 10000, CLASSES, 10,
        "07a289c6a51d2bd145053a4e6ab5469508db85a69ddd16eb5a742dd83bfc3e6c",
        _skfeature("pixraw10P.mat",
                   "aa4b474244ae847dc2efdc868c0ff58fc3748a830c2ffdf760a1697cf72088f8", 520463),
    ),
    "orlraws10P": Entry(
        "ORL10P", 100, 10304, CLASSES, 10,
        "bc7c3bd5a7b553360fb3c0156b9e9be39433f70379d142e7c07f07b42be395df",
        _skfeature("orlraws10P.mat",
                   "6ffa58759c5636f4ce311d23e44ef8de9f39bbb844902154c0cc5daac71226d6", 951783),
    ),
    "TOX_171": Entry(
        "TOX", 171, 5748, CLASSES, 4,
        "31fc6e20eed8888bba738bf43ac60269645f26af490c2e40717a10811f68d13e",
        _skfeature("TOX-171.mat",
                   "f52f57e61775b7830c84750456d7fadfd220d1cc8eed26419c3390eb9216cc84", 3470586),
        decimals=2,
    ),
    # no checksum of the original is known, so shape and classes are checked instead
    "CLL_SUB_111": Entry(
        "CLL-SUB", 111, 11340, CLASSES, 3,
        own=("CLL_SUB_111.mat", "CLL-SUB-111.mat", "CLL_SUB_111.npz", "CLL_SUB_111.csv"),
    ),
    "MLL_leukemia": Entry(
        "MLL leukemia", 72, 11225, CLASSES, 3,
        "ce6b031f995e037c5c16bce6de21bf1d7cd65d974049613e5422a453ee370cd8",
        _github("zongtingwei/Feature_Selection_Datasets",
                "ae8b68a669c4f1bf581dabf3f34449b9c2cf04b6", "datasets_matlab/Leukemia_3.mat",
                "ae231c4e99db5b7b37b63685dce08ac7129a2a42d15117053ffd5fc149e41ebd", 2140550),
    ),
    "rat_eye_trim32": Entry(
        "rat eye", 120, 18975, REAL, None,
        "c757423026a038e5cddc4eba4e7030a7e0f3d4377afea4bda8ab9e939c44393e",
        _github("cran/RaSEn", "eba0e58f31cd5a451880db9f714d9c9d797dc9d6", "data/rat.rda",
                "175827591a44c3570d9020712edc931670aed2678a90f5bca32268336755931a", 3358974),
        decimals=3,
    ),
    # the array has 31,099 probes: TRIM32 is the target, the others are the paper's 31,098 genes
    "rat_eye_full": Entry(
        "rat eye, all probes", 120, 31098, REAL,
        original=Original(f"{_GEO}/GSE5680_series_matrix.txt.gz", "series GSE5680 of GEO (NCBI)"),
    ),
}  # fmt: skip


@dataclass(frozen=True)
class Dataset:
    """Features (n, d) as floats, and the target (n,): real values, or classes 1, 2, ..."""

    X: np.ndarray
    y: np.ndarray


def entry_of(name: str) -> Entry:
    """Return an entry by name, or raise an error that lists the names."""
    if name not in CATALOGUE:
        raise ValueError(f"There is no data set {name!r}; known are {', '.join(CATALOGUE)}.")
    return CATALOGUE[name]


def load(name: str, folder: Path) -> Dataset:
    """Read a set of the catalogue; a file that is absent or not the one meant raises an error."""
    entry = entry_of(name)
    path, sha256 = _find(name, entry, Path(folder))
    found = checksum(path) if sha256 else None
    if found != sha256:
        raise WrongDataError(
            f"{path} has the SHA-256 checksum {found}, not {sha256}: it is damaged or another "
            f"file. Remove it; {entry.remedy(name)}."
        )
    return _checked(path, entry, *_read(path))


def present(name: str, folder: Path) -> Path | None:
    """Return the first file of a set that is in the folder and has the right checksum, if known."""
    for file, sha256 in entry_of(name).files(name).items():
        path = folder / file
        if path.is_file() and (sha256 is None or checksum(path) == sha256):
            return path
    return None


def _find(name: str, entry: Entry, folder: Path) -> tuple[Path, str | None]:
    files = entry.files(name)
    for file, sha256 in files.items():
        if (folder / file).is_file():
            return folder / file, sha256
    raise MissingDataError(
        f"{folder} has no {' or '.join(files)}: {entry.remedy(name)}, or say where it is with "
        f"--data or the variable {VARIABLE}."
    )


def _read(path: Path) -> Arrays:
    """Read the arrays; an error names the file."""
    try:
        return read_features(path)
    except (MissingDataError, WrongDataError):
        raise
    except (ValueError, TypeError, KeyError, OSError, EOFError, NotImplementedError) as error:
        raise WrongDataError(f"{path} cannot be read ({error}); get or save it anew.") from error
    except (zlib.error, zipfile.BadZipFile) as error:
        raise WrongDataError(f"{path} is damaged ({error}); get it anew.") from error


def _checked(path: Path, entry: Entry, X: np.ndarray, y: np.ndarray) -> Dataset:
    """Convert the arrays to the common form, and compare them with the catalogue."""
    if X.shape != (entry.n, entry.d) or y.shape != (entry.n,):
        raise WrongDataError(
            f"{path} has features of shape {X.shape} and a target of shape {y.shape}; "
            f"{entry.title} has {entry.n} samples with {entry.d} features."
        )
    if entry.npz:
        # the precision of the stored arrays, so that the original gives the same values
        X = X.astype(np.float32)
    X = X.astype(float)
    if entry.decimals is not None:
        X = np.round(X, entry.decimals)
    if not np.isfinite(X).all():
        raise WrongDataError(f"{path} has values that are missing or infinite.")
    return Dataset(X, _classes(path, entry, y) if entry.classes else y.astype(float))


def _classes(path: Path, entry: Entry, y: np.ndarray) -> np.ndarray:
    """Number the labels 1, 2, ... in their order."""
    labels, codes = np.unique(y, return_inverse=True)
    if len(labels) != entry.classes:
        raise WrongDataError(
            f"{path} has {len(labels)} classes; {entry.title} has {entry.classes}."
        )
    return codes.reshape(-1).astype(np.int64) + 1
