"""How many planted faults the checker finds, and how often it is wrong about faithful text.

    python benchmarks/checker.py [--data DIR] [--each 200] [--misses]

Faults are planted in sentences of DIR (``allsides_events.jsonl``, ``tldr_topics_events.jsonl``) and of
``labels/paraphrases.jsonl``, with a fixed seed: a changed number, a swapped name, a false date, an invented quotation,
a foreign link, a wrong citation. False alarms are counted on the unchanged sentences and on the faithful paraphrases.
"""

from __future__ import annotations

import argparse
import json
import random
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from pathlib import Path

from news_digest.findings import Finding, Place
from news_digest.model import Brief, Identity, Period, Story
from news_digest.review import Checker
from news_digest.sentences import ends_whole, sentences

SEED = 20_261_201
BRIEF_STORIES = 40
"""Stories per brief: a usual day."""

LABELS = Path(__file__).parent / "labels"


@dataclass(frozen=True)
class Probe:
    """A sentence, the stories that it is said to rest on, and the checker of its brief."""

    text: str
    numbers: tuple[int, ...]
    checker: Checker
    names: Sequence[str] = ()
    """Names of other stories of the brief, for swapping."""

    def facts(self) -> list[Finding]:
        """Return what the checker finds if it does not know that the sentence is a quotation of its story."""
        return list(self.checker.facts(self.text, self.checker.evidence(self.numbers), Place(0, -1, 1), "en"))

    def findings(self) -> list[Finding]:
        """Return what the checker finds."""
        return self.checker.sentence(self.text, self.numbers, Place(0, -1, 1), "en")


@dataclass(frozen=True)
class Rate:
    """How many of so many; ``missed`` or falsely alarmed ones for reading."""

    name: str
    total: int
    hit: int
    examples: tuple[str, ...] = ()

    @property
    def share(self) -> float:
        """Return the share of hits."""
        return self.hit / self.total if self.total else 0.0


def story(row: dict[str, str], published: datetime | None) -> Story:
    """Return a labelled row as a story."""
    source = row.get("source", row.get("newsletter", "Outlet"))
    return Story(row["title"], row.get("link", ""), source, "", published, row["excerpt"], Identity(()))


def briefs(rows: Sequence[dict[str, str]], size: int = BRIEF_STORIES) -> Iterator[Brief]:
    """Yield the rows as briefs of neighbouring days."""
    for start in range(0, len(rows) - size // 2, size):
        part = rows[start : start + size]
        stories = tuple(story(row, _instant(row.get("date", ""))) for row in part)
        day = _instant(part[0].get("date", "")) or datetime(2026, 12, 1, tzinfo=UTC)
        yield Brief(Period(day.date()), day, day, (), stories)


def _instant(text: str) -> datetime | None:
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        return None
    return found if found.tzinfo else found.replace(tzinfo=UTC)


def verbatim(many: Iterable[Brief]) -> list[Probe]:
    """Return every whole sentence of the briefs' excerpts with its own story."""
    found = []
    for brief in many:
        checker = Checker(brief)
        names = [name for one in brief.stories for name in NAME.findall(one.excerpt)]
        for number, one in enumerate(brief.stories, start=1):
            found += [
                Probe(text, (number,), checker, names)
                for text in sentences(one.excerpt)
                if ends_whole(text) and len(text.split()) > 5
            ]
    return found


def paraphrases(path: Path = LABELS / "paraphrases.jsonl") -> list[Probe]:
    """Return our own faithful paraphrases, each with its own source text, in one brief."""
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]
    stories = tuple(
        Story(row["title"], "", "Outlet", "", _instant(row["date"]), row["excerpt"], Identity(())) for row in rows
    )
    checker = Checker(Brief(Period(date(2026, 12, 1)), datetime.now(UTC), datetime.now(UTC), (), stories))
    names = [name for one in stories for name in NAME.findall(one.excerpt)]
    return [
        Probe(text, (number,), checker, names)
        for number, row in enumerate(rows, start=1)
        for text in row["paraphrases"]
    ]


# --- faults --------------------------------------------------------------------------------------------------------

NAME = re.compile(r"(?<=[a-z,] )[A-Z][a-z]{3,}(?: [A-Z][a-z]{3,})?")
NUMBER = re.compile(r"(?<![\w.,:/-])\d[\d,]*(?:\.\d+)?(?![\w:/-])")
WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
    "December",
)  # fmt: skip
DATE = re.compile(rf"\b(?:{'|'.join(WEEKDAYS)}|{'|'.join(month for month in MONTHS if month != 'May')}|20[0-3]\d)\b")
SAYINGS = (
    "this changes everything for us",
    "we never saw it coming",
    "a turning point for the whole field",
    "nobody should be surprised by that",
    "it was the only choice left",
    "there will be no second attempt",
)
ADDRESSES = (
    " See https://evil.example/more for details.",
    " [Read on](https://evil.example/x).",
    " More at www.evil.example.",
    " Details: evil.example/login",
    " ![chart](https://evil.example/p.png)",
    " Source: evil.example.",
    " <https://evil.example/>",
)


def changed_number(probe: Probe, dice: random.Random) -> str | None:
    """Return the sentence with one number changed: a digit, the size, or the scale behind it."""
    scaled = re.search(r"\b(million|billion|trillion)\b", probe.text)
    if scaled and dice.random() < 0.5:
        other = dice.choice([word for word in ("million", "billion", "trillion") if word != scaled[1]])
        return probe.text[: scaled.start()] + other + probe.text[scaled.end() :]
    found = [each for each in NUMBER.finditer(probe.text) if not re.fullmatch(r"(?:19|20)\d\d", each.group())]
    if not found:
        return None
    match = dice.choice(found)
    digits = list(match.group())
    place = dice.choice([at for at, each in enumerate(digits) if each.isdigit()])
    digits[place] = dice.choice([each for each in "123456789" if each != digits[place]])
    return probe.text[: match.start()] + "".join(digits) + probe.text[match.end() :]


def swapped_name(probe: Probe, dice: random.Random) -> str | None:
    """Return the sentence with one name replaced by a name of another story."""
    found = [each for each in NAME.finditer(probe.text) if not DATE.search(each.group())]
    own = " ".join(probe.checker.evidence(probe.numbers).texts)
    others = [name for name in probe.names if name not in own and not DATE.search(name) and name != "May"]
    if not found or not others:
        return None
    match = dice.choice(found)
    return probe.text[: match.start()] + dice.choice(others) + probe.text[match.end() :]


def false_date(probe: Probe, dice: random.Random) -> str | None:
    """Return the sentence with its date changed, or with an invented one."""
    match = DATE.search(probe.text)
    if match is None:
        if dice.random() < 0.8:
            return None
        invented = f"on {dice.randint(1, 28)} {dice.choice(MONTHS)}"
        return re.sub(r"([.!?][\"\u201d]?)$", rf" {invented}\1", probe.text)
    pool = next((names for names in (WEEKDAYS, MONTHS) if match.group() in names), None)
    choices = pool or [str(int(match.group()) + step) for step in (-3, -2, 2, 3, 7)]
    other = dice.choice([each for each in choices if each != match.group()])
    return probe.text[: match.start()] + other + probe.text[match.end() :]


def invented_quotation(probe: Probe, dice: random.Random) -> str | None:
    """Return the sentence with a quotation that nobody said, or with a word of a real one changed."""
    real = re.search(r"[\u201c\"]([^\u201c\u201d\"]{12,})[\u201d\"]", probe.text)
    if real and dice.random() < 0.5:
        spoken = real[1].split()
        spoken[dice.randrange(len(spoken))] = dice.choice(["never", "always", "terrible", "splendid", "tomorrow"])
        return probe.text[: real.start(1)] + " ".join(spoken) + probe.text[real.end(1) :]
    mark = dice.choice(["\u201c{}\u201d", '"{}"'])
    return re.sub(r"[.!?]$", ", and called it " + mark.format(dice.choice(SAYINGS)) + ".", probe.text)


def foreign_link(probe: Probe, dice: random.Random) -> str | None:
    """Return the sentence with an address that is no story's."""
    return probe.text + dice.choice(ADDRESSES)


FAULTS: dict[str, Callable[[Probe, random.Random], str | None]] = {
    "changed number": changed_number,
    "swapped name": swapped_name,
    "false date": false_date,
    "invented quotation": invented_quotation,
    "foreign link": foreign_link,
}


def planted(probes: Sequence[Probe], each: int) -> dict[str, list[Probe]]:
    """Return ``each`` sentences with every kind of fault, drawn with a fixed seed."""
    dice = random.Random(SEED)
    faulty: dict[str, list[Probe]] = {}
    for name, plant in FAULTS.items():
        pool = list(probes)
        dice.shuffle(pool)
        faulty[name] = []
        for probe in pool:
            if len(faulty[name]) == each:
                break
            text = plant(probe, dice)
            if text and text != probe.text:
                faulty[name].append(Probe(text, probe.numbers, probe.checker))
    faulty["wrong citation"] = list(_wrongly_cited(probes, each, dice))
    return faulty


def _wrongly_cited(probes: Sequence[Probe], each: int, dice: random.Random) -> Iterator[Probe]:
    for probe in dice.sample(list(probes), min(each, len(probes))):
        others = [number for number in range(1, len(probe.checker.brief.stories) + 1) if number not in probe.numbers]
        yield Probe(probe.text, (dice.choice(others),), probe.checker)


# --- figures -------------------------------------------------------------------------------------------------------


def rate(name: str, probes: Sequence[Probe], *, want: bool, facts: bool = False) -> Rate:
    """Return in how many probes something is found; examples are those where that is wrong."""
    judged = [(probe, probe.facts() if facts else probe.findings()) for probe in probes]
    wrong = [
        f"{probe.text} {[f'{each.kind}: {each.evidence}' for each in found]}"
        for probe, found in judged
        if bool(found) is not want
    ]
    return Rate(name, len(judged), sum(bool(found) for _, found in judged), tuple(wrong))


def texts(data: Path) -> dict[str, list[Probe]]:
    """Return the verbatim sentences of each labelled set."""
    sets = {"AllSides": "allsides_events.jsonl", "TLDR": "tldr_topics_events.jsonl"}
    found = {}
    for name, file in sets.items():
        rows = [json.loads(line) for line in (data / file).read_text(encoding="utf-8").splitlines()]
        found[name] = verbatim(briefs(rows))
    return found


def rates(data: Path, each: int = 200) -> list[Rate]:
    """Return found faults per kind over all texts, then false alarms."""
    sets = texts(data)
    ours = paraphrases()
    faulty: dict[str, list[Probe]] = {}
    for name, probes in (*sets.items(), ("own", ours)):
        share = each if name == "AllSides" else each // 2
        for kind, planted_ones in planted(probes, share).items():
            faulty.setdefault(kind, []).extend(planted_ones)
    found = [rate(kind, probes, want=True) for kind, probes in faulty.items()]
    total = Rate("all faults", sum(each.total for each in found), sum(each.hit for each in found))
    alarms = [rate(f"false alarms, verbatim {name}", probes, want=False) for name, probes in sets.items()]
    alarms += [rate(f"the same, facts judged {name}", probes, want=False, facts=True) for name, probes in sets.items()]
    return [*found, total, *alarms, rate("false alarms, paraphrases", ours, want=False)]


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=Path(__file__).resolve().parents[2] / "shared" / "eval")
    parser.add_argument("--each", type=int, default=200)
    parser.add_argument("--misses", action="store_true", help="print what was missed or falsely found")
    given = parser.parse_args()
    for one in rates(given.data, given.each):
        print(f"{one.name:32} {one.hit:5} / {one.total:5}  {one.share:6.1%}")
        for text in one.examples[:12] if given.misses else ():
            print(f"      {text[:300]}")


if __name__ == "__main__":
    main()
