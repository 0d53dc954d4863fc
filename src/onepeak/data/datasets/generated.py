"""The data set that comes with onepeak: generated, not downloaded."""

from onepeak.data.datasets.record import Dataset
from onepeak.data.manifest import Manifest


def _biopsies() -> Manifest:
    from onepeak.data.biopsies import biopsies  # loaded only when the set is opened

    return biopsies()


BIOPSIES = Dataset(
    name="biopsies",
    title="Generated biopsies in 8 grades, with their true posteriors",
    classes=tuple(f"g{grade}" for grade in range(1, 9)),
    num_items=2000,
    layout="nothing on disk: it is generated",
    obtain="Comes with onepeak.",
    terms="as onepeak",
    reference="onepeak",
    generate=_biopsies,
)
