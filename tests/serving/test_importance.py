from dataclasses import replace

import numpy as np
import pytest
import torch

from onepeak.data.manifest import FeatureRows, Manifest
from onepeak.errors import InputError
from onepeak.serving import column_importance
from onepeak.serving.importance import word_weights
from onepeak.serving.posterior_options import PosteriorOptions
from table_models import CALIBRATION, ENCODER, table_model, table_rows
from trained_models import image_run


@pytest.fixture
def asked():
    """A model that does not look at the dose, and rows whose labels are what it predicts of them."""
    model = table_model("ce", num_classes=4, calibration=CALIBRATION)
    first = next(layer for layer in model.network.modules() if isinstance(layer, torch.nn.Linear))
    with torch.no_grad():
        first.weight[:, 4:] = 0  # after the age and three tones
    rows = FeatureRows(
        columns=ENCODER.columns, values=table_rows(300).astype(np.float64), categories=ENCODER.categories
    )
    labels = model.row_answers(rows).predicted_index.numpy()
    return model, Manifest(name="rows", items=rows, labels=labels, classes=model.classes)


def test_a_column_that_the_model_does_not_look_at_does_not_matter(asked):
    found = {each.column: each for each in column_importance(*asked)}
    assert list(found)[-1] == "dose"
    assert found["dose"].rise == found["dose"].deviation == 0
    assert np.ptp(found["dose"].above, axis=0) == pytest.approx([0, 0, 0], abs=1e-6)
    assert min(found["age"].rise, found["tone"].rise) > 0.1  # labels are the model's own, so any change is an error


def test_an_effect_is_the_mean_posterior_of_the_rows_with_the_column_set(asked):
    model, data = asked
    found = {each.column: each for each in column_importance(model, data, shuffles=1)}
    assert found["tone"].values == ENCODER.categories["tone"]
    ages = data.items.values[:, 0]
    assert np.isin(found["age"].values, ages).all()
    frame = {"age": ages, "tone": ["dark"] * len(data), "dose": data.items.values[:, 2]}
    probs = model.predict(frame).probs.double()
    expected = [float(probs[:, k + 1 :].sum(dim=1).mean()) for k in range(3)]
    assert found["tone"].above[2] == pytest.approx(expected, abs=1e-6)
    spreads = np.ptp(found["tone"].above, axis=0)
    assert spreads[found["tone"].strongest_cut()] == spreads.max()


def test_errors_are_those_of_the_decision_asked_for(asked):
    model, data = asked
    data = replace(data, labels=np.full(len(data), 3))
    always = ((9.0, 9.0, 9.0, 0.0),) * 4  # decides for the highest class, however columns are shuffled
    options = PosteriorOptions(decide="cost", cost=always)
    assert {each.rise for each in column_importance(model, data, options=options)} == {0.0}
    assert {each.rise for each in column_importance(model, data)} != {0.0}


def test_the_same_seed_gives_the_same_figures_also_of_a_selection(asked):
    model, data = asked
    many = data.take(np.resize(np.arange(len(data)), 2500))
    assert column_importance(model, many, shuffles=2) == column_importance(model, many, shuffles=2)


@pytest.mark.bad_input
def test_images_are_refused(model):
    with pytest.raises(InputError, match="`data` must be rows of a table, got images"):
        column_importance(model, image_run().manifest)


def counted_goods(rows):
    """Expects one class more for every "good"."""
    return torch.eye(4)[torch.tensor([row["text"].split().count("good") for row in rows])]


def test_a_word_weighs_what_the_expected_class_falls_by_without_it():
    found = word_weights(counted_goods, {"text": "good tea,  good cake"}, "text")
    assert (found.words, found.weights) == (["good", "tea,", "good", "cake"], [1, 0, 1, 0])
    assert word_weights(counted_goods, {"text": "good tea"}, "text", seconds=0).weights == []
    assert word_weights(counted_goods, {"text": "good"}, "text").weights == []  # nothing would be left
