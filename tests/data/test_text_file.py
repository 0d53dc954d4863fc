import pytest

from onepeak.data.text_file import read_text
from onepeak.errors import InputError


def test_a_byte_order_mark_is_no_part_of_the_text(tmp_path):
    path = tmp_path / "a.csv"
    path.write_bytes(b"\xef\xbb\xbfpath,label\n")
    assert read_text(path) == "path,label\n"


@pytest.mark.bad_input
def test_another_encoding_is_named_by_line_and_byte(tmp_path):
    path = tmp_path / "a.csv"
    path.write_bytes("size,grade\n1,léger\n".encode("latin-1"))
    with pytest.raises(InputError, match=r"a.csv must be UTF-8 text, but line 2 has the invalid byte 0xe9"):
        read_text(path)


@pytest.mark.bad_input
def test_a_file_that_cannot_be_read_says_why(tmp_path):
    with pytest.raises(InputError, match="cannot be read: Is a directory"):
        read_text(tmp_path)
