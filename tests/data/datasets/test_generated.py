import pytest

from onepeak.data.biopsies import biopsies
from onepeak.data.datasets.generated import BIOPSIES
from onepeak.errors import InputError


def test_the_record_describes_the_set_that_is_drawn():
    data = biopsies(10)
    assert (data.name, data.classes) == (BIOPSIES.name, BIOPSIES.classes)


@pytest.mark.bad_input
def test_a_root_has_no_use_for_what_is_generated(tmp_path):
    with pytest.raises(
        InputError, match=r"`root` \(--root\) has no use for biopsies, which is generated: leave it out"
    ):
        BIOPSIES.open(tmp_path)
