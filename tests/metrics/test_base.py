import pickle

import pytest
import torch
from torchmetrics import MetricCollection

import without_float64
from onepeak import metrics
from onepeak.metrics.catalog import METRICS, NAMES, collection

CLASSES = [each for each in (getattr(metrics, name) for name in metrics.__all__) if isinstance(each, type)]
LOG_PROBS = torch.tensor([[0.1, 0.6, 0.3], [0.5, 0.2, 0.3], [0.2, 0.3, 0.5]]).log()
LABELS = torch.tensor([1, 2, 0])  # every class occurs, which the sensitivity of the extremes needs


def test_a_metric_goes_through_pickle_with_what_it_has_seen():
    for record in METRICS:
        metric = record.make(3)
        metric.update(LOG_PROBS, LABELS)
        copy = pickle.loads(pickle.dumps(metric))
        metric.update(LOG_PROBS[:1], LABELS[:1])
        copy.update(LOG_PROBS[:1], LABELS[:1])
        assert copy.compute() == metric.compute()
        copy.reset()
        assert copy.compute().isnan()


def test_calling_a_metric_gives_the_value_of_the_batch_and_keeps_the_total():
    for record in METRICS:
        metric, batch, total = record.make(3), record.make(3), record.make(3)
        metric(LOG_PROBS[:2], LABELS[:2])
        last = metric(LOG_PROBS[2:], LABELS[2:])
        batch.update(LOG_PROBS[2:], LABELS[2:])
        total.update(LOG_PROBS, LABELS)
        torch.testing.assert_close(last, batch.compute(), equal_nan=True)
        torch.testing.assert_close(metric.compute(), total.compute())


def test_inference_mode_may_begin_and_end_between_batches():
    for record in METRICS:
        metric, plain = record.make(3), record.make(3)
        with torch.inference_mode():
            metric.reset()
            metric.update(LOG_PROBS[:2], LABELS[:2])
        metric.update(LOG_PROBS[2:], LABELS[2:])
        plain.update(LOG_PROBS, LABELS)
        torch.testing.assert_close(metric.compute(), plain.compute())


def test_neither_update_nor_compute_reads_a_value():
    for record in METRICS:
        # Tensors on the meta device have none: what would wait for a GPU fails here.
        metric = record.make(3).to("meta")
        weight = torch.ones(3, device="meta")
        metric.update(LOG_PROBS.to("meta"), LABELS.to("meta"), LABELS.to("meta"), sample_weight=weight)
        assert metric.compute().shape == ()


def test_for_a_device_without_float64_states_stay_on_the_cpu_and_batches_come_to_them():
    moved, on_cpu = collection(3, names=NAMES), collection(3, names=NAMES)
    moved.update(LOG_PROBS[:1], LABELS[:1])
    moved._apply(without_float64.moved)
    batch = [each[1:].as_subclass(without_float64.Distant) for each in (LOG_PROBS, LABELS, LABELS, torch.ones(3))]
    moved.update(*batch[:3], sample_weight=batch[3])
    on_cpu.update(LOG_PROBS[:1], LABELS[:1])
    on_cpu.update(LOG_PROBS[1:], LABELS[1:], LABELS[1:])
    values, expected = moved.compute(), on_cpu.compute()
    torch.testing.assert_close(values, expected, equal_nan=True)
    assert all(type(value) is torch.Tensor and value.dtype == torch.float64 for value in values.values())


@pytest.mark.gpu
@pytest.mark.filterwarnings("ignore:Synchronization debug mode")
def test_a_gpu_gives_the_values_of_the_cpu_and_is_never_waited_for():
    on_cpu, on_gpu = collection(3, names=NAMES), collection(3, names=NAMES).to("cuda")
    log_probs, labels = LOG_PROBS.to("cuda"), LABELS.to("cuda")
    on_gpu.update(log_probs, labels)
    torch.cuda.set_sync_debug_mode("error")
    try:
        on_gpu.update(log_probs, labels)
    finally:
        torch.cuda.set_sync_debug_mode("default")
    on_cpu.update(LOG_PROBS, LABELS)
    expected = {name: value.item() for name, value in on_cpu.compute().items()}
    assert {name: value.item() for name, value in on_gpu.compute().items()} == pytest.approx(expected, rel=1e-5)


def test_metrics_that_look_alike_after_the_first_batch_stay_apart_in_a_collection_of_the_users_own():
    # all right and all in order at first: torchmetrics would merge states of the same name
    together = MetricCollection(
        {
            "predicted": metrics.SideOrderIndex(num_classes=3, reference="predicted"),
            "true": metrics.SideOrderIndex(num_classes=3, reference="true"),
            "strict": metrics.UnimodalRate(num_classes=3),
            "tolerant": metrics.UnimodalRate(num_classes=3, tolerance=1.0),
        }
    )
    together.update(LOG_PROBS[:1], LABELS[:1])
    together.update(LOG_PROBS[1:], LABELS[1:])
    values = {name: value.item() for name, value in together.compute().items()}
    # samples two and three are in order from their modes for one pair and for two, from the truth for one and for none
    assert values == pytest.approx({"predicted": 5 / 6, "true": 1 / 2, "strict": 2 / 3, "tolerant": 1.0})


def test_a_sample_without_weight_has_no_say_however_bad_it_is():
    metric = metrics.NegativeLogLikelihood(num_classes=2)
    log_probs = torch.tensor([[1.0, 0.0], [0.5, 0.5]]).log()
    metric.update(log_probs, torch.tensor([1, 1]), sample_weight=torch.tensor([0.0, 3.0]))
    assert metric.compute().item() == pytest.approx(0.6931, abs=1e-4)


def test_metrics_on_labels_take_predicted_labels_in_place_of_a_posterior():
    from_labels, from_posterior = metrics.MeanAbsoluteError(num_classes=3), metrics.MeanAbsoluteError(num_classes=3)
    from_labels.update(torch.tensor([1, 0, 2]), LABELS)
    from_posterior.update(LOG_PROBS, LABELS)
    assert from_labels.compute().item() == from_posterior.compute().item() == 4 / 3


@pytest.mark.bad_input
def test_what_a_batch_brings_is_checked():
    for record in METRICS:
        metric = record.make(3)
        with pytest.raises(ValueError, match=r"`log_probs` must have 3 numbers on its last axis, got shape \(3, 4\)"):
            metric.update(torch.full((3, 4), 0.25).log(), LABELS)
        with pytest.raises(ValueError, match="`labels` must be integers from 0 to 2, got 3"):
            metric.update(LOG_PROBS, LABELS + 1)
        with pytest.raises(ValueError, match=r"`labels` must have shape \(3,\), one per sample, got \(2,\)"):
            metric.update(LOG_PROBS, LABELS[:2])
        with pytest.raises(ValueError, match=r"`labels` must be a tensor of integers, got torch\.float32"):
            metric.update(LOG_PROBS, LABELS.float())
        with pytest.raises(ValueError, match="`log_probs` must not be NaN"):
            metric.update(LOG_PROBS * torch.nan, LABELS)
        with pytest.raises(ValueError, match=r"`sample_weight` must have shape \(3,\), got \(2,\)"):
            metric.update(LOG_PROBS, LABELS, sample_weight=torch.ones(2))
        assert metric.compute().isnan()  # a batch that was refused has left no trace


@pytest.mark.bad_input
def test_metrics_on_posteriors_refuse_labels_in_their_place():
    for record in (each for each in METRICS if each.needs == "log_probs"):
        with pytest.raises(ValueError, match=r"`log_probs` must be a floating-point tensor, got torch\.int64"):
            record.make(3).update(LABELS, LABELS)
    with pytest.raises(ValueError, match="give the predicted labels once"):
        metrics.Accuracy(num_classes=3).update(LABELS, LABELS, LABELS)


def test_every_metric_takes_the_standard_arguments_of_torchmetrics():
    for record in METRICS:
        metric = record.make(3)
        settings = {"weighting": "linear"} if isinstance(metric, metrics.WeightedKappa) else {}
        given = type(metric)(3, dist_sync_on_step=True, sync_on_compute=False, compute_on_cpu=True, **settings)
        assert (given.dist_sync_on_step, given.sync_on_compute, given.compute_on_cpu) == (True, False, True)


def test_a_metric_says_whether_it_gives_a_gradient():
    for record in METRICS:
        metric = record.make(3)
        value = metric(LOG_PROBS.clone().requires_grad_(), LABELS)
        assert value.requires_grad == metric.is_differentiable, record.name


def test_a_metric_plots_its_values():
    metric = metrics.MeanAbsoluteError(num_classes=3)
    values = [metric(LOG_PROBS[:count], LABELS[:count]) for count in (1, 2, 3)]
    _, axes = metric.plot(values)
    assert axes.lines[0].get_ydata().tolist() == [value.item() for value in values]
