"""From bytes to text: by byte order mark, by what the bytes themselves prove, by HTTP header, by declaration, by guess.

Bytes that are valid UTF-8 are UTF-8, whatever the labels say: no other encoding's text looks so by chance. A label
counts after that, widened to what publishers mean by it (gb2312 is GB 18030, latin-1 is windows-1252).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final

__all__ = ["bare_utf8", "charset_of", "declared_charset", "decoded", "looks_twice_encoded"]

_WIDER: Final = {
    **dict.fromkeys(("gb2312", "gbk", "gb-2312", "x-gbk", "euc-cn", "cp936", "chinese"), "gb18030"),
    **dict.fromkeys(("shift_jis", "shift-jis", "sjis", "x-sjis", "windows-31j", "ms_kanji"), "cp932"),
    **dict.fromkeys(("iso-8859-1", "latin-1", "latin1", "iso8859-1", "us-ascii", "ascii", "iso_8859-1"), "cp1252"),
    **dict.fromkeys(("euc-kr", "euckr", "ks_c_5601-1987", "ksc5601"), "cp949"),
    **{"big5": "big5hkscs", "iso-8859-9": "cp1254", "tis-620": "cp874", "iso-8859-11": "cp874", "x-euc-jp": "euc_jp"},
    **dict.fromkeys(("ks_c_5601-1989", "ksc_5601", "windows-949"), "cp949"),
    **dict.fromkeys(("koi", "koi8", "koi8_r"), "koi8_r"),
    **dict.fromkeys(("cn-big5", "x-x-big5"), "big5hkscs"),
    **{"windows-874": "cp874", "dos-874": "cp874", "x-mac-roman": "mac_roman", "x-mac-cyrillic": "mac_cyrillic"},
    **{f"x-cp{number}": f"cp{number}" for number in range(1250, 1259)},
    **{"ucs-2": "utf-16", "iso-10646-ucs-2": "utf-16"},
    **{"unicode": "utf-16", "utf8": "utf-8", "iso-8859-8-i": "iso-8859-8", "x-sjis-win": "cp932"},
}
"""What a label is read as: the wider encoding that contains it (WHATWG Encoding, "names and labels")."""
_LANGUAGES: Final = {
    **dict.fromkeys(("ru", "uk", "bg", "be", "sr", "mk"), ("cp1251", "koi8_r")),
    **{"ja": ("cp932", "euc_jp"), "ko": ("cp949",), "el": ("cp1253",), "tr": ("cp1254",), "he": ("cp1255",)},
    **{"ar": ("cp1256",), "fa": ("cp1256",), "th": ("cp874",), "zh-tw": ("big5hkscs",), "zh": ("gb18030", "big5hkscs")},
    **dict.fromkeys(("pl", "cs", "sk", "hu", "hr", "sl", "ro"), ("iso-8859-2", "cp1250")),
    **dict.fromkeys(("lt", "lv", "et"), ("cp1257",)),
}
_GUESSES: Final = (
    ("gb18030", "的一是不了在有人这中大国"),
    ("cp932", "のにはをたがでてとしれさ"),
    ("euc_jp", "のにはをたがでてとしれさ"),
    ("cp949", "이다는에의을가고하지"),
    ("big5hkscs", "的一是不了在有人這中大國"),
    ("cp1251", "оеаинтсрвл"),
    ("koi8_r", "оеаинтсрвл"),
    ("cp1253", "αοιετνσηρκ"),
    ("cp1255", "יוהלאתרבמש"),
    ("cp1256", "اليمونرتبة"),
    ("cp874", "านรกอเงมยลว"),
)
"""Encodings and the commonest letters of the languages that use them; where two do equally, the first is meant."""
_COMMON: Final = dict(_GUESSES)
_C1: Final = re.compile("[\x80-\x9f]")
"""Controls that no text has: what looks like them is in another encoding."""
_NO_TEXT: Final = re.compile("[\x80-\x9f\u2500-\u259f\ufffd]")
"""Signs that a text was read in a wrong encoding: controls, pieces of boxes, what cannot be read at all."""

_DECLARED: Final = re.compile(rb"<\?xml[^>]{0,200}?encoding\s*=\s*[\"']?\s*([A-Za-z0-9._:-]+)", re.DOTALL)
_LABEL: Final = re.compile(r"charset\s*=\s*[\"']?\s*([A-Za-z0-9._:-]+)", re.IGNORECASE)
_LANGUAGE: Final = re.compile(rb"(?:<(?:dc:)?language>\s*(?:<!\[CDATA\[)?|\blang=[\"'])([A-Za-z]{2}(?:-[A-Za-z]{2})?)")
_MARKS: Final = (
    (b"\xef\xbb\xbf", "utf-8"),
    (b"\xff\xfe\x00\x00", "utf-32-le"),
    (b"\x00\x00\xfe\xff", "utf-32-be"),
    (b"\xff\xfe", "utf-16-le"),
    (b"\xfe\xff", "utf-16-be"),
)
_SEVEN_BIT: Final = ("iso-2022", "iso2022", "utf-7", "utf7", "hz")
"""Encodings that write everything in ASCII: their text is valid UTF-8 and still not meant so."""
_HEAD: Final = 4096
_SAMPLE: Final = 20_000
_GOOD_FOR_BAD: Final = 3
"""Whole UTF-8 letters for each broken one, at least, to believe in UTF-8 with damage."""
_DENSE: Final = 0.3
"""Share of letters beyond ASCII from which a text is in no western language."""


def charset_of(content_type: str) -> str:
    """Return the charset that a ``Content-Type`` header names, in lower case; empty without one."""
    match = _LABEL.search(content_type)
    return match[1].lower() if match else ""


def declared_charset(body: bytes) -> str:
    """Return the encoding that the XML declaration names, in lower case; empty without one."""
    match = _DECLARED.search(body, 0, _HEAD)
    return match[1].decode("ascii").lower() if match else ""


def bare_utf8(body: bytes, header: str) -> bool:
    """Return whether nothing says that the bytes are anything else than UTF-8 or ASCII."""
    declared = declared_charset(body)
    usual = ("", "utf-8", "utf8", "us-ascii", "ascii")
    return (
        declared in usual
        and not header.startswith(("utf-16", *_SEVEN_BIT))
        and body[:2] not in (b"\xff\xfe", b"\xfe\xff")
    )


def looks_twice_encoded(body: bytes) -> bool:
    """Return whether UTF-8 may have been encoded as UTF-8 again; :func:`decoded` makes sure."""
    return any(
        letter[1:] in body and body.count(letter) >= _GOOD_FOR_BAD  # a single byte is found, or missed, at once
        for letter in (b"\xc3\x83", b"\xc3\x90")
    )


def decoded(body: bytes, header: str = "") -> str:
    """Return the text of a document; ``header`` is the charset that HTTP names. Never fails."""
    for mark, name in _MARKS:
        if body.startswith(mark):
            body = body[len(mark) :]
            return (_as_utf8(body) if name == "utf-8" else "") or body.decode(name, "replace")
    shown = _shown_by_start(body)
    if shown:
        return body.decode(shown, "replace")
    labels = [label for label in (header, declared_charset(body)) if label]
    for label in labels:
        text = _strict(body, label) if label.startswith(_SEVEN_BIT) else None
        if text is not None:
            return text
    return _as_utf8(body) or _labelled(body, labels) or _guessed(body)


def _shown_by_start(body: bytes) -> str:
    """Return UTF-16, UTF-32 or EBCDIC where the first characters show it (XML 1.0, appendix F)."""
    start = body[:4]
    if start == b"\x4c\x6f\xa7\x94":
        declared = declared_charset(body[:_HEAD].decode("cp037").encode("ascii", "ignore"))
        return declared if _strict(b"", declared) is not None else "cp037"
    if start.startswith(b"<\x00\x00\x00"):
        return "utf-32-le"
    if start.startswith(b"\x00\x00\x00<"):
        return "utf-32-be"
    if start[:1] == b"<" and start[1:2] == b"\x00":
        return "utf-16-le"
    return "utf-16-be" if start[:2] == b"\x00<" else ""


def _as_utf8(body: bytes) -> str:
    """Return the text if it is UTF-8, perhaps with some damage; empty if it is not."""
    text = _strict(body, "utf-8")
    if text is not None:
        return _once_encoded(text)
    text, whole = body.decode("utf-8", "surrogateescape"), body.decode("utf-8", "ignore")
    bad, good = len(text) - len(whole), len(whole) - len(whole.encode("ascii", "ignore"))
    return re.sub("[\udc80-\udcff]", _meant_by, text) if bad * _GOOD_FOR_BAD <= good else ""


def _meant_by(smuggled: re.Match[str]) -> str:
    """Return what a single byte within UTF-8, as ``surrogateescape`` leaves it, is in windows-1252."""
    return bytes([ord(smuggled[0]) - 0xDC00]).decode("cp1252", "ignore") or "\ufffd"


def _once_encoded(text: str) -> str:
    """Return a text that was encoded as UTF-8 twice as it was meant; any other as it is.

    Only where the whole document shows it: a single letter that is meant as it stands forbids it.
    """
    signs = "\xc2\xc3\xd0\xd1"
    if sum(map(text.count, signs)) < _GOOD_FOR_BAD:
        return text
    if len(re.findall(f"[{signs}][\x80-\xbf\u0152-\u2122]", text)) < _GOOD_FOR_BAD:
        return text
    try:
        raw = b"".join(
            each.encode("latin-1") if "\x80" <= each <= "\x9f" else each.encode("cp1252")
            for each in re.split("([\x80-\x9f])", text)
        )
        return raw.decode("utf-8")
    except UnicodeError:
        return text


def _labelled(body: bytes, labels: Iterable[str]) -> str:
    """Return the text by its labels: whole, else with a little damage; empty where that does not do."""
    names = [_WIDER.get(label, label) for label in labels]
    if len(set(names)) > 1 and names[0] == "cp1252":
        names.reverse()  # servers say latin-1 without being asked; who declares something else knows better
    for name in names:
        text = _strict(body, name)
        if text:
            return text
    for name in names:
        text = _with_damage(body, name)
        if text:
            return text
    return ""


def _strict(body: bytes, name: str) -> str | None:
    try:
        return body.decode(name)
    except (LookupError, ValueError):
        return None


def _with_damage(body: bytes, name: str) -> str:
    try:
        text = body.decode(name, "replace")
    except (LookupError, ValueError):
        return ""
    bad = text.count("\ufffd")
    good = len(text) - sum(map(str.isascii, text)) - bad
    return text if bad * _GOOD_FOR_BAD <= good else ""


def _guessed(body: bytes) -> str:
    """Return the text by the language that it names, else by its letters; western where nothing else shows."""
    sample = body[:_SAMPLE]
    likely = [
        name for name in _by_language(body) if _strict(body, name) and not _C1.search(sample.decode(name, "replace"))
    ]
    if likely:
        return body.decode(max(likely, key=lambda name: _likeness(sample, name, _COMMON.get(name, ""))))
    letters = len(re.findall(rb"[A-Za-z]", re.sub(rb"<[A-Za-z/?][^<>]*>", b"", sample))) + 1
    beyond = sum(byte > 0x7F for byte in sample)  # noqa: PLR2004 - the end of ASCII
    if beyond > _DENSE * letters:
        best = max(_GUESSES, key=lambda guess: _likeness(sample, *guess))
        if _likeness(sample, *best) >= 0:
            return body.decode(best[0], "replace")
    return body.decode("cp1252", "replace")


def _by_language(body: bytes) -> Iterator[str]:
    match = _LANGUAGE.search(body, 0, _HEAD)
    if match:
        tag = match[1].decode("ascii").lower()
        yield from _LANGUAGES.get(tag) or _LANGUAGES.get(tag[:2], ())


def _likeness(sample: bytes, name: str, common: str) -> float:
    """Return how much of a text beyond ASCII are common letters, less what are no letters or cannot be read."""
    text = sample.decode(name, "replace")
    beyond = [each for each in text if each > "\x7f"]
    letters = sum(map(str.isalpha, beyond))
    good = sum(each in common for each in beyond) + letters - len(beyond)
    return (good - 5 * len(_NO_TEXT.findall(text))) / (len(beyond) or 1)
