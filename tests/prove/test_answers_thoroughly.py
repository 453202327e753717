"""Answers of every kind over real connections: each feed ends as entries or a reason, and all of them in time."""

from __future__ import annotations

import random
import time
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from tests.prove.fuzz_fetch import BOMB, CAP, NEXT_CHUNK, NOW, PIECES, whole
from tests.prove.fuzzing import of_pieces
from tests.servers import Asked, Drip, Part, serving

from news_digest.feeds.cache import FeedCache
from news_digest.feeds.manners import Manners
from news_digest.feeds.read import FeedReader
from news_digest.http import CurlHttp
from news_digest.model import FeedSource
from news_digest.testing import FakeClock

BATCH = 50
BATCHES = 100
FEED_SECONDS, RUN_SECONDS, SLACK_SECONDS = 0.5, 2.0, 3.0


def parts(source: random.Random) -> Iterator[Part]:
    """Yield an answer in its chunks; sometimes one waits, or comes byte by byte, or does not end."""
    for chunk in whole(of_pieces(source, PIECES)).split(NEXT_CHUNK):
        match source.randrange(20):
            case 0:
                yield Drip(chunk, 1, 0.02)
            case 1:
                yield 0.1
                yield chunk
            case 2:
                yield from [chunk or b"<"] * (len(BOMB) // max(1, len(chunk)))
            case _:
                yield chunk


@pytest.mark.prove
@pytest.mark.parametrize("seed", range(BATCHES))
def test_whatever_comes_every_feed_has_its_result_in_time(seed: int, tmp_path: Path) -> None:
    def answer(asked: Asked) -> list[Part]:
        return list(parts(random.Random(f"{seed} {asked.headers['host'].partition(':')[0]}")))

    names = [f"host{number}.example" for number in range(BATCH)]
    with serving(answer) as server:
        http = CurlHttp("fuzz", allow_private_hosts=True, resolve=server.pin(*names))
        manners = Manners(max_bytes=CAP, attempts=1, feed_deadline=timedelta(seconds=FEED_SECONDS))
        reader = FeedReader(http, FeedCache(tmp_path), FakeClock(NOW), lambda _: None, manners=manners)
        began = time.monotonic()
        results = reader.read([FeedSource(server.url("/feed", name)) for name in names], timedelta(seconds=RUN_SECONDS))
        took = time.monotonic() - began
    assert len(results) == BATCH
    assert took < RUN_SECONDS + SLACK_SECONDS
    for result in results:
        if result.failure:
            assert result.failure.reason.isprintable()
            assert result.failure.hint
            assert "inside news-digest" not in result.failure.reason
