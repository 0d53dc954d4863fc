import torch
from hypothesis import given
from hypothesis import strategies as st

from onepeak.posterior.blocks import over_blocks, with_block_gradient


@given(
    rows=st.lists(st.tuples(st.integers(-8, 8), st.booleans()), min_size=2, max_size=40),
)
def test_every_class_has_the_value_of_its_block(rows):
    values = torch.tensor([[float(value) for value, _ in rows]])
    starts = torch.tensor([[place == 0 or start for place, (_, start) in enumerate(rows)]])
    block = starts.cumsum(-1)
    members = (block.unsqueeze(-1) == block.unsqueeze(-2)).float()
    assert torch.equal(over_blocks(values, starts, torch.add), (members @ values.unsqueeze(-1)).squeeze(-1))
    highest = torch.where(members.bool(), values.unsqueeze(-2), -torch.inf).amax(-1)
    assert torch.equal(over_blocks(values, starts, torch.maximum), highest)


def test_the_jacobian_is_the_share_in_the_block():
    probs = torch.tensor([0.1, 0.3, 0.2, 0.15, 0.25], dtype=torch.float64)
    starts = torch.tensor([True, False, True, False, False])
    fitted = torch.tensor([0.2, 0.2, 0.2, 0.2, 0.2], dtype=torch.float64).log()
    jacobian = torch.autograd.functional.jacobian(lambda x: with_block_gradient(x, fitted, starts), probs.log())
    first, second = [0.25, 0.75, 0, 0, 0], [0, 0, 1 / 3, 0.25, 5 / 12]
    expected = torch.tensor([first, first, second, second, second], dtype=torch.float64)
    torch.testing.assert_close(jacobian, expected)


def test_the_fitted_values_keep_their_bits():
    log_probs, fitted = torch.randn(2, 6).log_softmax(-1), torch.randn(2, 6)
    starts = torch.tensor([True, False, False, True, False, True]).expand(2, 6)
    assert torch.equal(with_block_gradient(log_probs.requires_grad_(), fitted, starts), fitted)
