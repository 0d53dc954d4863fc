"""Tools for posteriors: label decisions, calibration, conformal intervals, shape checks, projection."""

from onepeak.posterior.calibrate import fit_temperature, temper
from onepeak.posterior.conformal import ContiguousSets
from onepeak.posterior.decide import DECISIONS, mean, median, minimum_cost, mode
from onepeak.posterior.interval import covers, price_of_contiguity, sizes
from onepeak.posterior.paradox import is_paradoxical, runner_up_distance
from onepeak.posterior.projection import project
from onepeak.posterior.reliability_bins import Reliability, ReliabilityBin, reliability
from onepeak.posterior.shape import is_unimodal

__all__ = [
    "DECISIONS",
    "ContiguousSets",
    "Reliability",
    "ReliabilityBin",
    "covers",
    "fit_temperature",
    "is_paradoxical",
    "is_unimodal",
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
