"""The data sets that onepeak knows by name: the paper's five, in the layouts of their distributions, and its own."""

from onepeak._core.registry import Registry
from onepeak.data.datasets.paper import AFAD_FULL, AFAD_LITE, FGNET, HCI, ICIAR
from onepeak.data.datasets.record import Dataset
from onepeak.data.manifest import Manifest

__all__ = ["BIOPSIES", "DATASETS", "Dataset"]


def _biopsies() -> Manifest:
    from onepeak.data.datasets.biopsies import biopsies  # loaded only when the set is opened

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

DATASETS: Registry[Dataset] = Registry("data set", [BIOPSIES, ICIAR, HCI, FGNET, AFAD_LITE, AFAD_FULL])
"""Known data sets by name, in the order in which `onepeak datasets` lists them."""
