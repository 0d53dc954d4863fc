"""The same seed gives the same bits: torch's switches for determinism, which all threads of a process share."""

import contextlib
import os
import threading
from collections.abc import Iterator

import torch
from torch.utils import deterministic


@contextlib.contextmanager
def same_bits(*, compiled: bool = True) -> Iterator[None]:
    """Inside, the same seed gives the same bits on the same device: slower algorithms replace nondeterministic ones.

    Several threads may be inside at once: the last one to leave restores what the first one changed.

    Args:
        compiled: Whether code inside may be compiled. Then torch's compiler is configured too; its import takes more
            than a second, but training imports it anyway, with the optimiser.
    """
    _SWITCHES.enter(compiled=compiled)
    try:
        yield
    finally:
        _SWITCHES.leave()


class _Switches:
    """Torch's switches, and the number of threads inside."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._within = 0
        self._compiled = False

    def enter(self, *, compiled: bool) -> None:
        with self._lock:
            if self._within == 0:
                self._mode = torch.get_deterministic_debug_mode()
                self._benchmark = torch.backends.cudnn.benchmark
                self._fill = deterministic.fill_uninitialized_memory  # type: ignore[attr-defined]
                self._compiled = False
            self._within += 1
            self._compiled |= compiled
            os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")
            self._set(mode=1, benchmark=False, fill=False)  # filling costs a kernel launch per tensor

    def leave(self) -> None:
        with self._lock:
            self._within -= 1
            if self._within == 0:
                self._set(mode=self._mode, benchmark=self._benchmark, fill=self._fill)

    def _set(self, *, mode: int, benchmark: bool, fill: bool) -> None:
        if self._compiled:
            torch.use_deterministic_algorithms(mode > 0, warn_only=mode == 1)
        else:
            torch.set_deterministic_debug_mode(mode)
        torch.backends.cudnn.benchmark = benchmark
        deterministic.fill_uninitialized_memory = fill  # type: ignore[attr-defined]


_SWITCHES = _Switches()
