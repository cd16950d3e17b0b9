"""Reading genotypes in PLINK 1 binary format (.bed, .bim, .fam) with NumPy alone."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np

_MAGIC = bytes([0x6C, 0x1B, 0x01])  # PLINK 1, one variant after the other
#: Copies of the first allele for the codes 00, 01, 10, 11; 01 is a missing call.
_COPIES = np.array([2, -1, 1, 0], dtype=np.int8)


@dataclass(frozen=True)
class Genotypes:
    """Genotypes of samples.

    Attributes
    ----------
    calls : ndarray of int8 of shape (n_samples, n_variants)
        Copies of the first allele, 0 to 2; -1 where the call is missing.
    variants : ndarray of str
        Names of the variants.
    chromosomes : ndarray of str
        Chromosome of each variant.
    phenotype : ndarray of str
        Last column of the .fam file, as it stands there.
    """

    calls: np.ndarray
    variants: np.ndarray
    chromosomes: np.ndarray
    phenotype: np.ndarray

    @property
    def missing(self) -> np.ndarray:
        """Tell which calls are missing."""
        return self.calls < 0

    def numbers(self) -> np.ndarray:
        """Return copies as floats, NaN where missing."""
        return np.where(self.missing, np.nan, self.calls)


def read_plink(stem: Path) -> Genotypes:
    """Read ``stem.bed``, ``stem.bim`` and ``stem.fam``."""
    bim, fam = (_fields(Path(f"{stem}{suffix}")) for suffix in (".bim", ".fam"))
    content = Path(f"{stem}.bed").read_bytes()
    if content[:3] != _MAGIC:
        raise ValueError(f"{stem}.bed is no PLINK 1 file with one variant after the other.")
    n, d = len(fam), len(bim)
    width = -(-n // 4)  # bytes of a variant: four samples each, the first in the lowest bits
    if len(content) != 3 + d * width:
        raise ValueError(
            f"{stem}.bed has {len(content)} bytes, but {d} variants of {n} samples need "
            f"{3 + d * width}."
        )
    packed = np.frombuffer(content, np.uint8, offset=3).reshape(d, width)
    codes = (packed[:, :, None] >> np.array([0, 2, 4, 6], np.uint8)) & 3
    calls = _COPIES[codes.reshape(d, -1)[:, :n]].T
    return Genotypes(np.ascontiguousarray(calls), bim[:, 1], bim[:, 0], fam[:, -1])


def _fields(path: Path) -> np.ndarray:
    return np.array([line.split() for line in path.read_text().splitlines() if line.strip()])
