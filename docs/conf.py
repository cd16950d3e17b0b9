"""The site: ``python -m sphinx -W -c docs . FOLDER``, from the root of the repository.

Its sources are all pages of the repository, wherever they lie: their links hold on a code host too.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "_sphinx"))

import hsiclasso

project = "hsiclasso"
author = "The hsiclasso authors"
copyright = author  # noqa: A001
version = release = hsiclasso.__version__

root_doc = "docs/index"
include_patterns = [
    "*.md",
    "docs/**.md",
    "docs/**.rst",
    "benchmarks/README.md",
    "benchmarks/results/*.md",
    "experiments/README.md",
    "experiments/results/*.md",
]
exclude_patterns = [".*", "build", "dist", "CODE_OF_CONDUCT.md", "docs/_*"]

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx_copybutton",
    "commands",
    "formulas",
    "public",
]

myst_enable_extensions = ["dollarmath"]
myst_heading_anchors = 4
myst_links_external_new_tab = False

default_role = "py:obj"
smartquotes = False
toc_object_entries_show_parents = "hide"
autodoc_typehints = "none"
autodoc_member_order = "groupwise"
numpydoc_show_class_members = False
autosummary_generate = False

#: The prompt is not copied, and neither is what a command prints.
copybutton_prompt_text = "$ "
copybutton_only_copy_prompt_lines = True
copybutton_line_continuation_character = "\\"

html_math_renderer = "mathml"

html_theme = "furo"
html_title = f"hsiclasso {version}"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_extra_path = ["_root"]
html_show_sourcelink = False
html_copy_source = False
