"""A trained model in use: load it, ask it about pictures or rows, measure it on other data."""

from onepeak.serving.evaluation import Evaluation, evaluate
from onepeak.serving.export import OnnxFile, export_onnx
from onepeak.serving.model import Model, load
from onepeak.serving.paths import picture_paths
from onepeak.serving.prediction import Prediction, Row
from onepeak.serving.reading import Reading
from onepeak.serving.stream import stream

__all__ = [
    "Evaluation",
    "Model",
    "OnnxFile",
    "Prediction",
    "Reading",
    "Row",
    "evaluate",
    "export_onnx",
    "load",
    "picture_paths",
    "stream",
]
