import re

import pandas as pd

import onepeak
from training.planted import CLASSES


def test_a_model_folder_has_a_card_with_its_data_figures_classes_limits_and_id(finished):
    folder, result = finished
    text = (folder / "README.md").read_text()
    assert text.startswith("# elb on planted\n")
    assert "60 / 20 / 21 samples to train / validate / test by the protocol planted" in text
    assert f"| test | {result['metrics']['test']['mae']:.3f} |" in text
    assert f"always '{result['constant']['label']}' | {result['constant']['test_mae']:.3f} |" in text
    kept = pd.read_parquet(folder / "predictions.parquet").query("part == 'test'")
    for label, name in enumerate(CLASSES):
        own = kept[kept["label"] == label]
        right, error = (own["predicted"] == label).mean(), (own["predicted"] - label).abs().mean()
        assert f"| {name} | {len(own)} | {right:.0%} | {error:.2f} |" in text
    assert "were set on 20 validation samples" in text
    assert re.search(r"Its id is `(\w+)`", text)[1] == onepeak.load(folder).model_id
