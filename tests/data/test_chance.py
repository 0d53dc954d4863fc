import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from onepeak.data.chance import _GAMMA, _mixed, uniform

MASK = 2**64 - 1
seeds = st.integers(0, 2**63 - 1)


def reference(sample, *, seed, epoch, purpose):
    """The same in plain integers."""

    def mixed(state):
        state = ((state ^ (state >> 30)) * 0xBF58476D1CE4E5B9) & MASK
        state = ((state ^ (state >> 27)) * 0x94D049BB133111EB) & MASK
        return state ^ (state >> 31)

    gamma, state = 0x9E3779B97F4A7C15, 0
    for counter in (seed, epoch, purpose):
        state = mixed((state + gamma * (counter + 1)) & MASK)
    return (mixed(mixed((state + gamma * (sample + 1)) & MASK)) >> 11) / 2**53


@given(st.lists(st.integers(0, 2**62), max_size=5), seeds, st.integers(0, 10**6), st.integers(0, 20))
def test_it_is_the_definition_in_plain_integers(samples, seed, epoch, purpose):
    drawn = uniform(np.array(samples, np.int64), seed=seed, epoch=epoch, purpose=purpose)
    assert drawn.tolist() == [reference(n, seed=seed, epoch=epoch, purpose=purpose) for n in samples]


def test_the_mixing_is_that_of_splitmix64():
    # The first outputs of the published generator from state 0 are the mixed multiples of its increment.
    states = _GAMMA * np.arange(1, 4, dtype=np.uint64)
    assert [hex(value) for value in _mixed(states).tolist()] == [
        "0xe220a8397b1dcdaf",
        "0x6e789e6aa1b965f4",
        "0x6c45d188009454f",
    ]


@pytest.mark.parametrize("along", ["samples", "epochs", "seeds", "purposes"])
def test_neighbours_along_every_axis_are_independent_and_uniform(along):
    count = 4000
    match along:
        case "samples":
            drawn = uniform(np.arange(count), seed=0, epoch=0, purpose=0)
        case "epochs":
            drawn = np.array([uniform(np.array([5]), seed=0, epoch=n, purpose=0)[0] for n in range(count)])
        case "seeds":
            drawn = np.array([uniform(np.array([5]), seed=n, epoch=0, purpose=0)[0] for n in range(count)])
        case "purposes":
            drawn = np.array([uniform(np.array([5]), seed=0, epoch=0, purpose=n)[0] for n in range(count)])
    assert stats.kstest(drawn, "uniform").pvalue > 0.001
    assert abs(np.corrcoef(drawn[:-1], drawn[1:])[0, 1]) < 4 / np.sqrt(count)
    assert 0 <= drawn.min() < drawn.max() < 1


def test_the_values_never_change_between_versions():
    drawn = uniform(np.array([0, 1, 41]), seed=7, epoch=3, purpose=2)
    assert drawn.tolist() == [0.382785157070467, 0.3614435674330577, 0.3081383409273577]
