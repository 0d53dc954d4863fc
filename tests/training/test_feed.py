import numpy as np
import pytest
import torch

from onepeak.data.images.augment import Augment
from onepeak.data.images.store.build import build_store
from onepeak.networks.inputs import normalise
from onepeak.training.feed import ImageFeed, RowFeed, epoch_order
from training.planted import planted_images

CPU = torch.device("cpu")
SAMPLES = np.arange(5, 105)
LABELS = np.concatenate([np.zeros(95, np.int64), np.arange(1, 11) % 2 + 1])


@pytest.mark.parametrize("balanced", [False, True])
def test_the_order_is_a_function_of_seed_and_epoch(balanced):
    def order(seed, epoch):
        return epoch_order(SAMPLES, LABELS, seed=seed, epoch=epoch, balanced=balanced).tolist()

    first = order(3, 7)
    np.random.seed(0)  # the global generators must not matter
    torch.manual_seed(0)
    assert order(3, 7) == first
    assert order(3, 8) != first
    assert order(4, 7) != first
    assert order(7, 3) != first


def test_an_epoch_visits_every_sample_once_and_not_in_their_order():
    order = epoch_order(SAMPLES, LABELS, seed=0, epoch=0, balanced=False)
    assert sorted(order) == SAMPLES.tolist()
    assert order.tolist() != SAMPLES.tolist()


def test_balanced_epochs_are_as_long_and_draw_every_class_about_equally_often():
    counts = np.zeros(3)
    for epoch in range(60):
        order = epoch_order(SAMPLES, LABELS, seed=0, epoch=epoch, balanced=True)
        assert len(order) == len(SAMPLES)
        assert set(order) <= set(SAMPLES)
        counts += np.bincount(LABELS[order], minlength=3)
    # 6,000 draws: a third of them has a standard deviation of 36
    assert counts == pytest.approx([2000, 2000, 2000], abs=5 * 36)


def test_a_class_without_a_training_sample_does_not_disturb_the_balance():
    labels = np.where(LABELS == 1, 9, LABELS)
    order = epoch_order(SAMPLES, labels, seed=0, epoch=0, balanced=True)
    assert set(labels[order]) == {0, 2, 9}


def test_rows_come_as_they_are_for_training_and_all_of_them_for_evaluation():
    rows = np.arange(20, dtype=np.float32).reshape(10, 2)
    feed = RowFeed(torch.from_numpy(rows), CPU)
    assert feed.train_inputs(np.array([3, 1]), seed=0, epoch=0).tolist() == rows[[3, 1]].tolist()
    wanted = np.array([9, 0, 4, 2, 7])
    found = torch.empty(5, 2)
    lengths = []
    for places, batch in feed.evaluation_inputs(wanted, batch_size=2):
        found[places] = batch
        lengths.append(len(batch))
    assert found.tolist() == rows[wanted].tolist()
    assert lengths == [2, 2, 1]


def test_images_are_cropped_for_training_and_whole_for_evaluation():
    images = planted_images(8).items
    feed = ImageFeed(build_store(images), Augment(crop=9), CPU)
    batch = feed.train_inputs(np.array([5, 2, 3]), seed=0, epoch=0)
    assert batch.shape == (3, 3, 9, 9)
    assert -1 <= batch.min() <= batch.max() <= 1
    assert not torch.equal(batch, feed.train_inputs(np.array([5, 2, 3]), seed=0, epoch=1))
    for places, whole in feed.evaluation_inputs(np.array([7, 6, 0]), batch_size=2):
        pixels = images.pixels[np.array([7, 6, 0])[places.numpy()]].transpose(0, 3, 1, 2)
        assert torch.equal(whole, normalise(torch.from_numpy(np.ascontiguousarray(pixels))))
