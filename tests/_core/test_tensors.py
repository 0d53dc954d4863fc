import pytest
import torch
from torch import nn

import onepeak
from laws.kinds import CATALOG
from onepeak.errors import InputError

SCORES, LABELS = torch.tensor([[0.0, 1.0, 3.0, 2.5, 2.6]]), torch.tensor([2])


def test_a_method_has_its_numbers_on_the_meta_device_too():
    for name in [*(record.name for record in CATALOG), "smooth-elb", "mv+lagrangian"]:
        torch.manual_seed(0)
        usual = onepeak.method(name, num_classes=5)
        torch.manual_seed(0)
        with torch.device("meta"):
            laid_out = onepeak.method(name, num_classes=5)
        outputs = SCORES[:, : usual.num_outputs]
        assert torch.equal(laid_out.loss(outputs, LABELS), usual.loss(outputs, LABELS))
        assert torch.equal(laid_out.log_probs(outputs), usual.log_probs(outputs))


def test_t_and_tables_outlast_to_empty():
    with torch.device("meta"):
        model = nn.ModuleList([onepeak.ELBLoss(5, t=2.0), onepeak.method("smooth-elb", num_classes=5, t=3.0)])
    model.to_empty(device="cpu")
    for made, usual in zip(
        model, (onepeak.ELBLoss(5, t=2.0), onepeak.method("smooth-elb", num_classes=5, t=3.0)), strict=True
    ):
        loss, expected = (each.loss if hasattr(each, "loss") else each for each in (made, usual))
        assert torch.equal(loss(SCORES, LABELS), expected(SCORES, LABELS))


def test_a_barrier_without_a_t_tells_how_to_set_it():
    model = nn.ModuleList([onepeak.ELBLoss(5, t=2.0), onepeak.method("smooth-elb", num_classes=5, t=3.0)])
    barriers = [module for module in model.modules() if isinstance(module, onepeak.LogBarrier)]
    for barrier in barriers:
        barrier.t.zero_()  # as `from_pretrained` of Hugging Face may leave it, where the checkpoint holds none
    with pytest.raises(InputError, match=r"`t` must be a positive number, got 0: .*Call reset_parameters\(\) of the"):
        model[0](SCORES, LABELS)
    with pytest.raises(InputError, match=r"Call reset_parameters\(\)"):
        model[0].tighten()
    for barrier in barriers:
        barrier.reset_parameters()
    assert [barrier.t.item() for barrier in barriers] == [2.0, 3.0]
