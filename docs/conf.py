"""The site: `make docs` builds it into docs/_build, without a network; a warning is an error."""

import sys
from pathlib import Path

from sphinx.application import Sphinx

import onepeak

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

from generate import api, gallery, methods, notebooks, public_names  # noqa: E402 - found by the line above

project = "onepeak"
author = copyright = "the onepeak contributors"  # noqa: A001 - Sphinx calls it so
release = version = onepeak.__version__
extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx_copybutton",
    "sphinx-mathjax-offline",
]
exclude_patterns = ["_build", "README.md", "gallery", "notebooks"]
html_theme = "furo"
html_title = f"onepeak {release}"
html_show_sourcelink = False
html_static_path = ["_static"]
html_css_files = ["narrow.css"]

# Docstrings are Google style with code in single backticks; what a tensor is, is its name, so types stay short.
default_role = "code"
napoleon_numpy_docstring = False
napoleon_use_rtype = False
autodoc_default_options = {"members": True, "exclude-members": "forward, extra_repr"}
napoleon_use_ivar = True
autodoc_typehints = "none"
autodoc_member_order = "bysource"
autodoc_class_signature = "mixed"
myst_enable_extensions = ["colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 3
suppress_warnings = ["config.cache"]
nitpicky = True  # what is meant as a link is one
nitpick_ignore = [("py:exc", "ExportError"), ("py:exc", "UnreadableImagesError")]  # caught as those of onepeak.errors


def _is_machinery(_app: Sphinx, _what: str, name: str, _value: object, skip: bool, _options: object) -> bool | None:
    """Leaves out what scikit-learn adds to every estimator for the routing of metadata."""
    return True if name.startswith("set_") and name.endswith("_request") else skip or None


def _keep_colons(_app: Sphinx, what: str, _name: str, _value: object, _options: object, lines: list[str]) -> None:
    """Keeps napoleon from taking what stands before a colon, in the first line on an attribute, for the type of it."""
    if what in ("attribute", "data", "property"):
        lines[:0] = ["..", ""]  # an empty comment, which is not shown


def setup(app: Sphinx) -> None:
    """Pages made from the catalog and from the code, and the proof that every public name is on one of them."""
    app.connect("builder-inited", lambda app: methods.write_pages(Path(app.srcdir) / "_generated" / "methods"))
    app.connect("builder-inited", lambda app: gallery.write_page(Path(app.srcdir) / "_generated"))
    app.connect("builder-inited", lambda app: notebooks.write_pages(Path(app.srcdir) / "_generated" / "notebooks"))
    app.connect("builder-inited", lambda app: api.write_pages(Path(app.srcdir) / "_generated" / "api"))
    app.connect("autodoc-skip-member", _is_machinery)
    app.connect("autodoc-process-docstring", _keep_colons, priority=400)  # before napoleon's 500
    app.connect("env-check-consistency", public_names.warn_of_missing)
