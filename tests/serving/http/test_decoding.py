import asyncio
from dataclasses import replace

import numpy as np
import pytest

from http_server import encoded
from onepeak.data.decode import TooManyPixelsError, UnreadablePictureError
from onepeak.data.resize import Resize
from onepeak.serving.http import decoding
from onepeak.serving.model import Model


def made(model, *, max_pixels=10**6, max_network_pixels=10**6):
    return decoding.Decoding(model, max_pixels=max_pixels, max_network_pixels=max_network_pixels)


def test_a_picture_is_decoded_as_the_model_does(model, arrays, pictures):
    async def run():
        async with made(model).pixels(pictures[0]) as pixels:
            return pixels

    np.testing.assert_array_equal(asyncio.run(run()), model.pixels(arrays[0]))


@pytest.mark.bad_input
def test_what_is_wrong_with_a_picture_comes_out_and_the_next_is_decoded(model, pictures):
    async def run():
        threads = made(model, max_pixels=64 * 64)
        wrong = [(b"x", UnreadablePictureError), (encoded(np.zeros((64, 65, 3), np.uint8)), TooManyPixelsError)]
        for data, error in wrong * 5:
            with pytest.raises(error):
                async with threads.pixels(data):
                    pass
        async with threads.pixels(pictures[0]) as pixels:
            return pixels.shape

    assert asyncio.run(run()) == (48, 48, 3)


@pytest.mark.bad_input
@pytest.mark.parametrize("shape", [(1, 4000, 3), (100_000, 1, 3)])
def test_a_line_that_resizing_would_make_huge_is_refused_before(model, shape):
    """Files of a few hundred bytes whose short side becomes 48 pixels, and whose long side grows with it."""

    async def run():
        async with made(model).pixels(encoded(np.zeros(shape, np.uint8))):
            pass

    with pytest.raises(decoding.TooLargeForNetworkError, match=r"the network would process \d+ x \d+ pixels, and"):
        asyncio.run(run())


@pytest.mark.bad_input
def test_a_picture_that_no_resizing_makes_smaller_is_bounded_for_the_network(model, pictures):
    as_it_is = Model(replace(model.description, resize=Resize()), model.network, model.device)

    async def shape(most):
        async with made(as_it_is, max_network_pixels=most).pixels(pictures[0]) as pixels:
            return pixels.shape

    assert asyncio.run(shape(64 * 64)) == (64, 64, 3)
    told = (
        r"would process 64 x 64 pixels, and this server allows at most 4095 \(onepeak serve --max-network-megapixels\)"
    )
    with pytest.raises(decoding.TooLargeForNetworkError, match=told):
        asyncio.run(shape(64 * 64 - 1))


def test_while_too_many_pixels_wait_no_further_picture_is_decoded(model, pictures, monkeypatch):
    monkeypatch.setattr(decoding, "_MOST_BYTES", 1)

    async def run():
        threads, begun, go = made(model), [], asyncio.Event()

        async def hold(number):
            async with threads.pixels(pictures[number]):
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
