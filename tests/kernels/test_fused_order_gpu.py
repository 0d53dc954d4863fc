"""On a GPU: every size of the counting kernel against the plain form, and the metrics that use it."""

import pytest
import torch

from onepeak.constraints.gaps import order_counts
from onepeak.kernels import launch
from onepeak.metrics import functional
from onepeak.metrics.catalog import collection

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no CUDA device"),
]

SIZES = [
    (1, 2), (7, 3), (8, 70), (1023, 7), (4096, 1000), (33, 4096), (33, 4097), (5, 10_000), (17, 100_000), (2, 999_983),
    (1, 1_000_000),
]  # fmt: skip
DTYPES = [torch.float32, torch.bfloat16, torch.float16]


def batch_of(batch, num_classes, dtype=torch.float32):
    return torch.randn(batch, num_classes, device="cuda").to(dtype), torch.randint(num_classes, (batch,), device="cuda")


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("given_predicted", [False, True])
@pytest.mark.parametrize(("batch", "num_classes"), SIZES)
def test_counts_and_modes_are_those_of_the_plain_form(dtype, given_predicted, batch, num_classes):
    scores, labels = batch_of(batch, num_classes, dtype)
    predicted = torch.randint(num_classes, (batch,), device="cuda") if given_predicted else None
    assert launch.takes(scores)
    found = order_counts(scores, labels, predicted)
    expected = order_counts(scores.double(), labels, predicted)
    assert torch.equal(found.predicted, expected.predicted)
    assert torch.equal(found.to_predicted, expected.to_predicted)
    assert torch.equal(found.to_label, expected.to_label)


@pytest.mark.parametrize("num_classes", [70, 1_000_000])
def test_side_order_index_and_violations_are_those_of_double_precision(num_classes):
    scores, labels = batch_of(3, num_classes)
    found, expected = functional.side_order_index(scores, labels), functional.side_order_index(scores.double(), labels)
    torch.testing.assert_close(found.double(), expected, rtol=1e-6, atol=0)
    assert torch.equal(functional.num_violations(scores, labels), functional.num_violations(scores.double(), labels))


@pytest.mark.parametrize("given_predicted", [False, True])
def test_a_collection_gives_the_values_of_the_cpu(given_predicted):
    names = ["mae", "soi_predicted", "soi_true", "violations"]
    on_gpu, on_cpu = collection(70, names=names).to("cuda"), collection(70, names=names)
    for size in (64, 63):
        scores, labels = batch_of(size, 70)
        predicted = torch.randint(70, (size,), device="cuda") if given_predicted else None
        on_gpu.update(scores.log_softmax(-1), labels, predicted)
        on_cpu.update(scores.log_softmax(-1).cpu(), labels.cpu(), None if predicted is None else predicted.cpu())
    expected = {name: value.item() for name, value in on_cpu.compute().items()}
    assert {name: value.item() for name, value in on_gpu.compute().items()} == pytest.approx(expected, rel=1e-6)


def test_a_recorded_count_follows_new_scores():
    scores, labels = batch_of(8, 70)
    order_counts(scores, labels)  # what is built on first use exists when the recording begins
    recording = torch.cuda.CUDAGraph()
    with torch.cuda.graph(recording):
        found = order_counts(scores, labels)
    scores.copy_(torch.randn_like(scores))
    recording.replay()
    assert torch.equal(found.to_predicted, order_counts(scores.double(), labels).to_predicted)
