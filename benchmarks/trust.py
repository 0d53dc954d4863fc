"""What a model says of images unlike its training, and how many a referral policy sends to a person.

Run: python benchmarks/trust.py MODEL DATA [--label COLUMN] [--group COLUMN] [--foreign NAME=FOLDER ...]
     [--at-least CLASS --sensitivity S] [--images N] [--out FILE]
Method: MODEL is a folder of `onepeak train` on DATA; its own test part is usual. Foreign images are N of each folder,
noise, and the test images in grey, blurred (a Gaussian of 1/60 of the longer side) and turned by 90 degrees. AUROC is
of the distance; marked is the share with a distance above 1, beside the share that the simple ranges mark, and both.
The referral threshold is set on one half of the test part, by group, and measured on the other, over 20 halvings.
"""

import argparse
import json
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import numpy as np
import torch
from PIL import Image, ImageFilter

from onepeak.data.images.folder import scan
from onepeak.data.manifest import ImageFiles
from onepeak.data.source import DataSource
from onepeak.errors import InputError
from onepeak.posterior.predictions import Predictions
from onepeak.posterior.referral import area_under_roc
from onepeak.serving import Model, evaluate, load
from onepeak.serving.evaluation_data import held_out, open_for
from onepeak.serving.referral import refer


def opened(path: Path) -> Image.Image:
    with Image.open(path) as image:
        return image.convert("RGB")


def changed(files: list[Path]) -> dict[str, list[Image.Image]]:
    """The same images in grey, blurred and turned, and noise."""
    images, rng = [opened(path) for path in files], np.random.default_rng(0)
    return {
        "grey copies": [image.convert("L").convert("RGB") for image in images],
        "blurred": [image.filter(ImageFilter.GaussianBlur(max(image.size) / 60)) for image in images],
        "turned by 90 degrees": [image.rotate(90, expand=True) for image in images],
        "noise": [Image.fromarray(rng.integers(0, 256, (224, 280, 3), np.uint8)) for _ in images],
    }


def marks(model: Model, images: Iterable[Image.Image | Path]) -> tuple[torch.Tensor, list[float]]:
    """The distances, and the shares beyond 1, beyond a simple range, and either."""
    found = model.predict(list(images))
    assert found.distance is not None
    far = found.distance > 1
    odd = torch.tensor([bool({*(unlike or ())} - {"features"}) for unlike in found.unlike])
    shares = [float(each.double().mean()) for each in (far, odd, far | odd)]
    return found.distance, shares


def halves(found: Predictions, groups: list[str], at_least: int, sensitivity: float) -> list[dict[str, float]]:
    """What a policy set on one half of the groups gives on the other."""
    rows = []
    for seed in range(20):
        names = sorted(set(groups))
        chosen = set(np.random.default_rng(seed).permutation(names)[: len(names) // 2])
        one, other = (
            [place for place, name in enumerate(groups) if (name in chosen) == mine] for mine in (True, False)
        )
        try:
            policy = refer(found.take(one), at_least=at_least, sensitivity=sensitivity).chosen("probability")
        except InputError:
            continue
        rest = replace(found.take(other), unlike=())
        referred = torch.tensor([reason is not None for reason in policy.reasons(rest)])
        rule = refer(rest, at_least=at_least, sensitivity=sensitivity).rule
        positive = rest.truth >= at_least
        rows.append(
            {
                "referred": float(referred.double().mean()),
                "found": float(referred[positive].double().mean()),
                "rule referred": rule.referred,
                "rule found": rule.sensitivity,
            }
        )
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("model", type=Path)
    parser.add_argument("data")
    for name in ("--label", "--group", "--root", "--path", "--at-least"):
        parser.add_argument(name)
    parser.add_argument("--sensitivity", type=float, default=0.9)
    parser.add_argument("--foreign", nargs="*", default=[])
    parser.add_argument("--images", type=int, default=100)
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    model = load(given.model)
    source = DataSource(given.data, label=given.label, group=given.group, root=given.root, path=given.path)
    test = held_out(open_for(model, source), model, given.model, "test")
    assert isinstance(test.items, ImageFiles)
    measured = evaluate(model, test)
    own = measured.prediction.distance
    assert own is not None
    files = [test.items.root / path for path in test.items.paths]
    places = np.random.default_rng(0).permutation(len(files))[: given.images]
    foreign: dict[str, Iterable[Image.Image | Path]] = {}
    for each in given.foreign:
        name, _, folder = each.partition("=")
        paths = [Path(folder) / path for path in scan(Path(folder)).images]
        foreign[name] = [paths[place] for place in np.random.default_rng(0).permutation(len(paths))[: given.images]]
    foreign |= changed([files[place] for place in places])
    rows = []
    for name, images in {"own test images": files, **foreign}.items():
        distance, shares = marks(model, images)
        both = torch.cat([own, distance])
        auroc = area_under_roc(both, torch.arange(len(both)) >= len(own))
        rows.append({"images": name, "count": len(distance), "auroc": auroc, "marked": shares})
        print(f"| {name} | {len(distance)} | {auroc:.3f} | " + " | ".join(f"{share:.1%}" for share in shares) + " |")
    record: dict[str, object] = {"data": test.name, "mae": measured.metrics["mae"], "strangers": rows}
    if given.at_least is not None:
        groups = list(test.groups or map(str, range(len(test))))
        found = halves(measured.prediction, groups, model.classes.index(given.at_least), given.sensitivity)
        record["referral"] = found
        for name in found[0] if found else ():
            print(f"{name}: {np.mean([row[name] for row in found]):.3f}")
    if given.out is not None:
        given.out.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
