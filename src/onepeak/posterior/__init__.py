"""Tools for posteriors: label decisions, calibration, conformal intervals, shape checks, projection."""

from onepeak.posterior.calibrate import Reliability, ReliabilityBin, fit_temperature, reliability, temper
from onepeak.posterior.conformal import ContiguousSets, covers, price_of_contiguity, sizes
from onepeak.posterior.decide import DECISIONS, KappaRule, mean, median, minimum_cost, mode
from onepeak.posterior.label_errors import LabelErrors, likely_label_errors
from onepeak.posterior.projection import project
from onepeak.posterior.shape import is_paradoxical, is_unimodal, runner_up_distance

__all__ = [
    "DECISIONS",
    "ContiguousSets",
    "KappaRule",
    "LabelErrors",
    "Reliability",
    "ReliabilityBin",
    "covers",
    "fit_temperature",
    "is_paradoxical",
    "is_unimodal",
    "likely_label_errors",
    "mean",
    "median",
    "minimum_cost",
    "mode",
    "price_of_contiguity",
    "project",
    "reliability",
    "runner_up_distance",
    "sizes",
    "temper",
]
