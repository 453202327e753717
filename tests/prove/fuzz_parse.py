"""Fuzz the feed reader by coverage: ``python tests/prove/fuzz_parse.py -atheris_runs=1000000 -max_len=4096 [FOLDER]``.

Needs atheris, where the interpreter has a wheel of it; without it inputs are made at random from the same pieces. An
input is right when it gives a document or ``NotAFeed``, in time and below a cap of memory. FOLDER keeps what is new.
"""

from __future__ import annotations

import importlib.util
import random
import resource
import sys
import time

if importlib.util.find_spec("atheris"):
    import atheris

    with atheris.instrument_imports(include=["news_digest"]):
        from news_digest.feeds.parse import parse_feed
        from news_digest.feeds.text import stories
else:
    from news_digest.feeds.parse import parse_feed
    from news_digest.feeds.text import stories

from news_digest.errors import NotAFeed

SECONDS = 2.0
MEGABYTES = 512
PIECES = (
    *(
        b"<rss><channel>",
        b"<item>",
        b"</item>",
        b"<title>",
        b"</title>",
        b"<link>",
        b'<feed xmlns="http://www.w3.org/2005/Atom">',
    ),
    *(
        b"<entry>",
        b"<guid>",
        b"<description>",
        b"<![CDATA[",
        b"]]>",
        b"<!--",
        b"-->",
        b"<?xml ",
        b'encoding="gb2312"',
        b"?>",
    ),
    *(
        b"&",
        b"&amp;",
        b"&eacute;",
        b"&#27;",
        b"<!DOCTYPE x [<!ENTITY y 'z'>]>",
        b"&y;",
        b' xml:base="x"',
        b' xmlns:a="b"',
        b"<a:b",
    ),
    *(
        b"\x1b[31m",
        b"\x00",
        b"\xef\xbb\xbf",
        b"\xff\xfe",
        b"\x1f\x8b\x08",
        b'{"items": [',
        b'{"id": 1,',
        b'"url": "x"',
        b"<",
        b">",
        b'"',
    ),
    *(
        b"Tue, 01 Dec 2026 09:30:00 GMT",
        b"2026-12-01T09:30:00Z",
        b"text",
        b" ",
        b"\n",
        b"<p style='display:none'>",
        b"</p>",
        b"/>",
    ),
)


def one_input(data: bytes) -> None:
    """Read one input; raises what no input may raise."""
    start = time.process_time()
    try:
        entries = parse_feed(data, "https://feed.example/rss", {"content-type": "text/xml; charset=utf-8"}).entries
    except NotAFeed:
        entries = ()
    stories([[entry] for entry in entries[:20]])
    if time.process_time() - start > SECONDS:
        raise AssertionError("too slow")
    if resource.getrusage(resource.RUSAGE_SELF).ru_maxrss > MEGABYTES * 1024:
        raise AssertionError("too much memory")


def of_pieces(data: bytes) -> None:
    """Read one input whose low bytes stand for pieces, so that coverage soon gets behind the syntax."""
    one_input(b"".join(PIECES[each] if each < len(PIECES) else bytes([each]) for each in data))


def at_random(runs: int, seed: int) -> None:
    """Read as many inputs made of pieces; prints the seed and number of one that fails."""
    source = random.Random(seed)
    for number in range(runs):
        parts = source.choices(PIECES, k=source.randint(1, 40))
        data = bytearray(b"".join(parts))
        for _ in range(source.randint(0, 3)):
            data[source.randrange(len(data))] = source.randrange(256)
        try:
            one_input(bytes(data))
        except BaseException:
            sys.stderr.write(f"seed {seed}, input {number}: {bytes(data)!r}\n")
            raise
    sys.stdout.write(f"{runs} inputs, seed {seed}: each a document or no feed\n")


def main() -> None:
    """Fuzz with atheris where it is, else at random: ``[RUNS [SEED]]``."""
    if importlib.util.find_spec("atheris"):
        atheris.Setup(sys.argv, of_pieces)
        atheris.Fuzz()
    else:
        numbers = [int(each) for each in sys.argv[1:] if each.isdigit()]
        at_random(*(numbers + [100_000, 1][len(numbers) :]))


if __name__ == "__main__":
    main()
