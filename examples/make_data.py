"""Writes example data for the documentation: images in one folder per grade, a list of them, tables, and reviews.

python examples/make_data.py out/try
All data are generated and the same every time: no patient is real.
"""

import argparse
from pathlib import Path

import numpy as np
import pandas as pd
from PIL import Image

from onepeak.data.datasets.biopsies import biopsies

GRADES = np.array(["mild", "moderate", "severe"])
STAGES = np.array(["I", "II", "III", "IV"])
NAMES = ("photos", "scans.csv", "patients.csv", "rated.csv", "reviews.csv")


def write_images(folder: Path) -> None:
    """Writes `photos/`, tissue from the data set `biopsies` in three grades, and `scans.csv`, which adds patients."""
    tissue = biopsies(280, size=32)
    scans = pd.DataFrame({"path": "", "label": GRADES[tissue.labels * 3 // 8], "group": tissue.groups})
    number = scans.groupby("label").cumcount().astype(str)
    scans["path"] = "photos/" + scans["label"] + "/" + number + ".png"
    for path, pixels in zip(scans["path"], tissue.items.pixels, strict=True):
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        Image.fromarray(pixels).save(folder / path)
    scans.to_csv(folder / "scans.csv", index=False)


def write_table(folder: Path) -> None:
    """Writes `patients.csv`: two numeric columns, two categorical columns and a stage."""
    rng = np.random.default_rng(0)
    stage = np.arange(240) % 4
    patients = {
        "size": (stage + 0.4 * rng.standard_normal(240)).round(2),
        "age": rng.integers(30, 90, 240),
        "sex": np.where((stage >= 2) ^ (rng.random(240) < 0.3), "m", "f"),
        "drugs": np.array(["None", "1", "2", "2"])[stage],  # categories that pandas would parse as numbers and NaN
        "stage": STAGES[stage],
    }
    pd.DataFrame(patients).to_csv(folder / "patients.csv", index=False)


def write_ratings(folder: Path) -> None:
    """Writes `rated.csv`: two numeric columns and the stages by two raters, the second of whom saw two thirds."""
    rng = np.random.default_rng(0)
    stage = np.arange(240) % 4
    columns = {name: (stage + 0.6 * rng.standard_normal(240)).round(2) for name in ("size", "depth")}
    ann, bob = (STAGES[(stage + rng.choice([-1, 0, 0, 1], 240)).clip(0, 3)] for _ in range(2))
    rated = {**columns, "ann": ann, "bob": np.where(rng.random(240) < 2 / 3, bob, "")}
    pd.DataFrame(rated).to_csv(folder / "rated.csv", index=False)


def write_reviews(folder: Path) -> None:
    """Writes `reviews.csv`: short reviews, their stars and their authors."""
    rng = np.random.default_rng(0)
    opinions = ["It was awful", "I was rather bored", "It was all right", "I liked it", "It was wonderful"]
    things = ["the film", "the book", "this hotel", "the new phone", "our dinner", "the concert"]
    reasons = ["the story", "the price", "the staff", "how long it took", "the sound", "every little thing"]
    stars = np.arange(200) % 5 + 1
    text = [
        f"{opinions[star - 1]}, {rng.choice(things)}, because of {rng.choice(reasons)} and {rng.choice(reasons)}."
        for star in np.clip(stars + (rng.random(200) < 0.2), 1, 5)
    ]
    reviews = {"review": text, "stars": stars, "author": [f"author-{number // 2}" for number in range(200)]}
    pd.DataFrame(reviews).to_csv(folder / "reviews.csv", index=False)


parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("folder", type=Path)
given = parser.parse_args()
if there := [name for name in NAMES if (given.folder / name).exists()]:
    parser.error(f"{given.folder} already contains {there[0]}: use it, or choose another folder")
given.folder.mkdir(parents=True, exist_ok=True)
write_images(given.folder)
write_table(given.folder)
write_ratings(given.folder)
write_reviews(given.folder)
print(f"{given.folder}: {', '.join(NAMES)}")
