import shutil
from dataclasses import replace

import numpy as np
import pytest
from PIL import Image

from onepeak.data.manifest import ImageFiles
from onepeak.data.open import open_data
from onepeak.data.splits.digests import item_digests
from onepeak.errors import InputError
from onepeak.experiment.records import read_predictions
from onepeak.serving import evaluate, load
from onepeak.serving.held_out import held_out
from onepeak.serving.opening import open_for
from onepeak.training.trained_items import save_held_out_items
from trained_models import picture_run, table_run

RUNS = pytest.mark.parametrize("trained", [picture_run, table_run])


@RUNS
@pytest.mark.parametrize("part", ["valid", "test"])
def test_the_part_has_the_metrics_that_training_wrote_down(trained, part):
    run = trained()
    model = load(run.folder)
    found = evaluate(
        model, held_out(run.manifest, model, run.folder, part), batch_size=run.recipe.evaluation_batch_size
    )
    assert len(found.labels) == len(run.split.parts[part])
    for name, value in run.result["metrics"][part].items():
        assert found.metrics[name] == pytest.approx(value, abs=1e-6, nan_ok=True), name


@RUNS
def test_items_are_found_in_another_order_and_among_others(trained):
    run = trained()
    order = np.random.default_rng(0).permutation(len(run.manifest))
    model = load(run.folder)
    found = held_out(run.manifest.take(order), model, run.folder, "test")
    expected = run.manifest.take(run.split.test)
    assert sorted(found.labels.tolist()) == sorted(expected.labels.tolist())
    mae = evaluate(model, found).metrics["mae"]
    assert mae == pytest.approx(run.result["metrics"]["test"]["mae"], abs=1e-6)


def test_of_equal_rows_as_many_are_kept_as_were_held_out():
    run = table_run()
    twice = run.manifest.take(np.repeat(np.arange(len(run.manifest)), 2))
    assert len(held_out(twice, load(run.folder), run.folder, "test")) == len(run.split.test)


def test_what_is_done_is_in_the_notes():
    run = picture_run()
    model = load(run.folder)
    some = run.manifest.take(np.setdiff1d(np.arange(60), run.split.test[:2]))
    whole, less = (held_out(data, model, run.folder, "test").notes for data in (run.manifest, some))
    assert "only the test part of the model's training: 15 of 60 items" in whole
    assert "2 of the 15 items of the test part are no longer in the data" in less
    assert not any("no longer" in note for note in whole)
    assert any("figures flatter it" in note for note in held_out(run.manifest, model, run.folder, "valid").notes)


def test_files_are_read_once_to_be_known_again(tmp_path):
    run = picture_run()
    folder = shutil.copytree(run.folder, tmp_path / "model")
    names = tuple(f"{place}.png" for place in range(len(run.manifest)))
    for name, picture in zip(names, run.manifest.items.pixels, strict=True):
        Image.fromarray(picture).save(tmp_path / name)
    files = ImageFiles(root=tmp_path, paths=names)
    digests = item_digests(files)
    save_held_out_items(folder, [digests[item] for item in read_predictions(folder, columns=["item"])["item"]])
    found = held_out(replace(run.manifest, items=files), load(folder), folder, "test").items
    assert found == files.take(run.split.test)
    for name in names:  # nobody can read them again
        (tmp_path / name).unlink()
    assert item_digests(found) == tuple(digests[item] for item in run.split.test)


@pytest.mark.bad_input
def test_other_data_and_other_labels_have_nothing_of_the_part(tmp_path):
    run = table_run()
    model = load(run.folder)
    (tmp_path / "new.csv").write_text("size,tone,grade\n100,dark,low\n200,1,high\n")
    with pytest.raises(InputError, match=r"got data with none of the \d+ items of its test part"):
        held_out(open_for(model, tmp_path / "new.csv"), model, run.folder, "test")
    alone = open_data(tmp_path / "new.csv", label="grade", order=run.manifest.classes)
    with pytest.raises(InputError, match="must have the columns and codes that the model was trained with, got others"):
        held_out(alone, model, run.folder, "test")
    turned = replace(run.manifest, labels=(run.manifest.labels + 1) % 3)
    with pytest.raises(InputError, match="got data with none of"):
        held_out(turned, model, run.folder, "test")


@pytest.mark.bad_input
def test_a_folder_that_does_not_say_what_was_held_out_is_told(tmp_path):
    run = table_run()
    folder = shutil.copytree(run.folder, tmp_path / "copy")
    model = load(folder)
    with pytest.raises(InputError, match=r"Unknown `part` 'train'\. Known: valid, test"):
        held_out(run.manifest, model, folder, "train")
    (folder / "held_out_items.txt").unlink()
    with pytest.raises(InputError, match=r"without its own held_out_items\.txt: copy .* whole, or train again"):
        held_out(run.manifest, model, folder, "test")
    (folder / "predictions.parquet").unlink()
    with pytest.raises(InputError, match=r"does not say without predictions\.parquet"):
        held_out(run.manifest, model, folder, "test")
