"""The version, written once: the package, its pages and its records take it from here."""

__version__ = "0.1.0"
