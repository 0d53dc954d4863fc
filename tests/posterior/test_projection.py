"""Projection: long because each law is tried against several references, by both distances and in both forms."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from onepeak.errors import InputError
from onepeak.metrics.functional import side_order_index
from onepeak.posterior import is_unimodal, project
from onepeak.posterior.projection import MOST_PAIRS, PIECE
from reference import projection as reference

DISTANCES = ("squared", "kl")
FORMS = pytest.mark.parametrize("most_pairs", [0, 1 << 30], ids=["along_the_classes", "by_pairs"])
DTYPES = (torch.float32, torch.float64)
FLAT_AND_NARROW = [0.06, 0.01, 0.26, 0.26, 0.04, 0.05, 0.31, 0.01]


@pytest.fixture(autouse=True)
def _forms_as_they_were():
    """What a test sets without `monkeypatch`, which hypothesis does not go with, is set back."""
    before = dict(MOST_PAIRS)
    yield
    MOST_PAIRS.update(before)


def noise(seed, *shape, scale=1.0, dtype=torch.float64):
    generator = torch.Generator().manual_seed(seed)
    return (scale * torch.randn(*shape, dtype=torch.float64, generator=generator)).log_softmax(-1).to(dtype)


def one_peaked(seed, num_rows, num_classes):
    """Rows with one peak anywhere, some steep and some flat."""
    generator = torch.Generator().manual_seed(seed)
    place, peaks = torch.arange(num_classes), torch.randint(num_classes, (num_rows, 1), generator=generator)
    steepness = 10 ** torch.empty(num_rows, 1, dtype=torch.float64).uniform_(-3, 1, generator=generator)
    steps = 1e-4 + steepness * torch.rand(num_rows, num_classes, dtype=torch.float64, generator=generator)
    left = torch.where(place < peaks, steps, 0).flip(-1).cumsum(-1).flip(-1)
    right = torch.where(place > peaks, steps, 0).cumsum(-1)
    return (-left - right).log_softmax(-1)


def squared(log_probs, fit):
    return (log_probs.double().exp() - fit.double().exp()).square().sum(-1)


def logs_of_counts(counts):
    with np.errstate(divide="ignore"):
        return np.log(counts).tolist()


tails = st.lists(st.floats(-1e4, 0, width=32), min_size=2, max_size=40)  # far below what exp can hold
near_ties = st.lists(st.floats(-5, 0, width=16), min_size=2, max_size=40)
ties_and_zeros = st.lists(st.integers(0, 4), min_size=2, max_size=12).filter(any).map(logs_of_counts)
hard_scores = st.one_of(tails, near_ties, ties_and_zeros)


def test_a_row_worked_by_hand():
    two_bumps = torch.tensor([0.1, 0.4, 0.1, 0.3, 0.1], dtype=torch.float64).log()
    at = {mode: project(two_bumps, torch.tensor(mode)).exp().tolist() for mode in (0, 1, 3)}
    assert at[1] == pytest.approx([0.1, 0.4, 0.2, 0.2, 0.1])
    assert at[3] == pytest.approx([0.1, 0.25, 0.25, 0.3, 0.1])
    assert at[0] == pytest.approx([0.25, 0.25, 0.2, 0.2, 0.1])
    assert project(two_bumps).exp().tolist() == pytest.approx(at[1])


@FORMS
@pytest.mark.parametrize("distance", DISTANCES)
def test_no_cut_tried_with_scipy_gives_a_nearer_row(distance, most_pairs, monkeypatch):
    for num_classes, num_rows in [(2, 20), (3, 50), (7, 50), (30, 10), (100, 2), (1000, 1)]:
        monkeypatch.setitem(MOST_PAIRS, "cpu", most_pairs)
        log_probs = noise(num_classes, num_rows, num_classes, scale=2.0)
        for row, fit in zip(log_probs, project(log_probs, distance=distance).exp().numpy(), strict=True):
            probs = row.exp().numpy()
            expected, shortest = reference.nearest(probs, distance)
            assert reference.distance_between(probs, fit, distance) == pytest.approx(shortest, rel=1e-9, abs=1e-13)
            np.testing.assert_allclose(fit, expected, rtol=1e-9)


@FORMS
@pytest.mark.parametrize("num_classes", [2, 3, 5, 9])
def test_at_a_given_mode_it_solves_the_quadratic_program(num_classes, most_pairs, monkeypatch):
    monkeypatch.setitem(MOST_PAIRS, "cpu", most_pairs)
    for row in noise(num_classes, 6, num_classes, scale=2.0):
        for mode in range(num_classes):
            expected = reference.nearest_with_peak_at(row.exp().numpy(), mode)
            np.testing.assert_allclose(project(row, torch.tensor(mode)).exp().numpy(), expected, atol=1e-10)


@FORMS
@pytest.mark.parametrize("dtype", DTYPES)
@given(scores=hard_scores, distance=st.sampled_from(DISTANCES), data=st.data())
def test_every_row_comes_out_strictly_one_peaked_and_finite_and_projecting_again_changes_nothing(
    most_pairs, dtype, scores, distance, data
):
    MOST_PAIRS["cpu"] = most_pairs
    log_probs = torch.tensor(scores, dtype=torch.float64).log_softmax(-1).to(dtype)
    given_mode = data.draw(st.none() | st.integers(0, len(scores) - 1).map(torch.tensor))
    fit = project(log_probs, given_mode, distance=distance)
    mode = fit.argmax() if given_mode is None else given_mode
    assert fit.dtype == dtype
    assert side_order_index(fit, mode).item() == 1.0
    assert fit.exp().sum().item() == pytest.approx(1, abs=20 * torch.finfo(dtype).eps)
    assert fit.isfinite().all() or torch.equal(fit, log_probs)
    assert torch.equal(project(fit, given_mode, distance=distance), fit)


@pytest.mark.parametrize("dtype", DTYPES)
@settings(max_examples=15)
@given(seed=st.integers(0, 2**31), num_classes=st.integers(2, 60))
def test_rows_with_one_peak_are_returned_bit_by_bit(dtype, seed, num_classes):
    log_probs = one_peaked(seed, 20, num_classes).to(dtype)
    log_probs = log_probs[is_unimodal(log_probs)]  # rounding to float32 may have made a tie
    assert torch.equal(project(log_probs), log_probs)
    assert torch.equal(project(log_probs, log_probs.argmax(-1)), log_probs)


@settings(max_examples=15)
@given(seed=st.integers(0, 2**31), num_classes=st.integers(2, 20), distance=st.sampled_from(DISTANCES))
def test_a_mirrored_row_has_the_mirrored_projection(seed, num_classes, distance):
    log_probs = noise(seed, 50, num_classes)
    fit = project(log_probs, distance=distance)
    torch.testing.assert_close(project(log_probs.flip(-1), distance=distance).flip(-1), fit)


def test_of_equal_classes_the_middle_is_the_peak_and_of_equal_peaks_the_lowest():
    rows = torch.tensor([[0.2, 0.2, 0.2, 0.2, 0.2], [0.0, 0.25, 0.25, 0.25, 0.25], [0.3, 0.15, 0.1, 0.15, 0.3]]).log()
    assert project(rows).argmax(-1).tolist() == [2, 2, 0]


def test_of_classes_that_share_the_top_the_most_probable_one_is_the_peak():
    fit = project(torch.tensor([0.1, 0.2, 0.35, 0.35], dtype=torch.float64).log(), torch.tensor(2))
    assert fit.argmax() == 2
    pooled = project(torch.tensor([0.05, 0.3, 0.1, 0.25, 0.3], dtype=torch.float64).log())
    assert pooled.argmax() == 4


@pytest.mark.parametrize("distance", DISTANCES)
def test_neither_the_order_of_rows_nor_their_number_matters(distance):
    log_probs = noise(0, 6, 5, 12, dtype=torch.float32)
    order = torch.randperm(30, generator=torch.Generator().manual_seed(0))
    fit = project(log_probs, distance=distance)
    assert torch.equal(project(log_probs.view(30, 12)[order], distance=distance), fit.view(30, 12)[order])
    torch.testing.assert_close(project(log_probs[2, 3], distance=distance), fit[2, 3], rtol=1e-6, atol=0)
    assert project(log_probs[:0]).shape == (0, 5, 12)


def test_many_rows_are_worked_on_in_pieces_and_projected_alike(monkeypatch):
    log_probs, modes = noise(0, 10, 5, 8), (torch.arange(50) % 8).view(10, 5)
    expected = project(log_probs), project(log_probs, modes)
    monkeypatch.setitem(MOST_PAIRS, "cpu", 0)
    monkeypatch.setitem(PIECE, "cpu", 24)
    torch.testing.assert_close((project(log_probs), project(log_probs, modes)), expected, rtol=1e-13, atol=0)
    assert torch.equal(project(expected[0]), expected[0])
    assert project(log_probs[:0]).shape == (0, 5, 8)


@pytest.mark.parametrize("dtype", DTYPES)
def test_a_class_without_probability_gets_the_smallest_normal_number(dtype):
    fit = project(torch.tensor([-torch.inf, -torch.inf, 0, -torch.inf, -1e4, -torch.inf], dtype=dtype))
    smallest = torch.finfo(dtype).tiny
    assert fit[2] == 0
    assert fit[[0, 1]].tolist() == pytest.approx([np.log(smallest)] * 2, rel=1e-6)
    # the fourth and fifth class are pooled, and the last one, though it could be higher, must stay below them
    assert fit[3:].tolist() == pytest.approx([-1e4 - np.log(2)] * 3, rel=1e-6)
    assert is_unimodal(fit)


def test_equal_classes_become_neighbouring_numbers():
    fit = project(torch.full((1000,), -np.log(1000.0), dtype=torch.float32))
    assert torch.equal(fit[500:], fit[499:-1].nextafter(torch.tensor(-torch.inf)))
    assert torch.equal(fit[:499], fit[1:500].nextafter(torch.tensor(-torch.inf)))
    assert fit.exp().sum().item() == pytest.approx(1, abs=1e-6)


@pytest.mark.parametrize("mode", [None, torch.tensor([3, 0, 4])])
def test_the_gradient_is_that_of_finite_differences(mode):
    log_probs = noise(1, 3, 5).requires_grad_()
    project_rows = lambda x: project(x, mode)  # noqa: E731
    assert torch.autograd.gradcheck(project_rows, log_probs)
    assert torch.autograd.gradgradcheck(project_rows, log_probs)


def test_gradients_are_finite_in_tails_and_without_probability():
    log_probs = torch.tensor([[-torch.inf, 0, -torch.inf, -torch.inf], [-1e4, -9e3, 0, -1e4]], requires_grad=True)
    project(log_probs).sum().backward()
    assert log_probs.grad.isfinite().all()


@pytest.mark.traced
@pytest.mark.filterwarnings("ignore:`torch.jit.script` is deprecated")  # by PyTorch's own forward mode
def test_function_transforms_give_the_same_jacobian():
    log_probs = noise(3, 3, 6)
    expected = torch.stack([torch.autograd.functional.jacobian(project, row) for row in log_probs])
    for jacobian in (torch.func.jacrev, torch.func.jacfwd):
        torch.testing.assert_close(torch.func.vmap(jacobian(project))(log_probs), expected)


class Projection(torch.nn.Module):
    def forward(self, log_probs):
        return project(log_probs)


@pytest.mark.traced
def test_it_exports_and_gives_the_same_rows_for_any_batch():
    batch = torch.export.Dim("batch", min=1, max=4096)
    exported = torch.export.export(
        Projection(), (noise(0, 4, 6, dtype=torch.float32),), dynamic_shapes={"log_probs": {0: batch}}
    ).module()
    for seed, rows in ((1, 1), (2, 7), (3, 500)):
        log_probs = noise(seed, rows, 6, scale=3.0, dtype=torch.float32)
        fit = exported(log_probs)
        torch.testing.assert_close(fit, project(log_probs), rtol=1e-6, atol=1e-6)
        assert is_unimodal(fit).all()


@pytest.mark.slow
@pytest.mark.traced
@pytest.mark.filterwarnings("ignore::UserWarning", "ignore::DeprecationWarning", "ignore::FutureWarning")  # exporter's
def test_onnxruntime_gives_the_same_rows(tmp_path):
    onnxruntime = pytest.importorskip("onnxruntime")
    batch = {"log_probs": {0: torch.export.Dim("batch")}}
    example = (noise(0, 4, 70, dtype=torch.float32),)
    torch.onnx.export(Projection(), example, dynamo=True, dynamic_shapes=batch).save(tmp_path / "projection.onnx")
    session = onnxruntime.InferenceSession(tmp_path / "projection.onnx", providers=["CPUExecutionProvider"])
    log_probs = noise(1, 64, 70, scale=3.0, dtype=torch.float32)
    log_probs[0, :30] = -1e4
    log_probs[0] -= log_probs[0].logsumexp(-1)
    fit = torch.tensor(session.run(None, {session.get_inputs()[0].name: log_probs.numpy()})[0])
    torch.testing.assert_close(fit, project(log_probs), rtol=5e-5, atol=0)  # ties of up to 70 classes are wider there
    assert is_unimodal(fit).all()


@pytest.mark.traced
def test_compiled_it_gives_the_same_rows_and_gradient():
    compiled = torch.compile(project, backend="eager", fullgraph=True)
    log_probs = noise(0, 5, 4)
    eager, traced = log_probs.clone().requires_grad_(), log_probs.clone().requires_grad_()
    upstream = noise(1, 5, 4)
    expected, fit = project(eager), compiled(traced)
    expected.backward(upstream)
    fit.backward(upstream)
    torch.testing.assert_close(fit, expected, rtol=1e-12, atol=1e-12)
    torch.testing.assert_close(traced.grad, eager.grad, rtol=1e-12, atol=1e-12)


@pytest.mark.bad_input
@pytest.mark.parametrize(
    ("log_probs", "mode", "message"),
    [
        (torch.zeros(2, 3), None, r"`log_probs` must be log-probabilities.*off by 1\.1: apply `log_softmax"),
        (torch.full((1, 2), 0.5).log(), torch.tensor([2]), "`mode` must be integers from 0 to 1, got 2"),
        (torch.full((1, 2), 0.5).log(), torch.tensor(1), r"`mode` must have shape \(1,\), one per sample, got \(\)"),
    ],
)
def test_bad_input_is_answered_in_one_sentence(log_probs, mode, message):
    with pytest.raises(InputError, match=message):
        project(log_probs, mode)


@pytest.mark.gpu
def test_a_recorded_step_has_the_bits_of_one_that_is_not():
    """With more pairs of classes than are looked at at once where nothing is learnt."""
    log_probs = torch.randn(64, 400, device="cuda").log_softmax(-1).requires_grad_()
    labels = torch.randint(400, (64,), device="cuda")
    eager = project(log_probs, labels)  # which also warms up
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        recorded = project(log_probs, labels)
    graph.replay()
    torch.cuda.synchronize()
    assert torch.equal(eager, recorded)
