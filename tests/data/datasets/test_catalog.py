import pytest

from onepeak.data.datasets import BIOPSIES, DATASETS
from onepeak.data.datasets.biopsies import biopsies
from onepeak.data.datasets.record import locate
from onepeak.errors import InputError


def test_the_papers_sets_and_our_own_are_known():
    assert [record.name for record in DATASETS] == ["biopsies", "iciar", "hci", "fgnet", "afad-lite", "afad-full"]
    assert [len(record.classes) for record in DATASETS] == [8, 4, 5, 70, 22, 58]
    assert [record.num_items for record in DATASETS] == [2000, 400, 1325, 1002, 59_344, 165_501]


@pytest.mark.parametrize("record", DATASETS, ids=lambda record: record.name)
def test_every_record_says_how_to_obtain_the_set_and_is_either_read_or_made(record):
    assert all((record.title, record.layout, record.obtain, record.terms, record.reference))
    assert (record.read is None) != (record.generate is None)
    if record.num_per_class is not None:
        assert record.num_per_class * len(record.classes) == record.num_items


@pytest.mark.bad_input
@pytest.mark.parametrize("record", [record for record in DATASETS if record.read], ids=lambda record: record.name)
def test_a_set_on_disk_without_a_root_says_how_to_obtain_it(record):
    with pytest.raises(InputError) as caught:
        record.open()
    assert f"The data set {record.name} needs `root`, the folder that holds {record.layout}" in str(caught.value)
    assert record.obtain in str(caught.value)


@pytest.mark.bad_input
def test_the_record_describes_the_set_that_is_drawn_for_which_a_root_has_no_use(tmp_path):
    data = biopsies(10)
    assert (data.name, data.classes) == (BIOPSIES.name, BIOPSIES.classes)
    with pytest.raises(InputError, match=r"`root` does nothing for biopsies, which is generated: leave it out"):
        BIOPSIES.open(tmp_path)


def find(root):
    return locate(root, inside=("in", "deep/in"), holds=lambda folder: (folder / "1.jpg").is_file(), layout="1.jpg")


def test_the_root_comes_before_a_folder_in_it(plant):
    root = plant("deep/in/1.jpg")
    assert find(root) == root / "deep/in"
    assert find(plant("1.jpg")) == root


@pytest.mark.bad_input
@pytest.mark.parametrize(
    ("images", "root", "message"),
    [
        (["in/1.jpg", "deep/in/1.jpg"], "", r"must hold the set once, .* in .*in, .*deep/in: give one of them"),
        (["2.jpg"], "", r"no images of the set in .* Expected 1.jpg there, or in one of its folders in, deep/in"),
        (["1.jpg"], "1.jpg", r"`root` must be a folder, .*1.jpg is a file"),
        (["1.jpg"], "nowhere", r"`root` must be a folder, .*nowhere is not there"),
    ],
)
def test_a_root_that_does_not_hold_the_set_once_is_refused(plant, images, root, message):
    with pytest.raises(InputError, match=message):
        find(plant(*images) / root)
