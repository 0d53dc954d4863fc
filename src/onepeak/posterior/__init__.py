"""What to do with a posterior: decide on a label, and see whether it has one peak."""

from onepeak.posterior.decide import DECISIONS, mean, median, mode
from onepeak.posterior.shape import is_unimodal

__all__ = ["DECISIONS", "is_unimodal", "mean", "median", "mode"]
