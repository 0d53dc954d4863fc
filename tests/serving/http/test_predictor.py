import asyncio
import re
import threading
import time

import numpy as np
import pytest

from http_server import encoded
from onepeak.data.images.decode import UnreadableImageError
from onepeak.serving.http import predictor
from onepeak.serving.http.predictor import Batcher, Decoding, TooLargeError, Turns


class Work:
    """Squares numbers, and keeps the batches it got; the first waits until it is let go."""

    def __init__(self, *, held=True):
        self.batches, self.threads = [], set()
        self.go = threading.Event()
        if not held:
            self.go.set()

    def squares(self, items):
        assert self.go.wait(30)
        self.batches.append(list(items))
        self.threads.add(threading.get_ident())
        return [item * item for item in items]


def gathered(batcher, work, items, **options):
    """Submits the first item alone, and all others while it is computed."""

    async def run():
        asked = [asyncio.create_task(batcher.submit(work.squares, items[0]))]
        await asyncio.sleep(0.02)
        asked += [asyncio.create_task(batcher.submit(work.squares, item, **options)) for item in items[1:]]
        await asyncio.sleep(0.02)
        work.go.set()
        return await asyncio.gather(*asked, return_exceptions=True)

    return asyncio.run(run())


def test_what_comes_while_one_is_computed_makes_up_the_next_batches():
    work = Work()
    assert gathered(Batcher(max_size=4), work, range(10)) == [item * item for item in range(10)]
    assert work.batches == [[0], [1, 2, 3, 4], [5, 6, 7, 8], [9]]
    assert len(work.threads) == 1
    assert threading.get_ident() not in work.threads
    for size, batches in ((2, [[0], [1, 2], [3, 4], [5]]), (9, [[0], [1], [2], [3], [4], [5]])):
        work = Work()
        gathered(Batcher(max_size=4), work, range(6), size=size)
        assert work.batches == batches, "a larger item than fits goes alone"


def test_kinds_are_never_mixed_and_take_turns_and_who_gave_up_is_not_computed():
    work, batcher = Work(), Batcher(max_size=2)

    async def run():
        asked = [asyncio.create_task(batcher.submit(work.squares, n, kind=kind)) for n, kind in enumerate("aaaaaabc")]
        await asyncio.sleep(0.02)
        for gone in (0, 3, 7):  # computed now, waiting with others, alone of its kind
            asked[gone].cancel()
        await asyncio.sleep(0)
        work.go.set()
        return await asyncio.gather(*asked, return_exceptions=True)

    found = asyncio.run(run())
    assert [each for each in found if isinstance(each, int)] == [1, 4, 16, 25, 36]
    assert work.batches == [[0, 1], [6], [2, 4], [5]]


def test_a_failure_reaches_all_of_its_batch_and_nobody_else():
    batcher = Batcher(max_size=8)

    def fail(items):
        raise RuntimeError(f"no memory for {len(items)}")

    async def run():
        bad = [batcher.submit(fail, item) for item in range(2)]
        good = batcher.submit(Work(held=False).squares, 3)
        return await asyncio.gather(*bad, batcher.submit(lambda _: [], 1), good, return_exceptions=True)

    first, second, too_few, good = asyncio.run(run())
    assert str(first) == str(second) == "no memory for 2"
    assert isinstance(too_few, ValueError)
    assert good == 9
    assert gathered(batcher, Work(), [5]) == [25], "it goes on"


def test_who_leaves_the_queue_takes_nobodys_turn():
    async def run():
        turns, had = Turns(1), []

        async def take(number):
            async with turns.turn(1, number):
                had.append(number)
                await asyncio.sleep(0.01)

        asked = [asyncio.create_task(take(number)) for number in range(5)]
        await asyncio.sleep(0)
        asked[1].cancel()
        asked[0].add_done_callback(lambda _: asked[2].cancel())  # whose turn has just come
        await asyncio.gather(*asked, return_exceptions=True)
        await take(9)
        return had

    assert asyncio.run(run()) in ([0, 3, 4, 9], [0, 2, 3, 4, 9])


def decoded(model, *files, **limits):
    """The pixels of files, or their errors, one after the other by the same threads."""
    threads = Decoding(model, **{"max_pixels": 10**6, "max_network_pixels": 10**6, **limits})

    async def each(data):
        async with threads.image(data) as (pixels, unlike):
            assert unlike == model.unlike(pixels)
            return pixels

    async def run():
        return [(await asyncio.gather(each(data), return_exceptions=True))[0] for data in files]

    return asyncio.run(run())


@pytest.mark.bad_input
def test_an_image_is_decoded_as_the_model_does_after_bad_ones_too(model, arrays, images):
    bad = [b"x", encoded(np.zeros((64, 65, 3), np.uint8))] * 5
    *errors, found = decoded(model, *bad, images[0], max_pixels=64 * 64)
    assert [type(error) for error in errors] == [UnreadableImageError, TooLargeError] * 5
    np.testing.assert_array_equal(found, model.pixels(arrays[0]))


@pytest.mark.bad_input
@pytest.mark.parametrize("shape", [(1, 4000, 3), (100_000, 1, 3)])
def test_a_line_that_resizing_would_make_huge_is_refused_before(model, shape):
    """Files of a few hundred bytes whose short side becomes 48 pixels, and whose long side grows with it."""
    (error,) = decoded(model, encoded(np.zeros(shape, np.uint8)))
    assert isinstance(error, TooLargeError)
    assert re.search(r"the network would process \d+ x \d+ pixels, and this server allows at most 1000000", str(error))


def test_while_too_many_pixels_wait_no_further_image_is_decoded(model, images, monkeypatch):
    monkeypatch.setattr(predictor, "_MOST_BYTES", 1)

    async def run():
        threads = Decoding(model, max_pixels=10**6, max_network_pixels=10**6)
        begun, go = [], asyncio.Event()

        async def hold(number):
            async with threads.image(images[number]):
                begun.append(number)
                if number == 0:
                    await go.wait()

        first = asyncio.create_task(hold(0))
        await asyncio.sleep(0.1)
        others = [asyncio.create_task(hold(number)) for number in range(1, 6)]
        await asyncio.sleep(0.1)
        before = list(begun)
        go.set()
        await asyncio.gather(first, *others)
        return before, sorted(begun)

    assert asyncio.run(run()) == ([0], [0, 1, 2, 3, 4, 5])


def test_small_images_go_before_large_ones_and_before_those_of_a_request_that_has_had_many(model, images, monkeypatch):
    monkeypatch.setattr("os.cpu_count", lambda: 2)
    done, whole = [], Decoding._decoded
    threads = Decoding(model, max_pixels=10**6, max_network_pixels=10**6)
    monkeypatch.setattr(Decoding, "_decoded", lambda self, data: (time.sleep(0.05), whole(self, data))[1])

    async def hold(name, **about):
        async with threads.image(images[0], **about):
            done.append(name)

    async def run():
        many = [hold(f"large {number}", size=5 * 10**7, had=number * 5 * 10**7) for number in range(4)]
        many += [hold(f"later {number}", size=100, had=10**6 + number) for number in range(4)]
        asked = [asyncio.create_task(each) for each in many]
        await asyncio.sleep(0.01)
        await asyncio.gather(*asked, *(hold(f"small {number}", size=100) for number in range(2)))

    asyncio.run(run())
    places = {name: place for place, name in enumerate(done)}
    assert max(places["small 0"], places["small 1"]) < min(places["later 2"], places["large 2"])
