"""A list of images with groups: no patient is on both sides of a split. Then the same split without groups.

python examples/make_data.py out/try          (example data)
python examples/csv_with_groups.py out/try/scans.csv --order mild,moderate,severe
"""

import argparse
from pathlib import Path

import pandas as pd

import onepeak
from onepeak.data.splits import find_leaks, group_counts, make_splits, save_splits

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("scans", type=Path, help="a CSV file with the columns path,label,group")
parser.add_argument("--order", required=True, help="the classes, lowest first")
given = parser.parse_args()

scans = onepeak.data.DataSource(given.scans, order=given.order).open()
splits = make_splits(scans, protocol="kfold")
for split in splits:
    print(split.name, split.sizes, "groups:", group_counts(scans, split), "leaks:", len(find_leaks(scans, split)))
save_splits(splits, scans, Path("splits.csv"))  # to share, and for onepeak train --protocol splits.csv

# The same list without its groups: a patient may be on both sides.
frame = pd.read_csv(given.scans).drop(columns="group")
blind = onepeak.data.from_frame(frame, order=given.order, root=given.scans.parent)
split = make_splits(blind, protocol="kfold")[0]
both = {scans.groups[i] for i in split.train} & {scans.groups[i] for i in split.test}
print(f"split by image instead: {len(both)} groups are in both training and test")
