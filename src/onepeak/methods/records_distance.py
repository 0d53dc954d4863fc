"""Methods that know how far each class lies from the label."""

from onepeak.methods.record import MethodRecord
from onepeak.methods.rps import RankedProbability

DISTANCE_METHODS = (
    MethodRecord(
        name="rps",
        title="ranked probability score",
        family="distance",
        reference="Hou, Yu, Samaras 2016, Squared earth mover's distance-based loss for training deep neural networks",
        year=2016,
        num_outputs="c",
        build=RankedProbability,
    ),
)
