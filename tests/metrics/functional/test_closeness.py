import math

import pytest
import torch

from onepeak.metrics.functional import closeness_evaluation_measure


def test_the_value_is_that_worked_by_hand():
    # 4, 2 and 2 of 8: bits of 2 / 8, 1 / 8 and 1 / 8 if right; 0 for 2 is half of 4 and all of 2 and 2, of 8
    labels = torch.tensor([0, 0, 0, 0, 1, 1, 2, 2])
    predicted = torch.tensor([0, 0, 0, 1, 1, 1, 2, 0])
    found = [2, 2, 2, -math.log2((1 + 4) / 8), 3, 3, 3, -math.log2((2 + 4) / 8)]
    perfect = 4 * 2 + 4 * 3
    value = closeness_evaluation_measure(predicted, labels, num_classes=3)
    assert value.item() == pytest.approx(sum(found) / perfect)
