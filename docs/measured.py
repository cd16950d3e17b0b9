"""Measured numbers on the page of comparisons: ``python -m docs.measured`` writes them there.

They come from the pages of results, and stand between the marks of `docs/comparison.md`.
"""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "comparison.md"

#: What is said of a row of a page of results: the page, its case, what it measures, and our words.
BARS = (
    ("engine", "blocks:", "pyHSICLasso B=20, M=3 / HSICLasso, wall",
     "pyHSICLasso, blocks (B=20, M=3), 1000 x 10,000, 50 features: its time / ours"),
    ("engine", "blocks:", "the same, peak memory", "the same: its memory / ours"),
    ("engine", "exact:", "pyHSICLasso B=0 / HSICLasso, wall",
     "pyHSICLasso, exact (B=0), 200 x 10,000, 50 features: its time / ours"),
    ("engine", "exact:", "features of 50 that both select",
     "the same: features that both select, of 50"),
    ("engine", "embedding:", "pyHSICLasso B=20, M=3 / EmbeddingLasso, wall",
     "pyHSICLasso, blocks, against Embedding Lasso: its time / ours"),
    ("engine", "wide:", "HSICLasso / f_regression, wall",
     "`f_regression`, 1000 x 100,000, 50 features: *our* time / its time"),
    ("engine", "wide:", "mutual_info_regression / HSICLasso, wall",
     "`mutual_info_regression`, the same: its time / ours"),
    ("baselines", "mrmr", "F-test against mrmr_selection, real target",
     "mrmr_selection, 1000 x 10,000, 50 features, its own criterion: its time / ours"),
    ("scale", "zarr", "selection / reading, mean and variance, wall",
     "reading a Zarr store of 1000 x 1,000,000 once: *our selection* / the reading"),
    ("scale", "plink", "selection / decoding, wall",
     "decoding 5000 x 500,000 genotypes with bed-reader: *our selection* / the decoding"),
    ("scale", "anndata", "selection / highly variable genes, wall",
     "scanpy's highly variable genes, 50,000 x 20,000: *our* time / its time"),
    ("solvers", "orlraws10P: n=100, d=10304, 50 features", "homotopy, explicit / skglm, wall",
     "skglm on our lasso problem, images, 50 features: *our homotopy* / its time"),
    ("solvers", "orlraws10P: n=100, d=10304, 50 features", "cd, explicit / skglm, wall",
     "the same: *our coordinate descent* / its time"),
)  # fmt: skip
#: Methods of the table of accuracies, in the words of the page of experiments.
METHODS = ("HSIC Lasso", "NOCCO Lasso", "Lasso", "mRMR, 5 quantiles", "cKTA", "random forest",
           "pyHSICLasso", "mrmr_selection", "ipss")  # fmt: skip


def rows_of(text: str) -> list[list[str]]:
    """Return the cells of all lines of tables."""
    lines = (line.strip() for line in text.splitlines() if line.startswith("|"))
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


def speed() -> list[str]:
    """Return the table of ratios of time and memory."""
    lines = ["| against | measured | bar | all rows |", "|---|:-:|:-:|---|"]
    for page, case, what, words in BARS:
        text = (ROOT / "benchmarks" / "results" / f"{page}.md").read_text(encoding="utf-8")
        (row,) = (row for row in rows_of(text) if row[0].startswith(case) and row[1] == what)
        link = f"[{page}](../benchmarks/results/{page}.md)"
        lines.append(f"| {words} | {row[2]} | {row[3]} | {link} |")
    return lines


def missed() -> list[str]:
    """Return the table of all bars that were missed, or a line that says that there is none."""
    lines = ["| page | case | measured | value | bar |", "|---|---|---|:-:|:-:|"]
    for page in sorted((ROOT / "benchmarks" / "results").glob("*.md")):
        link = f"[{page.stem}](../benchmarks/results/{page.name})"
        rows = rows_of(page.read_text(encoding="utf-8"))
        failed = [row for row in rows if len(row) > 4 and row[4] == "FAIL"]
        lines += [f"| {link} | {' | '.join(row[:4])} |" for row in failed]
    return lines if len(lines) > 2 else ["None."]


def accuracy() -> list[str]:
    """Return the table of accuracies on real classes, with 10 and with 50 features."""
    text = (ROOT / "experiments" / "README.md").read_text(encoding="utf-8")
    part = text.split("<!-- beyond: begin -->")[1].split("Redundancy rate")[0]
    head, _, *rows = rows_of(part)
    found = {row[0]: row for row in rows}
    lines = [f"| {' | '.join(head)} |", f"|---|{':-:|' * (len(head) - 1)}"]
    return [*lines, *(f"| {' | '.join(found[name])} |" for name in METHODS)]


def filled(text: str) -> str:
    """Return the page with the tables between its marks."""
    for name, table in (("speed", speed()), ("missed", missed()), ("accuracy", accuracy())):
        begin, end = f"<!-- {name}: begin -->\n", f"<!-- {name}: end -->"
        before, _, rest = text.partition(begin)
        text = before + begin + "\n".join(table) + "\n" + end + rest.partition(end)[2]
    return text


if __name__ == "__main__":
    PAGE.write_text(filled(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
