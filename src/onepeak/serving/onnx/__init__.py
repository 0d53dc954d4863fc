"""A trained model as one ONNX file, for programs without Python or torch."""
