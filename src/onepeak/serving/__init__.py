"""Trained models in use: load one, predict for images or rows, evaluate it on other data, inspect recorded runs."""

from typing import TYPE_CHECKING

from onepeak._lazy import lazy_names

if TYPE_CHECKING:
    from onepeak.serving.confidence import Confidence
    from onepeak.serving.evaluation import Evaluation, evaluate
    from onepeak.serving.export import OnnxFile, export_onnx
    from onepeak.serving.model import Model, load
    from onepeak.serving.paths import picture_paths
    from onepeak.serving.prediction import Prediction, Row
    from onepeak.serving.reading import Reading
    from onepeak.serving.streaming import stream

__all__ = [
    "Confidence",
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

# Lazy imports: the pages of a comparison open without importing torch, which takes seconds.
__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "confidence": ["Confidence"],
        "evaluation": ["Evaluation", "evaluate"],
        "export": ["OnnxFile", "export_onnx"],
        "model": ["Model", "load"],
        "paths": ["picture_paths"],
        "prediction": ["Prediction", "Row"],
        "reading": ["Reading"],
        "streaming": ["stream"],
    },
)
