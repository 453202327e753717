"""The checker: what in a draft its stories do not bear out, whoever wrote it. Pure; decides nothing about what to do.

A sentence that a story has word for word needs no proof of its facts. Any other must find its numbers, dates,
quotations and names in the stories that it names, and enough of its words. What this does not see: a negation, a wrong
relation between right words, a false cause, words put into the wrong one of two mouths.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from news_digest.brief import fence_tag
from news_digest.claims.evidence import Evidence, content
from news_digest.claims.language import language_of
from news_digest.claims.markup import addresses, bare_hosts, inherent_markup, markup
from news_digest.claims.names import proper_words
from news_digest.digest import UNTITLED
from news_digest.findings import WHOLE, Finding, Kind, Place, Review
from news_digest.model import Brief, Draft, Item, Section
from news_digest.rules import HEADLINES, NOTHING, QUIET, rules_text, system_text
from news_digest.sentences import sentences, word_total
from news_digest.words import words

__all__ = ["COVERAGE", "ITEM_WORDS_MOST", "LEAD_SENTENCES_MOST", "OTHER", "Checker", "masked", "places", "review"]

COVERAGE = 0.25
"""Least share of a sentence's words that its stories must have; of right citations 94 % reach it, of wrong ones 4 %."""

BETTER_BY = 0.35
"""A story that covers a sentence so much better than the named ones is the one that should have been named."""

WELL_COVERED = 0.6
"""From this coverage on, no other story is looked for."""

IN_COMMON = 0.15
"""Least share of words, of the smaller text, that a story has in common with the rest of its item."""

EVIDENCE_MOST = 5
"""Pieces of a sentence that a finding shows."""

CALENDAR_WORDS = content(
    "Monday Tuesday Wednesday Thursday Friday Saturday Sunday January February March April June July August September "
    "October November December today yesterday year month week day"
)
"""What every other story has too."""

ITEM_WORDS_MOST = 60
"""Words of an item, headline included; 45 are asked for, and a third more is let pass."""

ITEM_SENTENCES_MOST = 3

LEAD_SENTENCES_MOST = 4

PROMPT_RUN = 8
"""So many words in a row of the prompt are no coincidence."""

SECRET = re.compile(
    r"-----BEGIN|\bAKIA[0-9A-Z]{16}\b|\bsk-[\w-]{16,}|\bgh[pousr]_\w{20,}|\bxox[abprs]-[\w-]{10,}|\beyJ[\w-]{16,}\.[\w-]{10,}"
    r"|\b[A-Z][A-Z0-9]*_(?:KEY|TOKEN|SECRET|PASSWORD)\s*[=:]\s*\S+"
)
"""Keys, tokens and assignments of them, by their looks."""

SHORTEST_SECRET = 6

TITLE_WORDS_MOST = 8

OTHER = "Other news"
"""The heading for what has none that can stay."""

STANDING = frozenset({QUIET, NOTHING, UNTITLED})
"""Sentences of our own, which rest on no story."""

LANGUAGES = {"english": "en", "german": "de", "deutsch": "de", "french": "fr", "spanish": "es", "italian": "it"}


def review(draft: Draft, brief: Brief, *, secrets: Sequence[str] = ()) -> Review:
    """Return what is wrong with a draft, in reading order; ``secrets`` are strings that may occur nowhere.

    Without stories in the brief (it was lost) only form, markup and leaks are judged.
    """
    return Review(draft, tuple(Checker(brief, secrets).findings(draft)))


def masked(text: str, secrets: Sequence[str] = ()) -> str:
    """Return text with the secrets, and what looks like one, blotted out."""
    for secret in secrets:
        if len(secret) >= SHORTEST_SECRET:
            text = text.replace(secret, "***")
    return SECRET.sub("***", text)


def places(draft: Draft) -> Iterator[tuple[Place, Item]]:
    """Return all items of a draft with their places, headlines last."""
    for number, section in enumerate(draft.sections, start=1):
        for position, item in enumerate(section.items, start=1):
            yield Place(number, position), item
    for position, item in enumerate(draft.headlines, start=1):
        yield Place(-1, position), item


@dataclass
class Checker:
    """Judges the sentences of one brief's drafts; what it took apart once it keeps."""

    brief: Brief
    secrets: Sequence[str] = ()
    _evidence: dict[tuple[int, ...], Evidence] = field(default_factory=dict)

    def findings(self, draft: Draft) -> list[Finding]:
        """Return all findings of a draft."""
        language = self._own_language(draft)
        found = list(self._shape(draft))
        for number, claim in enumerate(draft.lead, start=1):
            found += self.sentence(claim.text, claim.stories, Place(0, -1, number), language)
            found += self._lead_only(claim.text, claim.stories, Place(0, -1, number))
        for place, item in places(draft):
            found += self.headline(item.headline, item.stories, Place(place.section, place.item, 0), language)
            for number, text in enumerate(item.sentences, start=1):
                found += self.sentence(text, item.stories, Place(place.section, place.item, number), language)
        for number, section in enumerate(draft.sections, start=1):
            found += self._heading(section, Place(number))
        return [self._masked(finding) for finding in found]

    def _masked(self, finding: Finding) -> Finding:
        """Return a finding that does not spread the secret that it is about."""
        sentence, evidence = masked(finding.sentence, self.secrets), masked(finding.evidence, self.secrets)
        if (sentence, evidence) == (finding.sentence, finding.evidence):
            return finding
        if sentence != finding.sentence and finding.kind is not Kind.LEAK:
            evidence = "withheld, it may hold a part of the secret"
        return replace(finding, sentence=sentence, evidence=evidence)

    def _heading(self, section: Section, place: Place) -> list[Finding]:
        """Return what is wrong with a section's title: it is a topic or a source, or made of words of the topics.

        Without topics, it is made of the words of its stories.
        """
        title = section.title.strip()
        evidence = self.evidence(tuple(dict.fromkeys(number for item in section.items for number in item.stories)))
        sources = {name for story in evidence.stories for name in (story.source, *(other for other, _ in story.also))}
        found = self._forbidden(title, place, evidence)
        if title in (*self.brief.topics, *sources, HEADLINES, OTHER):
            return found
        topics = frozenset[str]().union(*map(content, self.brief.topics))
        strange = content(title) - (topics if self.brief.topics else evidence.content)
        if not title or strange or word_total(title) > TITLE_WORDS_MOST:
            found.append(Finding(Kind.FORM, place, title, "no topic of the reader and no source"))
        return found

    def evidence(self, numbers: Sequence[int]) -> Evidence:
        """Return the evidence of the stories of these numbers; those of no story are passed over."""
        key = tuple(number for number in numbers if 1 <= number <= len(self.brief.stories))
        if key not in self._evidence:
            self._evidence[key] = Evidence([self.brief.stories[number - 1] for number in key])
        return self._evidence[key]

    # --- one sentence ----------------------------------------------------------------------------------------------

    def headline(self, text: str, numbers: Sequence[int], place: Place, language: str = "") -> list[Finding]:
        """Return what is wrong with a headline; the title of one of its stories is always long enough."""
        run = " ".join(words(text))
        whole = any(run == " ".join(words(story.title)) for story in self.evidence(numbers).stories)
        return self.sentence(text, numbers, place, language, short=whole)

    def sentence(
        self, text: str, numbers: Sequence[int], place: Place, language: str = "", *, short: bool = False
    ) -> list[Finding]:
        """Return what is wrong with a text that rests on the stories of these numbers."""
        if text in STANDING:
            return []
        evidence = self.evidence(numbers)
        found = self._forbidden(text, place, evidence)
        if word_total(text) < 2 and not short:  # noqa: PLR2004 - one word tells nothing, and may be a forged answer
            found.append(Finding(Kind.FORM, place, text, "a single word, or none"))
        if not self.brief.stories:
            return found
        if not evidence.stories:
            return [*found, Finding(Kind.SOURCE, place, text, "it names no story")]
        if not content(text) and evidence.content and not evidence.holds(text):
            found.append(Finding(Kind.FORM, place, text, "no word of a subject"))
        for part in sentences(text):
            if not evidence.holds(part):
                found += self.facts(part, evidence, place, language)
        return found

    def facts(self, text: str, evidence: Evidence, place: Place, language: str = "") -> Iterator[Finding]:
        """Yield what one sentence claims beyond its evidence."""
        translated = bool(language and evidence.language and language != evidence.language)
        today = self.brief.period.day
        capitals_tell = "de" not in (language, evidence.language) and not translated
        judged = (
            (Kind.NUMBER, evidence.strange_numbers(text)),
            (Kind.DATE, evidence.strange_dates(text, today)),
            (Kind.QUOTATION, evidence.strange_quotations(text)),
            (Kind.NAME, evidence.strange_names(text, self._proper, capitals_tell=capitals_tell)),
        )
        for kind, strange in judged:
            if strange:
                yield Finding(kind, place, text, f"not in its stories: {', '.join(dict.fromkeys(strange))}")
        if not translated:
            yield from self._citation(text, evidence, place)
        if self._is_foreign(language):
            yield Finding(Kind.LANGUAGE, place, text, f"{language} where {self.brief.style.language} is asked for")

    def _citation(self, text: str, evidence: Evidence, place: Place) -> Iterator[Finding]:
        covered = evidence.coverage(text)
        if covered >= WELL_COVERED:
            return
        if covered < COVERAGE:
            yield Finding(Kind.CITATION, place, text, f"its stories have {covered:.0%} of its words")
            return
        number, better = self._best_cover(text)
        if better >= covered + BETTER_BY:
            said = f"its stories have {covered:.0%} of its words, story {number} has {better:.0%}"
            yield Finding(Kind.CITATION, place, text, said)

    def _best_cover(self, text: str) -> tuple[int, float]:
        said = content(text)
        counts = Counter(number for word in said for number in self._index.get(word, ()))
        if not said or not counts:
            return 0, 0.0
        number, shared = max(counts.items(), key=lambda each: (each[1], -each[0]))
        return number, shared / len(said)

    def _forbidden(self, text: str, place: Place, evidence: Evidence) -> list[Finding]:
        known = " ".join(evidence.texts).lower()
        hosts = [f"{host} (not in its stories)" for host in bare_hosts(text) if host.lower() not in known]
        formal = [] if evidence.holds(text) else [each for each in markup(text) if each.lower() not in known]
        judged = (
            (Kind.LINK, [*addresses(text), *hosts]),
            (Kind.MARKUP, [*inherent_markup(text), *formal]),
            (Kind.LEAK, list(self._leaks(text, known))),
        )
        return [
            Finding(kind, place, text, ", ".join(list(dict.fromkeys(found))[:EVIDENCE_MOST]))
            for kind, found in judged
            if found
        ]

    def _leaks(self, text: str, known: str) -> Iterator[str]:
        if self._tag in text:
            yield "the mark around the stories"
        if any(secret in text for secret in self.secrets if len(secret) >= SHORTEST_SECRET):
            yield "a secret"
        elif match := SECRET.search(text):
            yield f"what looks like a secret: {match.group()[:4]}…"
        if "digest.md" in text.lower() and "digest.md" not in known:
            yield "the name of the file it was asked for"
        said = words(text)
        runs = {" ".join(said[at : at + PROMPT_RUN]) for at in range(len(said) - PROMPT_RUN + 1)}
        copied = sorted(run for run in runs & self._prompt_runs if run not in " ".join(words(known)))
        if copied:
            yield f"words of the prompt: {copied[0]}"

    # --- the whole -------------------------------------------------------------------------------------------------

    def _lead_only(self, text: str, numbers: Sequence[int], place: Place) -> Iterator[Finding]:
        stories = self.evidence(numbers).stories
        if stories and all(story.suspicious for story in stories):
            found = ", ".join(dict.fromkeys(what for story in stories for what in story.suspicious))
            yield Finding(Kind.SUSPECT, place, text, f"in all of its stories was found: {found}")

    def _shape(self, draft: Draft) -> Iterator[Finding]:
        for number, section in enumerate(draft.sections, start=1):
            if not section.items:
                yield Finding(Kind.EMPTY, Place(number), section.title, "a section without items")
        yield from self._strangers(draft)
        yield from self._repeats(draft)
        yield from self._lengths(draft)

    def stranger(self, item: Item, number: int) -> bool:
        """Return whether a story has next to nothing in common with the item that names it beside others.

        Otherwise an item could take in, and so hide, a story that it does not tell.
        """
        others = tuple(each for each in item.stories if each != number and 1 <= each <= len(self.brief.stories))
        if not others or not 1 <= number <= len(self.brief.stories):
            return False
        told = content(" ".join((item.headline, *item.sentences))) | self.evidence(others).content
        own = self.evidence((number,)).content
        shared = (own & told) - CALENDAR_WORDS
        least = min(len(own), len(told))
        return bool(own) and (len(shared) < min(2, least) or len(shared) < IN_COMMON * least)

    def _strangers(self, draft: Draft) -> Iterator[Finding]:
        for place, item in places(draft):
            for number in item.stories:
                if self.stranger(item, number):
                    yield Finding(
                        Kind.CITATION, place, item.headline, f"story {number} has hardly a word in common with it"
                    )

    def _repeats(self, draft: Draft) -> Iterator[Finding]:
        told: dict[int, Place] = {}
        for place, item in places(draft):
            for number in dict.fromkeys(item.stories):
                if not 1 <= number <= len(self.brief.stories) and self.brief.stories:
                    yield Finding(Kind.SOURCE, place, item.headline, f"there is no story {number}")
                elif number in told:
                    yield Finding(Kind.REPEAT, place, item.headline, f"story {number} stands in {told[number]} already")
                else:
                    told[number] = place
        yield from self._said_twice(draft)

    def _said_twice(self, draft: Draft) -> Iterator[Finding]:
        said: dict[str, Place] = {}
        spoken = [(Place(0, -1, number), claim.text) for number, claim in enumerate(draft.lead, start=1)]
        spoken += [
            (Place(place.section, place.item, number), text)
            for place, item in places(draft)
            for number, text in enumerate(item.sentences, start=1)
        ]
        for place, text in spoken:
            run = " ".join(words(text))
            if run and run in said:
                yield Finding(Kind.REPEAT, place, text, f"it stands in {said[run]} already")
            said.setdefault(run, place)

    def _lengths(self, draft: Draft) -> Iterator[Finding]:
        most = self.brief.style.max_words
        total = sum(word_total(claim.text) for claim in draft.lead)
        for place, item in places(draft):
            own = word_total(item.headline) + sum(map(word_total, item.sentences))
            if place.section > 0:
                total += own
            if own > ITEM_WORDS_MOST:
                yield Finding(Kind.LENGTH, place, item.headline, f"{own} words, {ITEM_WORDS_MOST} at most")
            elif len(item.sentences) > ITEM_SENTENCES_MOST:
                said = f"{len(item.sentences)} sentences, {ITEM_SENTENCES_MOST} at most"
                yield Finding(Kind.LENGTH, place, item.headline, said)
        if len(draft.lead) > LEAD_SENTENCES_MOST:
            yield Finding(Kind.LENGTH, Place(0), "", f"{len(draft.lead)} sentences, {LEAD_SENTENCES_MOST} at most")
        if total > most:
            yield Finding(Kind.LENGTH, Place(WHOLE), "", f"{total} words, {most} at most")

    def _own_language(self, draft: Draft) -> str:
        """Return the language of what is said in own words, nothing where there is too little of it."""
        pairs = [(claim.text, claim.stories) for claim in draft.lead]
        pairs += [(text, item.stories) for _, item in places(draft) for text in (item.headline, *item.sentences)]
        own = [text for text, numbers in pairs if text not in STANDING and not self.evidence(numbers).holds(text)]
        return language_of(" ".join(own))

    def _is_foreign(self, language: str) -> bool:
        asked = self.brief.style.language.strip().lower()
        code = LANGUAGES.get(asked, re.split(r"[-_]", asked)[0])
        return bool(language) and len(code) == 2 and code != language  # noqa: PLR2004

    # --- the brief, taken apart --------------------------------------------------------------------------------------

    @cached_property
    def _tag(self) -> str:
        return fence_tag(self.brief)

    @cached_property
    def _proper(self) -> frozenset[str]:
        return proper_words(story.excerpt for story in self.brief.stories)

    @cached_property
    def _index(self) -> dict[str, list[int]]:
        found: dict[str, list[int]] = {}
        for number in range(1, len(self.brief.stories) + 1):
            for word in self.evidence((number,)).content:
                found.setdefault(word, []).append(number)
        return found

    @cached_property
    def _prompt_runs(self) -> frozenset[str]:
        texts = [system_text(), rules_text(self.brief.style, "json", ""), rules_text(self.brief.style, "markdown", "")]
        return frozenset(
            " ".join(said[at : at + PROMPT_RUN])
            for said in map(words, texts)
            for at in range(max(len(said) - PROMPT_RUN + 1, 0))
        )
