"""One way to fuzz: by coverage with atheris, where the interpreter has it; else at random from pieces.

    python -m tests.prove.fuzz_parse RUNS [SEED [FOLDER]]

An input is right when its check returns, in time and below a cap of memory. FOLDER keeps what atheris finds new.
"""

from __future__ import annotations

import importlib.util
import random
import resource
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from tempfile import gettempdir

__all__ = ["fuzz", "instrumented", "of_pieces"]

SECONDS = 2.0
MEGABYTES = 512
LONGEST = 4096
RUNS = 100_000
HAS_ATHERIS = importlib.util.find_spec("atheris") is not None and "pytest" not in sys.modules
"""Only where a fuzzer runs by itself: what is instrumented is slow, and a test run imports these modules too."""

Check = Callable[[bytes], None]


@contextmanager
def instrumented() -> Iterator[None]:
    """Let what is imported in the block tell atheris which of its branches are taken."""
    if not HAS_ATHERIS:
        yield
        return
    import atheris  # noqa: PLC0415 - optional

    with atheris.instrument_imports(include=["news_digest"]):
        yield


def fuzz(check: Check, pieces: Sequence[bytes]) -> None:
    """Check as many inputs as the command line says."""
    runs, seed, *folders = [*sys.argv[1:], *(str(RUNS), "1")[len(sys.argv) - 1 :]]
    if not HAS_ATHERIS:
        _at_random(check, pieces, int(runs), int(seed))
        return
    import atheris  # noqa: PLC0415 - optional

    options = [f"-atheris_runs={runs}", f"-seed={seed}", f"-max_len={LONGEST}", f"-artifact_prefix={gettempdir()}/"]
    atheris.Setup([sys.argv[0], *options, *folders], lambda data: _bounded(check, _spelled(data, pieces)))
    atheris.Fuzz()


def of_pieces(source: random.Random, pieces: Sequence[bytes]) -> bytes:
    """Return an input made of pieces, with a few bytes changed."""
    data = bytearray(b"".join(source.choices(pieces, k=source.randint(1, 40))))
    for _ in range(source.randint(0, 3) if data else 0):
        data[source.randrange(len(data))] = source.randrange(256)
    return bytes(data)


def _at_random(check: Check, pieces: Sequence[bytes], runs: int, seed: int) -> None:
    """Check inputs made at random; the seed and number of one that fails are printed."""
    source = random.Random(seed)
    for number in range(runs):
        data = of_pieces(source, pieces)
        try:
            _bounded(check, data)
        except BaseException:
            sys.stderr.write(f"seed {seed}, input {number}: {data!r}\n")
            raise
    sys.stdout.write(f"{runs} inputs at random, seed {seed}: all right\n")


def _spelled(data: bytes, pieces: Sequence[bytes]) -> bytes:
    """Return an input whose low bytes stood for pieces, so that coverage soon gets behind the syntax."""
    return b"".join(pieces[each] if each < len(pieces) else bytes([each]) for each in data)


def _bounded(check: Check, data: bytes) -> None:
    start = time.process_time()
    check(data)
    if time.process_time() - start > SECONDS:
        raise AssertionError("too slow")
    if resource.getrusage(resource.RUSAGE_SELF).ru_maxrss > MEGABYTES * 1024:
        raise AssertionError("too much memory")
