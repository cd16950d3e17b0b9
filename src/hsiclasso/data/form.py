"""How a text file is written: separator, decimal mark, encoding, comments, missing marks."""

from __future__ import annotations

import codecs
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Self

from hsiclasso._checks import check_flag
from hsiclasso.data.cells import MISSING
from hsiclasso.errors import InvalidInputError

__all__ = ["WHITESPACE", "TextFormat", "text_option"]

#: The separator of columns that are apart by any number of spaces and tabs.
WHITESPACE = "whitespace"
#: Separators that have a name.
_SEPARATORS = {
    "tab": "\t", "\\t": "\t", "comma": ",", "semicolon": ";", "pipe": "|", "space": " ",
    WHITESPACE: WHITESPACE,
}  # fmt: skip


@dataclass(frozen=True)
class TextFormat:
    """How a text file is written, where it is not the usual way.

    Parameters
    ----------
    sep : str, optional
        What separates columns: one character, or ``"tab"``, ``"comma"``, ``"semicolon"``,
        ``"pipe"``, ``"space"`` or ``"whitespace"`` (any number of spaces and tabs). By default the
        suffix says it: a comma in ``.csv``, a tab in ``.tsv`` and ``.txt``; if the file has no such
        columns, but has them with another separator, that is taken.
    decimal : str, optional
        The decimal mark, ``"."`` or ``","``. By default a dot; a comma where columns are not
        separated by commas and numbers such as ``1,5`` leave no doubt.
    encoding : str, optional
        By default UTF-8, or UTF-16 if the file starts with its mark.
    comment : str, optional
        Lines that begin with this are left out, such as ``"#"``, ``"##"`` or ``"!"``. By default
        lines above the header that begin with ``#`` are, if what follows leaves no doubt. A header
        may begin with ``#``, which is no part of the first name.
    na : str or sequence of str
        Texts that stand for a missing value, besides the usual ones (empty, ``NA``, ``null`` ...).
    transpose : bool
        Whether rows are features and columns are samples, as in tables of gene expression: the
        first column has the names of features, the header those of samples.

    Examples
    --------
    >>> TextFormat(sep="semicolon", na=["?", "-99"]).check().marks >= {"?", "-99", "NA"}
    True
    """

    sep: str | None = None
    decimal: str | None = None
    encoding: str | None = None
    comment: str | None = None
    na: str | Iterable[str] = ()
    transpose: bool = False

    def check(self) -> Self:
        """Raise if a value breaks its rule; return the object."""
        sep = self.separator
        one = sep is None or (len(sep) == 1 and not sep.isalnum() and sep not in '."')
        if not one and sep != WHITESPACE:
            raise InvalidInputError(
                f"sep={self.sep!r} separates no columns: give one character that is no letter, "
                f"digit, dot or quote, or one of {', '.join(list(_SEPARATORS)[2:])} and tab."
            )
        if self.decimal not in (None, ".", ","):
            raise InvalidInputError(f"decimal={self.decimal!r} is no decimal mark: give . or ,")
        if sep == "," == self.decimal:
            raise InvalidInputError(
                "sep=',' and decimal=',' cannot both be: save the table with semicolons or tabs."
            )
        if self.comment is not None and not self.comment.strip():
            raise InvalidInputError(
                f"comment={self.comment!r} is blank: give what lines of comments begin with, "
                "such as '#'."
            )
        check_flag("transpose", self.transpose)
        try:
            codecs.lookup(self.encoding or "utf-8")
        except LookupError:
            raise InvalidInputError(
                f"encoding={self.encoding!r} is unknown: give a name such as utf-8, latin-1, "
                "cp1252 or utf-16."
            ) from None
        return self

    @property
    def separator(self) -> str | None:
        """The separator itself, if it is given."""
        return None if self.sep is None else _SEPARATORS.get(self.sep, self.sep)

    @property
    def own_marks(self) -> tuple[str, ...]:
        """Texts that the user says stand for a missing value."""
        return (self.na,) if isinstance(self.na, str) else tuple(self.na)

    @property
    def marks(self) -> frozenset[str]:
        """All texts that stand for a missing value."""
        return MISSING | {mark.strip() for mark in self.own_marks}


def text_option(name: str, value: str) -> str:
    """Say how an option of text files is given."""
    shown = "tab" if value == "\t" else value
    return f"text=TextFormat({name}={shown!r}) (--{name} {shown!r} on the command line)"
