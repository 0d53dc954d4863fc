import pytest
import torch
from lightning.fabric import Fabric
from lightning.fabric.plugins import MixedPrecision

from onepeak._core.compat import loss_scaler_of, precision_of
from onepeak.training.devices import make_fabric


@pytest.mark.parametrize(("precision", "name"), [("fp32", "32-true"), ("bf16", "bf16-mixed")])
def test_a_fabric_knows_its_precision_and_has_no_scaler_of_the_loss(precision, name):
    fabric = make_fabric(device="cpu", precision=precision)
    assert precision_of(fabric) == name
    assert loss_scaler_of(fabric) is None


def test_half_precision_scales_the_loss():
    scaler = torch.amp.GradScaler("cpu")
    half = MixedPrecision("16-mixed", device="cpu", scaler=scaler)
    assert loss_scaler_of(Fabric(accelerator="cpu", devices=1, plugins=half)) is scaler
