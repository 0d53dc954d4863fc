import random
import shutil
import subprocess

import pytest

from onepeak._core.digests import DIGESTS
from onepeak.errors import InputError
from onepeak.experiment.run_files import read_run
from onepeak.serving import load
from onepeak.training.model_files import load_held_out_items, load_trained_items
from onepeak.training.predictions_file import read_predictions
from trained_models import table_run

READERS = {
    "model.safetensors": load,
    "onepeak.json": load,
    "predictions.parquet": read_predictions,
    "result.json": lambda folder: read_run(folder / "result.json"),
    "trained_items.txt": load_trained_items,
    "held_out_items.txt": load_held_out_items,
}


@pytest.fixture
def folder(tmp_path):
    return shutil.copytree(table_run().folder, tmp_path / "model")


@pytest.mark.bad_input
@pytest.mark.parametrize("name", READERS)
def test_one_flipped_bit_anywhere_is_noticed_when_the_file_is_read(folder, name):
    READERS[name](folder)
    whole, chance = (folder / name).read_bytes(), random.Random(0)
    for _ in range(20):
        rotten = bytearray(whole)
        rotten[chance.randrange(len(whole))] ^= 1 << chance.randrange(8)
        (folder / name).write_bytes(rotten)
        with pytest.raises(InputError, match=name):
            READERS[name](folder)


def test_sha256sum_reads_the_digests_and_the_card_may_be_edited(folder):
    (folder / "README.md").write_text("# Ours")
    subprocess.run(["sha256sum", "--check", "--strict", "--quiet", DIGESTS], cwd=folder, check=True)
    load(folder)


@pytest.mark.bad_input
def test_a_file_that_was_changed_on_purpose_is_read_without_digests(folder):
    (folder / "trained_items.txt").write_text("0123456789abcdef\n")
    with pytest.raises(InputError, match=f"if you changed it on purpose, delete {DIGESTS}"):
        load(folder)
    (folder / DIGESTS).unlink()
    assert load(folder).trained_items == {"0123456789abcdef"}
