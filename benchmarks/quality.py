"""What a digest is worth, in figures: same-event groups, topics, a day's digest, the checker, and the time it takes.

    python benchmarks/quality.py [--data DIR] [--only grouping topics digest checker time]

Side by side in one run: the base install, the extra ``local`` where it is installed, a plain list of headlines, what
the reference tells apart, and scikit-learn where that is installed. DIR has the recorded texts; the labels of
technology days stand in ``labels/``.
"""

from __future__ import annotations

import argparse
import importlib.util
import time
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Sequence
from datetime import timedelta
from functools import partial
from pathlib import Path

import checker  # type: ignore[import-not-found] # a script beside this one
from labelled import TOPICS, Window, general, older, recorded  # type: ignore[import-not-found] # the same

from news_digest.digest import items_of
from news_digest.errors import ConfigError
from news_digest.extract import compose_draft
from news_digest.grouping import Similarity, Vector, same_events
from news_digest.model import Brief, Draft, Item, Period, Section, Story
from news_digest.relevance import FITS, topic_scores
from news_digest.sentences import word_total

Groups = Sequence[Sequence[int]]
Grouper = Callable[[Sequence[Story]], Groups]

SIZES = (50, 200, 1000, 5000)
SHORTLIST = 50
FIRST = 10
"""Items that a reader in a hurry sees."""


def table(title: str, head: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Print a table as Markdown."""
    print(f"\n### {title}\n\n| {' | '.join(head)} |\n|{'---|' * len(head)}")
    for row in rows:
        print(f"| {' | '.join(row)} |", flush=True)


def embedding() -> Similarity | None:
    """Return the embedding of the extra ``local``, each text computed once a run; None where it is not installed."""
    from news_digest.writers.vectors import lazily  # noqa: PLC0415 - optional

    try:
        compute = lazily()
    except ConfigError as error:
        print(f"(without the extra local: {error})")
        return None
    known: dict[str, Vector] = {}

    def remembering(texts: Sequence[str]) -> Sequence[Vector]:
        fresh = [text for text in dict.fromkeys(texts) if text not in known]
        known.update(zip(fresh, compute(fresh), strict=True) if fresh else ())
        return [known[text] for text in texts]

    return remembering


# --- same event ------------------------------------------------------------------------------------------------------


def pairs(groups: Iterable[Sequence[int]]) -> set[tuple[int, int]]:
    """Return the pairs of positions that stand in one group."""
    return {(one, other) for group in groups for at, one in enumerate(group) for other in group[at + 1 :]}


def precision_recall(windows: Sequence[Window], grouper: Grouper) -> str:
    """Return precision and recall over the same-event pairs of all windows, stories without a verdict left out."""
    found = right = wanted = 0
    for window in windows:
        events: dict[str, list[int]] = {}
        for position, row in enumerate(window):
            if row.event is not None:
                events.setdefault(row.event, []).append(position)
        judged = {position for positions in events.values() for position in positions}
        gold = pairs(events.values())
        mine = {pair for pair in pairs(grouper([row.story for row in window])) if set(pair) <= judged}
        found, right, wanted = found + len(mine), right + len(mine & gold), wanted + len(gold)
    precision = f"{right / found:.3f}" if found else "-"
    return f"{precision} / {right / wanted:.3f}"


def one_link(stories: Sequence[Story]) -> Groups:
    """Group by link alone, as the reference does."""
    groups: dict[str, list[int]] = {}
    for position, story in enumerate(stories):
        groups.setdefault(story.link or str(position), []).append(position)
    return list(groups.values())


def all_alone(stories: Sequence[Story]) -> Groups:
    """Group nothing, as a plain list of headlines does."""
    return [[position] for position in range(len(stories))]


def grouping_table(data: Path, similarity: Similarity | None) -> None:
    """Print precision and recall of same-event pairs."""
    news, tech = general(data), older(data)
    half = len(news) // 2
    sets = {
        f"general news, {len(news)} windows of 48 h": news,
        "of them the first half (chosen on)": news[:half],
        "the second half": news[half:],
        "technology: 212 older stories": tech,
        "technology: calibration part (chosen on)": recorded(data, "calibration"),
        "technology: scoring part": recorded(data, "scoring"),
        "scoring part, the same link counted as a pair": recorded(data, "scoring", each_link_once=False),
    }
    methods: dict[str, Grouper] = {
        "list of headlines": all_alone,
        "reference (one link)": one_link,
        "base": same_events,
    }
    if similarity is not None:
        methods["local"] = lambda stories: same_events(stories, similarity)
    rows = (
        [name, *(precision_recall(windows, method) for method in methods.values())] for name, windows in sets.items()
    )
    table("Same event: precision / recall over pairs", ["set", *methods], rows)


# --- topics ----------------------------------------------------------------------------------------------------------


def area(positive: Sequence[float], negative: Sequence[float]) -> float:
    """Return the area under the ROC curve: how often a story on topic scores above one that is not."""
    ordered = sorted(negative)
    below = sum((bisect_left(ordered, score) + bisect_right(ordered, score)) / 2 for score in positive)
    return below / (len(positive) * len(negative))


def phrase_scores(stories: Sequence[Story]) -> list[tuple[float, ...]]:
    """Score by the phrase as it stands, which is all that a keyword filter does."""
    return [tuple(float(topic in f"{each.title} {each.excerpt}".lower()) for topic in TOPICS) for each in stories]


def topic_table(data: Path, similarity: Similarity | None) -> None:
    """Print the area under the curve per topic, and precision and recall at the bound in use."""
    rows = []
    scoring = recorded(data, "scoring")
    sets = {
        "212 older stories": older(data),
        "calibration part": _fully_read(recorded(data, "calibration")),
        "scoring part": _fully_read(scoring),
        "scoring part and found by word": scoring,
    }
    for name, windows in sets.items():
        labelled = [row for window in windows for row in window]
        stories = [row.story for row in labelled]
        scores = [phrase_scores(stories), topic_scores(stories, TOPICS)]
        scores += [topic_scores(stories, TOPICS, similarity)] if similarity is not None else []
        for at, topic in enumerate(TOPICS):
            marks = [row.topics[at] for row in labelled]
            if marks.count(2) and (name != "scoring part and found by word" or topic == "open source"):
                cells = [_topic_cell([score[at] for score in each], marks) for each in scores]
                rows.append([name, topic, f"{marks.count(2)} of {marks.count(2) + marks.count(0)}", *cells])
    head = ["set", "topic", "on topic", "phrase as it stands", "base", *(["local"] if similarity is not None else [])]
    table("Topics: area under the curve (precision / recall at the bound)", head, rows)


def _fully_read(windows: Sequence[Window]) -> list[Window]:
    return [window for window in windows if any(row.topics[0] is not None for row in window)]


def _topic_cell(scores: Sequence[float], marks: Sequence[int | None]) -> str:
    on = [score for score, mark in zip(scores, marks, strict=True) if mark == 2]
    off = [score for score, mark in zip(scores, marks, strict=True) if mark == 0]
    right, wrong = (sum(score >= FITS for score in each) for each in (on, off))
    precision = f"{right / (right + wrong):.2f}" if right + wrong else "-"
    return f"{area(on, off):.3f} ({precision} / {right / len(on):.2f})"


# --- a digest --------------------------------------------------------------------------------------------------------


def brief_of(stories: Sequence[Story]) -> Brief:
    """Return the brief of one window."""
    until = max(story.published for story in stories if story.published) + timedelta(days=1)
    return Brief(Period.of(until), until - timedelta(hours=72), until, TOPICS, tuple(stories))


def headline_list(brief: Brief) -> Draft:
    """Return every story by its title, newest first: what a feed reader shows and what the reference selects."""
    order = sorted(
        range(len(brief.stories)), key=lambda at: (brief.stories[at].published or brief.since, -at), reverse=True
    )
    return Draft(sections=(Section("All", tuple(Item(brief.stories[at].title, (), (at + 1,)) for at in order)),))


def digest_table(data: Path, similarity: Similarity | None) -> None:
    """Print what the digests of the fully read windows of the scoring part have in them, fifty stories each."""
    windows = [window[:SHORTLIST] for window in _fully_read(recorded(data, "scoring"))]
    windows += [window[SHORTLIST : 2 * SHORTLIST] for window in _fully_read(recorded(data, "scoring"))]
    writers: dict[str, Callable[[Brief], Draft]] = {
        "headlines, newest first (the reference's selection)": headline_list,
        "base": compose_draft,
    }
    if similarity is not None:
        writers["local"] = lambda brief: compose_draft(brief, similarity)
    measures = [_digest_row(windows, write) for write in writers.values()]
    names = [
        "words",
        "stories missing",
        "events told in two items",
        f"share on topic, first {FIRST} items",
        "share on topic, under a topic's heading",
        "sentences quoted, each verbatim",
    ]
    rows = [[name, *cells] for name, cells in zip(names, zip(*measures, strict=True), strict=True)]
    table(
        f"Digests of {len(windows)} briefs of {SHORTLIST} stories of the scoring part, on average", ["", *writers], rows
    )


def _digest_row(windows: Sequence[Window], write: Callable[[Brief], Draft]) -> list[str]:
    words = missing = twice = quoted = 0
    first: list[bool] = []
    headed: list[bool] = []
    for window in windows:
        brief = brief_of([row.story for row in window])
        draft = write(brief)
        items = items_of(draft)
        words += _words(draft)
        missing += len(window) - len({number for item in items for number in item.stories})
        twice += _twice(window, items)
        quoted += sum(len(item.sentences) for item in items) + len(draft.lead)
        first += [_on_topic(window, item) for item in items[:FIRST]]
        headed += [_on_topic(window, item) for each in draft.sections if each.title in TOPICS for item in each.items]
    count = len(windows)
    shares = [f"{sum(each) / len(each):.2f}" if each else "-" for each in (first, headed)]
    return [f"{words / count:.0f}", f"{missing / count:.1f}", f"{twice / count:.1f}", *shares, f"{quoted / count:.1f}"]


def _words(draft: Draft) -> int:
    items = sum(word_total(text) for item in items_of(draft) for text in (item.headline, *item.sentences))
    return items + sum(word_total(claim.text) for claim in draft.lead)


def _on_topic(window: Window, item: Item) -> bool:
    return any(mark != 0 for number in item.stories for mark in window[number - 1].topics)


def _twice(window: Window, items: Sequence[Item]) -> int:
    events = [{window[number - 1].event for number in item.stories} - {None} for item in items]
    return sum(1 for at, one in enumerate(events) for other in events[at + 1 :] if one & other)


# --- the checker -----------------------------------------------------------------------------------------------------


def checker_table(data: Path, similarity: Similarity | None) -> None:  # noqa: ARG001 - as all tables
    """Print planted faults found, and false alarms."""
    rows = [[one.name, f"{one.hit} / {one.total}", f"{one.share:.1%}"] for one in checker.rates(data)]
    table("The checker: planted faults found, then false alarms", ["kind", "found", "share"], rows)


# --- time ------------------------------------------------------------------------------------------------------------


def time_table(data: Path, similarity: Similarity | None) -> None:  # noqa: ARG001 - as all tables
    """Print the processor seconds of a whole digest, and of scikit-learn's grouping alone, on the same stories."""
    windows = recorded(data, "scoring") + recorded(data, "calibration")
    stories = [row.story for window in windows for row in window]
    stories += [row.story for window in general(data) for row in window]
    stories *= -(-max(SIZES) // len(stories))
    head = ["stories", "grouping", "whole digest", "scikit-learn TF-IDF + agglomerative"]
    rows = []
    for size in SIZES:
        some = [_distinct(story, at) for at, story in enumerate(stories[:size])]
        rows.append(
            [
                str(size),
                _seconds(partial(same_events, some)),
                _seconds(partial(compose_draft, brief_of(some))),
                _seconds(partial(scikit_learn, some)) if importlib.util.find_spec("sklearn") else "not installed",
            ]
        )
    table("Time of the embedded writer, base install: processor seconds", head, rows)


def _distinct(story: Story, at: int) -> Story:
    """Return the story with its own link, so that a text that comes twice is grouped by its words."""
    return Story(
        f"{story.title} {at}", f"{story.link}/{at}", story.source, "", story.published, story.excerpt, story.identity
    )


def _seconds(work: Callable[[], object]) -> str:
    start = time.process_time()
    work()
    return f"{time.process_time() - start:.2f}"


def scikit_learn(stories: Sequence[Story]) -> list[int]:
    """Group with TF-IDF and agglomerative clustering, complete linkage on cosine distances."""
    from sklearn.cluster import AgglomerativeClustering  # noqa: PLC0415 - optional
    from sklearn.feature_extraction.text import TfidfVectorizer  # noqa: PLC0415

    texts = [f"{story.title} {story.title} {story.excerpt}" for story in stories]
    weights = TfidfVectorizer(sublinear_tf=True, stop_words="english").fit_transform(texts)
    distances = 1 - (weights @ weights.T).toarray()
    model = AgglomerativeClustering(None, metric="precomputed", linkage="complete", distance_threshold=0.75)
    return list(map(int, model.fit_predict(distances)))


TABLES = {
    "grouping": grouping_table,
    "topics": topic_table,
    "digest": digest_table,
    "checker": checker_table,
    "time": time_table,
}


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=Path(__file__).resolve().parents[2] / "shared" / "eval")
    parser.add_argument("--only", nargs="+", choices=sorted(TABLES), default=list(TABLES))
    given = parser.parse_args()
    similarity = embedding() if set(given.only) & {"grouping", "topics", "digest"} else None
    for name in given.only:
        TABLES[name](given.data, similarity)


if __name__ == "__main__":
    main()
