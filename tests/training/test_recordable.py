from dataclasses import replace
from types import SimpleNamespace

import pytest
import torch

import onepeak
from onepeak.methods.softmax import SoftmaxMethod
from onepeak.training import recordable
from onepeak.training.devices import make_fabric
from onepeak.training.recordable import asks_for_no_number, can_be_recorded
from training.planted import RECIPE


def method_with(sample_losses):
    """A method of a user's own."""
    return type("Own", (SoftmaxMethod,), {"sample_losses": lambda _, *given: sample_losses(*given)})(num_classes=5)


def of_the_wrong(outputs, labels):
    wrong = outputs.argmax(dim=-1) != labels
    return outputs.new_zeros(len(labels)).index_put((wrong.nonzero()[:, 0],), outputs.new_ones(()))


@pytest.mark.parametrize(
    ("sample_losses", "asks"),
    [
        (lambda outputs, labels: (outputs.square().sum(dim=-1) - labels).abs(), False),
        (lambda outputs, _: outputs.sum(dim=-1) * outputs.max().item(), True),
        (lambda outputs, _: outputs.sum(dim=-1) if outputs.max() > 0 else outputs.mean(dim=-1), True),
        (of_the_wrong, True),
        (lambda outputs, _: torch.from_numpy(outputs.detach().numpy()).sum(dim=-1), True),
    ],
    ids=["no", "item", "if", "nonzero", "numpy"],
)
def test_a_method_that_looks_at_numbers_is_found(sample_losses, asks):
    assert asks_for_no_number(method_with(sample_losses)) is not asks


@pytest.mark.parametrize("name", [record.name for record in onepeak.methods()])
def test_no_method_of_the_catalog_looks_at_numbers_or_is_changed_by_the_question(name):
    method = onepeak.method(name, num_classes=5, class_weight=torch.arange(1.0, 6.0))
    before = {key: value.clone() for key, value in method.state_dict().items()}
    assert asks_for_no_number(method)
    assert all(torch.equal(before[key], value) for key, value in method.state_dict().items())
    assert all(parameter.grad is None for parameter in method.parameters())


def test_what_looks_at_gradients_is_not_recorded(fabric, monkeypatch):
    monkeypatch.setattr(recordable, "graphs_are_on", lambda _: True)
    method = onepeak.method("elb", num_classes=5)
    assert can_be_recorded(method, RECIPE, fabric=fabric)
    assert can_be_recorded(method, RECIPE, fabric=make_fabric(device="cpu", precision="bf16"))
    assert not can_be_recorded(method, replace(RECIPE, clip_norm=1.0), fabric=fabric)
    monkeypatch.setattr(fabric, "_precision", SimpleNamespace(scaler=torch.amp.GradScaler("cpu")), raising=False)
    assert not can_be_recorded(method, RECIPE, fabric=fabric)


def test_on_a_cpu_nothing_is_recorded(fabric):
    assert not can_be_recorded(onepeak.method("ce", num_classes=5), RECIPE, fabric=fabric)
