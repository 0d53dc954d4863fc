"""Stateless random numbers: a function of the seed, the epoch, the sample and the purpose.

Without state, a sample draws the same numbers in an epoch whatever the batch, the order, the worker or the device. The
function is SplitMix64, whose output passes the usual statistical test batteries.

Reference: Steele, Lea and Flood 2014, "Fast splittable pseudorandom number generators", fig. 15.
"""

import numpy as np
import numpy.typing as npt

_GAMMA = np.uint64(0x9E3779B97F4A7C15)
_MIX_1 = np.uint64(0xBF58476D1CE4E5B9)
_MIX_2 = np.uint64(0x94D049BB133111EB)


def uniform(samples: npt.NDArray[np.int64], *, seed: int, epoch: int, purpose: int) -> npt.NDArray[np.float64]:
    """Returns one number in [0, 1) for each sample.

    Args:
        samples: The samples; any integers.
        seed: The seed of the run.
        epoch: The epoch.
        purpose: The purpose of the number; different purposes draw independently.

    Example:
        >>> alone = uniform(np.array([8]), seed=0, epoch=3, purpose=1)
        >>> among_others = uniform(np.array([7, 8]), seed=0, epoch=3, purpose=1)
        >>> bool(among_others[1] == alone[0])
        True
    """
    state = np.zeros(1, np.uint64)
    for counter in (seed, epoch, purpose):
        state = _mixed(state + _GAMMA * np.array([counter % 2**64], np.uint64) + _GAMMA)
    bits = _mixed(_mixed(state + _GAMMA * samples.astype(np.uint64) + _GAMMA))
    return (bits >> np.uint64(11)).astype(np.float64) * 2.0**-53


def _mixed(state: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
    """The finaliser of SplitMix64: every bit of the result depends on every bit of the state."""
    state = (state ^ (state >> np.uint64(30))) * _MIX_1
    state = (state ^ (state >> np.uint64(27))) * _MIX_2
    return state ^ (state >> np.uint64(31))
