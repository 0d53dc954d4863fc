"""Malformed uploads and addresses by the hundred: each is refused with a reason, and the server goes on."""

import random
from collections import Counter

import pytest

from http_server import asking, encoded
from onepeak.serving.http import Limits, create_app

MAGIC = {
    "PNG": b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR",
    "JPEG": b"\xff\xd8\xff\xe0\x00\x10JFIF\x00",
    "GIF": b"GIF89a",
    "BMP": b"BM",
    "TIFF": b"II*\x00",
    "WEBP": b"RIFF\xff\xff\x00\x00WEBPVP8 ",
    "AVIF": b"\x00\x00\x00\x20ftypavif",
    "nothing": b"",
}
ODD = ("..", "...", "%2e%2e", "%252e", "%00", "etc", "passwd", "model.safetensors", "~", "\\", "C:", "é", "v1")


def malformed_images(rng, images):
    """Heads of every format with noise behind, files cut off, and forms that are broken."""
    kinds = ["image/png", "application/octet-stream", "image/svg+xml", "image/../../x"]
    for _ in range(300):
        match rng.randrange(4):
            case 0:
                body = rng.choice(list(MAGIC.values())) + rng.randbytes(rng.randrange(1, 400))
            case 1:
                whole = rng.choice(images)
                body = whole[: rng.randrange(1, len(whole) * 3 // 5)]
            case 2:  # the sizes and kinds that a header states, and not the pixels
                whole = bytearray(images[0])
                for place in rng.sample(range(33), 3):
                    whole[place] ^= rng.randrange(1, 256)
                body = bytes(whole)
            case _:
                body = bytes(rng.choice([0, 10, 13, 45, 255]) for _ in range(rng.randrange(1, 300)))
        yield {"content": body, "headers": {"Content-Type": rng.choice(kinds)}}
    for _ in range(150):
        boundary = rng.choice(["x", "", "x" * 100, '"', "x;y", "\x7f"])
        parts = [b"--x", b"\r\n", b"Content-Disposition: form-data", b"; name=", b'"a"', b'; filename="', b"\r\n\r\n"]
        body = b"".join(rng.choice([*parts, rng.randbytes(5)]) for _ in range(rng.randrange(1, 30)))
        yield {"content": body, "headers": {"Content-Type": f"multipart/form-data; boundary={boundary}"}}


def odd_addresses(rng):
    """Paths that lead out of everything, methods and options that nobody offers."""
    for _ in range(100):
        path = "/" + "/".join(rng.choice(ODD) for _ in range(rng.randrange(1, 8))) + "/x"
        yield rng.choice(["GET", "POST", "PUT", "DELETE", "PATCH"]), path
    yield from ((method, "/v1/predict") for method in ("PUT", "DELETE", "PATCH", "TRACE"))
    for option in ("alpha=-1", "alpha=1e999", "decide=__import__", "path=/etc/passwd", "project[]=1", "%ff=1"):
        yield "POST", f"/v1/predict?{option}"


@pytest.mark.bad_input
def test_hundreds_of_malformed_requests_get_a_reason_and_leave_a_living_server(model, arrays):
    rng = random.Random(0)
    files = [encoded(arrays[0], kind) for kind in ("PNG", "JPEG", "GIF", "BMP", "TIFF", "WEBP")]
    requests = [("POST", "/v1/predict", request) for request in malformed_images(rng, files)]
    requests += [(method, path, {"content": b"x"}) for method, path in odd_addresses(rng)]
    statuses = Counter()
    with asking(create_app(model, limits=Limits(max_pixels=10**6))) as client:
        for method, path, request in requests:
            answer = client.request(method, path, **request)
            statuses[answer.status_code] += 1
            assert 400 <= answer.status_code < 500, f"{answer.status_code}: {method} {path} {request}"
            assert "Traceback" not in answer.text
            if path.startswith("/v1/predict"):
                assert set(answer.json()) == {"error"}
        good = client.post("/v1/predict", content=files[0], headers={"Content-Type": "image/png"})
    assert good.status_code == 200, "the server lives"
    assert statuses.total() > 500
    assert {400, 404, 405, 413, 422} <= set(statuses)
