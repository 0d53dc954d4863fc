"""Proves that every public name of the package is documented on some page."""

import importlib

from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.util import logging

from generate.api import PACKAGES, public


def warn_of_missing(app: Sphinx, env: BuildEnvironment) -> None:  # noqa: ARG001 - Sphinx calls it so
    """A warning, which `make docs` makes an error, for every public name that no page describes."""
    described = set(env.domains["py"].data["objects"]) if "py" in env.domains else set()
    names = {f"{package}.{name}" for package in PACKAGES for name in public(package)}
    modules = names & set(PACKAGES)
    for name in sorted(names - described - modules):
        logging.getLogger(__name__).warning("%s is public and on no page", name)
    at_home = {id(getattr(importlib.import_module(package), name)) for package in PACKAGES for name in public(package)}
    top = importlib.import_module("onepeak")
    for name in top.__all__:
        value = getattr(top, name)
        if id(value) not in at_home and getattr(value, "__name__", "") not in PACKAGES:
            logging.getLogger(__name__).warning("onepeak.%s is public and on no page", name)
