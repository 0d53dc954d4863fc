import numpy as np
import pytest
import torch

from onepeak.errors import InputError
from onepeak.posterior import likely_label_errors
from reference import label_errors as reference


@pytest.mark.parametrize("num_classes", [2, 5, 40])
def test_it_is_the_definition(num_classes):
    chance = np.random.default_rng(num_classes)
    probs = chance.dirichlet(np.full(num_classes, 0.3), size=300)
    labels = chance.integers(0, num_classes - 1, size=300)  # nobody has the highest class
    found = likely_label_errors(torch.from_numpy(probs).log(), torch.from_numpy(labels))
    suggested, distances = reference.likely_label_errors(probs.tolist(), labels.tolist())
    assert found.suggested.tolist() == suggested
    assert found.likely.tolist() == [a != b for a, b in zip(suggested, labels, strict=True)]
    assert found.distance.numpy() == pytest.approx(distances)


def test_planted_errors_come_first_and_the_farthest_before_the_nearest():
    chance = np.random.default_rng(0)
    truth = chance.integers(0, 6, size=1000)
    scores = -2.0 * (np.arange(6) - truth[:, None] + chance.normal(0, 0.3, size=(1000, 1))) ** 2
    given = truth.copy()
    given[:20] = (truth[:20] + 3) % 6
    given[20:40] = np.where(truth[20:40] < 5, truth[20:40] + 1, 4)
    found = likely_label_errors(torch.from_numpy(scores).log_softmax(dim=-1), torch.from_numpy(given))
    assert set(found.ranked[:20].tolist()) == set(range(20))
    assert len({*range(20, 40)} & {*found.ranked[:40].tolist()}) >= 10
    assert len(found.ranked) < 100


@pytest.mark.bad_input
def test_probabilities_and_labels_out_of_range_are_refused():
    with pytest.raises(InputError, match="log-probabilities"):
        likely_label_errors(torch.full((2, 3), 1 / 3), torch.tensor([0, 1]))
    with pytest.raises(InputError, match="from 0 to 2, got 3"):
        likely_label_errors(torch.full((1, 3), 1 / 3).log(), torch.tensor([3]))
