import torch

from onepeak._precision import full_precision


def test_computing_is_never_in_half_precision():
    given = (torch.bfloat16, torch.float16, torch.float32, torch.float64)
    found = [full_precision(torch.ones(1, dtype=each)).dtype for each in given]
    assert found == [torch.float32, torch.float32, torch.float32, torch.float64]
