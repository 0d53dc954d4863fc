from pathlib import Path

import pytest

from onepeak.data.datasets import DATASETS
from onepeak.experiment.estimate import Work
from reproduction.cost import PIXELS, STEPS_PER_SECOND, cost_of, counted_manifest, seconds_of

EXPERIMENTS = Path(__file__).parents[3] / "experiments"


def test_steps_of_iciar_are_those_of_the_paper_by_hand():
    cost = cost_of(EXPERIMENTS / "iciar-paper.toml")
    assert cost.runs == 2 * 5 * 16  # splits, folds, seven methods in two forms and two of our own
    assert cost.steps == cost.runs * 1000 * 160 / 8
    assert cost.sizes == "160 / 40 / 200"


def test_steps_of_fgnet_are_those_of_a_dry_run_on_the_real_images():
    assert cost_of(EXPERIMENTS / "fgnet-paper.toml").steps == pytest.approx(12_180_000, rel=0.01)


@pytest.mark.parametrize("name", PIXELS)
def test_the_stand_in_has_the_counts_of_the_data_set(name):
    manifest = counted_manifest(name)
    assert len(manifest) == DATASETS[name].num_items
    assert manifest.num_classes == len(DATASETS[name].classes)


@pytest.mark.parametrize("precision", STEPS_PER_SECOND)
@pytest.mark.parametrize(("batch_size", "parts", "name"), [(8, (649, 145), "fgnet"), (64, (37980, 9495), "afad-lite")])
def test_where_the_speed_was_measured_the_estimate_is_the_measurement(batch_size, parts, name, precision):
    train, valid = parts
    steps = train // batch_size
    epoch = Work(epochs=1, steps=steps, trained=train, evaluated=valid)
    speed, _ = STEPS_PER_SECOND[precision][batch_size]
    estimate = seconds_of(epoch, batch_size, pixels=PIXELS[name], precision=precision)
    assert estimate == pytest.approx(steps / speed, rel=0.05)
