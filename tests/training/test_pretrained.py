"""timm's own weights, which no test fetches: timm is told to make its pretrained networks at random."""

import numpy as np
import pytest
import timm
import torch
from safetensors.torch import load_file

import onepeak
from image_files import write_images
from onepeak.cli import main
from onepeak.errors import InputError
from onepeak.networks.inputs import ImageInput
from onepeak.training.pretrained import pretrained_file, timm_pixels

IMAGENET = {"mean": (0.485, 0.456, 0.406), "std": (0.229, 0.224, 0.225)}


@pytest.fixture
def fetched(monkeypatch, tmp_path):
    """The names of networks whose weights timm would have fetched."""
    names, original = [], timm.create_model

    def create(name, *, pretrained=False, **options):
        if pretrained:
            names.append(name)
            torch.manual_seed(7)
        return original(name, pretrained=False, **options)

    monkeypatch.setattr(timm, "create_model", create)
    monkeypatch.setenv("ONEPEAK_CACHE", str(tmp_path / "cache"))
    return names


def test_weights_are_fetched_once_and_then_read_from_a_file(fetched, tmp_path):
    path = pretrained_file("resnet10t")
    assert path == tmp_path / "cache" / "weights" / "resnet10t.c3_in1k.safetensors"
    torch.manual_seed(7)
    expected = timm.create_model("resnet10t", num_classes=0).state_dict()
    assert all(torch.equal(value, expected[name]) for name, value in load_file(path).items())
    times = len(fetched)  # timm refuses some options first
    assert pretrained_file("resnet10t") == path
    assert len(fetched) == times > 0


@pytest.mark.bad_input
def test_without_a_network_the_error_names_the_way_out_and_only_timm_has_weights(monkeypatch, tmp_path):
    monkeypatch.setenv("ONEPEAK_CACHE", str(tmp_path))
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    original = timm.create_model

    def create(name, *, pretrained=False, **options):
        if pretrained:
            raise OSError("no route to host")
        return original(name, **options)

    monkeypatch.setattr(timm, "create_model", create)
    with pytest.raises(InputError, match=r"could not be downloaded \(no route to host\).* with --weights FILE"):
        pretrained_file("resnet10t")
    for backbone in ("mlp", "small", "nets:Own"):
        with pytest.raises(InputError, match="needs a backbone of timm"):
            pretrained_file(backbone)
        with pytest.raises(InputError, match="needs a backbone of timm"):
            timm_pixels(backbone)


def test_pixels_are_those_of_timms_own_transform():
    assert timm_pixels("resnet18") == IMAGENET
    pixels = torch.randint(0, 256, (2, 3, 4, 5), dtype=torch.uint8)
    mean, std = (torch.tensor(IMAGENET[name]).view(3, 1, 1) for name in ("mean", "std"))
    expected = (pixels / 255 - mean) / std
    torch.testing.assert_close(ImageInput(**IMAGENET)(pixels), expected, atol=1e-6, rtol=1e-6)
    half = ImageInput((0.5, 0.5, 0.5), (0.5, 0.5, 0.5))
    assert torch.equal(half(pixels), ImageInput()(pixels))  # the paper's, to the last bit


def test_training_with_them_reads_pixels_as_timm_does_and_so_does_the_model(fetched, tmp_path, monkeypatch):
    for grade in range(2):
        write_images(tmp_path / str(grade), [(32, 32)] * 15)
    flags = ["train", str(tmp_path), "--backbone", "resnet10t", "--epochs", "1", "--weights", "pretrained", "--quiet"]
    flags += ["--out", str(tmp_path / "out" / "model"), "--device", "cpu", "--logger", "none", "--allow-leak"]
    monkeypatch.setattr("sys.argv", ["onepeak", *flags])
    with pytest.raises(SystemExit) as stopped:
        main()
    assert not stopped.value.code
    model = onepeak.load(tmp_path / "out" / "model")
    config = timm.get_pretrained_cfg("resnet10t")
    assert (model.description.network.mean, model.description.network.std) == (config.mean, config.std)
    expected = -torch.tensor(config.mean) / torch.tensor(config.std)
    torch.testing.assert_close(model._images([np.zeros((32, 32, 3), np.uint8)])[0, :, 0, 0], expected)
