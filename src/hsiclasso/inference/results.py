"""What tests return: plain data, and which features they find."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, fields
from typing import Any, ClassVar, Literal, get_args

import numpy as np

from hsiclasso._checks import check_choice, check_whole, is_number
from hsiclasso._display import printable
from hsiclasso._types import BoolArray, FloatArray, IntArray
from hsiclasso.errors import InvalidInputError, require
from hsiclasso.inference.multiple import adjust

__all__ = ["FoundFeatures", "HSICScan", "HSICTest", "Mode", "TestedFeature", "check_mode"]

Mode = Literal["fdr", "fdr_by", "fwe", "fwe_permutation", "fpr", "n_features", "percentile"]

#: Features that a short view shows.
_SHOWN = 5
#: What a level says, by mode.
_WORDS = {
    "fdr": "at a false discovery rate of {:g} (Benjamini-Hochberg)",
    "fdr_by": "at a false discovery rate of {:g} (Benjamini-Yekutieli)",
    "fwe": "at a family-wise error rate of {:g} (Holm)",
    "fwe_permutation": "at a family-wise error rate of {:g} (Westfall-Young)",
    "fpr": "with p-values up to {:g}",
    "n_features": "of {} asked for, those with the smallest p-values",
    "percentile": "in the share of {:g} with the smallest p-values",
}


@dataclass(frozen=True)
class HSICTest:
    r"""Result of a test of independence.

    Attributes
    ----------
    statistic : float
        :math:`\langle \bar K, \bar L\rangle` of the centred Gram matrices. Divided by the squared
        number of samples it is the biased estimate of HSIC.
    p_value : float
        Probability that a random order of the samples reaches the statistic.
    n_samples : int
        Number of samples that were compared.
    target : str
        Kind of y.
    """

    statistic: float
    p_value: float
    n_samples: int
    target: str

    def to_dict(self) -> dict[str, Any]:
        """Return all fields by name."""
        return asdict(self)


@dataclass(frozen=True)
class TestedFeature:
    """A feature that was found, with its test.

    Attributes
    ----------
    rank : int
        Place by increasing p-value, from 1.
    name : str
    index : int
        Column of the table; the first of a joint feature.
    statistic, p_value, q_value : float
    family_p_value : float or None
        As in `HSICScan`.
    """

    #: Not a class of tests.
    __test__: ClassVar[bool] = False

    rank: int
    name: str
    index: int
    statistic: float
    p_value: float
    q_value: float
    family_p_value: float | None


@dataclass(frozen=True)
class FoundFeatures:
    """Features that a scan finds, by increasing p-value; see `HSICScan.found`.

    Attributes
    ----------
    features : tuple of TestedFeature
        Empty if nothing is found.
    mode : str
    level : float or int
    target : str
        Kind of the target.
    n_samples, n_features, n_dropped : int
        Samples that were used, features that were tested, and samples without a target.
    """

    features: tuple[TestedFeature, ...]
    mode: str
    level: float
    target: str
    n_samples: int
    n_features: int
    n_dropped: int

    #: Names of the values of a record.
    columns: ClassVar[tuple[str, ...]] = tuple(field.name for field in fields(TestedFeature))

    @property
    def message(self) -> str:
        """What is found, in a sentence.

        Examples
        --------
        >>> FoundFeatures((), "fdr", 0.1, "real", 100, 500, 0).message
        'Nothing found at a false discovery rate of 0.1 (Benjamini-Hochberg).'
        """
        size = len(self.features)
        found = f"{size:,} feature{'s'[: size != 1]}" if size else "Nothing"
        return f"{found} found {_WORDS[self.mode].format(self.level)}."

    def to_dict(self) -> dict[str, Any]:
        """Return everything as dictionaries, lists and numbers."""
        return asdict(self) | {"features": self.to_rows(), "message": self.message}

    def to_json(self, *, indent: int | None = 2) -> str:
        """Return everything as a JSON document."""
        return json.dumps(self.to_dict(), indent=indent, allow_nan=False)

    def to_rows(self) -> list[dict[str, Any]]:
        """Return a flat record for each feature."""
        return [asdict(feature) for feature in self.features]

    def to_frame(self) -> Any:
        """Return the records as a pandas DataFrame (needs the extra ``pandas``)."""
        return require("pandas", "pandas").DataFrame(self.to_rows(), columns=list(self.columns))


@dataclass(frozen=True, eq=False)
class HSICScan:
    r"""A test of independence from the target for every feature of a table.

    Attributes
    ----------
    names : tuple of str
        Names of the d features.
    index : ndarray of int of shape (d,)
        Column of each feature; the first of a joint feature.
    statistic : ndarray of shape (d,)
        :math:`\langle \bar K_k, \bar L\rangle` of the centred Gram matrices.
    p_value : ndarray of shape (d,)
        Probability that a random order of the samples reaches the statistic; 1 if a feature does
        not vary.
    q_value : ndarray of shape (d,)
        p-values adjusted by Benjamini and Hochberg over all features that vary: the smallest false
        discovery rate at which a feature is found.
    family_p_value : ndarray of shape (d,) or None
        Share of random orders of the target in which *any* feature has such a small p-value
        (Westfall and Young); None if no permutations were asked for.
    varies : ndarray of bool of shape (d,)
        Whether a feature varies and is observed on enough samples.
    n_observed : ndarray of int of shape (d,)
        Number of samples on which each feature is not missing.
    n_samples, n_dropped : int
        Samples that were used, and those without a target.
    target : str
        Kind of the target.
    """

    names: tuple[str, ...]
    index: IntArray
    statistic: FloatArray
    p_value: FloatArray
    q_value: FloatArray
    family_p_value: FloatArray | None
    varies: BoolArray
    n_observed: IntArray
    n_samples: int
    n_dropped: int
    target: str

    def selected(self, mode: Mode = "fdr", level: float = 0.1) -> IntArray:
        """Return the numbers of the features that are found, by increasing p-value.

        Parameters
        ----------
        mode : str, default="fdr"
            What `level` bounds or counts; the names are those of Spark's selector.

            - ``"fdr"``: the false discovery rate, by Benjamini and Hochberg: the q-value.
            - ``"fdr_by"``: the same under any dependence, by Benjamini and Yekutieli.
            - ``"fwe"``: the probability of any false discovery, by Holm.
            - ``"fwe_permutation"``: the same by the permutations that the scan was asked for, which
              is more powerful if features depend on each other.
            - ``"fpr"``: the share of unrelated features that are found: the p-value.
            - ``"n_features"``: a number of features.
            - ``"percentile"``: a share of the features.
        level : float or int, default=0.1
            A number between 0 and 1; for ``"n_features"`` a whole number.

        Returns
        -------
        ndarray of int
            Features that do not vary are never found.

        Examples
        --------
        >>> from hsiclasso import hsic_scan, make_data1
        >>> X, y, causal = make_data1(200, 500, random_state=0)
        >>> scan = hsic_scan(X, y)
        >>> set(scan.selected("fwe", 0.05)) <= set(causal)
        True
        >>> scan.selected("n_features", 3).size
        3
        """
        check_mode(mode, level)
        order = np.lexsort((-self.statistic, self.p_value))
        order = order[self.varies[order]]
        if mode == "n_features":
            return np.asarray(order[: int(level)])
        if mode == "percentile":
            return np.asarray(order[: int(level * len(self.names))])
        return np.asarray(order[self._adjusted(mode)[order] <= level])

    def _adjusted(self, mode: Mode) -> FloatArray:
        """Return p-values adjusted for a mode."""
        if mode == "fwe_permutation":
            if self.family_p_value is None:
                raise InvalidInputError(
                    "mode='fwe_permutation' needs permutations of the target, and the scan had "
                    "none: pass n_permutations=999 to it, or take mode='fwe'."
                )
            return self.family_p_value
        if mode in ("fdr", "fpr"):
            return self.q_value if mode == "fdr" else self.p_value
        out = np.ones(self.varies.size)
        out[self.varies] = adjust(self.p_value[self.varies], "holm" if mode == "fwe" else "by")
        return out

    def found(self, mode: Mode = "fdr", level: float = 0.1) -> FoundFeatures:
        """Return the features that `selected` finds, with their tests, as flat records."""
        features = tuple(
            TestedFeature(
                rank,
                self.names[k],
                int(self.index[k]),
                float(self.statistic[k]),
                float(self.p_value[k]),
                float(self.q_value[k]),
                None if self.family_p_value is None else float(self.family_p_value[k]),
            )
            for rank, k in enumerate(self.selected(mode, level).tolist(), start=1)
        )
        size = len(self.names)
        return FoundFeatures(
            features, mode, level, self.target, self.n_samples, size, self.n_dropped
        )

    def to_dict(self) -> dict[str, Any]:
        """Return everything as lists and numbers, one list for each column."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        return {
            name: value.tolist() if isinstance(value, np.ndarray) else value
            for name, value in values.items()
        } | {"names": list(self.names)}

    def to_json(self, *, indent: int | None = None) -> str:
        """Return everything as a JSON document."""
        return json.dumps(self.to_dict(), indent=indent, allow_nan=False)

    def to_frame(self) -> Any:
        """Return all features as a pandas DataFrame, in the order of the table."""
        columns = ("index", "statistic", "p_value", "q_value", "varies", "n_observed")
        values = {"name": list(self.names)} | {name: getattr(self, name) for name in columns}
        if self.family_p_value is not None:
            values["family_p_value"] = self.family_p_value
        return require("pandas", "pandas").DataFrame(values)

    def __repr__(self) -> str:
        found = self.found()
        best = ", ".join(
            f"{printable(one.name)} (p = {one.p_value:.2g})" for one in found.features[:_SHOWN]
        )
        more = ", ..." if len(found.features) > _SHOWN else ""
        return (
            f"HSIC scan of {len(self.names):,} features on {self.n_samples:,} samples, target: "
            f"{self.target}. {found.message} {best}{more}".rstrip()
        )


def check_mode(mode: Any, level: Any) -> None:
    """Raise unless there is such a mode, and the level is one of it."""
    check_choice("mode", mode, get_args(Mode))
    if mode == "n_features":
        check_whole("level", level)
    elif not is_number(level) or not 0 < level < 1:
        raise InvalidInputError(
            f"level={level!r}, but mode={mode!r} needs a number between 0 and 1, such as 0.1."
        )
