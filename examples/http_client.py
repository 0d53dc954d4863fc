"""Sends images to a model behind `onepeak serve`, with only Python's standard library.

onepeak serve out/try/model --port 8000          (in another terminal; own_images.py trains the model)
python examples/http_client.py http://127.0.0.1:8000 out/try/photos/mild/0.png out/try/photos/severe/0.png
"""

import argparse
import json
import os
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path


class RefusedError(Exception):
    """The server refuses this image."""


def ask(server: str, image: bytes) -> dict:
    """The prediction for one image; retries later if the server is busy."""
    headers = {"Content-Type": "application/octet-stream"}
    if token := os.environ.get("ONEPEAK_TOKEN"):
        headers["Authorization"] = f"Bearer {token}"
    request = urllib.request.Request(f"{server}/v1/predict", data=image, headers=headers)
    while True:
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                return json.load(answer)
        except urllib.error.HTTPError as error:
            if error.code != 503:
                raise RefusedError(f"{error.code}: {json.load(error)['error']['message']}") from None
            time.sleep(float(error.headers.get("Retry-After", 1)))


parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("server", help="for example http://127.0.0.1:8000")
parser.add_argument("images", nargs="+", type=Path)
given = parser.parse_args()

failed = 0
for path in given.images:
    try:
        said = ask(given.server, path.read_bytes())["predictions"][0]
    except urllib.error.URLError as error:
        sys.exit(f"{given.server} does not answer: {error.reason}")
    except (OSError, RefusedError) as error:
        print(f"{path}: {error}", file=sys.stderr)
        failed += 1
        continue
    probability = said["probs"][said["predicted_index"]]
    line = f"{path}: {said['predicted_class']}, probability {probability:.3f}, SOI {said['soi']:.2f}"
    if said["interval_names"]:
        line += ", from {} to {}".format(*said["interval_names"])
    line += ", PARADOXICAL: do not act on this" if said["paradoxical"] else ""
    print(line + (f", UNLIKE the training images in {', '.join(said['unlike'])}" if said["unlike"] else ""))
if failed:
    sys.exit(f"{failed} of {len(given.images)} images failed")
