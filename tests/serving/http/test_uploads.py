import pytest
from hypothesis import given
from hypothesis import strategies as st

from onepeak.serving.http.failures import RequestError
from onepeak.serving.http.uploads import uploads_of

FORM = "multipart/form-data; boundary=x"


def form(*parts, end=b"--x--\r\n"):
    head = b'Content-Disposition: form-data; name="images"; filename="%s"\r\nContent-Type: image/png\r\n\r\n'
    return b"".join(b"--x\r\n" + head % name + data + b"\r\n" for name, data in parts) + end


def files(body, content_type=FORM, max_items=9):
    return [(upload.name, upload.data) for upload in uploads_of(body, content_type, max_items=max_items)]


def test_what_is_no_form_is_one_file():
    for kind in ("image/png", "application/octet-stream", ""):
        assert files(b"bytes", kind) == [(None, b"bytes")]


def test_a_form_gives_its_files_in_order():
    tricky = b"\r\n--x no boundary\r\n--y\r\n" + bytes(range(256)) * 40
    assert files(form((b"a.png", b"one"), (b"b.png", tricky), (b"", b""))) == [
        ("a.png", b"one"),
        ("b.png", tricky),
        (None, b""),
    ]


def test_names_are_text_whatever_their_bytes():
    assert files(form((b"../../etc/passwd", b""), (b"\xc3\xa4\xff", b""))) == [("../../etc/passwd", b""), ("ä�", b"")]


@pytest.mark.bad_input
@pytest.mark.parametrize(
    ("body", "content_type", "status", "message"),
    [
        (form((b"a", b"1"), end=b""), FORM, 400, "got a truncated one"),
        (form((b"a", b"1"), (b"b", b"2"))[:-40], FORM, 400, "got a truncated one"),
        (form(), FORM, 400, "must hold at least one file, got none"),
        (b"nothing of the kind", FORM, 400, "well-formed"),
        (form((b"a", b"1")), "multipart/form-data", 400, "well-formed|truncated"),
        (form((b"a", b"1")), "multipart/form-data; boundary=" + "y" * 300, 400, "well-formed"),
        (b'--x\r\nContent-Disposition: form-data; name="alpha"\r\n\r\n0.1\r\n--x--\r\n', FORM, 400, "must be a file"),
        (b"--x\r\n\r\nno header\r\n--x--\r\n", FORM, 400, "must be a file"),
        (form(*[(b"a", b"")] * 10), FORM, 413, "at most 9 images, got more"),
    ],
)
def test_a_wrong_form_is_refused_with_the_reason(body, content_type, status, message):
    with pytest.raises(RequestError, match=message) as refused:
        files(body, content_type)
    assert refused.value.status == status


@given(st.lists(st.tuples(st.from_regex(rb"[a-z]{0,8}", fullmatch=True), st.binary(max_size=300)), min_size=1))
def test_every_file_comes_back_as_it_was_sent(parts):
    sent = [(name, data.replace(b"--x", b"--y")) for name, data in parts]
    assert files(form(*sent), max_items=999) == [(name.decode() or None, data) for name, data in sent]


@given(st.binary(max_size=200), st.integers(0, 200), st.integers(0, 255))
def test_damage_never_comes_out_as_another_error(noise, place, byte):
    whole = bytearray(form((b"a.png", b"one"), (b"b.png", b"two")))
    whole[place % len(whole)] = byte
    for body in (bytes(whole), noise, b"--x\r\n" + noise, bytes(whole[:place])):
        try:
            files(body)
        except RequestError as error:
            assert error.status == 400  # noqa: PT017 - either is right, but nothing else
