"""The version of the package; everything else reads it from here."""

__version__ = "1.0.0"
