"""What onnxruntime answers, and whether `predict` says the same."""

import numpy as np
import onnxruntime


def asked(path, inputs):
    """The answers of a file, by their names."""
    return answers_of(onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"]), inputs)


def answers_of(session, inputs):
    """The answers of a session, by their names."""
    names = [output.name for output in session.get_outputs()]
    return dict(zip(names, session.run(names, {session.get_inputs()[0].name: inputs}), strict=True))


def check_same(answers, said):
    """The same label, order and interval for every sample, log-probabilities to 1e-4."""
    np.testing.assert_allclose(answers["log_probs"], said.log_probs, rtol=1e-4, atol=1e-4)
    assert answers["label"].tolist() == said.predicted_index.tolist()
    np.testing.assert_allclose(answers["soi"], said.soi, rtol=1e-6)
    assert ("interval" in answers) == (said.intervals is not None)
    if said.intervals is not None:
        assert answers["interval"].tolist() == said.intervals.tolist()
