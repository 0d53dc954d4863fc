import subprocess
import sys
import zlib
from hashlib import blake2b

import pytest

from onepeak.data.images.resize import Resize
from onepeak.data.images.store import workers as workers_file
from onepeak.data.images.store.failures import StoreError
from onepeak.data.images.store.workers import DecodedImage, ImageFile, Task, run_tasks, write_part


def sources(items):
    found = [(str(items.root / path), (items.root / path).stat()) for path in items.paths]
    return [ImageFile(path, status.st_size, status.st_mtime_ns) for path, status in found]


def test_a_worker_waits_for_pillow_alone():
    loaded = "import sys\nprint(sorted({'torch', 'numpy', 'pandas', 'PIL'} & sys.modules.keys()))\n"
    code = workers_file._START.replace("main()\n", loaded)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "['PIL']\n"


@pytest.mark.parametrize("workers", [1, 3])
def test_answers_come_in_the_order_of_the_tasks(images, tmp_path, workers):
    items, pixels = images(*[(2 + number, 3) for number in range(20)])
    tasks = [Task(tmp_path / f"part-{n}", [source], Resize()) for n, source in enumerate(sources(items))]
    larger = Resize(short_side=6, only_enlarge=True, scale=0.5)
    tasks.append(Task(tmp_path / "larger", sources(items)[:2], larger))
    finished = list(run_tasks(tasks, workers=workers, log=tmp_path / "log"))
    assert [task for task, _ in finished] == tasks
    assert [answer.original for answer in finished[-1][1]] == [(2, 3), (3, 3)]
    assert [answers[0].size[0] for _, answers in finished[:-1]] == list(range(2, 22))
    assert [answer.size for answer in finished[-1][1]] == [(3, 5), (3, 3)]
    assert b"".join(task.part.read_bytes() for task in tasks[:-1]) == b"".join(values.tobytes() for values in pixels)


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
import onepeak.data.images.store.workers as worker
read = worker._read
worker._read = lambda source: os.abort() if source.path.endswith("2.png") else read(source)
main()
"""
    monkeypatch.setattr(workers_file, "_START", workers_file._START.replace("main()\n", deadly))
    tasks = [Task(tmp_path / f"part-{number}", sources(items), Resize()) for number in range(8)]
    with pytest.raises(StoreError, match=r"worker was ended by SIGABRT while it read .*2\.png\. Out of memory"):
        list(run_tasks(tasks, workers=2, log=tmp_path / "log"))


def test_no_worker_outlives_a_build_that_stops_early(images, tmp_path, monkeypatch):
    items, _ = images((3, 3))
    team, popen = [], subprocess.Popen
    monkeypatch.setattr(
        workers_file.subprocess, "Popen", lambda *args, **kwargs: team.append(popen(*args, **kwargs)) or team[-1]
    )
    tasks = (Task(tmp_path / f"part-{number}", sources(items), Resize()) for number in range(50))
    running = run_tasks(tasks, workers=2, log=tmp_path / "log")
    next(running)
    assert [worker.poll() for worker in team] == [None, None]
    running.close()
    assert None not in [worker.returncode for worker in team]


def test_only_good_images_are_in_the_part(images, tmp_path):
    items, pixels = images((4, 6), (5, 5), (2, 2))
    (items.root / "1.png").write_bytes(b"no image")
    answers = list(write_part(Task(tmp_path / "part", sources(items), Resize())))
    assert [answer.outcome for answer in answers] == ["kept", "bad", "kept"]
    assert (tmp_path / "part").read_bytes() == pixels[0].tobytes() + pixels[2].tobytes()
    digest = blake2b((items.root / "0.png").read_bytes(), digest_size=16).hexdigest()
    assert answers[0] == DecodedImage("kept", "", (4, 6), (4, 6), digest, zlib.crc32(pixels[0].tobytes()))
