"""Small objects that hold the options of an estimator: kernels, targets, penalties, measures.

They behave like the kernels of scikit-learn's Gaussian processes: plain parameters, `get_params`,
`set_params` and `clone`, so that a grid search can vary ``target__transform``. Constructors check
nothing; `fit` calls `check`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Self, TypeVar

from sklearn.base import BaseEstimator

from hsiclasso._checks import did_you_mean, one_of
from hsiclasso.errors import InvalidInputError

__all__ = ["Option", "as_option"]


class Option(BaseEstimator):  # type: ignore[misc]
    """Base of the objects that hold options."""

    def check(self) -> Self:
        """Raise if a parameter breaks its rule; return the object."""
        return self

    def key(self) -> tuple[Any, ...]:
        """Return the class and all parameters in a form that can be compared and hashed."""
        params = self.get_params(deep=False)
        return (type(self).__name__, *(_frozen(params[name]) for name in sorted(params)))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Option) and self.key() == other.key()

    def __hash__(self) -> int:
        return hash(self.key())


Chosen = TypeVar("Chosen", bound=Option)


def _frozen(value: Any) -> Any:
    """Return a parameter as something hashable; the `repr` of a large array leaves values out."""
    if isinstance(value, Option):
        return value.key()
    if isinstance(value, Mapping):
        return tuple((repr(name), _frozen(item)) for name, item in value.items())
    if hasattr(value, "tolist") and hasattr(value, "dtype"):  # an array, or a series with an index
        return str(value.dtype), repr(value.tolist()), _frozen(getattr(value, "index", None))
    return repr(value)


def as_option(
    what: str, value: Any, base: Any, names: Mapping[str, Callable[[], Chosen]]
) -> Chosen:
    """Return the object that a name stands for, or the given object, checked.

    Parameters
    ----------
    what : str
        Name of the parameter, for errors.
    value : str or Option
        Value that the user gave.
    base : type
        Class that an object must be an instance of.
    names : mapping of str to callable
        Constructor of the object of each name.
    """
    if isinstance(value, base):
        made: Chosen = value.check()
        return made
    if isinstance(value, str) and value in names:
        return names[value]().check()
    example = type(next(iter(names.values()))()).__name__
    hint = did_you_mean(str(value).lower(), names, most=1)
    raise InvalidInputError(
        f"{what}={value!r} is unknown{hint}: choose {one_of(names)}, or pass an object such as "
        f"{example}()."
    )
