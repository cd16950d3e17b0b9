"""The sections of a report, each from the result and the data."""

from __future__ import annotations

import numpy as np

from hsiclasso.plots.drawing import shorten
from hsiclasso.plots.seen import Groups, Labels, Numbers, Seen, Times
from hsiclasso.report.fitted import draw_function
from hsiclasso.report.heatmap import MOST, draw_heatmap
from hsiclasso.report.markup import Markup, tag
from hsiclasso.report.page import listed, paragraphs, section
from hsiclasso.report.path import draw_path
from hsiclasso.report.sentences import certificate_words, notes_of
from hsiclasso.report.shapes import Shape, draw_shape
from hsiclasso.report.svg import number
from hsiclasso.report.table import Field, write_table
from hsiclasso.selectors.result import SelectedFeature, SelectionResult

__all__ = [
    "certificate_section",
    "data_section",
    "notes_section",
    "path_section",
    "scrolling",
    "shapes_section",
    "similarity_section",
    "table_section",
    "tests_section",
]

#: Most features that have a picture.
_PICTURES = 60


def notes_section(result: SelectionResult) -> Markup | None:
    """Return what a reader should be warned of."""
    notes = notes_of(result)
    items = tag("ul", [tag("li", note) for note in notes], class_="notes")
    return section("Warnings", items, name="warnings") if notes else None


def table_section(fields: list[Field]) -> Markup:
    """Return the table, with a filter and buttons."""
    search = tag(
        "label", "Filter ", tag("input", type="search", id="filter", autocomplete="off"),
    )  # fmt: skip
    tools = [
        search,
        tag("button", "Copy", type="button", id="copy"),
        tag("button", "Download CSV", type="button", id="csv"),
        tag("button", "Clear picks", type="button", id="clear", hidden=True),
        tag("span", id="said", role="status", aria_live="polite"),
    ]
    help_ = (
        "Titles sort. Point at a feature, or pick it by click, Enter or Space, to mark it in every "
        "picture; arrow keys go up and down."
    )
    body = tag("div", tools, class_="tools"), write_table(fields), tag("p", help_, class_="help")
    return section("Features", *body, name="table")


def shapes_section(result: SelectionResult, seen: Seen | None) -> Markup | None:
    """Return how the target depends on each feature: in the data, or as it was fitted."""
    if not result.features or (seen is None and not result.functions):
        return None
    features = result.features[:_PICTURES]
    if seen is None:
        shapes = [draw_function(function) for function in result.functions[:_PICTURES]]
        words = "Each picture shows what the values of a feature add to the prediction."
    else:
        shapes = [draw_shape(feature, seen) for feature in features]
        words = "Each picture shows the data: what the target looks like over a feature."
    pairs = zip(features, shapes, strict=True)
    panels = [_panel(k, feature, shape) for k, (feature, shape) in enumerate(pairs)]
    more = len(result.features) - len(panels)
    if more:
        words += f" The last {more:,} features have no picture."
    return section(
        "How the target depends on each", tag("p", words), tag("div", panels, class_="panels"),
        name="shapes",
    )  # fmt: skip


def _panel(place: int, feature: SelectedFeature, shape: Shape) -> Markup:
    """Return the picture of one feature, with its name, its legend and a sentence."""
    heading = tag("h3", shorten(feature.name, 44), tag("small", f" {feature.share:.1%}"))
    drawn = shape.drawn
    caption = f"{drawn.words if drawn else ''} {shape.note}".strip()
    legend = None
    if drawn is not None and drawn.legend:
        items = [
            tag(
                "li",
                tag("i", class_=f"{drawn.colours}{k} h{k}", aria_hidden="true"),
                shorten(n, 40),
            )
            for k, n in enumerate(drawn.legend)
        ]
        legend = tag("ul", items, class_="legend")
    parts = heading, drawn.picture if drawn else None, legend, tag("figcaption", caption)
    return tag("figure", parts, class_="panel", data_f=place)


def path_section(result: SelectionResult) -> Markup | None:
    """Return the path."""
    drawn = draw_path(result)
    if drawn is None:
        return None
    words = (
        "From left to right the penalty falls, and features join: the first to join are the most "
        "relevant. The right end is the solution. Grey features are not selected."
    )
    return section("Path", tag("p", words), scrolling(drawn, "Path"), name="path")


def similarity_section(result: SelectionResult) -> Markup | None:
    """Return how similar the selected features are."""
    if result.similarity is None:
        return None
    drawn = draw_heatmap(result.names, result.similarity)
    if drawn is None:
        return None
    words = (
        "0: two features say nothing of each other; 1: they say the same. Features that join early "
        "in the tree are similar."
    )
    more = f" The first {MOST} features are shown." if len(result.features) > MOST else ""
    texts = paragraphs([words + more, drawn.words])
    return section("Redundancy", texts, scrolling(drawn.picture, "Redundancy"), name="redundancy")


def scrolling(picture: Markup, name: str) -> Markup:
    """Return a picture or a table that scrolls on narrow screens."""
    return tag("div", picture, class_="wide", role="region", aria_label=name, tabindex=0)


def tests_section(result: SelectionResult) -> Markup | None:
    """Return how often half-samples selected each feature, and the tests of all candidates."""
    parts: list[Markup] = []
    if any(f.frequency is not None for f in result.features):
        words = (
            "How often half of the samples select the feature, or one that says the same. Features "
            "with a long bar do not depend on which samples were drawn."
        )
        bars = [_bar(k, f) for k, f in enumerate(result.features)]
        parts += [tag("p", words), tag("div", bars, class_="bars")]
    control = result.error_control
    if control is not None:
        words = (
            f"{len(control.candidates):,} candidates were tested, alone and given the others; "
            f"those with q up to {control.level:g} were found."
        )
        parts += [tag("p", words), _candidates(result)]
    return section("How sure", *parts, name="sure") if parts else None


def _bar(place: int, feature: SelectedFeature) -> Markup:
    share = feature.frequency or 0.0
    bar = tag("span", class_="long", style=f"width:{100 * share:.1f}%")
    name = tag("span", shorten(feature.name, 30), class_="of")
    track = tag("span", bar, aria_hidden="true")
    return tag("div", name, track, tag("span", f"{share:.0%}"), data_f=place)


def _candidates(result: SelectionResult) -> Markup:
    """Return a table of the tests; candidates that were not found come last."""
    assert result.error_control is not None
    place = {feature.index: k for k, feature in enumerate(result.features)}
    tests = sorted(result.error_control.candidates, key=lambda test: test.q_value)[:100]
    titles = {
        "candidate": None, "p alone": "num", "p given the others": "num", "q": "num", "found": None
    }  # fmt: skip
    head = tag("tr", [tag("th", name, scope="col", class_=look) for name, look in titles.items()])
    rows = [
        tag(
            "tr",
            tag("th", shorten(test.name, 60), scope="row"),
            [tag("td", f"{p:.1e}", class_="num")
             for p in (test.marginal_p, test.conditional_p, test.q_value)],
            tag("td", "yes" if test.found else "no"),
            data_f=place.get(test.index) if test.found else None,
        )
        for test in tests
    ]  # fmt: skip
    return scrolling(tag("table", tag("thead", head), tag("tbody", rows)), "Tests")


def certificate_section(result: SelectionResult) -> Markup:
    """Return what the certificate proves."""
    return section("Certificate", paragraphs(certificate_words(result)), name="certificate")


def data_section(result: SelectionResult, seen: Seen) -> Markup:
    """Return the sizes of the table, and what the target and the selected columns are like."""
    data = result.data
    about = {"Samples used": f"{data.n_samples:,}", "Columns": f"{data.n_columns:,}"}
    if data.n_dropped:
        about["Samples not used"] = f"{data.n_dropped:,}"
    if seen.target is not None:
        about["Target"] = _target_words(seen)
    missing = {name: int(np.isnan(column.values).sum()) for name, column in seen.columns.items()}
    some = [f"{shorten(name, 30)} ({n:,})" for name, n in missing.items() if n]
    if some:
        rest = f" and {len(some) - 10} more columns" if len(some) > 10 else ""
        about["Missing values"] = ", ".join(some[:10]) + rest
    labelled = sum(column.labels is not None for column in seen.columns.values())
    if labelled:
        about["Selected columns of labels"] = f"{labelled:,}"
    return section("Data", listed(about), name="about")


def _target_words(seen: Seen) -> str:
    """Say what the values of the target are like."""
    target = seen.target
    if isinstance(target, Groups):
        counts = [np.count_nonzero(target.codes == k) for k in range(len(target.names))]
        shown = [f"{shorten(n, 20)} ({c:,})" for n, c in zip(target.names, counts, strict=True)]
        rest = f" and {len(shown) - 12} more" if len(shown) > 12 else ""
        return f"{target.name}: {', '.join(shown[:12])}{rest}"
    if isinstance(target, Times):
        return f"{target.name}: {int(target.event.sum()):,} events, median time " + number(
            float(np.median(target.time))
        )
    assert isinstance(target, Numbers | Labels)
    if isinstance(target, Labels):
        pairs = zip(target.names, target.values.sum(axis=1), strict=True)
        return ", ".join(f"{shorten(name, 20)} ({count:.0f})" for name, count in list(pairs)[:12])
    said = []
    for name, values in list(zip(target.names, target.values, strict=True))[:5]:
        low, middle, high = (number(float(v)) for v in np.quantile(values, [0, 0.5, 1]))
        said.append(f"{shorten(name, 20)} from {low} to {high}, median {middle}")
    return "; ".join(said)
