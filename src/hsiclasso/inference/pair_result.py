"""What a scan of pairs returns."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, fields
from typing import Any, ClassVar

import numpy as np

from hsiclasso._checks import is_number
from hsiclasso._display import printable
from hsiclasso._types import FloatArray, IntArray
from hsiclasso.errors import InvalidInputError, require

__all__ = ["FoundPairs", "HSICPairScan", "TestedPair"]

#: Pairs that a short view shows.
_SHOWN = 5


@dataclass(frozen=True)
class TestedPair:
    """A pair that was found, with its test.

    Attributes
    ----------
    rank : int
        Place by increasing p-value, from 1.
    name : str
        Names of both features.
    first, second : str
    statistic, p_value, q_value : float
        As in `HSICPairScan`.
    n_observed : int
    """

    #: Not a class of tests.
    __test__: ClassVar[bool] = False

    rank: int
    name: str
    first: str
    second: str
    statistic: float
    p_value: float
    q_value: float
    n_observed: int


@dataclass(frozen=True)
class FoundPairs:
    """Pairs that a scan finds, by increasing p-value; see `HSICPairScan.found`.

    Attributes
    ----------
    features : tuple of TestedPair
        Empty if nothing is found.
    level : float
        False discovery rate.
    target : str
        Kind of the target.
    n_samples, n_features, n_pairs, n_dropped : int
        Samples that were used, features and pairs that were scanned, samples without a target.
    """

    features: tuple[TestedPair, ...]
    level: float
    target: str
    n_samples: int
    n_features: int
    n_pairs: int
    n_dropped: int

    #: Names of the values of a record.
    columns: ClassVar[tuple[str, ...]] = tuple(field.name for field in fields(TestedPair))

    @property
    def message(self) -> str:
        """What is found, in a sentence.

        Examples
        --------
        >>> FoundPairs((), 0.1, "real", 100, 50, 1225, 0).message
        'Nothing found among 1,225 pairs at a false discovery rate of 0.1 (Benjamini-Hochberg).'
        """
        size = len(self.features)
        found = f"{size:,} pair{'s'[: size != 1]}" if size else "Nothing"
        return (
            f"{found} found among {self.n_pairs:,} pairs at a false discovery rate of "
            f"{self.level:g} (Benjamini-Hochberg)."
        )

    def to_dict(self) -> dict[str, Any]:
        """Return everything as dictionaries, lists and numbers."""
        return asdict(self) | {"features": self.to_rows(), "message": self.message}

    def to_json(self, *, indent: int | None = 2) -> str:
        """Return everything as a JSON document."""
        return json.dumps(self.to_dict(), indent=indent, allow_nan=False)

    def to_rows(self) -> list[dict[str, Any]]:
        """Return a flat record for each pair."""
        return [asdict(pair) for pair in self.features]


@dataclass(frozen=True, eq=False)
class HSICPairScan:
    r"""Tests of the pairs that a scan kept, smallest p-values first.

    Attributes
    ----------
    names : tuple of (str, str)
        Names of the features of each of m pairs.
    index : ndarray of int of shape (m, 2)
        Their columns; the first of a joint feature.
    statistic : ndarray of shape (m,)
        :math:`\sum_{ij} \bar K^{(k)}_{ij} \bar K^{(l)}_{ij} \bar L_{ij}` of the centred Gram
        matrices of both features and the target.
    p_value : ndarray of shape (m,)
        Probability that random orders reach the statistic: of the target, of the first feature, or
        of the second one, whichever is largest.
    q_value : ndarray of shape (m,)
        p-values adjusted by Benjamini and Hochberg over all `n_pairs` pairs; the p-values of those
        that were not kept count as 1.
    n_observed : ndarray of int of shape (m,)
        Number of samples on which neither feature is missing.
    n_pairs : int
        Pairs that were scanned.
    n_features, n_samples, n_dropped : int
        Features they were made of, samples that were used, and those without a target.
    rank : int
        Most rows of each feature in the scan that chose the m pairs.
    target : str
        Kind of the target.
    """

    names: tuple[tuple[str, str], ...]
    index: IntArray
    statistic: FloatArray
    p_value: FloatArray
    q_value: FloatArray
    n_observed: IntArray
    n_pairs: int
    n_features: int
    n_samples: int
    n_dropped: int
    rank: int
    target: str

    def selected(self, level: float = 0.1) -> IntArray:
        """Return the columns (s, 2) of the pairs with q-values up to a level.

        Parameters
        ----------
        level : float, default=0.1
            False discovery rate.

        Examples
        --------
        >>> from hsiclasso import hsic_scan_pairs
        >>> X = np.random.default_rng(0).normal(size=(200, 10))
        >>> hsic_scan_pairs(X, X[:, 3] * X[:, 8]).selected(1e-6)
        array([[3, 8]])
        """
        if not is_number(level) or not 0 < level < 1:
            raise InvalidInputError(
                f"level={level!r}, but a false discovery rate is a number between 0 and 1, such as "
                "0.1."
            )
        return self.index[self.q_value <= level]

    def found(self, level: float = 0.1) -> FoundPairs:
        """Return the same pairs with their names and tests."""
        number = len(self.selected(level))  # q-values increase with p-values
        parts = (self.names, self.statistic, self.p_value, self.q_value, self.n_observed)
        pairs = tuple(
            TestedPair(rank, " & ".join(names), *names, float(s), float(p), float(q), int(n))
            for rank, (names, s, p, q, n) in enumerate(zip(*parts, strict=True), start=1)
        )
        return FoundPairs(
            pairs[:number], level, self.target, self.n_samples, self.n_features, self.n_pairs,
            self.n_dropped,
        )  # fmt: skip

    def to_dict(self) -> dict[str, Any]:
        """Return everything as lists and numbers, one list for each column."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        return {
            name: value.tolist() if isinstance(value, np.ndarray) else value
            for name, value in values.items()
        } | {"names": [list(pair) for pair in self.names]}

    def to_json(self, *, indent: int | None = None) -> str:
        """Return everything as a JSON document."""
        return json.dumps(self.to_dict(), indent=indent, allow_nan=False)

    def to_frame(self) -> Any:
        """Return the pairs as a pandas DataFrame (needs the extra ``pandas``)."""
        first, second = ([pair[k] for pair in self.names] for k in (0, 1))
        columns = ("statistic", "p_value", "q_value", "n_observed")
        values = {"first": first, "second": second}
        values |= {name: getattr(self, name) for name in columns}
        return require("pandas", "pandas").DataFrame(values)

    def __repr__(self) -> str:
        found = int(np.count_nonzero(self.q_value <= 0.1))
        words = f"{found:,} pair{'s'[: found != 1]}" if found else "Nothing"
        best = ", ".join(
            f"{printable(a)} & {printable(b)} (p = {p:.2g})"
            for (a, b), p in zip(self.names[: min(found, _SHOWN)], self.p_value, strict=False)
        )
        return (
            f"HSIC scan of {self.n_pairs:,} pairs of {self.n_features:,} features on "
            f"{self.n_samples:,} samples, target: {self.target}. {words} found at a false "
            f"discovery rate of 0.1 (Benjamini-Hochberg). {best}{', ...' if found > _SHOWN else ''}"
        ).rstrip()
