"""Makes inspector-sample.png: a page of the inspector in a browser.

Run it on a folder of `onepeak compare biopsies`, such as that of `onepeak demo`, from anywhere:
`python docs/pictures/inspector.py out/biopsies-demo`. Needs chromium.
"""

import json
import math
import shutil
import subprocess
import sys
import tempfile
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from PIL import Image
from playwright.sync_api import Page, sync_playwright

PICTURE = Path(__file__).parent / "inspector-sample.png"
LIST = "method=ce&paradoxical=true&sort=disorder"
"""The predictions of cross-entropy that contradict themselves, the worst first."""
ACTIONS = (
    "watch",
    "watch closely",
    "excise",
    "excise widely",
    "operate",
    "operate, radiate",
    "chemotherapy",
    "ease pain",
)


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """The address at which the folder is shown."""
    with tempfile.TemporaryDirectory() as place:
        actions = Path(place, "actions.csv")
        lines = [f'g{grade},"{action}"' for grade, action in enumerate(ACTIONS, start=1)]
        actions.write_text("\n".join(["label,action", *lines]))
        command = [sys.executable, "-m", "onepeak", "inspect", str(folder), "--actions", str(actions), "--port", "0"]
        with subprocess.Popen([*command, "--quiet"], stdout=subprocess.PIPE, text=True) as server:
            assert server.stdout is not None
            yield server.stdout.readline().strip()
            server.terminate()


def worst(address: str) -> dict[str, Any]:
    """The sample of the list whose posterior climbs most on its way out from the prediction."""
    with urllib.request.urlopen(f"{address}v1/inspect/samples?{LIST}") as answer:
        entries: list[dict[str, Any]] = json.load(answer)["entries"]

    def climb(entry: dict[str, Any]) -> float:
        probs, predicted = (
            [math.exp(each) if each is not None else 0.0 for each in entry["log_probs"]],
            entry["predicted"],
        )
        steps = [probs[place] - probs[place + 1] for place in range(predicted)]
        steps += [probs[place + 1] - probs[place] for place in range(predicted, len(probs) - 1)]
        return sum(step for step in steps if step > 0)

    return max(entries, key=climb)


def photograph(page: Page) -> None:
    """Writes what is seen, in 256 colours so that the file is small."""
    page.wait_for_load_state("networkidle")
    page.wait_for_timeout(500)
    page.screenshot(path=PICTURE)
    with Image.open(PICTURE) as picture:
        few = picture.convert("RGB").quantize(256, method=Image.Quantize.MEDIANCUT, dither=Image.Dither.NONE)
    few.save(PICTURE, optimize=True)


def main(folder: Path) -> None:
    """Photographs a page of a folder that `onepeak demo` wrote."""
    with served(folder) as address, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1280, "height": 1130}, color_scheme="light")
        sample = worst(address)
        page.goto(f"{address}sample/{sample['part']}/{sample['item']}?{LIST}")
        page.wait_for_selector("#methods .chart[data-drawn]")
        photograph(page)
        browser.close()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
