import numpy as np
import pytest
import torch

from onepeak.data.augment import Augment, draw_changes
from onepeak.data.crops import crop_table, cut, gather


def expected_crop(store, position, changes, row):
    height, width = changes.crop
    top, left = changes.corners[row]
    crop = store[position].numpy()[:, top : top + height, left : left + width]
    crop = crop[:, ::-1] if changes.vertical_flip[row] else crop
    return crop[:, :, ::-1] if changes.horizontal_flip[row] else crop


@pytest.fixture
def changes_of():
    def draw(store, positions, augment, epoch=0):
        return draw_changes(augment, store.kept[positions], store.sizes[positions], seed=0, epoch=epoch)

    return draw


def by_gather(store, positions, changes):
    return gather(store, crop_table(store, positions, changes), changes.crop).permute(0, 3, 1, 2)


@pytest.mark.parametrize("way", [cut, by_gather])
def test_crops_are_cut_and_mirrored_as_drawn(mixed_store, changes_of, way):
    positions = np.array([3, 0, 2, 2, 1, 4])
    for epoch in range(6):
        changes = changes_of(mixed_store, positions, Augment(crop=8, vertical_flip=True), epoch)
        batch = way(mixed_store, positions, changes)
        for row, position in enumerate(positions):
            assert (batch[row].numpy() == expected_crop(mixed_store, position, changes, row)).all()


def test_a_batch_is_channels_last_in_memory(mixed_store, changes_of):
    positions = np.arange(5)
    batch = cut(mixed_store, positions, changes_of(mixed_store, positions, Augment(crop=6)))
    assert batch.shape == (5, 3, 6, 6)
    assert batch.is_contiguous(memory_format=torch.channels_last)


def test_a_picture_smaller_than_the_crop_is_enlarged_not_padded(mixed_store, changes_of):
    positions = np.array([0, 1])  # 9 x 12 and 14 x 10
    changes = changes_of(mixed_store, positions, Augment(crop=13, horizontal_flip=False))
    assert changes.sizes.tolist() == [[13, 17], [18, 13]]
    batch = cut(mixed_store, positions, changes)
    for row, position in enumerate(positions):
        size = changes.sizes[row].tolist()
        larger = torch.nn.functional.interpolate(mixed_store[position][None].float(), size, mode="bilinear")[0]
        top, left = changes.corners[row]
        expected = larger[:, top : top + 13, left : left + 13].round().to(torch.uint8)
        assert (batch[row] == expected).all()


def test_an_empty_batch_is_empty(mixed_store, changes_of):
    nothing = np.empty(0, np.int64)
    assert cut(mixed_store, nothing, changes_of(mixed_store, nothing, Augment(crop=6))).shape == (0, 3, 6, 6)


@pytest.mark.gpu
def test_the_gpu_cuts_the_same_crops(mixed_store, changes_of):
    resident = mixed_store.to("cuda")
    positions = np.array([3, 0, 2, 2, 1, 4])
    for crop in (8, 13):
        for epoch in range(5):
            changes = changes_of(mixed_store, positions, Augment(crop=crop, vertical_flip=True), epoch)
            difference = cut(resident, positions, changes).cpu().int() - cut(mixed_store, positions, changes).int()
            assert difference.abs().max() <= (1 if crop == 13 else 0), "enlarging may round a half otherwise"
