"""Whether the runs of an experiment may share a process, whose random numbers are one stream."""

from onepeak.experiment.opened import Opened
from onepeak.methods.catalog import method
from onepeak.training.pack import draws_at_random
from onepeak.training.run import make_network


def can_pack(opened: Opened) -> bool:
    """Whether runs may share a process: neither the network nor a method draws at random."""
    first, *others = opened.experiment.methods
    classes = opened.prepared.manifest.num_classes
    network = make_network(opened.settings(first), opened.network, classes)
    methods = (method(one.name, num_classes=classes, variant=one.variant, **one.settings) for one in others)
    return not any(draws_at_random(module) for module in (network, *methods))
