import pytest
import torch

from onepeak.errors import InputError
from onepeak.kernels import launch


@pytest.mark.parametrize(("batch", "classes"), [(1, 2), (8, 70), (64, 64), (64, 65), (4096, 1000), (3, 4096)])
def test_a_tile_is_of_powers_of_two_holds_a_row_and_fits_the_registers(batch, classes):
    rows, columns = launch.tile(batch, classes)
    assert columns == launch.power_of_two(classes) >= classes
    assert rows == launch.power_of_two(rows)
    assert rows * columns <= launch.LONGEST_ROW


def test_a_small_batch_is_one_programs():
    assert launch.tile(8, 70) == (8, 128)
    assert launch.tile(16, 64) == (16, 64)


def test_a_larger_batch_is_spread_over_programs_as_wide_as_keep_the_device_busy():
    assert launch.tile(64, 58) == (2, 64)
    assert launch.tile(4096, 100) == (4, 128)
    assert launch.tile(1 << 20, 8) == (128, 8)
    assert launch.tile(4096, 1000) == (1, 1024)


@pytest.mark.parametrize(("batch", "classes"), [(1, 4097), (17, 100_000), (128, 1_000_000), (2, 999_983), (500, 5000)])
def test_parts_cover_a_row_and_none_is_empty(batch, classes):
    length, count = launch.parts(batch, classes, 1024, shortest=8192)
    assert length % 1024 == 0
    assert (count - 1) * length < classes <= count * length
    assert count <= 64


def test_few_rows_are_split_to_keep_the_device_busy_and_many_are_not():
    assert launch.parts(128, 1_000_000, 1024, shortest=8192)[1] == 16
    assert launch.parts(launch.PROGRAMS, 1_000_000, 1024, shortest=8192)[1] == 1


def test_scores_on_a_cpu_and_in_double_precision_go_without_kernels():
    assert not launch.takes(torch.zeros(2, 3))
    assert not launch.takes(torch.zeros(2, 3, dtype=torch.float64, device="meta"))


def test_other_kinds_of_tensors_go_without_kernels():
    class Kind(torch.Tensor):
        is_cuda = True

    assert not launch.takes(torch.zeros(2, 3).as_subclass(Kind))


@pytest.mark.bad_input
def test_labels_on_another_device_are_refused_before_a_kernel_reads_them():
    with pytest.raises(InputError, match=r"`labels` must be on the device of the scores, meta, got cpu: move them"):
        launch.check_device(torch.zeros(2, dtype=torch.int64), torch.zeros(2, 3, device="meta"))
