"""Files that lie or rot: bytes flipped, keys dropped, types changed, values made huge, ends cut off."""

import copy
import json
import random

_STRANGE = (None, True, -1, 0, 2**40, 10**30, 1e308, -0.5, "", "x" * 50, "\x1b[2J", [], [[[]]], {}, {"a": {}}, [1, "b"])


def damaged(content, number, *, seed=0):
    """Yields so many damaged forms of a file's bytes."""
    chance = random.Random(seed)
    for _ in range(number):
        if chance.random() < 0.2:
            yield content[: chance.randrange(len(content))]
        else:
            rotten = bytearray(content)
            for _ in range(chance.choice((1, 1, 1, 5))):
                rotten[chance.randrange(len(rotten))] ^= 1 << chance.randrange(8)
            yield bytes(rotten)


def damaged_json(record, number, *, text=True, seed=0):
    """Yields so many damaged forms of a record as JSON, without `text` such as are JSON still."""
    chance, of_text = random.Random(seed), number // 3 if text else 0
    yield from damaged(json.dumps(record, indent=2).encode(), of_text, seed=seed)
    for _ in range(number - of_text):
        lying = copy.deepcopy(record)
        for _ in range(chance.choice((1, 1, 2))):
            _change(lying, chance)
        yield json.dumps(lying).encode()


def _change(record, chance):
    """Drops or changes one value somewhere in a record."""
    holders, stack = [], [record]
    while stack:
        each = stack.pop()
        if isinstance(each, dict | list) and each:
            holders.append(each)
            stack.extend(each.values() if isinstance(each, dict) else each)
    if not holders:
        return
    holder = chance.choice(holders)
    key = chance.choice(list(holder) if isinstance(holder, dict) else range(len(holder)))
    if chance.random() < 0.25:
        del holder[key]
    elif isinstance(holder, dict) and chance.random() < 0.1:
        holder["more"] = holder.pop(key)
    else:
        holder[key] = copy.deepcopy(chance.choice(_STRANGE))
