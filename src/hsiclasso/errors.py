"""Exceptions and warnings of the package.

::

    ValueError
      InvalidInputError        an input breaks a rule: name, value, rule, remedy
    ImportError
      MissingExtraError        an optional dependency is needed: names the extra
    RuntimeError
      ChunkFailedError         a chunk of columns failed on a cluster: says which and why
    UserWarning
      ConstantFeatureWarning   columns that do not vary: they get weight 0
      FewerFeaturesWarning     fewer features than asked can have a positive weight
      FewObservedWarning       columns that are missing on too many samples: they get weight 0
      KnockoffWarning          knockoffs cannot select anything, or their bound does not hold
      SuspectColumnWarning     a column or a target looks like something else
      RechunkWarning           a store is copied to a temporary file to be read by features
"""

from __future__ import annotations

import importlib
from typing import Any

__all__ = [
    "ChunkFailedError",
    "ConstantFeatureWarning",
    "FewObservedWarning",
    "FewerFeaturesWarning",
    "InvalidInputError",
    "KnockoffWarning",
    "MissingExtraError",
    "RechunkWarning",
    "SuspectColumnWarning",
    "require",
]


class InvalidInputError(ValueError):
    """Input that breaks a rule; the message gives name, value, rule and remedy."""


class MissingExtraError(ImportError):
    """An optional dependency is missing; the message names the extra that brings it."""


class ChunkFailedError(RuntimeError):
    """A chunk of columns failed on all tries; the message says which columns, and why."""


class ConstantFeatureWarning(UserWarning):
    """Some columns do not vary, carry no information and get weight 0."""


class FewObservedWarning(UserWarning):
    """Some columns are observed on too few samples to be judged, and get weight 0."""


class FewerFeaturesWarning(UserWarning):
    """No penalty gives as many features a positive weight as were asked for."""


class KnockoffWarning(UserWarning):
    """Knockoffs cannot select anything from this table, or their bound does not hold for it."""


class SuspectColumnWarning(UserWarning):
    """Columns or a target look like identifiers, or some of their numbers like missing values."""


class RechunkWarning(UserWarning):
    """An array that is stored by samples is copied to a temporary file, to be read by features."""


def require(module: str, extra: str) -> Any:
    """Import an optional dependency, or say which extra of the package brings it."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise MissingExtraError(
            f"{module} is not installed, and this needs it: pip install 'hsiclasso[{extra}]'"
        ) from error
