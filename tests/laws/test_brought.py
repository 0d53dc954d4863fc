"""The law that no loss brings numbers to its device can be broken."""

import pytest
import torch

from laws.brought import Brought

X = torch.zeros(3, device="meta")


@pytest.mark.parametrize(
    ("work", "by"),
    [
        (lambda: X * torch.tensor(0.5, device="meta"), ["lift_fresh"]),
        (lambda: X * torch.ones(3).to("meta"), ["ones", "_to_copy"]),
        (lambda: X[torch.arange(2)], ["arange", "index"]),
        (lambda: X * 0.5 + torch.full((3,), 2.0, device="meta") * torch.arange(3, device="meta"), []),
    ],
    ids=["a number", "a copy", "an index", "nothing"],
)
def test_what_comes_from_the_host_is_noticed(work, by):
    with Brought() as brought:
        work()
    assert brought.by == by
