import pytest
import torch

from onepeak.training.memory import is_out_of_memory


@pytest.mark.parametrize(
    ("error", "lacked"),
    [
        (torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB"), True),
        (RuntimeError("CUDA error: out of memory"), True),
        (RuntimeError("CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate(handle)`"), True),
        (MemoryError(), True),
        (RuntimeError("CUDA error: an illegal memory access was encountered"), False),
        (ValueError("out of memory"), False),
    ],
    ids=["allocator", "driver", "library", "machine", "another", "a word"],
)
def test_a_lack_of_memory_is_told_from_other_errors(error, lacked):
    assert is_out_of_memory(error) is lacked


def test_the_error_of_a_real_lack_is_known():
    with pytest.raises(RuntimeError) as caught:
        torch.empty(2**60)
    assert is_out_of_memory(caught.value)
