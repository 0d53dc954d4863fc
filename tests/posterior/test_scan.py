import torch
from hypothesis import given
from hypothesis import strategies as st

from onepeak.posterior.scan import add_in_log, scan


@given(values=st.lists(st.integers(-9, 9).map(float), min_size=1, max_size=40))
def test_running_values_are_those_of_torch(values):
    row = torch.tensor([values])
    assert torch.equal(scan(row, torch.minimum), row.cummin(-1).values)
    assert torch.equal(scan(row, torch.add), row.cumsum(-1))


@given(first=st.floats(-1e5, 1e3), second=st.floats(-1e5, 1e3))
def test_sums_in_log_space_are_those_of_torch(first, second):
    first, second = torch.tensor(first, dtype=torch.float64), torch.tensor(second, dtype=torch.float64)
    torch.testing.assert_close(add_in_log(first, second), torch.logaddexp(first, second), rtol=1e-15, atol=1e-15)
