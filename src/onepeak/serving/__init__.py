"""Trained models in use: load one, predict for images or rows, evaluate it on other data, inspect recorded runs.

How a posterior becomes a label and an interval is the same for all of these: `PosteriorOptions`.
"""

from typing import TYPE_CHECKING

from onepeak._core.imports import lazy_names

if TYPE_CHECKING:
    from onepeak.posterior.predictions import Prediction, Predictions, Row
    from onepeak.serving.confidence import Confidence
    from onepeak.serving.evaluation import Evaluation, evaluate
    from onepeak.serving.images import image_paths
    from onepeak.serving.importance import ColumnImportance, column_importance
    from onepeak.serving.model import Model, load
    from onepeak.serving.onnx.export import OnnxFile, export_onnx
    from onepeak.serving.posterior_options import PosteriorOptions
    from onepeak.serving.predict import stream

__all__ = [
    "ColumnImportance",
    "Confidence",
    "Evaluation",
    "Model",
    "OnnxFile",
    "PosteriorOptions",
    "Prediction",
    "Predictions",
    "Row",
    "column_importance",
    "evaluate",
    "export_onnx",
    "image_paths",
    "load",
    "stream",
]

# Lazy imports: the pages of a comparison open without importing torch, which takes seconds.
__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "confidence": ["Confidence"],
        "evaluation": ["Evaluation", "evaluate"],
        "images": ["image_paths"],
        "importance": ["ColumnImportance", "column_importance"],
        "model": ["Model", "load"],
        "onnx.export": ["OnnxFile", "export_onnx"],
        "posterior_options": ["PosteriorOptions"],
        "predict": ["Prediction", "Predictions", "Row", "stream"],
    },
)
