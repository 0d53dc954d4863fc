import errno
import fcntl

import pytest

from onepeak._file_lock import NoLocksError, locked


def test_a_lock_is_held_by_one_at_a_time_and_free_afterwards(tmp_path):
    with locked(tmp_path / "lock") as first:
        with locked(tmp_path / "lock", wait=False) as second:
            assert (first, second) == (True, False)
        with locked(tmp_path / "other", wait=False) as other:
            assert other
    with locked(tmp_path / "lock", wait=False) as again:
        assert again


def test_a_lock_is_dropped_when_its_work_fails(tmp_path):
    with pytest.raises(ZeroDivisionError), locked(tmp_path / "lock"):
        1 / 0  # noqa: B018
    with locked(tmp_path / "lock", wait=False) as again:
        assert again


def test_a_file_system_without_locks_is_named(tmp_path, monkeypatch):
    def refuse(descriptor, flags):
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(fcntl, "flock", refuse)
    message = r"has no file locks \(No locks available\): choose a folder on a local disk"
    with pytest.raises(NoLocksError, match=message), locked(tmp_path / "lock"):
        pass
