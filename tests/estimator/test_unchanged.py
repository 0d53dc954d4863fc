from types import SimpleNamespace

import pytest

from onepeak.estimator.unchanged import unchanged_by_failure


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
def test_after_a_failure_attributes_are_as_before(error):
    thing = SimpleNamespace(kept=1, gone=2)

    def fail():
        with unchanged_by_failure(thing):
            thing.kept, thing.new = 3, 4
            del thing.gone
            raise error

    with pytest.raises(error):
        fail()
    assert thing == SimpleNamespace(kept=1, gone=2)


def test_what_goes_well_stays():
    thing = SimpleNamespace(kept=1)
    with unchanged_by_failure(thing):
        thing.kept = 2
    assert thing.kept == 2
