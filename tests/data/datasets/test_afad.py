import pytest

from onepeak.data import DataSource
from onepeak.data.datasets.afad import AFAD_FULL, AFAD_LITE
from onepeak.errors import InputError


def test_the_two_sizes_have_22_and_58_classes():
    assert (AFAD_LITE.classes[0], AFAD_LITE.classes[-1], len(AFAD_LITE.classes)) == ("18", "39", 22)
    assert (AFAD_FULL.classes[0], AFAD_FULL.classes[-1], len(AFAD_FULL.classes)) == ("15", "72", 58)


@pytest.mark.parametrize(
    ("name", "inside", "lowest"),
    [
        ("afad-lite", "", 18),
        ("afad-lite", "AFAD-Lite/", 18),
        ("afad-lite", "tarball-lite-master/AFAD-Lite/", 18),
        ("afad-full", "", 15),
        ("afad-full", "AFAD-Full/", 15),
        ("afad-full", "tarball/AFAD-Full/", 15),
    ],
)
def test_folders_say_age_and_gender(plant, name, inside, lowest):
    names = ("20/112/b-0.jpg", "20/111/a-0.jpg", "39/111/c-0.jpg", "39/111/c-1.jpg", "AFAD.txt", "39/111/Thumbs.db")
    data = DataSource(name, root=plant(*(inside + path for path in names))).open()
    assert data.items.paths == ("20/111/a-0.jpg", "20/112/b-0.jpg", "39/111/c-0.jpg", "39/111/c-1.jpg")
    assert data.strata == ("male", "female", "male", "male")
    assert data.groups is None
    assert [int(data.classes[label]) for label in data.labels] == [20, 20, 39, 39]
    assert data.classes[0] == str(lowest)
    assert data.notes[0] == f"found 4 of {AFAD_LITE.num_items if name == 'afad-lite' else AFAD_FULL.num_items:,} images"
    assert "3 male, 1 female" in data.notes
    assert "ignored 2 files that are not images (AFAD.txt, Thumbs.db)" in data.notes


def test_ages_and_folders_outside_the_set_are_left_out_with_a_note(plant):
    data = DataSource(
        "afad-lite", root=plant("18/111/a.jpg", "15/111/b.jpg", "20/113/c.jpg", "18/d.jpg", "75/112/e.jpg")
    ).open()
    assert data.items.paths == ("18/111/a.jpg",)
    assert "left out 4 images outside the ages 18 to 39 (in 15, 18, 20, 75)" in data.notes


def test_a_part_of_the_set_keeps_the_strata(plant):
    data = DataSource("afad-full", root=plant("15/111/a.jpg", "72/112/b.jpg")).open()
    assert data.take([1]).strata == ("female",)


@pytest.mark.bad_input
def test_a_root_without_ages_is_refused(plant):
    with pytest.raises(InputError, match=r"Expected <age>/111/\*.jpg \(male\) .* in one of its folders AFAD-Lite"):
        DataSource("afad-lite", root=plant("111/18/a.jpg")).open()
