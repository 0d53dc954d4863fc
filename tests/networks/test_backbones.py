import sys

import huggingface_hub
import pytest
import timm
import torch
from torch import nn

from onepeak.errors import InputError, MissingExtraError, UnknownNameError
from onepeak.networks import TimmBackbone
from onepeak.networks.backbones import Mlp, SmallConvNet


@pytest.fixture(scope="module")
def resnet18():
    return TimmBackbone("resnet18").eval()


@pytest.mark.parametrize(("size", "maps"), [((64, 64), (2, 2)), ((97, 131), (4, 5)), ((256, 256), (8, 8))])
def test_a_resnet_takes_any_image_size(resnet18, size, maps):
    with torch.no_grad():
        assert resnet18(torch.zeros(1, 3, *size)).shape == (1, resnet18.num_channels, *maps)


def test_maps_are_those_of_timm_and_looking_at_it_leaves_batch_norm_untouched(noise):
    backbone, images = TimmBackbone("resnet18"), noise(2, 3, 64, 96)
    assert backbone.model.training
    assert not backbone.model.bn1.running_mean.any()
    with torch.no_grad():
        assert backbone.eval()(images).equal(backbone.model.forward_features(images))


def test_the_tokens_of_a_transformer_lie_where_their_patches_were(noise):
    vit = TimmBackbone("vit_tiny_patch16_224").eval()
    images = noise(1, 3, 48, 80)
    with torch.no_grad():
        maps = vit(images)
        tokens = vit.model.forward_features(images)
    assert maps.shape == (1, 192, 3, 5)
    torch.testing.assert_close(maps[0, :, 1, 2], tokens[0, 1 + 1 * 5 + 2])  # behind the class token, row by row


@pytest.mark.parametrize(
    ("name", "maps"),
    [
        ("swin_tiny_patch4_window7_224", (1, 768, 2, 3)),  # timm puts its channels last
        ("deit_tiny_distilled_patch16_224", (1, 192, 4, 6)),  # it insists on its pooling: maps from before it
    ],
)
def test_other_families_give_maps_too(name, maps):
    with torch.no_grad():
        assert TimmBackbone(name).eval()(torch.zeros(1, 3, 64, 96)).shape == maps


@pytest.mark.bad_input
def test_a_image_size_that_cannot_be_is_said():
    mixer = TimmBackbone("mixer_s32_224")
    with pytest.raises(InputError, match=r"'mixer_s32_224' accepts, such as its own 224x224, got 64x96 .*resnet18"):
        mixer(torch.zeros(1, 3, 64, 96))


class OneVector(nn.Module):
    """Pools all the way down inside, as some families of timm do; which ones changes with timm's releases."""

    def __init__(self):
        super().__init__()
        self.num_features, self.pretrained_cfg = 8, {"input_size": (3, 32, 32)}
        self.layer = nn.Conv2d(3, self.num_features, kernel_size=3)

    def forward(self, images):
        return self.layer(images).mean(dim=(2, 3))


@pytest.mark.bad_input
def test_a_backbone_without_maps_is_refused_with_others_to_use(monkeypatch):
    monkeypatch.setattr(timm, "is_model", lambda name: name == "one_vector")
    monkeypatch.setattr(timm, "create_model", lambda _name, **_options: OneVector())
    with pytest.raises(InputError, match="timm gives no feature maps for 'one_vector': use a convolutional network"):
        TimmBackbone("one_vector")


@pytest.mark.bad_input
@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("resnt18", r"Unknown backbone 'resnt18'\. Did you mean 'resnet18'\? Known: mlp, small, and the \d+ of timm\."),
        ("smal", r"Unknown backbone 'smal'\. Did you mean 'small'\?"),
        ("hf-hub:timm/resnet18.a1_in1k", r"Unknown backbone 'hf-hub:timm/resnet18\.a1_in1k'\."),
    ],
)
def test_an_unknown_backbone_gets_a_suggestion(name, message):
    with pytest.raises(UnknownNameError, match=message):
        TimmBackbone(name)


@pytest.mark.bad_input
def test_a_failed_download_names_the_local_file(monkeypatch, tmp_path):
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_OFFLINE", True)
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_CACHE", str(tmp_path))
    with pytest.raises(InputError, match=r"'resnet18' could not be downloaded \(.+\)\. Give a local .*--weights"):
        TimmBackbone("resnet18", pretrained=True)


@pytest.mark.bad_input
def test_weights_that_timm_does_not_have_are_refused():
    with pytest.raises(InputError, match=r"timm cannot build the backbone 'resnet18\.nope': Invalid pretrained tag"):
        TimmBackbone("resnet18.nope")
    name = next(name for name in timm.list_models("resnet*") if not timm.is_model_pretrained(name))
    with pytest.raises(InputError, match=f"timm has no pretrained weights for '{name}': leave them out, or"):
        TimmBackbone(name, pretrained=True)


@pytest.mark.bad_input
def test_without_timm_its_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "timm", None)
    with pytest.raises(MissingExtraError, match=r"A backbone by name needs timm: pip install 'onepeak\[train\]'"):
        TimmBackbone("resnet18")


@pytest.mark.bad_input
def test_other_failures_are_not_blamed_on_the_image_size(resnet18, monkeypatch):
    def broken(images):
        raise RuntimeError("the device is on fire")

    monkeypatch.setattr(resnet18, "_maps", broken)
    with pytest.raises(RuntimeError, match="the device is on fire"):
        resnet18(torch.zeros(1, 3, 64, 64))


@pytest.mark.parametrize(("size", "maps"), [((64, 64), (8, 8)), ((97, 131), (13, 17)), ((5, 1), (1, 1))])
def test_maps_are_an_eighth_of_the_image(size, maps):
    assert SmallConvNet().eval()(torch.zeros(2, 3, *size)).shape == (2, 128, *maps)


def test_it_is_small_and_its_parts_keep_the_scale_of_their_inputs(noise):
    small = SmallConvNet()
    assert sum(parameter.numel() for parameter in small.parameters()) < 300_000
    assert 0.3 < small(noise(8, 3, 64, 64)).std() < 1.5


@pytest.mark.bad_input
@pytest.mark.parametrize(
    ("images", "message"),
    [
        (torch.zeros(2, 64, 64, 3), r"`images` must have shape \(batch, 3, height, width\), got \(2, 64, 64, 3\)"),
        (torch.zeros(2, 3, 8, 8, dtype=torch.uint8), "must be a floating-point tensor, .*, got torch"),
        ([[0.0]], "`images` must be a floating-point tensor, scaled as in training, got list"),
    ],
)
def test_what_is_no_batch_of_images_is_refused(images, message):
    with pytest.raises(InputError, match=message):
        SmallConvNet()(images)


def test_the_last_width_is_what_it_gives_and_without_hidden_layers_the_rows_go_through(noise):
    mlp, rows = Mlp(5, hidden=(7, 3)), noise(2, 5)
    assert mlp(rows).shape == (2, mlp.num_channels) == (2, 3)
    assert Mlp(5, hidden=())(rows) is rows


def test_a_batch_of_one_row_trains_and_no_row_sees_another(noise):
    mlp, rows = Mlp(5).train(), noise(6, 5)
    torch.testing.assert_close(mlp(rows[:1]), mlp(rows)[:1])


def test_dropout_works_in_training_only(noise):
    mlp, rows = Mlp(5, hidden=(64,), dropout=0.5), noise(50, 5)
    kept = (mlp.eval()(rows) > 0).float().mean().item()
    assert (mlp.train()(rows) > 0).float().mean().item() == pytest.approx(kept / 2, abs=0.05)


@pytest.mark.bad_input
@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"hidden": (4, 0)}, "`hidden` must be an integer >= 1, got 0"),
        ({"dropout": 1.0}, "`dropout` must be a finite number >= 0 and < 1, got 1.0"),
        ({"hidden": (), "dropout": 0.1}, "`dropout` does nothing without hidden layers, got 0.1"),
    ],
)
def test_settings_out_of_range_are_refused(settings, message):
    with pytest.raises(InputError, match=message):
        Mlp(3, **settings)


@pytest.mark.bad_input
@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (torch.zeros(2, 4), r"`rows` must have shape \(batch, 3\), got \(2, 4\)"),
        (torch.zeros(2, 3, dtype=torch.int64), r"`rows` must be a floating-point tensor, .*got torch\.int64"),
    ],
)
def test_rows_that_do_not_fit_are_refused(rows, message):
    with pytest.raises(InputError, match=message):
        Mlp(3)(rows)
