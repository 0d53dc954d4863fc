from pathlib import Path

import pandas as pd
import pytest

from onepeak.data.datasets import DATASETS
from onepeak.experiment.grid import Work
from reproduction.cost import PIXELS, cost_of, counted_manifest, fgnet_cost, seconds_of

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


@pytest.mark.parametrize(
    ("batch_size", "parts", "name", "speed"), [(8, (649, 145), "fgnet", 468.5), (64, (37980, 9495), "afad-lite", 87.0)]
)
def test_where_the_speed_was_measured_the_estimate_is_the_measurement(batch_size, parts, name, speed):
    train, valid = parts
    steps = train // batch_size
    epoch = Work(epochs=1, steps=steps, trained=train, evaluated=valid)
    assert seconds_of(epoch, batch_size=batch_size, pixels=PIXELS[name]) == pytest.approx(steps / speed, rel=0.05)


def test_the_cost_of_runs_to_come_is_told(runs):
    told = fgnet_cost(runs, None)
    assert told.startswith(f"The {len(runs)} finished runs make {len(runs) * 300 * 81:,} steps:")
    assert f"the {130 - len(runs)} missing ones, with 200 epochs each" in told
    assert "(14 runs to go)" in told
    longer = fgnet_cost(runs, runs)  # thirteen
    assert longer.startswith(f"The {2 * len(runs)} finished runs make {2 * len(runs) * 300 * 81:,} steps:")
    assert "(1 run to go)" in longer
    assert "to go" not in fgnet_cost(runs, pd.concat([runs, runs]))  # all are there
