import pytest

from onepeak.errors import InputError
from onepeak.serving import picture_paths


def test_folders_give_their_pictures_in_order_and_files_stay_as_named(tmp_path):
    for name in ("b/2.png", "b/1.JPG", "a.tif", "notes.txt", ".hidden.png", "__MACOSX/a.png"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(b"")
    given = [tmp_path / "notes.txt", tmp_path, "missing.png"]
    found = [
        path.relative_to(tmp_path).as_posix() if path.is_absolute() else str(path) for path in picture_paths(given)
    ]
    assert found == ["notes.txt", "a.tif", "b/1.JPG", "b/2.png", "missing.png"]


@pytest.mark.bad_input
def test_nothing_to_look_at_is_refused(tmp_path):
    with pytest.raises(InputError, match="`inputs` must name at least one picture or folder, got none"):
        picture_paths([])
    with pytest.raises(InputError, match=f"There are no pictures below {tmp_path}."):
        picture_paths([tmp_path])


@pytest.mark.bad_input
def test_a_table_is_no_picture(tmp_path):
    (tmp_path / "rows.csv").write_text("size\n1\n")
    with pytest.raises(InputError, match=r"reads pictures and folders of pictures, got a table: .*rows\.csv"):
        picture_paths([tmp_path / "rows.csv"])
