import dataclasses
import json

import pytest

from onepeak.errors import InputError
from onepeak.networks import NetworkSettings


@pytest.mark.bad_input  # a list where a tuple is meant
@pytest.mark.parametrize(
    "settings",
    [
        NetworkSettings(),
        NetworkSettings(backbone="small", kmax=0.2, kmin=0.3, alpha=0.5),
        NetworkSettings(backbone="mlp", num_features=7, hidden=(32, 16, 8), dropout=0.1),
    ],
    ids=lambda settings: settings.backbone,
)
def test_settings_come_back_from_json_as_they_were(settings):
    assert NetworkSettings(**json.loads(json.dumps(dataclasses.asdict(settings)))) == settings


def test_the_defaults_are_the_papers():
    settings = NetworkSettings()
    assert (settings.backbone, settings.pooling, settings.maps_per_class) == ("resnet18", "wildcat", 5)
    assert (settings.kmax, settings.alpha) == (0.1, 0.0)


@pytest.mark.bad_input
@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"pooling": "average", "kmax": 0.2}, "`kmax` does nothing with pooling='average', got 0.2: leave it out"),
        ({"pooling": "max", "maps_per_class": 2}, "`maps_per_class` does nothing with pooling='max', got 2"),
        ({"num_features": 3}, "`num_features` does nothing with backbone='resnet18', got 3"),
        ({"backbone": "small", "hidden": (3,)}, r"`hidden` does nothing with backbone='small', got \(3,\)"),
        ({"dropout": 0.1}, "`dropout` does nothing with backbone='resnet18', got 0.1"),
        (
            {"backbone": "mlp", "num_features": 3, "pooling": "max"},
            "`pooling` does nothing with backbone='mlp', got 'm",
        ),
        ({"backbone": "mlp"}, "`num_features` must be given with backbone='mlp': the number of table columns"),
        ({"pooling": "maximum"}, "Unknown `pooling` 'maximum'. Did you mean 'max'"),
        ({"kmax": 1.1}, "`kmax` must be a finite number > 0 and <= 1, got 1.1"),
        ({"kmin": 0.1}, "`kmin` does nothing when `alpha` is 0"),
        ({"maps_per_class": 0}, "`maps_per_class` must be an integer >= 1, got 0"),
    ],
)
def test_settings_that_do_nothing_or_cannot_be_are_refused(settings, message):
    with pytest.raises(InputError, match=message):
        NetworkSettings(**settings)
