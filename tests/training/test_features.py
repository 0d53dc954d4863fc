from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import timm
import torch
from safetensors.torch import save_file

import onepeak
from experiment.tiny import tiny
from in_process import Here
from onepeak.data.images.augment import Augment
from onepeak.errors import InputError
from onepeak.experiment.compare import compare
from onepeak.experiment.plan import MethodEntry
from onepeak.experiment.prepared import _check_freeze
from onepeak.networks.build import NetworkSettings
from onepeak.networks.network import Network
from onepeak.training.features import features_of
from onepeak.training.feed import RowFeed
from training.planted import planted_table

NETWORK = NetworkSettings(backbone="resnet10t", pooling="average", mean=(0.4, 0.4, 0.4), std=(0.2, 0.2, 0.2))
CPU = torch.device("cpu")


@pytest.fixture(scope="module")
def weights(tmp_path_factory):
    torch.manual_seed(0)
    path = tmp_path_factory.mktemp("weights") / "resnet10t.safetensors"
    save_file(timm.create_model("resnet10t", num_classes=0).state_dict(), path)
    return path


@pytest.fixture(scope="module")
def frozen(tmp_path_factory, weights):
    """Sixty biopsies whose features, in two views, a frozen network has given."""
    whole = tiny(tmp_path_factory.mktemp("cache"), num_splits=1, epochs=3)
    flips = Augment(vertical_flip=True, horizontal_flip=False)
    features = features_of(whole.prepared.store, NETWORK, flips, weights=weights, device=CPU, progress=False)
    experiment = replace(whole.experiment, weights=str(weights), freeze=True)
    prepared = replace(whole.prepared, features=features)
    return replace(whole, prepared=prepared, network=NETWORK, experiment=experiment)


@pytest.fixture(scope="module")
def compared(tmp_path_factory, frozen):
    folder = tmp_path_factory.mktemp("compared")
    outcome = compare(frozen, folder, executor=Here(), report=lambda _: None)
    assert len(outcome.finished) == 2
    return folder


def test_features_are_means_of_maps_and_are_computed_once(frozen, weights, monkeypatch):
    store, features = frozen.prepared.store, frozen.prepared.features
    whole = timm.create_model("resnet10t", num_classes=0, global_pool="")
    whole.load_state_dict(onepeak.networks.weights.read_weights(weights))
    pixels = (store[7] / 255 - 0.4) / 0.2
    with torch.no_grad():
        for view, image in enumerate((pixels, pixels.flip(-2))):
            expected = whole.eval()(image[None]).mean(dim=(2, 3))[0]
            torch.testing.assert_close(features.values[7, view], expected, atol=1e-4, rtol=1e-4)
    monkeypatch.setattr("onepeak.training.features.evaluation_batches", None)  # no second pass
    flips = Augment(vertical_flip=True, horizontal_flip=False)
    again = features_of(store, NETWORK, flips, weights=weights, device=CPU)
    assert torch.equal(again.values, features.values)
    for other in (replace(NETWORK, mean=(0.5, 0.4, 0.4)), replace(NETWORK, backbone="resnet18")):
        with pytest.raises((TypeError, InputError)):  # another network or other pixels have features of their own
            features_of(store, other, flips, weights=weights, device=CPU)


def test_an_epoch_sees_every_view_and_evaluation_the_image_itself(frozen):
    feed = RowFeed(frozen.prepared.features.values, CPU, as_maps=frozen.prepared.features.of_maps)
    indices, values = np.array([3, 8, 20, 41]), frozen.prepared.features.values
    drawn = [feed.train_inputs(indices, seed=0, epoch=epoch)[:, :, 0, 0] for epoch in range(12)]
    views = {next(view for view in (0, 1) if torch.equal(found[0], values[3, view])) for found in drawn}
    assert views == {0, 1}
    assert torch.equal(feed.train_inputs(indices[2:3], seed=0, epoch=5)[0, :, 0, 0], drawn[5][2])  # whatever the batch
    found = [inputs[:, :, 0, 0] for _, inputs in feed.evaluation_inputs(indices, batch_size=3)]
    assert torch.equal(torch.cat(found), values[indices, 0])


@pytest.mark.parametrize("method", ["ce", "elb"])
def test_the_model_is_whole_and_predicts_for_images_as_it_did_for_features(compared, frozen, method):
    folder = compared / "runs" / method / "split0-fold0"
    model = onepeak.load(folder)
    kept = pd.read_parquet(folder / "predictions.parquet").query("part == 'test'")
    images = [frozen.prepared.store[item].permute(1, 2, 0).numpy() for item in kept["item"]]
    found = model.predict(images, raw=True)
    np.testing.assert_allclose(found.log_probs.numpy(), np.stack(kept["log_probs"]), atol=1e-4)
    assert isinstance(model.network, Network)
    assert model.evidence(images[:2], torch.tensor([0, 3])).shape == (2, 1, 1)  # of 16 pixels
    onepeak_id = model.model_id
    (folder / "backbone.safetensors").unlink()
    with pytest.raises(InputError, match="must be the file that onepeak wrote, got another one or none"):
        onepeak.load(folder)
    frozen.prepared.features.link_backbone(folder)
    assert onepeak.load(folder).model_id == onepeak_id
    assert (folder / "backbone.safetensors").samefile(frozen.prepared.features.backbone)  # a second name, no copy


@pytest.mark.bad_input
def test_freezing_is_refused_where_it_does_nothing_and_where_features_do_not_suffice(frozen):
    experiment, manifest = frozen.experiment, frozen.prepared.manifest
    for given, data, message in (
        ({}, planted_table(), "`freeze` does nothing for a table"),
        ({"weights": None}, manifest, "`freeze` needs weights"),
        ({"network": {"pooling": "wildcat"}}, manifest, "`pooling` must be 'average'"),
        ({"methods": (MethodEntry(name="mv+rnc"),)}, manifest, "`freeze` leaves no layers for a term on features"),
    ):
        with pytest.raises(InputError, match=message):
            _check_freeze(data, replace(experiment, **given))
