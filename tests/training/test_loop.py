import math
from dataclasses import replace

import numpy as np
import pytest
import torch
from torch import nn

import onepeak
from onepeak.errors import InputError
from onepeak.networks.build import NetworkSettings, build_network
from onepeak.networks.network import Network
from onepeak.training.checkpoint import load_checkpoint
from onepeak.training.loop import (
    DivergedError,
    Loop,
    RunningAverage,
    check_feature_terms,
    check_share,
    synchronise_batch_norm,
)
from training.planted import CLASSES, RECIPE

NETWORK = NetworkSettings(backbone="mlp", num_features=6, hidden=(16,))


class Diary:
    """Writes down what a loop reports; may act after an epoch."""

    def __init__(self, after_epoch=lambda _: None):
        self.steps, self.rows, self.after_epoch = [], [], after_epoch

    def step(self, epoch, step, num_steps):
        self.steps.append((epoch, step, num_steps))

    def epoch(self, row):
        self.rows.append(row)
        self.after_epoch(row)


@pytest.fixture
def make_loop(table, split, fabric):
    """A loop over the planted table; settings of the recipe by name."""

    def make(
        method="elb",
        *,
        select="mae",
        published=False,
        seed=0,
        watches=(),
        method_settings=None,
        parts=split,
        label_probs=None,
        **recipe,
    ):
        made = onepeak.method(method, num_classes=len(CLASSES), **(method_settings or {}))
        network = build_network(made, NETWORK, seed=seed)
        feed, _ = table.feed(parts, RECIPE, fabric.device)
        whole = replace(RECIPE, **recipe, **({"select": "as_published"} if published else {}))
        labels = table.manifest.labels
        how = {"seed": seed, "select": select, "watches": watches, "label_probs": label_probs}
        return Loop(network, feed, labels, parts, whole, fabric=fabric, **how)

    return make


@pytest.mark.parametrize(("method", "optimizer"), [("ce", "sgd"), ("elb", "adamw"), ("slopes", "adamw")])
def test_it_learns_what_was_planted(make_loop, method, optimizer):
    trained = make_loop(method, epochs=12, optimizer=optimizer, lr=0.03).run()
    losses = [row["train_loss"] for row in trained.history]
    assert losses[-1] < losses[0] - 0.3
    assert trained.history[trained.best_epoch]["valid_mae"] <= 0.25
    assert trained.history[0]["valid_loss"] > trained.history[-1]["valid_loss"] + 0.3


@pytest.mark.parametrize(
    ("select", "best"),
    [
        ("mae", min),
        ("loss", min),
        ("accuracy", max),
        ("soi_predicted", max),
        ("geometric_sensitivity", max),
        ("last", None),
    ],
)
def test_the_weights_kept_are_those_of_the_first_best_epoch_or_of_the_last(make_loop, select, best):
    states = []
    diary = Diary(lambda _: states.append({name: value.clone() for name, value in loop.network.state_dict().items()}))
    loop = make_loop(select=select, watches=(diary,), epochs=8, lr=0.1)  # a rate at which validation goes up and down
    trained = loop.run()
    values = list(range(8)) if best is None else [row[f"valid_{select}"] for row in trained.history]
    assert trained.best_epoch == values.index((best or max)(values))
    kept = loop.network.state_dict()
    weights = [name for name, _ in loop.network.named_parameters()]
    assert all(torch.equal(kept[name], states[trained.best_epoch][name]) for name in weights)
    others = [state for epoch, state in enumerate(states) if epoch != trained.best_epoch]
    assert not any(torch.equal(kept[weights[0]], state[weights[0]]) for state in others)


@pytest.mark.parametrize(("published", "kept"), [(False, 1), (True, 3)])
@pytest.mark.parametrize(("select", "sign"), [("mae", 1), ("loss", 1), ("accuracy", -1)])
def test_of_equal_epochs_the_first_is_kept_and_the_last_as_published(make_loop, select, sign, published, kept):
    loop = make_loop(select=select, published=published, epochs=6)
    found = []
    for epoch, value in enumerate([math.nan, 0.25, 0.5, 0.25, 0.75, math.nan]):
        loop.epoch = epoch
        loop.keep_if_best(sign * value)
        found.append(loop.best_epoch)
    assert found == [0, 1, 1, kept, kept, kept]
    assert loop.best_value == sign * 0.25


def test_the_barrier_is_tightened_once_after_every_validation(make_loop):
    during_validation, settings = [], {"t": 1.0, "growth": 1.5, "t_max": 3.0}
    loop = make_loop(method_settings=settings, epochs=4, select="loss")
    barrier = loop.network.method.constraint
    validated = loop.evaluated
    loop.evaluated = lambda: (during_validation.append(float(barrier.t)), validated())[1]
    loop.run_epoch()
    assert set(during_validation) == {1.0}
    assert float(barrier.t) == 1.5
    for expected in (2.25, 3.0, 3.0):
        loop.run_epoch()
        assert float(barrier.t) == expected


def test_every_step_and_epoch_is_reported(make_loop):
    diary = Diary()
    trained = make_loop(watches=(diary,), epochs=2).run()  # 60 samples in batches of 16
    assert diary.steps == [(epoch, step, 4) for epoch in (0, 1) for step in (1, 2, 3, 4)]
    assert diary.rows == trained.history
    assert trained.seconds == sum(row["seconds"] for row in trained.history)


def test_one_step_of_sgd_is_the_one_worked_out_by_hand(make_loop):
    loop = make_loop("ce", optimizer="sgd", momentum=0.9, weight_decay=0.1, lr=0.5, clip_norm=0.01)
    batch = next(loop.batches())
    network = build_network(onepeak.method("ce", num_classes=len(CLASSES)), NETWORK, seed=0)
    inputs = loop.feed.train_inputs(batch, seed=0, epoch=0)
    loss = torch.nn.functional.cross_entropy(network(inputs), loop.device_labels[torch.tensor(batch)])
    loss.backward()
    loss = loss.detach()
    length = math.sqrt(sum(float(weights.grad.square().sum()) for weights in network.parameters()))
    assert length > 0.01  # or clipping would not be seen
    taken = loop.train_step(batch)
    assert taken == pytest.approx(float(loss), rel=1e-6)
    for weights, found in zip(network.parameters(), loop.network.parameters(), strict=True):
        expected = weights.detach() - 0.5 * (0.01 / length * weights.grad + 0.1 * weights.detach())
        torch.testing.assert_close(found.detach(), expected, rtol=1e-4, atol=1e-6)


def test_the_learning_rate_is_the_schedules(make_loop):
    loop = make_loop(epochs=4, warmup_epochs=1, schedule="step", step_every=2, step_factor=0.5, lr=0.02)
    assert [row["lr"] for row in loop.run().history] == pytest.approx([0.01, 0.02, 0.01, 0.01])
    assert loop.optimizer.param_groups[0]["lr"] == pytest.approx(0.01)


def test_the_running_average_is_what_is_validated_and_kept(make_loop):
    trail = []
    loop = make_loop("ce", ema=0.5, epochs=3, select="loss")
    original, average = loop.train_step, next(iter(loop.network.parameters())).detach().clone()

    def step(batch):
        loss = original(batch)
        trail.append(next(iter(loop.network.parameters())).detach().clone())
        return loss

    loop.train_step = step
    loop.run_epoch()
    for weights in trail:
        average = 0.5 * average + 0.5 * weights
    kept = next(iter(loop.evaluated().parameters())).detach()
    torch.testing.assert_close(kept, average)
    assert not torch.allclose(kept, trail[-1])
    best = next(name for name, _ in loop.network.named_parameters())
    assert torch.equal(loop.best[best], kept)


def test_a_balanced_epoch_trains_on_drawn_samples(make_loop):
    drawn = np.concatenate(list(make_loop(balanced=True).batches()))
    assert len(set(drawn)) < len(drawn) == 60


def test_dropout_differs_between_epochs_and_not_between_runs(make_loop):
    torch.manual_seed(0)
    loop = make_loop(epochs=1)
    loop.run_epoch()
    first = torch.rand(1)
    loop.run_epoch()
    second = torch.rand(1)
    assert first != second
    again = make_loop(epochs=1)
    again.run_epoch()
    assert torch.rand(1) == first


def test_a_loop_that_runs_away_keeps_the_last_good_checkpoint(make_loop, tmp_path):
    diary = Diary()
    loop = make_loop(watches=(diary,), epochs=5, optimizer="sgd", schedule="constant", warmup_epochs=0)

    def spoil(row):
        if row["epoch"] == 1:
            loop.recipe = replace(loop.recipe, lr=1e30)

    diary.after_epoch = spoil
    path = tmp_path / "checkpoint.pt"
    with pytest.raises(
        DivergedError, match=r"at epoch 2, step 1\. .* The checkpoint of an earlier epoch, if there is one, is kept"
    ):
        loop.run(checkpoint=path, fingerprint={"run": "mine"})
    kept = load_checkpoint(path, fingerprint={"run": "mine"})
    assert kept is not None
    assert kept.epoch == 2
    assert all(tensor.isfinite().all() for tensor in kept.network.values())


@pytest.mark.parametrize(("pause", "expected"), [(1e9, [False, 1, 1, 1]), (0.0, [False, 1, 2, 3])])
def test_checkpoints_are_written_where_they_cost_little_and_at_the_end(
    make_loop, tmp_path, monkeypatch, pause, expected
):
    monkeypatch.setattr("onepeak.training.loop._PAUSE", pause)
    path, seen = tmp_path / "checkpoint.pt", []
    diary = Diary(lambda _: seen.append(path.exists() and load_checkpoint(path, fingerprint={}).epoch))
    make_loop(watches=(diary,), epochs=4).run(checkpoint=path)
    assert seen == expected  # the first tells what one costs
    assert load_checkpoint(path, fingerprint={}).epoch == 4


def test_the_barriers_t_is_not_averaged_with_the_weights(make_loop):
    loop = make_loop("elb", ema=0.5, method_settings={"growth": 1.5, "t_max": 9.0})
    loop.run_epoch()
    loop.run_epoch()
    assert loop.evaluated().method.constraint.t.item() == 1.5  # as the last validation saw it
    assert loop.network.method.constraint.t.item() == 2.25


@pytest.fixture
def network():
    torch.manual_seed(0)
    return Network(
        nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4)), nn.Linear(4, 5), onepeak.method("elb", num_classes=5)
    )


def test_weights_and_statistics_are_those_of_torchs_own_average(network):
    average = RunningAverage(network, 0.9)
    own = torch.optim.swa_utils.AveragedModel(
        network, multi_avg_fn=torch.optim.swa_utils.get_ema_multi_avg_fn(0.9), use_buffers=True
    )
    own.update_parameters(network)  # its first step copies: the weights to begin with
    optimizer = torch.optim.SGD(network.parameters(), lr=0.5)
    for _ in range(4):
        network.method.loss(network(torch.randn(8, 3)), torch.arange(8) % 5).backward()
        optimizer.step()
        optimizer.zero_grad()
        average.follow()
        own.update_parameters(network)
    for name, expected in own.module.state_dict().items():
        if expected.is_floating_point():
            torch.testing.assert_close(average.network.state_dict()[name], expected, msg=name)
    assert average.network.backbone[1].num_batches_tracked == network.backbone[1].num_batches_tracked == 4


def test_weights_that_two_layers_share_are_followed_once_and_the_network_is_left(network):
    network.backbone.append(nn.Linear(4, 4, bias=False))
    network.backbone.append(nn.Linear(4, 4, bias=False))
    network.backbone[3].weight = network.backbone[2].weight
    average = RunningAverage(network, 0.5)
    before = network.backbone[2].weight.detach().clone()
    network.load_state_dict({name: tensor + 8 for name, tensor in network.state_dict().items()})  # as a resumed run
    average.follow()
    torch.testing.assert_close(average.network.backbone[3].weight, before + 4.0)
    assert torch.equal(network.backbone[2].weight, before + 8.0)
    assert not any(weight.requires_grad for weight in average.network.parameters())


def test_a_batch_must_have_a_sample_for_every_process():
    with pytest.raises(InputError, match="`batch_size` must be at least the number of processes, 8, got 4"):
        check_share(replace(RECIPE, batch_size=4), 8)


def test_synchronised_batch_norm_is_refused_on_a_cpu(fabric):
    with pytest.raises(InputError, match="`sync_batch_norm` must be off on cpu"):
        synchronise_batch_norm(
            build_network(onepeak.method("ce", num_classes=4), NetworkSettings(backbone="small")), fabric
        )


@pytest.mark.parametrize("term", ["rnc", "oe", "cloc"])
def test_a_term_on_features_arranges_them_and_several_processes_refuse_it(make_loop, term):
    def term_after(weight):
        loop = make_loop(f"ce+{term}", method_settings={"weight": weight}, epochs=4, lr=0.02, select="last")
        loop.run()
        rows = loop.feed.train_inputs(loop.split.train, seed=0, epoch=0)
        _, features = loop.network.eval().with_features(rows)
        with pytest.raises(InputError, match="compares all samples of a batch"):
            check_feature_terms(loop.network, 2)
        return loop.network.method.term(features, loop.device_labels[loop.split.train.tolist()]).item()

    assert term_after(3.0) < term_after(1e-6)


def test_adjusted_logits_are_those_of_training_only(make_loop):
    plain, adjusted = make_loop("ce", epochs=1), make_loop("ce", epochs=1, logit_adjustment=1.0)
    inputs, labels = plain.feed.train_inputs(plain.split.train, seed=0, epoch=0), plain.device_labels
    labels = labels[plain.split.train.tolist()]
    outputs = adjusted.network(inputs)
    priors = labels.bincount(minlength=len(CLASSES)).float().log()
    loss = adjusted.loss(inputs, labels, None)
    torch.testing.assert_close(loss, adjusted.network.method.loss(outputs + priors, labels))
    assert adjusted.network.state_dict().keys() == plain.network.state_dict().keys()


@pytest.mark.parametrize("method", ["peak", "corn", "elb+rnc"])
def test_certain_distributions_train_as_their_labels_do(make_loop, table, method):
    certain = np.eye(len(CLASSES))[table.manifest.labels]
    of_labels, of_probs = (make_loop(method, label_probs=probs).run() for probs in (None, certain))
    for one, other in zip(of_labels.network.parameters(), of_probs.network.parameters(), strict=True):
        torch.testing.assert_close(one, other, rtol=1e-3, atol=1e-4)
    assert [row["valid_expected_mae"] for row in of_probs.history] == pytest.approx(
        [row["valid_mae"] for row in of_labels.history]
    )


def test_training_on_distributions_learns_them_and_keeps_the_epoch_of_the_least_expected_error(make_loop, table):
    labels = table.manifest.labels
    even = (np.eye(4)[labels] + np.eye(4)[np.minimum(labels + 1, 3)]) / 2
    chosen = make_loop("ce", select="expected_mae", epochs=6, label_probs=even).run()
    assert chosen.best_epoch == int(np.argmin([row["valid_expected_mae"] for row in chosen.history]))
    loop = make_loop("ce", select="loss", epochs=40, lr=0.03, label_probs=even).run()
    with torch.no_grad():
        probs = loop.network.eval()(loop.feed.rows).softmax(dim=-1)
    assert (probs - torch.from_numpy(even)).abs().mean() < 0.1
