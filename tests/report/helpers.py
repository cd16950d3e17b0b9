"""Reading a report: its elements, its data, and whether it is well formed."""

from __future__ import annotations

import json
from html.parser import HTMLParser

from hsiclasso import HSICLasso
from hsiclasso.report import make_report

VOID = {"br", "col", "input", "meta"}
#: Attributes that may name something to load.
LINKS = ("src", "href", "srcset", "action", "data", "poster", "xlink:href", "formaction")


class Page(HTMLParser):
    """A report as people and screen readers meet it."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.text, self.open, self.elements = text, [], []
        self.sections, self.table, self.data = {}, [], None
        self._section = None
        self.feed(text)
        self.close()
        assert not self.open, f"not closed: {self.open}"

    def handle_starttag(self, tag, attrs):
        given = dict(attrs)
        assert len(given) == len(attrs), f"{tag} has an attribute twice"
        self.elements.append((tag, given))
        if tag in VOID:
            return
        self.open.append((tag, given))
        if tag == "section":
            self._section = given["id"]
            self.sections[self._section] = ""
        if tag == "tr" and self._section == "table":
            self.table.append([])
        if tag in ("td", "th") and self._section == "table":
            self.table[-1].append("")

    def handle_endtag(self, tag):
        assert self.open[-1][0] == tag, f"{tag} closes {self.open[-1][0]}"
        self.open.pop()
        if tag == "section":
            self._section = None

    def handle_data(self, data):
        within = [name for name, _ in self.open]
        if within and within[-1] == "script":
            if self.open[-1][1].get("type") == "application/json":
                self.data = json.loads(data)
            return
        if self._section and "title" not in within:
            self.sections[self._section] += data
        if {"td", "th"} & set(within) and self._section == "table":
            self.table[-1][-1] += data

    def tags(self, name):
        return [given for tag, given in self.elements if tag == name]

    @property
    def rows(self):
        return self.table[1:]

    def column(self, title):
        return [row[self.data["titles"].index(title)] for row in self.data["rows"]]


def read(selected, X=None, y=None, **more):
    return Page(make_report(selected, X, y, **more))


def fitted(X, y, number=3, **options):
    return HSICLasso(number, n_jobs=1, **options).fit(X, y)


def pictures(page):
    """Titles of the pictures of the shapes section."""
    inside, found = False, []
    for tag, given in page.elements:
        if tag == "section":
            inside = given["id"] == "shapes"
        if tag == "svg" and inside:
            found.append(given["aria-label"])
    return found
