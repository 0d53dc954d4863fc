"""Trains on a folder of images with one subfolder per class, then predicts some of them.

python examples/make_data.py out/try          (example data)
python examples/own_images.py out/try/photos --order mild,moderate,severe --out out/try/model
On the command line: onepeak train out/try/photos --order mild,moderate,severe --out model
"""

import argparse
from dataclasses import replace
from pathlib import Path

import onepeak
from onepeak.data.splits import make_splits, refuse_leaks
from onepeak.serving import image_paths
from onepeak.training.devices import make_fabric
from onepeak.training.prepare import prepare
from onepeak.training.presets import preset
from onepeak.training.progress import ProgressBar
from onepeak.training.run import RunSettings, train_run

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("photos", type=Path)
parser.add_argument("--order", required=True, help="the classes, lowest first")
parser.add_argument("--out", type=Path, required=True)
parser.add_argument("--method", default="peak")
parser.add_argument("--backbone", help="a timm name, or small; default: chosen to suit the images")
parser.add_argument("--weights", type=Path, help="a local file with weights of the backbone")
parser.add_argument("--epochs", type=int)
given = parser.parse_args()

photos = onepeak.data.DataSource(given.photos, order=given.order).open()
recipe = preset("auto", photos)
if given.epochs:
    recipe = replace(recipe, epochs=given.epochs)
data = prepare(photos, recipe)  # decodes each image once and keeps it
split = make_splits(data.manifest)[0]
refuse_leaks(data.manifest, [split], digests=data.digests)  # no copies of an image on both sides
network = data.network({"backbone": given.backbone} if given.backbone else {})
settings = RunSettings(method=given.method, network=network, weights=given.weights, recipe=recipe)
with ProgressBar(given.method, recipe.epochs) as bar:
    result = train_run(settings, data, split, given.out, fabric=make_fabric(device="auto"), watches=(bar,))
found = result["metrics"]["test"]
print(f"test MAE {found['mae']:.2f}, {found['soi_predicted']:.0%} of adjacent pairs in order")

model = onepeak.load(given.out)
for row in model.predict(image_paths([given.photos])[:5]):
    print(row.source, row.predicted_class, f"SOI {row.soi:.0%}", "paradoxical" if row.paradoxical else "")
