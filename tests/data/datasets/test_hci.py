import pytest

from onepeak.data import DataSource
from onepeak.errors import InputError

DECADES = ("1930s", "1940s", "1950s", "1960s", "1970s")


@pytest.mark.parametrize("inside", ["", "decade_database/", "HistoricalColor-ECCV2012/data/imgs/decade_database/"])
def test_five_decades_are_five_classes(plant, inside):
    names = [f"{inside}{decade}/{number}.jpg" for decade in DECADES for number in range(265)]
    data = DataSource("hci", root=plant(*names, f"{inside}1930s/.DS_Store")).open()
    assert data.classes == DECADES
    assert [data.classes[label] for label in data.labels] == [path.partition("/")[0] for path in data.items.paths]
    assert data.notes == ("found 1,325 of 1,325 images", "ignored 1 file that is not an image (.DS_Store)")


def test_a_decade_that_lacks_a_image_is_named(plant):
    names = [f"{decade}/{number}.jpg" for decade in DECADES for number in range(265)]
    assert DataSource("hci", root=plant(*names[:-1])).open().notes == (
        "found 1,324 of 1,325 images",
        "classes that do not have 265 images: 1970s (264)",
    )


@pytest.mark.bad_input
def test_a_root_without_decades_is_refused(plant):
    with pytest.raises(InputError, match=r"no images of the set in .* Expected 1930s/\*.jpg to 1970s/\*.jpg there"):
        DataSource("hci", root=plant("1980s/a.jpg")).open()
