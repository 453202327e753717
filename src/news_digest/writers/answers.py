"""What a model answers: the schema that it is asked for, and its answer read as a draft, forgivingly.

Reading decides about form only. Numbers of no story, words of no story are the checker's.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

from news_digest.model import Brief, Claim, Draft, Item, Json, Section
from news_digest.readback import read_back

__all__ = ["SCHEMA", "draft_of", "looks_like_a_refusal"]

ANSWER_CHARACTERS = 200_000
"""Most of an answer that is looked at."""

_NUMBERS: Json = {"type": "array", "items": {"type": "integer"}}


def _record(**properties: Json) -> Json:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


SCHEMA: Json = _record(
    lead={"type": "array", "items": _record(text={"type": "string"}, stories=_NUMBERS)},
    sections={
        "type": "array",
        "items": _record(
            title={"type": "string"},
            items={
                "type": "array",
                "items": _record(
                    headline={"type": "string"},
                    sentences={"type": "array", "items": {"type": "string"}},
                    stories=_NUMBERS,
                    update={"type": "boolean"},
                ),
            },
        ),
    },
    headlines=_NUMBERS,
)
"""JSON schema of an answer, in the strict subset of OpenAI's structured output: every key required, no other."""

_REFUSAL = re.compile(
    r"\s*(?:i(?:'m| am) (?:sorry|unable|not able)|sorry,|i (?:can(?:'|\u2019)?t|cannot|won(?:'|\u2019)t|must decline)|"
    r"unfortunately,? i|as an ai\b)",
    re.IGNORECASE,
)


def looks_like_a_refusal(text: str) -> bool:
    """Return whether an answer that is no JSON begins as refusals do."""
    return "{" not in text[:200] and bool(_REFUSAL.match(text.replace("\u2019", "'")))


def draft_of(text: str, brief: Brief) -> Draft | None:
    """Return the draft of an answer: JSON, bare or within a fence or words, else Markdown with headings; else None."""
    text = text[:ANSWER_CHARACTERS]
    for value in _objects(text):
        draft = _draft(value, brief)
        if draft.lead or draft.sections or draft.headlines:
            return draft
    if re.search(r"^#{1,3} |^[-*] ", text, re.MULTILINE) and "{" not in text[:20]:
        return read_back(text, brief).draft
    return None


def _objects(text: str) -> Iterator[dict[str, Json]]:
    """Yield the JSON objects that begin at the first few braces of a text."""
    decoder = json.JSONDecoder()
    for match in list(re.finditer(r"\{", text))[:3]:
        try:
            value, _ = decoder.raw_decode(text, match.start())
        except (ValueError, RecursionError):
            continue
        if isinstance(value, dict):
            yield value


def _draft(value: dict[str, Json], brief: Brief) -> Draft:
    lead = tuple(
        Claim(text, _numbers(each.get("stories")))
        for each in _records(value.get("lead"))
        if (text := _text(each, "text"))
    )
    parts = (
        Section(_text(each, "title"), tuple(_items(each.get("items")))) for each in _records(value.get("sections"))
    )
    sections = tuple(part for part in parts if part.items)
    headlines = tuple(_headlines(value.get("headlines"), brief))
    return Draft(lead=lead, sections=sections, headlines=headlines)


def _records(value: Json) -> list[dict[str, Json]]:
    if isinstance(value, str):
        return [{"text": value}]
    given = value if isinstance(value, list) else []
    return [{"text": each} if isinstance(each, str) else each for each in given if isinstance(each, str | dict)]


def _text(record: dict[str, Json], key: str) -> str:
    value = record.get(key)
    return value.strip() if isinstance(value, str) else ""


def _numbers(value: Json) -> tuple[int, ...]:
    given = value if isinstance(value, list) else [value]
    bare = (each.strip("[] ") if isinstance(each, str) else each for each in given)
    whole = (int(each) if isinstance(each, str) and each.isascii() and each.isdecimal() else each for each in bare)
    return tuple(dict.fromkeys(each for each in whole if isinstance(each, int) and not isinstance(each, bool)))


def _items(value: Json) -> Iterator[Item]:
    for each in _records(value):
        said = each.get("sentences")
        texts = [said] if isinstance(said, str) else said if isinstance(said, list) else []
        sentences = tuple(text.strip() for text in texts if isinstance(text, str) and text.strip())
        headline = _text(each, "headline") or _text(each, "text")
        if headline or sentences:
            first, *rest = (headline, *sentences) if headline else sentences
            yield Item(first, tuple(rest), _numbers(each.get("stories")), update=each.get("update") is True)


def _headlines(value: Json, brief: Brief) -> Iterator[Item]:
    for each in value if isinstance(value, list) else []:
        numbers = _numbers(each.get("stories", each.get("story")) if isinstance(each, dict) else each)
        for number in numbers:
            if 1 <= number <= len(brief.stories):
                yield Item(brief.stories[number - 1].title or "Untitled", (), (number,))
