from dataclasses import replace

import pytest

import onepeak
from onepeak.errors import InputError
from onepeak.networks.build import NetworkSettings, build_network
from onepeak.training.processes import check_share, synchronise_batch_norm
from training.planted import RECIPE


def test_a_batch_must_have_a_sample_for_every_process():
    with pytest.raises(InputError, match="`batch_size` must be at least the number of processes, 8, got 4"):
        check_share(replace(RECIPE, batch_size=4), 8)


def test_synchronised_batch_norm_is_refused_on_a_cpu(fabric):
    with pytest.raises(InputError, match="`sync_batch_norm` must be off on cpu"):
        synchronise_batch_norm(
            build_network(onepeak.method("ce", num_classes=4), NetworkSettings(backbone="small")), fabric
        )
