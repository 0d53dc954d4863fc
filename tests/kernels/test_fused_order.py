"""The kernel's counts, by Triton's interpreter on the CPU; `test_fused_order_gpu.py` runs it as it should run."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from onepeak import metrics
from onepeak.constraints.order_counts import order_counts, pairs_in_order
from onepeak.kernels import fused_order, launch
from reference.metrics import side_order_index

pytest.importorskip("triton", reason="Triton is not installed")
pytestmark = [
    pytest.mark.skipif(torch.cuda.is_available(), reason="where there is a GPU the kernels run on it"),
    pytest.mark.filterwarnings("ignore::RuntimeWarning:triton"),  # inf - inf in lanes that are masked out
]


def check(scores, labels, predicted=None):
    """Every count is that of the plain form, exactly."""
    found = fused_order.order_counts(scores, labels, predicted)
    expected = order_counts(scores, labels, predicted)
    assert torch.equal(found[0], expected.predicted)
    assert torch.equal(found[1], expected.to_predicted)
    assert torch.equal(found[2], expected.to_label)


@pytest.mark.parametrize("given_predicted", [False, True])
@pytest.mark.parametrize(("batch", "num_classes"), [(1, 2), (3, 2), (65, 7), (8, 70), (3, 1000), (2, 5000)])
def test_counts_and_modes_are_those_of_the_plain_form(given_predicted, batch, num_classes):
    labels, predicted = torch.randint(num_classes, (2, batch))
    check(torch.randn(batch, num_classes), labels, predicted if given_predicted else None)


@settings(max_examples=15)
@given(st.integers(1, 5), st.integers(2, 20), st.integers(1, 4), st.integers(0, 2**31))
def test_ties_infinities_and_rows_in_parts_change_nothing(batch, num_classes, parts, seed):
    random = torch.Generator().manual_seed(seed)
    values = torch.tensor([-torch.inf, -1.0, 0.0, 1.0])
    scores = values[torch.randint(4, (batch, num_classes), generator=random)]
    labels = torch.randint(num_classes, (batch,), generator=random)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(launch, "LONGEST_ROW", 4)
        patch.setattr(launch, "PROGRAMS", parts * batch)
        check(scores, labels)


def test_the_counts_are_those_of_the_definition():
    scores, labels = torch.randint(6, (5, 9)).float(), torch.randint(9, (5,))
    _, _, to_label = fused_order.order_counts(scores, labels, None)
    by_hand = [8 * side_order_index(row, label) for row, label in zip(scores.tolist(), labels.tolist(), strict=True)]
    assert to_label.tolist() == pytest.approx(by_hand)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_half_precision_keeps_its_ties(dtype):
    check(torch.randn(4, 300).to(dtype), torch.randint(300, (4,)))


def test_nan_is_the_mode_and_in_no_order():
    scores = torch.tensor([[0.0, 1.0, torch.nan, 2.0]])
    mode, to_mode, to_label = fused_order.order_counts(scores, torch.tensor([1]), None)
    assert (mode.item(), to_mode.item(), to_label.item()) == (2, 1, 1)


def test_a_metric_counts_through_the_kernel(monkeypatch):
    monkeypatch.setattr(launch, "takes", lambda scores: scores.dtype != torch.float64)
    log_probs, labels = torch.randn(2, 3, 7).log_softmax(-1), torch.randint(7, (2, 3))
    for reference in ("predicted", "true"):
        fused_metric, plain_metric = (metrics.SideOrderIndex(num_classes=7, reference=reference) for _ in range(2))
        fused_metric.update(log_probs, labels)
        plain_metric.update(log_probs.double(), labels)
        assert fused_metric.compute() == plain_metric.compute()
    assert torch.equal(pairs_in_order(log_probs, labels), pairs_in_order(log_probs.double(), labels))
