"""Errors of other libraries, on files that are broken, in the words of this one."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from hsiclasso.errors import InvalidInputError, MissingExtraError

__all__ = ["package_of", "reading"]


def package_of(thing: object) -> str:
    """Name of the package from which the class of an object comes; imports nothing."""
    return type(thing).__module__.partition(".")[0]


@contextmanager
def reading(where: str | Path, form: str = "") -> Iterator[None]:
    """Turn errors while a file is read into one that names the file.

    Parameters
    ----------
    where : str or Path
        The file.
    form : str
        What its format is called, if the suffix does not say it.

    Examples
    --------
    >>> with reading("table.parquet", "Parquet"):
    ...     raise OSError("no magic bytes")
    Traceback (most recent call last):
    ...
    hsiclasso.errors.InvalidInputError: table.parquet cannot be read as Parquet (no magic bytes):
    check that it is complete, readable and in the format that its suffix says.
    """
    try:
        yield
    except (InvalidInputError, MissingExtraError):
        raise
    except Exception as error:  # libraries raise errors of any class on damaged files
        if isinstance(error, Warning) and package_of(error) in ("builtins", "hsiclasso"):
            raise  # one of ours, that the user wants as an error
        words = " ".join(str(error).split()) or type(error).__name__
        raise InvalidInputError(
            f"{where} cannot be read{form and f' as {form}'} ({words[:300]}): check that it is "
            "complete, readable and in the format that its suffix says."
        ) from error
