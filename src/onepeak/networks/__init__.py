"""From images or table rows to a method's outputs: a backbone, a pooling head, and the method itself."""

from onepeak.networks.backbones import Mlp, SmallConvNet, TimmBackbone
from onepeak.networks.build import NetworkSettings, build_network, network_around
from onepeak.networks.head import AveragePooling, MapHead, MaxPooling, WildcatPooling
from onepeak.networks.network import Network

__all__ = [
    "AveragePooling",
    "MapHead",
    "MaxPooling",
    "Mlp",
    "Network",
    "NetworkSettings",
    "SmallConvNet",
    "TimmBackbone",
    "WildcatPooling",
    "build_network",
    "network_around",
]
