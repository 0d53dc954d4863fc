"""What is recorded is what is done eagerly; `test_graph.py` says so of real graphs, where there is a GPU."""

import pytest
from torch.nn.functional import cross_entropy

from onepeak.methods.softmax import SoftmaxMethod
from onepeak.training import recordable, recorded, run

CHANGES = {
    "adamw": {},
    "sgd, average, dropout": {"optimizer": "sgd", "ema": 0.9, "dropout": 0.3},
    "balanced": {"balanced": True},
    "class weights": {"class_weight": "balanced"},
    "a cost that counts what it is trained on": {"method": "lagrangian"},
}


class Replayed:
    """In place of a CUDA graph: nothing is kept but the work, which every replay does anew.

    What the work does in Python a replay would not do: whether layers are in training stays as it was.
    """

    replays = 0

    def __init__(self, work):
        self.work = work

    def __call__(self):
        Replayed.replays += 1
        asked = getattr(self.work, "__self__", None)  # whose answers these are; a step has no modes of its own
        modes = [(module, module.training) for module in asked.network.modules()] if asked else []
        found = self.work()
        for module, mode in modes:
            module.training = mode
        return found


@pytest.fixture
def record(monkeypatch):
    """From now on training is recorded, on a CPU too."""

    def start():
        monkeypatch.setattr(Replayed, "replays", 0)
        monkeypatch.setattr(recorded, "recorded_if_it_fits", Replayed)
        monkeypatch.setattr(recordable, "graphs_are_on", lambda _: True)

    return start


class StoppedError(Exception):
    """Somebody has pulled the plug."""


class StopsAfter:
    def __init__(self, epoch):
        self.last = epoch

    def step(self, epoch, step, num_steps):
        pass

    def epoch(self, row):
        if row["epoch"] == self.last:
            raise StoppedError


def outcome(folder, result):
    return (folder / "model.safetensors").read_bytes(), result["metrics"], result["best_epoch"]


@pytest.mark.parametrize("changes", CHANGES.values(), ids=CHANGES)
def test_recorded_training_takes_the_same_samples_to_the_same_weights(trained, record, changes):
    eager = outcome(*trained("eager", epochs=4, **changes))
    record()
    assert outcome(*trained("recorded", epochs=4, **changes)) == eager
    # 60 training samples are 3 whole batches of 16, and a short one that is not recorded; the first epoch is eager
    assert Replayed.replays == 3 * (3 + 1)


def test_recorded_training_that_was_stopped_goes_on_to_the_same_weights(trained, record):
    changes = CHANGES["sgd, average, dropout"]
    eager = outcome(*trained("eager", epochs=5, **changes))
    record()
    with pytest.raises(StoppedError):
        trained("stopped", epochs=5, watches=(StopsAfter(3),), **changes)
    Replayed.replays = 0
    assert outcome(*trained("stopped", epochs=5, **changes)) == eager
    assert Replayed.replays == 1 * (3 + 1)  # of epochs 3 and 4, that of epoch 4


class Looks(SoftmaxMethod):
    """Cross-entropy that looks at its numbers."""

    def sample_losses(self, outputs, labels):
        losses = cross_entropy(outputs, labels, reduction="none")
        return losses if losses.max() < 1e6 else losses.log()


def test_a_method_that_looks_at_numbers_is_trained_without_recordings(trained, record, monkeypatch):
    expected = outcome(*trained("eager", method="ce"))
    record()
    monkeypatch.setattr(run, "method", lambda *_, num_classes, **__: Looks(num_classes=num_classes))
    assert outcome(*trained("looks", method="ce")) == expected
    assert Replayed.replays == 0
