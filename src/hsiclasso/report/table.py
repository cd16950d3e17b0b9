"""The table of the selected features: what people read, and the same as data."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from hsiclasso.plots.drawing import shorten
from hsiclasso.report.markup import Markup, tag
from hsiclasso.selectors.result import Member, Neighbour, SelectedFeature, SelectionResult

__all__ = ["Field", "fields_of", "numbers", "table_data", "texts", "write_table"]

#: Similar features that a cell shows, and that the data has.
_SHOWN, _KEPT = 4, 30
#: Cells with more letters than this need a wide column.
_LONG = 40
#: Letters of a name that a cell shows.
_LETTERS = 60
#: A space as wide as a digit.
_SPACE = "\u2007"
#: Why a feature was selected.
_WHY = {
    "path": "on the path",
    "kept": "kept: you asked for it",
    "filled": "filled in: relevant, adds nothing",
}


@dataclass(frozen=True)
class Field:
    """A column of the table."""

    title: str
    values: list[Any]
    #: What the cells show; by default the values.
    shown: list[Any]
    #: Whether the values are numbers.
    numeric: bool = True
    #: What the title means.
    about: str = ""


def fields_of(result: SelectionResult) -> list[Field]:
    """Return the columns of the table: those that have something to say."""
    features = result.features
    made = [
        numbers("rank", range(1, len(features) + 1), "{:d}"),
        Field("feature", [f.name for f in features], [f.name for f in features], numeric=False),
        numbers("weight", [f.weight for f in features], "{:.3g}", "weight in the solution"),
        _shares(features),
        numbers(
            "relevance", [f.relevance for f in features], "{:.3g}",
            "dependence of the target on this feature alone",
        ),
    ]  # fmt: skip
    made += [
        numbers(title, [getattr(f, name) for f in features], pattern, about)
        for title, name, pattern, about in _OPTIONAL
        if any(getattr(f, name) is not None for f in features)
    ]
    if any(f.classes for f in features):
        made.append(_classes(features))
    if result.groups:
        made.append(texts("group", [f.group or "" for f in features]))
    if any(f.n_observed < result.data.n_samples for f in features):
        about = "samples on which it is not missing"
        made.append(numbers("observed", [f.n_observed for f in features], "{:,d}", about))
    made.append(texts("why", [_WHY[f.origin] for f in features]))
    members = [cluster.members for cluster in result.clusters]
    if any(members):
        made.append(_similar("says the same", members, "left out because of this feature"))
    if any(f.neighbours for f in features):
        made.append(_similar("most similar", [f.neighbours for f in features], "of all features"))
    known = dict.fromkeys(name for f in features for name in f.info)
    made += [_any(str(name), [f.info.get(name) for f in features]) for name in known]
    return made


#: Title, name, form and meaning of numbers that only some selections have.
_OPTIONAL = (
    ("p", "p_value", "{:.1e}", "probability of so much dependence by chance"),
    ("q", "q_value", "{:.1e}", "rate of false discoveries up to here"),
    ("frequency", "frequency", "{:.0%}", "share of half-samples that select it"),
)


def numbers(title: str, values: Sequence[Any], pattern: str, about: str = "") -> Field:
    """Return a column of numbers, written by a pattern; None is an empty cell."""
    shown = ["" if value is None else pattern.format(value) for value in values]
    return Field(title, list(values), shown, about=about)


def texts(title: str, values: list[str]) -> Field:
    """Return a column of text."""
    return Field(title, values, values, numeric=False)


def _classes(features: Sequence[SelectedFeature]) -> Field:
    """Return the classes that features speak for, those of the largest shares first."""
    values = []
    for feature in features:
        total = sum(feature.classes.values()) or 1.0
        largest = sorted(feature.classes.items(), key=lambda pair: -pair[1])[:_SHOWN]
        values.append(", ".join(f"{name} {part / total:.0%}" for name, part in largest))
    about = "classes that it tells from the rest, with their parts of the relevance"
    return Field("speaks for", values, values, numeric=False, about=about)


def _any(title: str, values: list[Any]) -> Field:
    """Return a column of whatever the table knows about its columns."""
    numeric = all(isinstance(value, int | float) for value in values)
    if numeric:
        return Field(title, values, [f"{value:g}" for value in values])
    return texts(title, ["" if value is None else str(value) for value in values])


def _shares(features: Sequence[SelectedFeature]) -> Field:
    """Return the shares, with a bar each."""
    top = max([f.share for f in features], default=0.0) or 1.0
    shown = [
        [
            tag("span", _long(4 * f.share / top), class_="track", aria_hidden="true"),
            f"{f.share:.1%}".rjust(6, _SPACE),
        ]
        for f in features
    ]
    return Field("share", [f.share for f in features], shown, about="of the sum of all weights")


def _long(length: float) -> Markup:
    return tag("span", class_="bar", style=f"width:{length:.2f}em")


def _similar(title: str, others: Sequence[Sequence[Member | Neighbour]], about: str) -> Field:
    """Return lists of similar features."""
    values = [_list(some, _KEPT, str) for some in others]
    shown = [_list(some, _SHOWN, lambda name: shorten(name, 24)) for some in others]
    return Field(title, values, shown, numeric=False, about=about)


def _list(some: Sequence[Member | Neighbour], most: int, name: Callable[[str], str]) -> str:
    text = ", ".join(f"{name(one.name)} ({one.similarity:.2f})" for one in some[:most])
    return text + (f" and {len(some) - most:,} more" if len(some) > most else "")


def table_data(fields: Sequence[Field]) -> dict[str, Any]:
    """Return the titles and rows, to be sorted, copied and downloaded."""
    rows = [list(row) for row in zip(*(field.values for field in fields), strict=True)]
    return {"titles": [f.title for f in fields], "numeric": [f.numeric for f in fields],
            "rows": rows}  # fmt: skip


def write_table(fields: Sequence[Field]) -> Markup:
    """Return the table; its titles sort it."""
    head = [
        tag(
            "th",
            tag("button", field.title, type="button", data_sort=place, title=field.about or None),
            scope="col", class_="num" if field.numeric else None,
            aria_sort="ascending" if place == 0 else "none",
        )
        for place, field in enumerate(fields)
    ]  # fmt: skip
    rows = [
        tag("tr", [_cell(field, row) for field in fields], data_f=row)
        for row in range(len(fields[0].values))
    ]
    caption = tag("caption", "Selected features. The titles sort the table.", class_="hidden")
    table = tag("table", caption, tag("thead", tag("tr", head)), tag("tbody", rows), id="features")
    look = {"role": "region", "aria_label": "Selected features", "tabindex": 0}
    return tag("div", table, class_="wide", **look)


def _cell(field: Field, row: int) -> Markup:
    shown = field.shown[row]
    if field.title == "feature":
        name = str(field.values[row])
        button = tag(
            "button", shorten(name, _LETTERS), type="button", class_="pick", aria_pressed="false",
            title=name if len(name) > _LETTERS else None,
        )  # fmt: skip
        return tag("th", button, scope="row")
    long = any(len(str(value)) > _LONG for value in field.shown)
    look = "num" if field.numeric else "list" if long else "text"
    return tag("td", shown, class_=look)
