"""Asks a model behind `onepeak serve` about pictures, with Python's own library alone.

onepeak serve model --port 8000          (in another terminal)
python http_client.py http://127.0.0.1:8000 scan1.png scan2.jpg
"""

import json
import os
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path


def ask(server: str, picture: bytes) -> dict:
    """What the model says of one picture; comes back later where the server is busy."""
    headers = {"Content-Type": "application/octet-stream"}
    if token := os.environ.get("ONEPEAK_TOKEN"):
        headers["Authorization"] = f"Bearer {token}"
    request = urllib.request.Request(f"{server}/v1/predict", data=picture, headers=headers)
    while True:
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                return json.load(answer)
        except urllib.error.HTTPError as error:
            if error.code != 503:
                raise SystemExit(f"{error.code}: {json.load(error)['error']['message']}") from None
            time.sleep(float(error.headers.get("Retry-After", 1)))


server, *paths = sys.argv[1:]
for path in paths:
    said = ask(server, Path(path).read_bytes())["predictions"][0]
    line = f"{path}: {said['label']}, probability {said['probs'][said['index']]:.3f}, SOI {said['soi']:.2f}"
    if said["interval"]:
        line += f", from {said['interval'][0]} to {said['interval'][1]}"
    print(line + (", PARADOXICAL: do not act on this" if said["paradoxical"] else ""))
