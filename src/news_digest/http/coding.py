"""Content codings: decode a body in bounded steps, whatever its label says (RFC 9110, 8.4).

Labels lie in all directions in the wild: a gzip body without one, "gzip" on plain text or on another coding, twice
compressed by origin and proxy, "deflate" with and without the zlib frame. What is decoded is never larger than the cap,
so that a small body that grows a thousandfold ends as an error and not as memory.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable
from contextlib import suppress
from importlib import import_module
from importlib.util import find_spec
from struct import pack
from typing import Any

from news_digest.errors import HttpError, TooLarge

__all__ = ["accepted_codings", "decode"]

_STEP = 1 << 18
"""Bytes that brotli gives out at once; the cap is checked after each step."""
_PARTS_MOST = 256
"""Members of a gzip or zstd body; each copies what is left, so that thousands of empty ones would cost minutes."""
_LAYERS_MOST = 3
"""Codings around each other: two are seen in the wild (origin and proxy)."""
_ZSTD_WINDOW_LOG = 23
"""8 MiB, the largest window that a receiver must support (RFC 9659)."""
_SAMPLE = 256
"""Bytes that are looked at to tell text from compressed bytes."""
_CONTROL_SHARE = 16
"""Text has fewer control characters than one in so many bytes; compressed bytes have one in nine."""

_GZIP_MAGIC = b"\x1f\x8b"
_ZSTD_MAGIC = b"\x28\xb5\x2f\xfd"
_ZLIB_MAGICS = (b"\x78\x01", b"\x78\x5e", b"\x78\x9c", b"\x78\xda")
_BOMS = (b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff")
_OPENINGS = frozenset({b"<", b"{", b"[", b"\xef", b"\xff", b"\xfe"})
"""How documents begin, BOMs included; chance makes text of a few compressed bytes, but hardly ever one of these."""
_CONTROLS = bytes(set(range(0x20)) - set(b"\t\n\r\f")) + b"\x7f"


class _Broken(Exception):
    """The bytes are not in that coding, or end too early."""


class _AboveCap(Exception):
    """The decoded body is above the cap."""


def accepted_codings() -> str:
    """Return the value for ``Accept-Encoding``: what this installation can decode."""
    return ", ".join(["gzip", "deflate", *(name for name in ("br", "zstd") if _library(name))])


def decode(body: bytes, label: str, *, cap: int, url: str, sniff: bool) -> bytes:
    """Return the body without its content codings; ``label`` is the ``Content-Encoding``, ``cap`` in bytes.

    With ``sniff``, compressed bytes that no label announces are decoded too: right for documents that are text, wrong
    for a download that is meant to be an archive. Raises :class:`TooLarge` or :class:`HttpError` with the URL.
    """
    try:
        plain = _unlabel(body, label, cap, sniff=sniff)
        return _unwrap(plain, cap) if sniff else plain
    except _AboveCap:
        raise _too_large(url, cap) from None
    except _Broken as broken:
        raise _undecodable(url, str(broken)) from broken


def _unlabel(body: bytes, label: str, cap: int, *, sniff: bool) -> bytes:
    for name in reversed([part.strip().lower() for part in label.split(",")][:_LAYERS_MOST]):
        if name in {"", "identity"} or not body:
            continue
        try:
            body = _decoder(name)(body, cap)
        except _Broken:
            # The label lies, or something on the way has decoded the body and left the label on.
            if not _is_text(body):
                guessed = _guess(body, cap) if sniff else None
                if guessed is None:
                    raise
                body = guessed
    return body


def _unwrap(body: bytes, cap: int) -> bytes:
    for _ in range(_LAYERS_MOST):
        if not body or _is_text(body):
            return body
        decoded = _guess(body, cap)
        if decoded is None:
            return body
        body = decoded
    return body


def _guess(body: bytes, cap: int) -> bytes | None:
    """Decode what no label names: by its first bytes, else by trying what has none, if markup or JSON comes out."""
    if body.startswith(_GZIP_MAGIC):
        return _gzip(body, cap)
    if body.startswith(_ZSTD_MAGIC):
        return _zstd(body, cap)
    if body.startswith(_ZLIB_MAGICS):
        return _deflate(body, cap)
    for decoder in (_deflate, _brotli):
        try:
            decoded = decoder(body, cap)
        except _Broken:
            continue
        if _is_text(decoded) and decoded.lstrip()[:1] in _OPENINGS:
            return decoded
    return None


def _is_text(body: bytes) -> bool:
    sample = body[:_SAMPLE]
    if sample.startswith(_BOMS) or sample.lstrip()[:2] in {b"<\0", b"\0<", b"<?", b"<!"}:
        return True
    controls = len(sample) - len(sample.translate(None, _CONTROLS))
    return controls * _CONTROL_SHARE < len(sample)


def _decoder(name: str) -> Callable[[bytes, int], bytes]:
    try:
        return _DECODERS[name]
    except KeyError:
        return _unknown(name)


def _unknown(name: str) -> Callable[[bytes, int], bytes]:
    def refuse(_body: bytes, _cap: int) -> bytes:
        message = f"the content coding {name[:20]!r} is unknown"
        raise _Broken(message)

    return refuse


def _gzip(body: bytes, cap: int) -> bytes:
    return _inflate(body, cap, 16 + zlib.MAX_WBITS, "gzip")


def _deflate(body: bytes, cap: int) -> bytes:
    if not _has_zlib_frame(body):
        return _raw_deflate(body, cap)
    try:
        return _inflate(body, cap, zlib.MAX_WBITS, "deflate")
    except _Broken as broken:
        try:
            return _raw_deflate(body, cap)
        except _Broken:
            raise broken from None


def _has_zlib_frame(body: bytes) -> bool:
    """Return whether a body begins as RFC 1950, 2.2, wants it: method 8, and a check that divides by 31."""
    return body[:1] != b"" and body[0] & 0x0F == zlib.DEFLATED and int.from_bytes(body[:2], "big") % 31 == 0


def _raw_deflate(body: bytes, cap: int) -> bytes:
    return _inflate(body, cap, -zlib.MAX_WBITS, "deflate")


def _inflate(body: bytes, cap: int, window_bits: int, name: str) -> bytes:
    members = _GZIP_MAGIC if window_bits > zlib.MAX_WBITS else None
    try:
        return _parts(lambda: zlib.decompressobj(window_bits), body, cap, name, members)
    except zlib.error as error:
        message = f"its {name} body is damaged"
        raise _Broken(message) from error


def _zstd(body: bytes, cap: int) -> bytes:
    zstd = _library("zstd")
    if zstd is None:
        raise _Broken(_missing("zstd"))
    options = {zstd.DecompressionParameter.window_log_max: _ZSTD_WINDOW_LOG}
    try:
        return _parts(lambda: zstd.ZstdDecompressor(options=options), body, cap, "zstd", _ZSTD_MAGIC)
    except zstd.ZstdError as error:
        message = "its zstd body is damaged"
        raise _Broken(message) from error


def _parts(open_stream: Callable[[], Any], body: bytes, cap: int, name: str, more: bytes | None) -> bytes:
    """Decode a body of one or several members; what follows the last one is padding."""
    pieces: list[bytes] = []
    room = cap
    for _ in range(_PARTS_MOST):
        stream = open_stream()
        piece = stream.decompress(body, room + 1)
        pieces.append(piece)
        room -= len(piece)
        if room < 0:
            raise _AboveCap
        if not stream.eof and not (more == _GZIP_MAGIC and _lacks_only_its_trailer(stream, piece)):
            message = f"its {name} body ends too early"
            raise _Broken(message)
        body = stream.unused_data
        if more is None or not body.startswith(more):
            return b"".join(pieces)
    message = f"its {name} body has more than {_PARTS_MOST} parts"
    raise _Broken(message)


def _lacks_only_its_trailer(stream: Any, data: bytes) -> bool:  # noqa: ANN401 - zlib's type has no name
    """Return whether a gzip member is whole but for its checksum and size, which some servers leave away or cut."""
    trailer = pack("<LL", zlib.crc32(data), len(data))
    for sent in range(len(trailer)):
        rest = stream.copy()
        with suppress(zlib.error):
            rest.decompress(trailer[sent:])
        if rest.eof:
            return True
    return False


def _brotli(body: bytes, cap: int) -> bytes:
    brotli = _library("br")
    if brotli is None:
        raise _Broken(_missing("br"))
    stream = brotli.Decompressor()
    pieces: list[bytes] = []
    size = 0
    try:
        piece = stream.process(body, output_buffer_limit=_STEP)
        while True:
            pieces.append(piece)
            size += len(piece)
            if size > cap:
                raise _AboveCap
            if stream.is_finished():
                return b"".join(pieces)
            if stream.can_accept_more_data():
                message = "its br body ends too early"
                raise _Broken(message)
            piece = stream.process(b"", output_buffer_limit=_STEP)
    except brotli.error as error:
        message = "its br body is damaged"
        raise _Broken(message) from error


def _library(coding: str) -> Any:  # noqa: ANN401 - one of three modules that may be missing
    """Return the module that decodes a coding, None where it is not installed or too old to decode in steps."""
    names = {"br": ("brotli",), "zstd": ("compression.zstd", "backports.zstd")}[coding]
    for name in names:
        package = name.partition(".")[0]
        if find_spec(package) and find_spec(name):
            module = import_module(name)
            # brotli before 1.2 gives out everything at once, however much it is.
            return module if coding != "br" or hasattr(module.Decompressor, "can_accept_more_data") else None
    return None


def _missing(coding: str) -> str:
    package = {"br": "brotli (1.2 or later)", "zstd": "backports.zstd"}[coding]
    return f"it is compressed as {coding}, which needs the package {package}"


def _too_large(url: str, cap: int) -> TooLarge:
    return TooLarge(
        "Cannot read the answer",
        thing=url,
        cause=f"it is larger than {cap:,} bytes once decoded",
        hint="Check the address; a feed of that size is rarely one.",
    )


def _undecodable(url: str, cause: str) -> HttpError:
    return HttpError(
        "Cannot read the answer",
        thing=url,
        cause=cause,
        hint="The server sends a compressed body that cannot be decoded; tell the site, or try again later.",
        transient="too early" in cause,
    )


_DECODERS: dict[str, Callable[[bytes, int], bytes]] = {
    "gzip": _gzip,
    "x-gzip": _gzip,
    "deflate": _deflate,
    "br": _brotli,
    "zstd": _zstd,
}
