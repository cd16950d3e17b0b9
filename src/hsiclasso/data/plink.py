"""Genotypes in PLINK 1 binary files: ``.bed`` with its ``.bim`` and ``.fam``, read by chunks."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
import numpy.typing as npt

from hsiclasso._types import Columns, FloatArray
from hsiclasso.data.base import Source, as_positions
from hsiclasso.data.dataset import Dataset, assemble
from hsiclasso.data.fingerprint import file_state
from hsiclasso.data.layout import Roles
from hsiclasso.data.sources import UniformSource
from hsiclasso.data.stored import even_chunks
from hsiclasso.data.variants import Variants, read_people, read_variants
from hsiclasso.errors import InvalidInputError, require

__all__ = ["Genotypes", "PlinkSource", "read_plink", "refuse_other_genotypes"]

#: Number of variants that share tables of sums, if memory allows.
_TOGETHER = 1024
#: What stands for a missing call where others are 0, 1 and 2.
_MISSING = 3
#: The first bytes of a .bed file, and the one that says that variants follow each other.
_MAGIC, _BY_VARIANT = b"\x6c\x1b", b"\x01"
#: Other files with genotypes, or a part of them.
_OTHERS = (".pgen", ".pvar", ".psam", ".ped", ".map", ".vcf", ".bcf", ".bgen")


def read_plink(file: Path, roles: Roles) -> Dataset:
    """Open a ``.bed`` file; targets and weights are columns of its ``.fam`` file, or variants."""
    source = PlinkSource(file)
    if source.variants.renamed:
        count, example = len(source.variants.renamed), source.variants.renamed[0]
        warnings.warn(
            f"{count:,} of {source.n_features:,} variants of {file.with_suffix('.bim')} have no "
            "name of their own ('.', or one that occurs twice) and are called "
            f"chromosome:position:allele1:allele2, as in {example!r}.",
            UserWarning,
            stacklevel=4,
        )
    return assemble(str(file), source, roles)


class PlinkSource(UniformSource):
    """Genotypes of a PLINK 1 file, as copies of the first allele: 0, 1, 2, or missing.

    Parameters
    ----------
    file : path-like
        The ``.bed`` file. The ``.bim`` and ``.fam`` files must lie beside it.

    Notes
    -----
    Samples have identifiers, those of persons, and annotations: ``phenotype``, ``sex`` and
    ``family``. An instance is pickled as the path of its file.

    bed-reader reads single variants. It lets no other thread run meanwhile. Chunks of variants are
    therefore read as they are stored, and decoded when they are related.
    """

    missing_level = _MISSING
    in_memory = False

    def __init__(self, file: str | Path) -> None:
        reader = require("bed_reader", "plink")
        self.file = Path(file)
        bim, fam = (_beside(self.file, suffix) for suffix in (".bim", ".fam"))
        _check_magic(self.file)
        people = read_people(fam)
        #: Names and places of the variants.
        self.variants: Variants = read_variants(bim)
        shape = len(people.ids), len(self.variants.names)
        super().__init__(np.dtype(np.int8), shape, self.variants.names)
        self.ids, self.annotations = people.ids, people.annotations
        self._width = -(-self.n_samples // 4)  # bytes of a variant
        self._check_size()
        # with the numbers of samples and variants, the reader need not read the other two files
        self._bed = reader.open_bed(
            self.file, iid_count=self.n_samples, sid_count=self.n_features, skip_format_check=True
        )

    def __reduce__(self) -> tuple[type[PlinkSource], tuple[Path]]:
        return PlinkSource, (self.file.absolute(),)

    @property
    def n_bytes(self) -> int:
        """Number of bytes that are read in one pass over the table."""
        return self.n_features * self._width

    def column_info(self, column: int) -> dict[str, Any]:
        """Chromosome, position in base pairs, and both alleles of a variant."""
        return self.variants.info(column)

    def chunks(self, size: int) -> list[slice]:
        """Cut the variants into chunks of about `size` bytes, one byte for each call.

        With many samples, chunks have more variants, because these share tables of sums. They
        take `size` bytes at most as they are stored.
        """
        return even_chunks(
            self.n_features,
            max(size // self.n_samples, min(size // self._width, _TOGETHER)),
        )

    def load(self, columns: slice) -> Source:
        """Read adjacent variants into memory, as they are stored."""
        names = self.variants.names[columns.start : columns.stop]
        return Genotypes(self._stored_bytes(columns), self.n_samples, names)

    def block(self, columns: Columns) -> FloatArray:
        """Return the columns as a fresh (n_samples, k) float64 array in Fortran order."""
        return np.asarray(self._by_reader(columns, "float64"))

    def levels(self, columns: Columns) -> np.ndarray[Any, Any] | None:
        """Return copies of the first allele as uint8, 3 for missing calls."""
        return self.calls(columns, slice(None))

    def calls(self, columns: Columns, samples: slice) -> np.ndarray[Any, Any]:
        """Return genotypes of some samples."""
        return Genotypes(self._stored_bytes(columns), self.n_samples).calls(slice(None), samples)

    def read(self, columns: Columns) -> np.ndarray[Any, Any]:
        """Return the columns (n_samples, k) as float32, with NaN for missing calls."""
        return np.asarray(self._by_reader(columns, "float32"))

    def identity(self) -> str:
        """Return a fingerprint of the three files."""
        return " ".join(
            file_state(self.file.with_suffix(suffix)) for suffix in (".bed", ".bim", ".fam")
        )

    def _by_reader(self, columns: Columns, dtype: str) -> Any:
        """Read some variants with bed-reader."""
        try:
            return self._bed.read(np.s_[:, columns], dtype=dtype, order="F", num_threads=1)
        except (OSError, ValueError, IndexError, RuntimeError) as error:
            self._refuse_change(error)

    def _stored_bytes(self, columns: Columns) -> npt.NDArray[np.uint8]:
        """Read some variants as they are stored: (k, bytes)."""
        wanted = as_positions(columns, self.n_features)
        out = np.empty((wanted.size, self._width), dtype=np.uint8)
        # variants that follow each other are read at once
        starts = np.flatnonzero(np.diff(wanted, prepend=-2) != 1)
        try:
            with self.file.open("rb", buffering=0) as stream:
                for start, stop in pairwise([*starts, wanted.size]):
                    stream.seek(3 + int(wanted[start]) * self._width)
                    part = out[start:stop]
                    if stream.readinto(part.data) != part.nbytes:
                        self._refuse_change("it has become shorter")
        except OSError as error:
            self._refuse_change(error)
        return out

    def _refuse_change(self, why: object) -> NoReturn:
        raise InvalidInputError(
            f"{self.file} cannot be read any more ({why}): it must not change or move while "
            "features are selected."
        )

    def _check_size(self) -> None:
        """Raise if the three files do not belong together."""
        n, d, size = self.n_samples, self.n_features, self.file.stat().st_size
        wanted = 3 + self.n_bytes
        if size != wanted:
            short = "it is cut off, or " if size < wanted else ""
            raise InvalidInputError(
                f"{self.file} has {size:,} bytes, but {n:,} samples (its .fam file) and {d:,} "
                f"variants (its .bim file) need {wanted:,}: {short}the three files do not belong "
                "together; copy them again."
            )


class Genotypes(UniformSource):
    """Genotypes in memory, in two bits each.

    Parameters
    ----------
    packed : ndarray of uint8 of shape (k, ceil(n_samples / 4))
        Variants as a ``.bed`` file stores them.
    n_samples : int
    names : sequence of str, optional
        Names of the variants.
    """

    missing_level = _MISSING

    def __init__(
        self, packed: npt.NDArray[np.uint8], n_samples: int, names: Sequence[str] | None = None
    ) -> None:
        super().__init__(np.dtype(np.int8), (n_samples, len(packed)), names)
        self._packed = packed

    @property
    def n_bytes(self) -> int:
        """Number of bytes that are read in one pass over the table."""
        return self._packed.nbytes

    def levels(self, columns: Columns) -> np.ndarray[Any, Any] | None:
        """Return copies of the first allele as uint8, 3 for missing calls."""
        return self.calls(columns, slice(None))

    def calls(self, columns: Columns, samples: slice) -> np.ndarray[Any, Any]:
        """Return genotypes of some samples."""
        from hsiclasso.data._genotype_loops import decode

        start, stop, _ = samples.indices(self.n_samples)
        begin, packed = start // 4, self._packed[columns]
        out = np.empty((max(0, stop - 4 * begin), len(packed)), dtype=np.uint8)
        decode(packed, begin, out)
        return out[start % 4 :]

    def block(self, columns: Columns) -> FloatArray:
        """Return the columns as a fresh (n_samples, k) float64 array in Fortran order."""
        return np.asarray(self._numbers(columns, np.float64))

    def read(self, columns: Columns) -> np.ndarray[Any, Any]:
        """Return the columns (n_samples, k) as float32, with NaN for missing calls."""
        return np.asarray(self._numbers(columns, np.float32))

    def _numbers(self, columns: Columns, dtype: Any) -> Any:
        from hsiclasso.data._genotype_loops import decode_as_numbers

        wanted = as_positions(columns, self.n_features)
        out = np.empty((wanted.size, self.n_samples), dtype=dtype)
        decode_as_numbers(self._packed, wanted, out)
        return out.T


def refuse_other_genotypes(file: Path) -> None:
    """Raise for a path that belongs to genotypes, but is not the .bed file; say which is."""
    suffix = file.suffix.lower()
    if suffix in (".bim", ".fam"):
        what, bed = "variants" if suffix == ".bim" else "samples", file.with_suffix(".bed")
        raise InvalidInputError(
            f"{file} describes the {what} of a PLINK file: give {bed.name}, which is read together "
            "with it."
        )
    if suffix in _OTHERS:
        raise InvalidInputError(
            f"{file} has genotypes in a format that is not read: convert it with plink2 --make-bed "
            "and give the .bed file."
        )
    prefix = Path(f"{file}.bed")
    if not file.exists() and prefix.is_file():
        raise InvalidInputError(f"{file} does not exist: give {prefix.name} to read genotypes.")


def _beside(file: Path, suffix: str) -> Path:
    """Path of a file that belongs to a .bed file."""
    found = file.with_suffix(suffix)
    if not found.is_file():
        raise InvalidInputError(
            f"{file} needs {found.name} beside it, which does not exist: a PLINK file has three "
            "parts, .bed, .bim and .fam, with the same name."
        )
    return found


def _check_magic(file: Path) -> None:
    """Raise unless a file starts as a .bed file does, one variant after the other."""
    with file.open("rb") as stream:
        start = stream.read(3)
    if len(start) < 3 or start[:2] != _MAGIC:
        _refuse_start(file, start)
    if start[2:] != _BY_VARIANT:
        raise InvalidInputError(
            f"{file} stores one sample after the other (byte 3 is {start[2]:#04x}), but variants "
            "are read one after the other: convert it with plink --make-bed."
        )


def _refuse_start(file: Path, start: bytes) -> NoReturn:
    intervals = " It seems to be text: intervals of a genome have the same suffix." * (
        start.isascii() and start.decode().isprintable()
    )
    raise InvalidInputError(
        f"{file} starts with the bytes {start.hex(' ')}, but a PLINK 1 file starts with 6c 1b 01: "
        f"give a .bed file that plink --make-bed wrote.{intervals}"
    )
