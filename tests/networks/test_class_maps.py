import pytest
import torch

import onepeak
from onepeak.networks.class_maps import classes_without_map, place_scores

MEASURED_AGAINST_THE_LOWEST = {"slopes", "smooth-slopes", "ecoc"}


@pytest.mark.parametrize("num_classes", [2, 3, 8, 70])
@pytest.mark.parametrize("name", [record.name for record in onepeak.methods()])
def test_only_where_slopes_add_up_a_class_has_no_map(name, num_classes):
    expected = {0} if name in MEASURED_AGAINST_THE_LOWEST else set()
    assert classes_without_map(onepeak.method(name, num_classes=num_classes)) == expected


@pytest.mark.parametrize("name", ["slopes+elb", "smooth-ecoc"])
def test_a_method_around_another_has_the_maps_of_that(name):
    assert classes_without_map(onepeak.method(name, num_classes=5)) == {0}


def test_scores_are_read_in_every_place_and_log_probabilities_where_there_are_none():
    outputs = torch.tensor([[[2.0, 1.0, -3.0]], [[0.0, 0.0, 0.0]]])
    torch.testing.assert_close(
        place_scores(onepeak.method("slopes", num_classes=4), outputs),
        torch.tensor([[[0.0, 2.0, 3.0, 0.0]], [[0.0, 0.0, 0.0, 0.0]]]),
    )
    levels = onepeak.method("corn", num_classes=4)
    torch.testing.assert_close(place_scores(levels, outputs), levels.log_probs(outputs))


def test_the_random_numbers_of_others_are_left_as_they_are():
    torch.manual_seed(3)
    expected = torch.rand(2)
    torch.manual_seed(3)
    classes_without_map(onepeak.method("ce", num_classes=3))
    assert torch.equal(torch.rand(2), expected)
