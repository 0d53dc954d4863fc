import numpy as np
import pytest

from onepeak.data.datasets.biopsies_drawing import (
    MAX_LYMPHOCYTES,
    MAX_SPINDLES,
    MAX_TUMOUR,
    light_through,
    nuclei_of,
    tumour_cells,
)


def test_the_light_falls_exponentially_with_the_density():
    density = np.linspace(0, 6, 5000, dtype=np.float32)
    np.testing.assert_allclose(light_through(density), 255 * np.exp(-density), atol=0.8)
    assert light_through(np.array([-1.0, 1e6], dtype=np.float32)).tolist() == [255, 0]


IDS = np.arange(300)


def tumour_at(severity):
    return tumour_cells(0, IDS, IDS, np.full(len(IDS), severity))


def mean_over_cells(nuclei, values):
    return (values * nuclei.present).sum() / nuclei.present.sum()


TRAITS = {
    "number": lambda nuclei: nuclei.present.sum(axis=1).mean(),
    "size": lambda nuclei: mean_over_cells(nuclei, nuclei.radius),
    "variety": lambda nuclei: (nuclei.radius.std(axis=1) / nuclei.radius.mean(axis=1)).mean(),
    "irregularity": lambda nuclei: mean_over_cells(nuclei, np.abs(nuclei.outline).sum(axis=(-1, -2))),
}


@pytest.mark.parametrize("trait", TRAITS)
def test_each_trait_grows_from_every_grade_to_the_next(trait):
    values = [TRAITS[trait](tumour_at(severity)) for severity in (np.arange(8) + 0.5) / 8]
    assert (np.diff(values) > 0).all()


def test_only_the_tumour_knows_of_the_severity():
    mild, severe = (nuclei_of(0, IDS, IDS, np.full(len(IDS), severity)) for severity in (0.1, 0.9))
    assert mild.present.shape == (len(IDS), MAX_TUMOUR + MAX_LYMPHOCYTES + MAX_SPINDLES)
    for field in ("present", "centre", "radius", "outline", "density"):
        a, b = getattr(mild, field), getattr(severe, field)
        np.testing.assert_array_equal(a[:, MAX_TUMOUR:], b[:, MAX_TUMOUR:])
        assert not np.array_equal(a[:, :MAX_TUMOUR], b[:, :MAX_TUMOUR])
