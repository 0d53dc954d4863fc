"""How many new images of the same kind are flagged as unlike the training, and which other images are.

Run: python benchmarks/image_range.py fgnet --root DATA, or biopsies, each [--splits N]
Method: a range is learnt on the training part of each split, by group. It is applied to the test part, and to a blank,
a black and a grey image, glass (nearly white), noise, noise four times as large before resizing, and a ramp.
"""

import argparse

import numpy as np
import numpy.typing as npt
from PIL import Image

from onepeak.data.source import DataSource
from onepeak.data.splits import make_splits
from onepeak.training.familiarity import ImageRange
from onepeak.training.prepare import prepare
from onepeak.training.presets import preset

Pixels = npt.NDArray[np.uint8]


def others(height: int, width: int) -> dict[str, Pixels]:
    """Images without a face or tissue."""
    rng = np.random.default_rng(0)
    shape = (height, width, 3)
    large = Image.fromarray(rng.integers(0, 256, (4 * height, 4 * width, 3), np.uint8))
    return {
        **{name: np.full(shape, value, np.uint8) for name, value in (("blank", 255), ("black", 0), ("grey", 128))},
        "glass": np.clip(rng.normal(243, 2, shape), 0, 255).astype(np.uint8),
        "noise": rng.integers(0, 256, shape, np.uint8),
        "large noise": np.asarray(large.resize((width, height), Image.Resampling.BILINEAR)),
        "ramp": np.broadcast_to(np.linspace(0, 255, width).astype(np.uint8)[None, :, None], shape),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data")
    parser.add_argument("--root")
    parser.add_argument("--splits", type=int, default=20)
    asked = parser.parse_args()
    manifest = DataSource(asked.data, root=asked.root).open()
    prepared = prepare(manifest, preset("auto", manifest))
    store = prepared.store
    assert store is not None
    height, width = np.median(store.sizes, axis=0).astype(int).tolist()
    given = others(height, width)
    shares, told = [], dict.fromkeys(given, 0)
    for split in make_splits(prepared.manifest, protocol="holdout", splits=asked.splits):
        known = ImageRange.learn(store, split.train)
        assert known is not None
        shares.append(np.mean([bool(known.outside(store[i].permute(1, 2, 0).numpy())) for i in split.test]))
        for name, image in given.items():
            told[name] += bool(known.outside(image))
    print(f"test images told: {np.mean(shares):.2%} on average, {max(shares):.2%} at most, {len(shares)} splits")
    print("told in so many splits:", ", ".join(f"{name} {count}" for name, count in told.items()))


if __name__ == "__main__":
    main()
