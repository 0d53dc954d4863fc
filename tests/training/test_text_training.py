"""An encoder of texts that is trained too, on the tiny one."""

import json
from dataclasses import replace

import numpy as np
import pytest
import torch

import onepeak
from onepeak.data.source import DataSource
from onepeak.data.splits import make_splits
from onepeak.errors import InputError
from onepeak.networks.text_encoder import TextEncoder
from onepeak.training.devices import make_fabric
from onepeak.training.model_files import load_description
from onepeak.training.optimizer import make_optimizer
from onepeak.training.predictions_file import read_predictions
from onepeak.training.prepare import prepare
from onepeak.training.recipe import Recipe, without_effect
from onepeak.training.run import CHECKPOINT, RunSettings, make_network, train_run
from onepeak.training.text_training import TrainedEncoder
from tiny_encoder import write_encoder, write_reviews

pytest.importorskip("transformers")

RECIPE = Recipe(epochs=12, batch_size=16, lr=3e-3, encoder_lr=1e-3)


@pytest.fixture(scope="module")
def prepared(tmp_path_factory):
    folder = tmp_path_factory.mktemp("texts")
    write_encoder(folder / "tiny")
    source = DataSource(
        write_reviews(folder / "reviews.csv"), text="review", label="stars", columns=["price"], group="author"
    )
    return prepare(source.open(), RECIPE, cache_dir=folder / "cache", quiet=True, encoder=str(folder / "tiny"))


@pytest.fixture(scope="module")
def split(prepared):
    return make_splits(prepared.manifest, protocol="holdout", splits=1)[0]


def settings_of(prepared, recipe=RECIPE):
    network = replace(prepared.suits(), num_features=len(prepared.manifest.items.columns))
    return RunSettings(method="peak", network=network, recipe=recipe)


@pytest.fixture(scope="module")
def folder(prepared, split, tmp_path_factory):
    folder = tmp_path_factory.mktemp("run")
    train_run(settings_of(prepared), prepared, split, folder, fabric=make_fabric(device="cpu"))
    return folder


def test_before_training_the_network_reads_texts_as_with_frozen_features(prepared, split):
    fabric = make_fabric(device="cpu")
    frozen, table = prepared.feed(split, RECIPE, fabric.device)
    network = make_network(settings_of(prepared), settings_of(prepared).shape(table), 5).eval()
    encoder = TrainedEncoder(prepared.manifest.items, table, fabric)
    whole, feed, indices = encoder.before(network).eval(), encoder.feed(), np.arange(len(prepared.manifest))
    assert max(len(windows) for windows in feed.windows) > 1  # some texts are longer than the encoder reads at once
    seen = torch.zeros(len(indices))
    for places, inputs in feed.evaluation_inputs(indices, batch_size=16):
        with torch.no_grad():
            torch.testing.assert_close(whole(inputs), network(frozen.rows[places]), rtol=1e-3, atol=1e-4)
        seen[places] += 1
    assert (seen == 1).all()


def test_every_sample_is_in_one_batch_among_texts_of_its_length(prepared, split):
    fabric = make_fabric(device="cpu")
    encoder = TrainedEncoder(prepared.manifest.items, prepared.feed(split, RECIPE, fabric.device)[1], fabric)
    feed, order = encoder.feed(), np.random.default_rng(0).permutation(len(prepared.manifest))
    arranged = feed.in_batches(order, 16, seed=0, epoch=1)
    assert sorted(arranged) == sorted(order)
    np.testing.assert_array_equal(arranged, feed.in_batches(order, 16, seed=0, epoch=1))
    assert (arranged != feed.in_batches(order, 16, seed=0, epoch=2)).any()
    few, drawn = order[:17], np.random.default_rng(0)  # the last batch, of one text, is left out
    assert len({feed.in_batches(drawn.permutation(few), 16, seed=0, epoch=n)[-1] for n in range(20)}) > 5

    def spread(samples):
        return np.mean([np.ptp(feed.lengths[samples[start : start + 16]]) for start in range(0, 144, 16)])

    assert spread(arranged) < spread(order) / 3


def test_it_learns(folder):
    result = json.loads((folder / "result.json").read_text())
    assert result["metrics"]["test"]["mae"] < 0.5 * result["constant"]["test_mae"]


def test_the_trained_encoder_is_kept_with_the_model_which_predicts_by_it(prepared, folder):
    description = load_description(folder)
    encoding, before = description.table.texts.encoding, prepared.manifest.items.texts.encoding
    assert encoding.digest == TextEncoder(folder / "encoder").digest != before.digest
    weights = [dict(TextEncoder(each).model.named_parameters()) for each in (folder / "encoder", before.folder)]
    moved = {name for name, each in weights[0].items() if not torch.equal(each, weights[1][name])}
    assert {"embeddings.word_embeddings.weight", "encoder.layer.0.output.dense.weight"} <= moved
    recorded = read_predictions(folder, part="test")
    items = prepared.manifest.items
    rows = {
        "review": [items.texts.values[item] for item in recorded["item"]],
        "price": items.values[recorded["item"], 0],
    }
    found = onepeak.load(folder).predict(rows, raw=True)
    np.testing.assert_allclose(found.log_probs, recorded["log_probs"], atol=1e-4)


def test_a_killed_run_ends_in_the_same_bits(prepared, split, folder, tmp_path):
    class Kill:
        def step(self, epoch, *_):
            if epoch == 2:
                raise KeyboardInterrupt

        def epoch(self, row):
            pass

    run = (settings_of(prepared), prepared, split, tmp_path)
    with pytest.raises(KeyboardInterrupt):
        train_run(*run, fabric=make_fabric(device="cpu"), watches=(Kill(),))
    assert (tmp_path / CHECKPOINT).is_file()
    train_run(*run, fabric=make_fabric(device="cpu"))
    for name in ("model.safetensors", "encoder/model.safetensors"):
        assert (tmp_path / name).read_bytes() == (folder / name).read_bytes()


def test_the_encoder_has_its_own_learning_rate(prepared, split):
    fabric = make_fabric(device="cpu")
    table = prepared.feed(split, RECIPE, fabric.device)[1]
    network = make_network(settings_of(prepared), settings_of(prepared).shape(table), 5)
    whole = TrainedEncoder(prepared.manifest.items, table, fabric).before(network)
    rates = {id(each): group["lr"] for group in make_optimizer(whole, RECIPE).param_groups for each in group["params"]}
    assert {round(rates[id(each)], 9) for each in whole.backbone.encoder.parameters()} == {1e-3}
    assert {rates[id(each)] for each in whole.backbone.layers.parameters()} == {3e-3}
    assert len(rates) == len(list(whole.parameters()))


def test_without_texts_there_is_no_encoder_to_train(table):
    (problem,) = without_effect({"encoder_lr": 1e-5}, [RECIPE], table.manifest)
    assert "`encoder_lr` does nothing for data without texts" in str(problem)
    with pytest.raises(InputError, match="`encoder_lr` must be a finite number > 0"):
        Recipe(encoder_lr=0)
