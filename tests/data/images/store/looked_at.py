"""What lies in a store."""


def stored(store, position):
    """One image."""
    return store[position].permute(1, 2, 0).numpy()


def folders(cache):
    """The stores of a cache."""
    return sorted(path.name for path in cache.iterdir() if not path.name.startswith(".lock-"))
