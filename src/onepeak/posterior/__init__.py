"""What to do with a posterior: decide on a label, see whether it has one peak, flag what makes no sense."""

from onepeak.posterior.decide import DECISIONS, mean, median, mode
from onepeak.posterior.paradox import is_paradoxical, runner_up_distance
from onepeak.posterior.shape import is_unimodal

__all__ = ["DECISIONS", "is_paradoxical", "is_unimodal", "mean", "median", "mode", "runner_up_distance"]
