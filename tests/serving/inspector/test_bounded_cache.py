from concurrent.futures import ThreadPoolExecutor

from onepeak.serving.inspector.bounded_cache import BoundedCache


def test_what_was_asked_for_longest_ago_goes_first():
    cache = BoundedCache(most=2, size=lambda _: 1)
    for key in ("a", "b", "a", "c"):
        cache.get(key, lambda key=key: key)
    assert [cache.get(key, lambda: "made again") for key in ("a", "c", "b")] == ["a", "c", "made again"]


def test_the_total_never_exceeds_the_bound_but_for_one_value_alone():
    cache = BoundedCache(most=100, size=len)
    for number in range(200):
        cache.get(number, lambda number=number: b"x" * (number % 90))
        assert cache.total <= 100
    assert len(cache.get("large", lambda: b"x" * 500)) == 500
    assert cache.total == 500


def test_threads_share_it():
    cache = BoundedCache(most=50, size=len)
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda number: cache.get(number % 20, lambda: str(number % 20) * 5), range(2000)))
    assert found == [str(number % 20) * 5 for number in range(2000)]
    assert cache.total <= 50
