import pytest
import torch
from torch import nn
from transformers import PretrainedConfig, PreTrainedModel

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


class Body(PreTrainedModel):
    """A model of Hugging Face, as small as can be."""

    config_class = PretrainedConfig
    base_model_prefix = "body"

    def __init__(self, config):
        super().__init__(config)
        self.body = nn.Linear(3, 5)
        self.add()
        self.post_init()

    def add(self):
        pass

    def _init_weights(self, module):
        pass


class Graded(Body):
    def add(self):
        self.loss = onepeak.ELBLoss(num_classes=5, t=2.0)
        self.method = onepeak.method("smooth-elb", num_classes=5, t=3.0)


def test_a_model_of_hugging_face_from_a_checkpoint_without_a_loss_tells_how_to_set_t(tmp_path):
    Body(PretrainedConfig()).save_pretrained(tmp_path)
    model = Graded.from_pretrained(tmp_path)
    for barrier in (model.loss.constraint, model.method.base.constraint):
        barrier.t.zero_()  # `from_pretrained` leaves memory that nobody has written to, which may hold anything
    with pytest.raises(
        InputError, match=r"`t` must be a positive number, got 0: .*Call reset_parameters\(\) of the barrier"
    ):
        model.loss(SCORES, LABELS)
    with pytest.raises(InputError, match=r"Call reset_parameters\(\)"):
        model.loss.tighten()
    for module in model.modules():
        if isinstance(module, onepeak.LogBarrier):
            module.reset_parameters()
    assert torch.equal(model.loss(SCORES, LABELS), onepeak.ELBLoss(num_classes=5, t=2.0)(SCORES, LABELS))
    usual = onepeak.method("smooth-elb", num_classes=5, t=3.0)
    assert torch.equal(model.method.loss(SCORES, LABELS), usual.loss(SCORES, LABELS))
