"""Trees of files for the readers, decoded images, and the real data where it is at hand."""

import os
from pathlib import Path

import pytest

from image_files import write_images
from onepeak.data.images.store.build import build_store


@pytest.fixture
def plant(tmp_path):
    """Writes empty files below the test's own folder and gives that folder."""

    def write(*names: str) -> Path:
        for name in names:
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(b"")
        return tmp_path

    return write


@pytest.fixture
def write(tmp_path):
    """Writes one text file below the test's own folder and gives its path."""

    def save(name: str, text: str) -> Path:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path

    return save


@pytest.fixture
def mixed_store(tmp_path):
    """Five images of four sizes."""
    items, _ = write_images(tmp_path / "mixed", [(9, 12), (14, 10), (20, 20), (12, 9), (9, 12)])
    return build_store(items, cache_dir=tmp_path / "cache", workers=1)


@pytest.fixture
def shared_data():
    """The folder of real data that is not in the repository."""
    folder = Path(os.environ.get("ONEPEAK_SHARED", Path(__file__).parents[3] / "shared")) / "data"
    if not folder.is_dir():
        pytest.skip(f"needs real data in {folder}; set ONEPEAK_SHARED to the folder that holds data/")
    return folder
