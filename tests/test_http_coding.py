"""Content codings: what a body is, whatever its label says, and never more of it than the cap."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Callable
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from news_digest.errors import HttpError, TooLarge
from news_digest.http import coding
from news_digest.http.coding import accepted_codings, decode

FEED = b'<?xml version="1.0"?><rss version="2.0"><channel><title>Example</title></channel></rss>'


def raw_deflate(data: bytes) -> bytes:
    return zlib.compress(data)[2:-4]


def read(body: bytes, label: str = "", cap: int = 100_000) -> bytes:
    return decode(body, label, cap=cap, url="http://news.example/", sniff=True)


CODERS: dict[str, Callable[[bytes], bytes]] = {"gzip": gzip.compress, "x-gzip": gzip.compress, "deflate": zlib.compress}
for coder in ("br", "zstd"):
    library = coding._library(coder)
    if library is not None:  # an installation without it neither asks for the coding nor can write it here
        CODERS[coder] = library.compress
CODED = {name: compress(FEED) for name, compress in CODERS.items()}


@pytest.mark.parametrize("label", [*CODED, *(name.upper() for name in CODED)])
def test_a_labelled_body_is_decoded(label: str) -> None:
    assert read(CODED[label.lower()], label) == FEED


@pytest.mark.parametrize("name", list(CODED))
def test_a_body_without_a_label_is_decoded(name: str) -> None:
    assert read(CODED[name]) == FEED


def test_raw_deflate_is_decoded_with_and_without_a_label() -> None:
    assert [read(raw_deflate(FEED), label) for label in ("deflate", "")] == [FEED, FEED]


@pytest.mark.parametrize("label", [*CODED, "identity", "none", "utf-8", "gzip, br", ""])
def test_a_plain_body_is_taken_as_it_is_whatever_its_label_says(label: str) -> None:
    assert read(FEED, label) == FEED


@pytest.mark.parametrize("label", ["gzip, gzip", "gzip", ""])
def test_a_body_that_was_compressed_twice_is_decoded_twice(label: str) -> None:
    assert read(gzip.compress(gzip.compress(FEED)), label) == FEED


@pytest.mark.parametrize("label", [*CODED, "utf-8", "gzip;q=1.0", '"gzip"'])
@pytest.mark.parametrize("name", [*CODED, "raw deflate"])
def test_a_label_that_names_another_coding_is_not_believed(label: str, name: str) -> None:
    assert read(CODED.get(name, raw_deflate(FEED)), label) == FEED


def test_bytes_that_decode_to_text_by_chance_are_no_other_coding() -> None:
    assert coding._raw_deflate(b"\x8b\x02\x80<?x\x03", 100) == b"Z"
    with pytest.raises(HttpError, match="br body ends too early"):
        read(b"\x8b\x02\x80<?x\x03", "br")


def test_a_wrong_label_is_an_error_where_nothing_is_to_be_guessed() -> None:
    with pytest.raises(HttpError, match="gzip body is damaged"):
        decode(zlib.compress(FEED), "gzip", cap=1000, url="", sniff=False)


@pytest.mark.parametrize("cut", range(1, 9))
def test_a_gzip_body_without_its_checksum_is_whole(cut: int) -> None:
    assert read(gzip.compress(FEED)[:-cut], "gzip") == FEED


def test_a_gzip_body_that_lacks_more_than_its_checksum_was_cut() -> None:
    with pytest.raises(HttpError, match="gzip body ends too early"):
        read(gzip.compress(FEED)[:-9], "gzip")


def test_raw_deflate_that_was_cut_is_worth_another_try() -> None:
    with pytest.raises(HttpError, match="ends too early") as caught:
        read(raw_deflate(FEED)[:-20], "deflate")
    assert caught.value.transient


def test_codings_are_undone_from_the_last_to_the_first() -> None:
    assert read(gzip.compress(zlib.compress(FEED)), "deflate, gzip") == FEED


def test_members_one_after_the_other_are_one_body_and_padding_is_dropped() -> None:
    assert read(gzip.compress(FEED[:20]) + gzip.compress(FEED[20:]) + b"\0\0\0", "gzip") == FEED


@pytest.mark.parametrize(
    "text", [FEED.decode().encode("utf-16"), FEED.decode().encode("utf-16-be"), b"\xef\xbb\xbf" + FEED, b""]
)
def test_text_is_not_taken_for_a_compressed_body(text: bytes) -> None:
    assert read(text) == text


@pytest.mark.parametrize("label", list(CODERS))
def test_a_body_that_was_cut_is_an_error_and_worth_another_try(label: str) -> None:
    long = bytes(range(32, 127)) * 50
    coded = CODERS[label](long)
    with pytest.raises(HttpError, match="ends too early") as caught:
        read(coded[: len(coded) // 2], label)
    assert caught.value.transient


DAMAGED = {"gzip": CODED["gzip"][:-8] + b"12345678", "br": bytes(range(99, 0, -1)), "zstd": bytes(range(99))}


@pytest.mark.parametrize("label", [label for label in DAMAGED if label in CODERS])
def test_a_damaged_body_is_an_error_with_a_cause(label: str) -> None:
    with pytest.raises(HttpError, match="damaged"):
        read(DAMAGED[label], label)


def test_an_unknown_coding_is_named() -> None:
    with pytest.raises(HttpError, match="'snappy' is unknown"):
        read(b"\x01\x02\x03\x04" * 20, "snappy")


@pytest.mark.parametrize("name", list(CODERS))
def test_the_cap_is_on_the_decoded_size_to_the_byte(name: str) -> None:
    data = b"<" * 50_000
    coded = CODERS[name](data)
    assert read(coded, name, cap=50_000) == data
    with pytest.raises(TooLarge, match="49,999"):
        read(coded, name, cap=49_999)


def test_thousands_of_empty_members_do_not_cost_minutes() -> None:
    with pytest.raises(HttpError, match="more than 256 parts"):
        read(gzip.compress(b"") * 5000, "gzip")


def test_an_archive_is_left_alone_where_nothing_is_to_be_guessed() -> None:
    packed = gzip.compress(b"a download")
    assert decode(packed, "", cap=1000, url="", sniff=False) == packed


@pytest.mark.parametrize(("label", "package"), [("br", "brotli"), ("zstd", "backports.zstd")])
def test_without_its_library_a_coding_is_not_asked_for_and_says_what_it_needs(
    label: str, package: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(coding, "find_spec", lambda _name: None)
    assert accepted_codings() == "gzip, deflate"
    with pytest.raises(HttpError, match=f"needs the package {package}") as caught:
        read(b"\x01\x02\x03\x04" * 20, label)
    assert not caught.value.transient


def test_a_brotli_that_cannot_decode_in_steps_counts_as_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    old = SimpleNamespace(Decompressor=object)
    monkeypatch.setattr(coding, "find_spec", lambda name: name)
    monkeypatch.setattr(coding, "import_module", lambda _name: old)
    assert "br" not in accepted_codings()


def test_all_codings_are_asked_for_where_their_libraries_are_installed() -> None:
    assert accepted_codings() == ", ".join(["gzip", "deflate", *(name for name in ("br", "zstd") if name in CODERS)])


@given(st.binary(max_size=400), st.sampled_from(["", "gzip", "deflate", "br", "zstd", "gzip, br", "x"]))
def test_any_bytes_end_as_a_body_below_the_cap_or_as_an_error(body: bytes, label: str) -> None:
    try:
        decoded = read(body, label, cap=1000)
    except HttpError as error:
        decoded = error.cause.encode()
    assert len(decoded) <= 1000
