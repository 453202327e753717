"""By what stories are recognised: the specification's vectors, wide forms, and what several entries share."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from news_digest.fingerprint import (
    Marks,
    canonical_link,
    fingerprint,
    forms,
    identify,
    is_weak,
    stored_fingerprints,
    unwrapped,
    wide_link,
)
from news_digest.model import Identity

FEED = "https://feed.example/rss"
AT = datetime(2026, 12, 1, 9, 30, tzinfo=UTC)


def entry(
    identifier: str = "", link: str = "", title: str = "A story", at: datetime | None = AT, target: str = ""
) -> Marks:
    return Marks(identifier, link, title, at, target)


def known(identity: Identity, *told: Identity) -> bool:
    seen = {key for each in told for key in (*each.stored, *each.wide)}
    return bool(seen & set(identity.lookup))


def same_story(before: Marks, after: Marks) -> bool:
    return known(identify([after], FEED)[0], identify([before], FEED)[0])


# --- the specification ---------------------------------------------------------------------------------------------


def test_the_shared_vectors_are_met_bit_for_bit(shared: Path) -> None:
    rows = (shared / "spec" / "fingerprints.tsv").read_text(encoding="utf-8").split("\n")[1:]
    rows = [row for row in rows if row]
    assert len(rows) > 20
    for row in rows:
        identifier, link, canonical, keys = row.split("\t")
        assert (canonical_link(link) if link.strip() else "") == canonical
        assert " ".join(stored_fingerprints(identifier, link, "")) == keys


@pytest.mark.parametrize(
    ("link", "canonical"),
    [
        ("https://A.test/x/?utm_source=rss&id=2#top", "https://a.test/x?id=2"),
        ("https://a.test/x?id=2&UTM_Medium=mail", "https://a.test/x?id=2"),
        ("http://a.test", "http://a.test/"),
        ("http://a.test//", "http://a.test/"),
        ("https://a.test/x///", "https://a.test/x"),
        ("https://a.test/x?b=1&a=2", "https://a.test/x?b=1&a=2"),
        ("https://a.test/x?flag&b=", "https://a.test/x?flag=&b="),
        ("https://a.test/x?q=%C3%A4%20b", "https://a.test/x?q=%C3%A4+b"),
        ("https://a.test:8443/x/", "https://a.test:8443/x"),
        ("HTTPS://a.test/X;v=1", "https://a.test/X;v=1"),
        ("  https://a.test/x \n", "https://a.test/x"),
        ("mailto:a@b.test", "mailto:a@b.test"),
        ("/x/y/", "/x/y"),
        ("http://[broken/x", "http://[broken/x"),
    ],
)
def test_a_canonical_link(link: str, canonical: str) -> None:
    assert canonical_link(link) == canonical


def test_a_query_of_hundreds_of_parameters_is_kept_as_one() -> None:
    query = "&".join(f"a{n}=%20" for n in range(300))
    assert canonical_link(f"https://a.test/?{query}") == canonical_link(f"HTTPS://a.test/?{query}#x")
    assert wide_link(f"https://a.test/?{query}") != wide_link(f"https://a.test/?{query}&b=%20")


def test_the_fast_way_to_a_canonical_link_agrees_with_the_slow_one() -> None:
    for link in ("https://a.test/b/?utm_source=x&id=2#top", "http://a.test/?id=1", "https://a.test/a%20b/"):
        slow = link.replace("a.test", "A.test", 1)  # capitals take the slow way
        assert canonical_link(link) == canonical_link(slow)
        assert wide_link(link) == wide_link(slow)


def test_a_fingerprint_is_the_start_of_a_sha256() -> None:
    assert fingerprint("guid-1") == "c1ce8282f097d63f"
    assert fingerprint("\ud800") != fingerprint("")


@pytest.mark.parametrize(
    ("identifier", "link", "title", "texts"),
    [
        ("guid-1", "https://a.test/x/", "T", ["guid-1", "https://a.test/x"]),
        (" guid-1 ", "", "T", ["guid-1"]),
        ("https://a.test/x", "https://a.test/x", "T", ["https://a.test/x"]),
        ("", "https://a.test/x/", "T", ["https://a.test/x"]),
        ("", "", " T ", ["T"]),
        ("", "", "", []),
    ],
)
def test_the_two_fingerprints_that_are_stored(identifier: str, link: str, title: str, texts: list[str]) -> None:
    assert list(stored_fingerprints(identifier, link, title)) == [fingerprint(text) for text in texts]


# --- wide forms ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("link", "wide"),
    [
        ("http://www.a.test/x/", "https://a.test/x"),
        ("http://a.test:80/x", "https://a.test/x"),
        ("https://a.test/x?b=2&a=1", "https://a.test/x?a=1&b=2"),
        ("https://a.test/x?fbclid=1&gclid=2&mc_cid=3&at_medium=4&utm_id=5&id=6", "https://a.test/x?id=6"),
        ("https://medium.com/p?source=rss", "https://medium.com/p"),
        ("https://a.test/p?source=rss", "https://a.test/p?source=rss"),
        ("https://www.google.com/url?q=https%3A%2F%2Fa.test%2Fx&sa=t", "https://a.test/x"),
        ("https://lm.facebook.com/l.php?u=https%3A%2F%2Fa.test%2Fx&h=AT0", "https://a.test/x"),
        ("https://t.umblr.com/redirect?z=https%3A%2F%2Fa.test%2Fx&t=1", "https://a.test/x"),
        ("https://www.youtube.com/redirect?event=d&q=https%3A%2F%2Fa.test%2Fx", "https://a.test/x"),
        ("https://www.youtube.com/watch?v=abc", "https://youtube.com/watch?v=abc"),
        ("https://slack-redir.net/link?url=https%3A%2F%2Fa.test%2Fx", "https://a.test/x"),
        ("https://user@a.test/x", "https://a.test/x"),
        ("mailto:a@b.test", "mailto:a@b.test"),
    ],
)
def test_a_wide_link(link: str, wide: str) -> None:
    assert wide_link(link) == wide


def test_wrappers_are_unwrapped_three_deep_and_no_further() -> None:
    from urllib.parse import quote  # noqa: PLC0415 - this test only

    link = "https://a.test/x"
    for _ in range(3):
        link = f"https://google.com/url?url={quote(link, safe='')}"
    assert unwrapped(link) == "https://a.test/x"
    assert unwrapped(f"https://google.com/url?url={quote(link, safe='')}") == "https://google.com/url?url=" + quote(
        "https://a.test/x", safe=""
    )
    assert unwrapped("https://google.com/search?q=https://a.test/") == "https://google.com/search?q=https://a.test/"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (entry("http://a.test/1", "http://a.test/1"), entry("https://a.test/1", "https://a.test/1", "Other", None)),
        (entry("g-00001", "https://www.a.test/1"), entry("g-00002", "https://a.test/1", "Other", None)),
        (entry("", "https://a.test/1?fbclid=A&id=2"), entry("", "https://a.test/1?fbclid=B&id=2", "Other", None)),
        (entry("https://a.test/1#0", ""), entry("https://a.test/1#3", "", "Other", None)),
        (entry("rotates-1", "https://agg.test/1"), entry("rotates-2", "https://agg.test/2")),
        (entry("12", "https://a.test/1"), entry("12", "https://a.test/2", "Other", None)),
        (
            entry("a-guid", "https://proxy.test/1", target="https://a.test/1"),
            entry("b-guid", "https://a.test/1", "O", None),
        ),
    ],
    ids=["scheme", "www", "tracker", "revision", "rotating", "weak, qualified by its feed", "behind a proxy"],
)
def test_the_same_story_is_recognised(before: Marks, after: Marks) -> None:
    assert same_story(before, after)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (entry("", "https://a.test/1?id=1"), entry("", "https://a.test/1?id=2", "Other")),
        (entry("https://a.test/#a", ""), entry("https://a.test/#b", "", "Other")),
        (entry("", "", "Same title"), entry("", "", "Same title", datetime(2026, 12, 2, 9, 30, tzinfo=UTC))),
        (
            entry("g-00001", "https://a.test/1", "Links", datetime(2026, 12, 1, tzinfo=UTC)),
            entry("g-00002", "https://a.test/2", "Links", datetime(2026, 12, 1, tzinfo=UTC)),
        ),
    ],
    ids=["parameter", "fragment of an identifier", "another day", "two stories of a day without a time"],
)
def test_another_story_is_not_recognised(before: Marks, after: Marks) -> None:
    assert not same_story(before, after)


@pytest.mark.parametrize(
    ("identifier", "weak"), [("1234567", True), ("abcde", True), ("abcdef", False), ("12345a", False)]
)
def test_an_identifier_of_digits_or_under_six_characters_is_weak(identifier: str, weak: bool) -> None:
    assert is_weak(identifier) is weak


def test_a_weak_identifier_is_stored_but_never_matched_alone_across_feeds() -> None:
    one = identify([entry("1234", "https://a.test/1", "One", None)], "https://a.test/rss")[0]
    other = identify([entry("1234", "https://b.test/1", "Two", None)], "https://b.test/rss")[0]
    assert fingerprint("1234") in one.stored
    assert fingerprint("1234") not in one.lookup
    assert not known(other, one)


# --- what several entries share ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "entries",
    [
        [entry(f"ADV-{n}00", "https://a.test/all", f"T{n}") for n in range(3)],
        [entry("same-guid", f"https://a.test/{n}", f"T{n}") for n in range(3)],
        [entry("same-guid", "https://a.test/all", f"T{n}") for n in range(3)],
        [entry("", f"https://a.test/log#v{n}", f"T{n}") for n in range(3)],
        [entry(f"https://a.test/#r{n}", "https://a.test/", f"T{n}") for n in range(3)],
        [entry("", "https://a.test/status", "Maintenance", AT.replace(hour=n)) for n in range(3)],
        [entry("", "", f"T{n}", None) for n in range(3)],
    ],
    ids=[
        "link",
        "identifier",
        "both",
        "address but for the fragment",
        "link, fragments differ",
        "all but time",
        "all but title",
    ],
)
def test_what_entries_of_one_document_share_joins_none_of_them(entries: list[Marks]) -> None:
    identities = identify(entries, FEED)
    for n, identity in enumerate(identities):
        assert identity.stored
        assert identity.lookup
        assert not known(identity, *identities[:n])
        assert known(identify(entries, FEED)[n], identity), "and the next day it is known"


def test_an_entry_that_is_listed_twice_shares_nothing_with_itself() -> None:
    twice = entry("guid-0001", "https://a.test/1")
    assert identify([twice, twice], FEED)[0] == identify([twice], FEED)[0]


def test_what_has_neither_identifier_nor_link_is_known_by_title_date_and_feed() -> None:
    found = identify([entry("", "", "Only a title")], FEED)[0]
    assert fingerprint("Only a title") in found.stored
    assert fingerprint("Only a title") not in found.lookup
    assert known(found, found)
    elsewhere = identify([entry("", "", "Only a title")], "https://other.example/rss")[0]
    assert not known(elsewhere, found)


def test_the_forms_of_an_address_that_a_person_gives_find_what_was_stored() -> None:
    stored = identify([entry("", "http://www.a.test/x/?utm_source=rss", "T", None)], FEED)[0]
    for given_by_hand in ("https://a.test/x", "http://www.a.test/x/", "https://www.a.test/x?fbclid=1"):
        assert set(forms(given_by_hand).values()) & {*stored.stored, *stored.wide}
    assert set(forms("guid-1")) == {"identifier", "link"}


# --- invariants ----------------------------------------------------------------------------------------------------

LINKS = st.one_of(
    st.text(max_size=40),
    st.builds(
        "{}://{}{}{}{}".format,
        st.sampled_from(["http", "https", "HTTP", "ftp"]),
        st.sampled_from(["a.test", "www.a.test", "A.test:80", "u:p@a.test", "[::1]", "google.com"]),
        st.sampled_from(["", "/", "/x", "/x//", "/ä b", "/url"]),
        st.sampled_from(["", "?", "?a=1", "?utm_x=1&b=2", "?url=https://b.test/", "?b&a=%20", "?q=%ff"]),
        st.sampled_from(["", "#", "#12", "#x"]),
    ),
)
ENTRIES = st.lists(
    st.builds(
        Marks,
        st.one_of(st.sampled_from(["", "1", "guid-1", "guid-2"]), LINKS),
        st.one_of(st.just(""), LINKS),
        st.sampled_from(["", "A", "B"]),
        st.sampled_from([None, AT, datetime(2026, 12, 1, tzinfo=UTC)]),
    ),
    max_size=8,
)


@given(LINKS)
def test_wide_and_canonical_forms_are_their_own(link: str) -> None:
    assert canonical_link(canonical_link(link)) == canonical_link(link).strip()
    assert wide_link(wide_link(link)) == wide_link(link)


@given(LINKS)
def test_links_of_one_canonical_form_have_one_wide_form(link: str) -> None:
    assert wide_link(canonical_link(link)) == wide_link(link)


@given(ENTRIES, st.randoms(use_true_random=False))
def test_identity_does_not_depend_on_the_order(entries: list[Marks], random: Random) -> None:
    shuffled = list(entries)
    random.shuffle(shuffled)
    assert dict(zip(entries, identify(entries, FEED), strict=True)) == dict(
        zip(shuffled, identify(shuffled, FEED), strict=True)
    )


@given(ENTRIES)
def test_every_entry_is_remembered_and_is_known_the_next_day(entries: list[Marks]) -> None:
    for identity in identify(entries, FEED):
        assert identity.stored
        assert not set(identity.stored) & set(identity.wide)
        assert set(identity.wide) <= set(identity.lookup)
        assert known(identity, identity)


@given(st.text(st.characters() | st.sampled_from(["\ud800", "?", "=", "&", "[", "%"])))
def test_no_address_is_too_odd_for_a_canonical_form(end: str) -> None:
    link = "https://a.test/" + end
    assert canonical_link(link)
    assert wide_link(link)
    assert canonical_link("https://a.test/?q=\ud800") == "https://a.test/?q=%ED%A0%80"
