import pytest

from onepeak.errors import InputError
from onepeak.serving.inspector.notes import FILE, SampleNote, SampleNotes


def note(item, *, flag=False, text=""):
    return SampleNote(part="0-0", item=item, name=f"{item}.png", flag=flag, note=text)


def test_notes_are_read_as_they_were_kept_and_empty_ones_are_gone(tmp_path):
    notes = SampleNotes(tmp_path)
    assert not notes.known
    notes.put(note(3, flag=True))
    notes.put(note(1, text="two lines,\nand a comma"))
    notes.put(note(3))
    assert SampleNotes(tmp_path).known == {("0-0", 1): note(1, text="two lines,\nand a comma")}
    assert (tmp_path / FILE).read_text().startswith("part,item,name,flag,note\n")


@pytest.mark.bad_input
def test_a_file_of_something_else_and_a_folder_that_is_gone_are_told(tmp_path):
    (tmp_path / FILE).write_text("mine\n1\n")
    with pytest.raises(InputError, match="must be a CSV of notes that onepeak inspect wrote"):
        _ = SampleNotes(tmp_path).known
    with pytest.raises(InputError, match="The note cannot be kept"):
        SampleNotes(tmp_path / "gone").put(note(1, flag=True))
