import io
import sys

import pytest

from onepeak.data.store.progress import progress_of


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.mark.parametrize(
    ("progress", "stream", "shown"),
    [(None, Terminal, True), (None, io.StringIO, False), (True, io.StringIO, True), (False, Terminal, False)],
)
def test_a_bar_is_shown_on_a_terminal_or_when_asked_for(monkeypatch, progress, stream, shown):
    monkeypatch.setattr(sys, "stderr", stream())
    with progress_of(progress, title="Decoding", total=3) as advance:
        advance(2)
    assert ("Decoding" in sys.stderr.getvalue()) == shown


def test_a_function_is_told_how_far_it_is():
    calls = []
    with progress_of(lambda done, total: calls.append((done, total)), title="Decoding", total=3) as advance:
        advance(2)
        advance(3)
    assert calls == [(2, 3), (3, 3)]
