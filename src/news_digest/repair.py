"""Puts a draft right: what the checker found is replaced by the stories' own words, or left out. Pure.

Nothing is invented on the way and no story gets lost: what loses its item is noted under its own title when the digest
is composed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from news_digest.claims.evidence import content
from news_digest.claims.markup import plain
from news_digest.digest import UNTITLED
from news_digest.findings import WHOLE, Finding, Kind, Place, Review
from news_digest.model import Brief, Claim, Draft, Item, Section, Story
from news_digest.quotes import headline as best_title
from news_digest.quotes import quotable, trimmed
from news_digest.review import LEAD_SENTENCES_MOST, OTHER, Checker, places
from news_digest.rules import ITEM_WORDS
from news_digest.sentences import sentences, word_total
from news_digest.words import words

__all__ = ["checked", "repair", "split"]

ROUNDS = 4
"""Rounds of repair: a sentence that moves may become a repeat. What is still wrong then is left out."""


def checked(draft: Draft, brief: Brief, *, secrets: Sequence[str] = ()) -> Review:
    """Return the draft put right, and all that was found on the way; a review of the result finds nothing.

    A draft without a fault comes back as it is. Deterministic.
    """
    checker = Checker(brief, secrets)
    current, found = draft, checker.findings(draft)
    everything = list(found)
    if found:
        current = split(current)
        found = checker.findings(current)
    for _ in range(ROUNDS):
        if not found:
            return Review(current, tuple(everything))
        current = _Repair(checker, found).draft(current)
        found = checker.findings(current)
    while found:
        current = _without(current, found)
        found = checker.findings(current)
    return Review(current, tuple(everything))


def repair(draft: Draft, findings: Iterable[Finding], brief: Brief, *, secrets: Sequence[str] = ()) -> Draft:
    """Return the draft with each sentence that a finding names replaced by its stories' own words, or left out.

    One round: what a replacement brings about (a repeat, say) is for the next; :func:`checked` goes on until nothing is
    found.
    """
    return _Repair(Checker(brief, secrets), list(findings)).draft(draft)


def split(draft: Draft) -> Draft:
    """Return the draft with one sentence in each place, so that a fault costs no innocent neighbour."""

    def parted(items: tuple[Item, ...]) -> tuple[Item, ...]:
        return tuple(
            replace(item, sentences=tuple(part for text in item.sentences for part in sentences(text) or [text]))
            for item in items
        )

    return replace(
        draft,
        lead=tuple(
            Claim(part, claim.stories) for claim in draft.lead for part in sentences(claim.text) or [claim.text]
        ),
        sections=tuple(Section(section.title, parted(section.items)) for section in draft.sections),
        headlines=parted(draft.headlines),
    )


class _Repair:
    """One round over one draft."""

    def __init__(self, checker: Checker, findings: Sequence[Finding]) -> None:
        self._checker = checker
        self._findings = findings
        self._at: dict[Place, set[Kind]] = {}
        for finding in findings:
            self._at.setdefault(finding.place, set()).add(finding.kind)
        self._used: set[str] = set()
        self._told: set[int] = set()

    def draft(self, draft: Draft) -> Draft:
        self._used = {_run(text) for text in _texts(draft)}
        lead = tuple(claim for number, claim in enumerate(draft.lead, start=1) for claim in self._claim(claim, number))
        sections = tuple(
            Section(self._title(section, number), items)
            for number, section in enumerate(draft.sections, start=1)
            if (items := self._items(section.items, number))
        )
        kept = replace(draft, lead=lead, sections=sections, headlines=self._items(draft.headlines, -1))
        return self._shortened(kept) if self._kinds(Place(WHOLE)) or self._kinds(Place(0)) else kept

    def _kinds(self, place: Place) -> set[Kind]:
        return self._at.get(place, set())

    def _title(self, section: Section, number: int) -> str:
        return OTHER if self._kinds(Place(number)) - {Kind.EMPTY} else section.title

    def _claim(self, claim: Claim, number: int) -> tuple[Claim, ...]:
        kinds = self._kinds(Place(0, -1, number))
        if not kinds:
            return (claim,)
        if kinds & {Kind.SUSPECT, Kind.SOURCE, Kind.REPEAT}:
            return ()
        text = self._own_words(claim.text, claim.stories, "")
        return (Claim(text, claim.stories),) if text else ()

    def _items(self, items: Sequence[Item], section: int) -> tuple[Item, ...]:
        kept = []
        for position, item in enumerate(items, start=1):
            numbers = self._numbers(item)
            if numbers or not self._checker.brief.stories:
                kept.append(self._item(replace(item, stories=numbers), Place(section, position)))
        return tuple(kept)

    def _numbers(self, item: Item) -> tuple[int, ...]:
        """Return the stories of an item that exist, have to do with it, and that no item before it has told."""
        count = len(self._checker.brief.stories)
        own = (each for each in item.stories if 1 <= each <= count and not self._checker.stranger(item, each))
        fresh = dict.fromkeys(each for each in own if each not in self._told)
        self._told |= fresh.keys()
        return tuple(fresh)

    def _item(self, item: Item, place: Place) -> Item:
        headline = item.headline
        if self._kinds(replace(place, sentence=0)):
            headline = self._headline(item)
        said = [
            text
            for number, sentence in enumerate(item.sentences, start=1)
            if (text := self._sentence(item, sentence, replace(place, sentence=number), headline))
        ]
        if Kind.LENGTH in self._kinds(place):
            headline, said = _fitting(headline, said)
        return replace(item, headline=headline, sentences=tuple(said))

    def _sentence(self, item: Item, sentence: str, place: Place, headline: str) -> str:
        kinds = self._kinds(place)
        if not kinds:
            return sentence
        return "" if Kind.REPEAT in kinds else self._own_words(sentence, item.stories, headline)

    def _headline(self, item: Item) -> str:
        stories = self._checker.evidence(item.stories).stories
        if not stories:
            return plain(item.headline) or UNTITLED
        title = trimmed(plain(best_title(stories)[0]), ITEM_WORDS)
        clean = not self._checker.headline(title, item.stories, Place(WHOLE))
        return title if clean else UNTITLED

    def _own_words(self, sentence: str, numbers: Sequence[int], headline: str) -> str:
        """Return the sentence of the stories that has most in common with one that cannot stay, or nothing."""
        stories = self._checker.evidence(numbers).stories
        wanted = content(sentence)
        candidates = [
            text for each in _quotable(stories, headline) if (text := plain(each)) and _run(text) not in self._used
        ]
        candidates.sort(key=lambda text: -len(content(text) & wanted))
        text = next((each for each in candidates if not self._checker.sentence(each, numbers, Place(WHOLE))), "")
        if text:
            self._used.add(_run(text))
        return text

    def _shortened(self, draft: Draft) -> Draft:
        """Return the draft within its length: last sentences go first, then the lead's, then items become headlines."""
        most = self._checker.brief.style.max_words
        lead = list(draft.lead[:LEAD_SENTENCES_MOST])
        rows = [(section.title, list(section.items)) for section in draft.sections]
        noted: list[Item] = []
        over = _total(lead, rows) - most
        cuts = _cuts(lead, rows, noted)
        while over > 0:
            over -= next(cuts, over)
        return replace(
            draft,
            lead=tuple(lead),
            sections=tuple(Section(title, tuple(items)) for title, items in rows if items),
            headlines=(*reversed(noted), *draft.headlines),
        )


def _total(lead: Sequence[Claim], rows: Sequence[tuple[str, list[Item]]]) -> int:
    texts = [claim.text for claim in lead]
    texts += [text for _, items in rows for item in items for text in (item.headline, *item.sentences)]
    return sum(map(word_total, texts))


def _cuts(lead: list[Claim], rows: Sequence[tuple[str, list[Item]]], noted: list[Item]) -> Iterator[int]:
    """Make one cut after the other, the one that costs the reader least first, and yield the words that each saves."""
    order = [(items, at) for _, items in rows for at in range(len(items))][::-1]
    for count in range(max((len(items[at].sentences) for items, at in order), default=0), 0, -1):
        for items, at in order:
            if len(items[at].sentences) == count:
                *kept, last = items[at].sentences
                items[at] = replace(items[at], sentences=tuple(kept))
                yield word_total(last)
    for claim in lead[:0:-1]:
        lead.remove(claim)
        yield word_total(claim.text)
    # The lead's first sentence stays: it is no longer than an item may be, and no length is below that.
    yield from (_note(items, noted) for items, _ in order)


def _note(items: list[Item], noted: list[Item]) -> int:
    """Note the last item under the headlines, and return the words that this saves."""
    noted.append(items.pop())
    return word_total(noted[-1].headline)


def _fitting(headline: str, said: list[str]) -> tuple[str, list[str]]:
    while said and (len(said) > 2 or word_total(headline) + sum(map(word_total, said)) > ITEM_WORDS):  # noqa: PLR2004
        said.pop()
    return trimmed(headline, ITEM_WORDS), said


def _quotable(stories: Sequence[Story], headline: str) -> tuple[str, ...]:
    return quotable(stories, headline) if stories else ()


def _texts(draft: Draft) -> list[str]:
    return [claim.text for claim in draft.lead] + [text for _, item in places(draft) for text in item.sentences]


def _run(text: str) -> str:
    return " ".join(words(text))


def _without(draft: Draft, findings: Sequence[Finding]) -> Draft:
    """Return the draft without anything that a finding names: the last resort, which always ends."""
    bad = {finding.place for finding in findings}
    whole = any(place.section == WHOLE or (place.section == 0 and place.sentence < 0) for place in bad)

    def kept(items: Sequence[Item], section: int) -> tuple[Item, ...]:
        left = []
        for position, item in enumerate(items, start=1):
            place = Place(section, position)
            if place not in bad and replace(place, sentence=0) not in bad:
                said = enumerate(item.sentences, start=1)
                good = tuple(text for number, text in said if replace(place, sentence=number) not in bad)
                left.append(replace(item, sentences=good))
        return tuple(left)

    sections = (
        Section(section.title, kept(section.items, number))
        for number, section in enumerate(draft.sections, start=1)
        if Place(number) not in bad
    )
    lead = (claim for number, claim in enumerate(draft.lead, start=1) if Place(0, -1, number) not in bad)
    return replace(
        draft,
        lead=() if whole else tuple(lead),
        sections=() if whole else tuple(section for section in sections if section.items),
        headlines=kept(draft.headlines, -1),
    )
