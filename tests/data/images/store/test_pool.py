import subprocess
import sys

import pytest

from onepeak.data.images.resize import Resize
from onepeak.data.images.store import pool
from onepeak.data.images.store.failures import StoreError
from onepeak.data.images.store.pool import Task, run_tasks
from onepeak.data.images.store.worker import ImageFile


def sources(items):
    found = [(str(items.root / path), (items.root / path).stat()) for path in items.paths]
    return [ImageFile(path, status.st_size, status.st_mtime_ns) for path, status in found]


def test_a_worker_waits_for_pillow_alone():
    loaded = "import sys\nprint(sorted({'torch', 'numpy', 'pandas', 'PIL'} & sys.modules.keys()))\n"
    code = pool._START.replace("main()\n", loaded)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "['PIL']\n"


@pytest.mark.parametrize("workers", [1, 3])
def test_answers_come_in_the_order_of_the_tasks(images, tmp_path, workers):
    items, pixels = images(*[(2 + number, 3) for number in range(20)])
    tasks = [Task(tmp_path / f"part-{n}", [source], Resize()) for n, source in enumerate(sources(items))]
    finished = list(run_tasks(tasks, workers=workers, log=tmp_path / "log"))
    assert [task for task, _ in finished] == tasks
    assert [answers[0].height for _, answers in finished] == list(range(2, 22))
    assert b"".join(task.part.read_bytes() for task in tasks) == b"".join(values.tobytes() for values in pixels)


def test_few_tasks_are_taken_ahead_of_their_results(images, tmp_path):
    items, _ = images((3, 3))
    taken = []

    def tasks():
        for number in range(50):
            taken.append(number)
            yield Task(tmp_path / f"part-{number}", sources(items), Resize())

    for done, _ in enumerate(run_tasks(tasks(), workers=2, log=tmp_path / "log")):
        assert len(taken) <= done + 6


def test_a_worker_that_dies_is_reported_with_the_image_it_was_reading(images, tmp_path, monkeypatch):
    items, _ = images(*[(3, 3)] * 4)
    deadly = """
import os
import onepeak.data.images.store.worker as worker
read = worker._read
worker._read = lambda source: os.abort() if source.path.endswith("2.png") else read(source)
main()
"""
    monkeypatch.setattr(pool, "_START", pool._START.replace("main()\n", deadly))
    tasks = [Task(tmp_path / f"part-{number}", sources(items), Resize()) for number in range(8)]
    with pytest.raises(
        StoreError, match=r"A decoding worker was ended by SIGABRT while it read .*2\.png\. Out of memory"
    ):
        list(run_tasks(tasks, workers=2, log=tmp_path / "log"))


@pytest.mark.parametrize("workers", [1, 2])
def test_every_worker_resizes_alike(images, tmp_path, workers):
    items, _ = images((40, 60), (30, 30))
    resize = Resize(short_side=50, only_enlarge=True, scale=0.5)
    tasks = [Task(tmp_path / f"part-{number}", [source], resize) for number, source in enumerate(sources(items))]
    found = [answers[0] for _, answers in run_tasks(tasks, workers=workers, log=tmp_path / "log")]
    assert [(answer.height, answer.width) for answer in found] == [(25, 38), (25, 25)]
