"""Small vector pictures."""

from __future__ import annotations

import re

import numpy as np
import pytest

from hsiclasso.report.heatmap import draw_heatmap
from hsiclasso.report.markup import Markup, json_text, tag
from hsiclasso.report.svg import Axis, dots, line, number


class TestMarkup:
    def test_text_is_escaped_and_markup_is_not(self):
        made = tag("p", "<b>&", tag("i", "'\""), [None, "x"], title='"<')
        assert made == '<p title="&quot;&lt;">&lt;b&gt;&amp;<i>&#x27;&quot;</i>x</p>'

    def test_marks_that_no_page_may_have_are_replaced(self):
        assert tag("p", "a\x00b\ud800") == "<p>a\ufffdb\ufffd</p>"

    def test_attributes(self):
        assert tag("input", hidden=True, class_="a", data_f=0, title=None) == (
            '<input hidden class="a" data-f="0">'
        )

    @pytest.mark.parametrize("text", ["</script>", "<!--", "a&b", "\u2028\u2029"])
    def test_json_cannot_end_its_script(self, text):
        made = json_text({"x": text})
        assert isinstance(made, Markup)
        assert not re.search("[<>&\u2028\u2029]", made)
        assert __import__("json").loads(made) == {"x": text}


class TestAxis:
    @pytest.mark.parametrize(("low", "high"), [(0, 1), (-3.2, 5.1), (1e-9, 4e-9), (1e6, 1e6 + 3)])
    def test_ticks_are_few_round_and_inside(self, low, high):
        axis = Axis.of(np.array([low, high], dtype=float), 100, 600)
        ticks = [value for value, _ in axis.ticks()]
        assert 3 <= len(ticks) <= 9
        assert all(axis.low <= value <= axis.high for value in ticks)
        assert np.allclose(np.diff(ticks), ticks[1] - ticks[0])
        assert len({text for _, text in axis.ticks()}) == len(ticks)

    def test_of_one_value(self):
        axis = Axis.of(np.array([5.0, 5.0]), 0, 100)
        assert axis.at(5.0) == pytest.approx(50)

    def test_logarithms(self):
        axis = Axis(1000.0, 1.0, 0, 300, log=True)
        assert axis.at([1000, 100, 10, 1]).tolist() == pytest.approx([0, 100, 200, 300])
        assert [text for _, text in axis.ticks()] == ["1", "10", "100", "1,000"]


def test_dots_are_where_they_should_be():
    data = re.search('d="(.*?)"', dots([10.2, 3.0, 10.0], [5.0, 7.6, 2.0]))[1]
    steps = [tuple(map(int, found)) for found in re.findall(r"m(-?\d+) ?(-?\d+)h0", data)]
    places = np.cumsum(steps, axis=0).tolist()
    assert places == [[3, 8], [10, 2], [10, 5]]


def test_lines_break_where_nothing_is_known():
    assert 'd="M0 1L1 2M3 4"' in line([0, 1, 2, 3], [1, 2, np.nan, 4])


@pytest.mark.parametrize(
    ("value", "step", "text"),
    [
        (0.1 + 0.2, 0.1, "0.3"),
        (-1e-17, 0.5, "0"),
        (12345.6, None, "12,346"),
        (0.001, None, "0.001"),
    ],
)
def test_numbers(value, step, text):
    assert number(value, step) == text


class TestHeatMap:
    def test_similar_features_are_neighbours(self):
        similarity = np.eye(4)
        similarity[0, 2] = similarity[2, 0] = 0.9
        similarity[1, 3] = similarity[3, 1] = 0.5
        made = draw_heatmap(("a", "b", "c", "d"), similarity)
        order = re.findall(r'<g data-f="(\d)">', made.picture)
        assert {frozenset(order[:2]), frozenset(order[2:])} == {frozenset("02"), frozenset("13")}
        assert made.words.startswith("Most similar: a and c (0.90); b and d (0.50)")

    def test_one_feature_has_none(self):
        assert draw_heatmap(("a",), np.ones((1, 1))) is None
