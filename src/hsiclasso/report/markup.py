"""HTML that is safe by construction: text is escaped unless it was made by `tag`."""

from __future__ import annotations

import json
from collections.abc import Iterable
from html import escape
from typing import Any

__all__ = ["Markup", "json_text", "tag"]

#: Elements without content.
_VOID = frozenset({"br", "col", "input", "meta"})
#: Characters that could end a script, or a line of one.
_UNSAFE = {ord(c): f"\\u{ord(c):04x}" for c in "<>&\u2028\u2029"}


class Markup(str):
    """Text that is HTML already."""

    __slots__ = ()


def tag(name: str, /, *children: Any, **attributes: Any) -> Markup:
    """Return an element.

    Parameters
    ----------
    name : str
    *children : str, Markup, iterable of them, or None
        Content; all text is escaped unless it is `Markup`.
    **attributes : object
        ``class_`` stands for ``class`` and ``data_f`` for ``data-f``; None leaves one out, True
        gives one without a value.

    Examples
    --------
    >>> tag("td", "<b>", class_="name")
    '<td class="name">&lt;b&gt;</td>'
    """
    given = "".join(_attribute(key, value) for key, value in attributes.items())
    if name in _VOID:
        return Markup(f"<{name}{given}>")
    return Markup(f"<{name}{given}>{''.join(_content(child) for child in children)}</{name}>")


def _attribute(key: str, value: Any) -> str:
    if value is None or value is False:
        return ""
    name = key.rstrip("_").replace("_", "-")
    return f" {name}" if value is True else f' {name}="{_clean(str(value))}"'


def _content(child: Any) -> str:
    if child is None:
        return ""
    if isinstance(child, Markup):
        return child
    if isinstance(child, Iterable) and not isinstance(child, str):
        return "".join(map(_content, child))
    return _clean(str(child))


def _clean(text: str) -> str:
    """Escape text; characters that no HTML page may have become a replacement mark."""
    text = "".join("\ufffd" if _is_forbidden(c) else c for c in text)
    return escape(text, quote=True)


def _is_forbidden(letter: str) -> bool:
    return (letter < " " and letter not in "\t\n\r") or "\ud800" <= letter <= "\udfff"


def json_text(data: Any) -> Markup:
    r"""Return JSON that may stand within a script element.

    Examples
    --------
    >>> json_text("</script>")
    '"\\u003c/script\\u003e"'
    """
    return Markup(json.dumps(data, allow_nan=False, separators=(",", ":")).translate(_UNSAFE))
