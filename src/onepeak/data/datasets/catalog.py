"""All known data sets, in the order in which `onepeak datasets` lists them."""

from onepeak._registry import Registry
from onepeak.data.datasets.afad import AFAD_FULL, AFAD_LITE
from onepeak.data.datasets.fgnet import FGNET
from onepeak.data.datasets.generated import BIOPSIES
from onepeak.data.datasets.hci import HCI
from onepeak.data.datasets.iciar import ICIAR
from onepeak.data.datasets.record import Dataset

DATASETS: Registry[Dataset] = Registry("data set", [BIOPSIES, ICIAR, HCI, FGNET, AFAD_LITE, AFAD_FULL])
"""Known data sets by name."""
