"""onepeak: deep ordinal classification whose posteriors have one peak."""

__version__ = "0.1.0"
