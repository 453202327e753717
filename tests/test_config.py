from __future__ import annotations

from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from news_digest.config import KEYS, REFERENCE_KEYS, configure, sources, variable
from news_digest.config_keys import KINDS, TABLES
from news_digest.errors import ConfigError
from news_digest.model import FeedSource
from news_digest.variables import named, named_by, unread

FILE = "news-digest.toml"


def wrong(document: dict[str, Any], environment: dict[str, str] | None = None) -> ConfigError:
    with pytest.raises(ConfigError) as caught:
        configure(document, environment or {}, file=FILE)
    return caught.value


def test_the_defaults_are_those_of_the_reference() -> None:
    config = configure({}, {})
    assert [source.name for source in config.feeds] == ["Hacker News", "Ars Technica", "The Verge"]
    assert config.texts("topics") == ("artificial intelligence", "open source", "developer tools")
    assert (config.count("lookback_hours"), config.count("max_items")) == (48, 50)
    assert (config.text("writer"), config.texts("channels")) == ("embedded", ("archive", "log"))
    assert {origin.place for origin in config.origins.values()} == {"default"}


GOOD = [
    ("max_items", 20, 20),
    ("max_items", "20", 20),
    ("max_items", " 20 ", 20),
    ("max_items", 20.0, 20),
    ("max_items", 1, 1),
    ("max_items", 400, 400),
    ("budget_seconds", 0, 0),
    ("topics", ["a", " b ", "a", ""], ["a", "b"]),
    ("topics", "a, b\nc,,a", ["a", "b", "c"]),
    ("topics", [], []),
    ("allow_private_hosts", True, True),
    ("allow_private_hosts", "No", False),
    ("allow_private_hosts", " on ", True),
    ("llm.base_url", " http://127.0.0.1:8080/v1 ", "http://127.0.0.1:8080/v1"),
    ("llm.base_url", "", ""),
    ("style.tone", "  dry ", "dry"),
]


@pytest.mark.parametrize(("name", "value", "read"), GOOD)
def test_values_are_read_by_their_kind(name: str, value: Any, read: Any) -> None:
    table, _, key = name.rpartition(".")
    config = configure({table: {key: value}} if table else {key: value}, {}, file=FILE)
    assert config.values[name] == read
    assert config.origins[name].place == FILE


WRONG = [
    ("max_items", 0, "a whole number from 1 to 400"),
    ("max_items", 401, "a whole number from 1 to 400"),
    ("max_items", "--5", "a whole number from 1 to 400"),
    ("max_items", "9" * 5000, "a whole number from 1 to 400"),
    ("max_items", 2.5, "a whole number from 1 to 400"),
    ("max_items", float("inf"), "a whole number from 1 to 400"),
    ("max_items", float("nan"), "a whole number from 1 to 400"),
    ("max_items", True, "a whole number from 1 to 400"),
    ("max_items", None, "a whole number from 1 to 400"),
    ("lookback_hours", [48], "a whole number from 1 to 168"),
    ("topics", 3, "a list of texts, or one text with commas or lines"),
    ("topics", ["a", 3], "a list of texts, or one text with commas or lines"),
    ("allow_private_hosts", "maybe", "true or false"),
    ("allow_private_hosts", 1, "true or false"),
    ("allow_private_hosts", ["yes"], "true or false"),
    ("writer", ["embedded"], "text"),
    ("llm.base_url", "localhost:8080", "an http(s) address"),
    ("llm.base_url", 8080, "an http(s) address"),
    ("feeds", 3, "a list of http(s) addresses"),
    ("feeds", [], "at least one http(s) address"),
    ("feeds", " , \n", "at least one http(s) address"),
    ("feeds", ["ftp://a.test/"], "an http(s) address, or a table with url, name, tags, headers, headers_env"),
    ("feeds", ["https:///path"], "an http(s) address"),
    ("feeds", ["https://a.test:0/"], "an http(s) address"),
    ("feeds", ["https://a.test:port/"], "an http(s) address"),
    ("feeds", ["https://[::1/"], "an http(s) address"),
    ("feeds", ["https://a.test/a b"], "an http(s) address"),
    ("feeds", [None], "an http(s) address"),
    ("feeds", [{"name": "no url"}], "an http(s) address, or a table"),
    ("feeds", [{"url": "https://a.test/", "titel": "x"}], "an http(s) address, or a table"),
    ("feeds", [{"url": "https://a.test/", "name": 3}], "a text as name"),
    ("feeds", [{"url": "https://a.test/", "tags": "x"}], "a list of texts as tags"),
    ("feeds", [{"url": "https://a.test/", "headers": ["x"]}], "header names"),
    ("feeds", [{"url": "https://a.test/", "headers": {"X": "a\r\nB: c"}}], "header names"),
    ("feeds", [{"url": "https://a.test/", "headers": {"X y": "a"}}], "header names"),
    ("feeds", [{"url": "https://a.test/", "headers": {"": "a"}}], "header names"),
    ("feeds", [{"url": "https://a.test/", "headers_env": {"X": 3}}], "header names"),
]


@pytest.mark.parametrize(("name", "value", "allowed"), WRONG)
def test_a_wrong_value_names_file_key_value_and_what_is_allowed(name: str, value: Any, allowed: str) -> None:
    table, _, key = name.rpartition(".")
    error = wrong({table: {key: value}} if table else {key: value})
    assert str(error).startswith(f"wrong value: {name} in {FILE}: ")
    assert allowed in str(error).partition(" is not ")[2]
    assert error.exit_code == 2
    assert len(str(error)) < 300


@pytest.mark.parametrize("key", KEYS, ids=lambda key: key.name)
def test_every_key_can_be_set_by_its_variable_and_that_wins(key: Any) -> None:
    given = {
        "text": "x",
        "texts": "x, y",
        "count": str(key.least),
        "flag": "yes",
        "url": "https://a.test",
        "feeds": "https://a.test/",
    }
    read = {"text": "x", "texts": ["x", "y"], "count": key.least, "flag": True, "url": "https://a.test"}
    config = configure({"max_items": 3}, {variable(key.name): given[key.kind]}, file=FILE)
    assert config.values[key.name] == (read | {"feeds": [{"url": "https://a.test/"}]})[key.kind]
    assert config.origins[key.name].place == "NEWS_DIGEST_" + key.name.replace(".", "_").upper()
    assert config.origins[key.name].is_environment


def test_a_wrong_variable_is_named() -> None:
    error = wrong({}, {"NEWS_DIGEST_MAX_ITEMS": "many"})
    assert str(error) == "wrong value: NEWS_DIGEST_MAX_ITEMS: 'many' is not a whole number from 1 to 400"


def test_an_empty_variable_sets_nothing() -> None:
    assert configure({"max_items": 3}, {"NEWS_DIGEST_MAX_ITEMS": " "}, file=FILE).count("max_items") == 3


@pytest.mark.parametrize(
    ("document", "name", "hint"),
    [
        ({"topic": ["x"]}, "topic", "did you mean topics?"),
        ({"llm": {"modle": "x"}}, "llm.modle", "did you mean llm.model?"),
        ({"tone": "dry"}, "tone", "did you mean style.tone?"),
        ({"styl": {"tone": "dry"}}, "styl", "did you mean style?"),
        ({"channels_": []}, "channels_", "did you mean channels?"),
        ({"style": {"max_items": 3}}, "style.max_items", "did you mean max_items?"),
        ({"zzzzzz": 1}, "zzzzzz", "docs/configuration.md lists every key"),
    ],
)
def test_an_unknown_key_names_the_nearest_known_one(document: dict[str, Any], name: str, hint: str) -> None:
    error = wrong(document)
    assert str(error).startswith(f"unknown key: {name} in {FILE}: ")
    assert error.hint == hint


@pytest.mark.parametrize("table", TABLES)
def test_a_table_that_is_none_is_named(table: str) -> None:
    assert str(wrong({table: "x"})) == f"wrong value: {table} in {FILE}: 'x' is not a table [{table}]"


@pytest.mark.parametrize("value", ["x", [1], {"email": "x"}])
def test_channels_have_tables(value: Any) -> None:
    assert str(wrong({"channel": value})).startswith(f"wrong value: channel in {FILE}: ")


def test_options_of_channels_are_kept_for_the_channel_to_check() -> None:
    options = {"mail": {"kind": "email", "to": ["reader@a.test"]}}
    assert configure({"channel": options, "channels": ["mail"]}, {}).channel_options == options


# --- feeds ---------------------------------------------------------------------------------------------------------


def test_feeds_are_texts_or_tables_and_each_address_counts_once() -> None:
    table = {"url": "https://b.test/", "name": " B ", "tags": ["x"], "headers": {"Accept": "text/xml"}}
    config = configure({"feeds": [" https://a.test/ ", table, "https://a.test/", ""]}, {})
    assert config.feeds == (
        FeedSource("https://a.test/"),
        FeedSource("https://b.test/", "B", ("x",), (("Accept", "text/xml"),)),
    )


SECRET = {
    "feeds": [{"url": "https://me:pass@a.test/", "headers": {"X": "1"}, "headers_env": {"Authorization": "TOKEN"}}]
}


NAMED = {"llm": {"api_key_env": "NEWS_DIGEST_MY_KEY"}, "channel": {"chat": {"url_env": "NEWS_DIGEST_CHAT"}}}


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("NEWS_DIGEST_FEED", "did you mean NEWS_DIGEST_FEEDS?"),
        ("NEWS_DIGEST_LLM_API_KEY", "did you mean NEWS_DIGEST_LLM_API_KEY_ENV?"),
        ("NEWS_DIGEST_ZZ", "docs/configuration.md lists all"),
        ("NEWS_DIGEST_FEEDS", None),
        ("NEWS_DIGEST_MY_KEY", None),
        ("NEWS_DIGEST_CHAT", None),
        ("NEWS_DIGEST_GIVEN", None),
        ("NEWS_DIGES_FEEDS", None),
    ],
)
def test_a_variable_that_nothing_reads_is_named_with_its_nearest_neighbour(name: str, said: str | None) -> None:
    expected = () if said is None else (f"nothing reads the variable {name}: {said}",)
    assert unread(configure(NAMED, {}), {name: "https://a.example/"}, ["NEWS_DIGEST_GIVEN"]) == expected
    assert unread(configure(NAMED, {}), {name: " "}) == ()


def test_the_variables_of_a_configuration_are_those_that_it_names() -> None:
    assert named_by(configure({**NAMED, **SECRET}, {})) == ("TOKEN", "NEWS_DIGEST_MY_KEY", "NEWS_DIGEST_CHAT")
    assert list(named([{"a_env": ["A", "", 1]}, {1: {"b_env": "B"}}, "c_env"])) == ["A", "B"]


@pytest.mark.parametrize("password", ["s3cret", "s3/cret", "s3?cret"])
def test_a_wrong_address_is_shown_without_its_password(password: str) -> None:
    with pytest.raises(ConfigError) as caught:
        configure({"feeds": [f"https://me:{password}@a.test:port/f"]}, {})
    assert "s3" not in str(caught.value)
    assert "a.test" in str(caught.value)


def test_secret_headers_are_filled_in_only_for_whoever_reads_feeds() -> None:
    config = configure(SECRET, {})
    assert config.feeds[0].headers == (("X", "1"),)
    (source,) = sources(config, {"TOKEN": "Bearer secret\n"})
    assert source.headers == (("X", "1"), ("Authorization", "Bearer secret"))


@pytest.mark.parametrize(
    ("value", "cause"), [("", "is not set"), (" ", "is not set"), ("a\r\nB: c", "has line breaks")]
)
def test_a_secret_that_is_missing_or_unfit_is_named_without_its_value(value: str, cause: str) -> None:
    with pytest.raises(ConfigError) as caught:
        sources(configure(SECRET, {}), {"TOKEN": value})
    assert str(caught.value) == (
        f"missing secret: header Authorization of https://...@a.test/: the environment variable TOKEN {cause}"
    )


@pytest.mark.parametrize(
    "feed",
    [
        {"url": "https://a.test/", "headers": {"X": "hidden\n"}},
        {"url": "https://a.test/", "headers": {"X": "hidden"}, "tags": 3},
        {"url": "nowhere", "headers": {"X": "hidden"}},
        "https://me:hidden@a.test:0/",
    ],
)
def test_a_message_shows_no_password_and_no_header(feed: Any) -> None:
    assert "hidden" not in str(wrong({"feeds": [feed]}))


# --- the reference's config.json -----------------------------------------------------------------------------------


def test_the_references_configuration_is_read_and_its_other_keys_are_ignored() -> None:
    document = {
        "feeds": "https://a.test/rss,\nhttps://b.test/atom",
        "topics": ["x", "y"],
        "lookback_hours": "24",
        "max_items": 10,
        "agent_secret_names": "GITHUB_TOKEN",
        "openhands_url": "https://app.test",
        "writer": 3,
        "channel": 3,
        "timezone": "UTC",
    }
    config = configure(document, {}, file="config.json", reference=True)
    assert [source.url for source in config.feeds] == ["https://a.test/rss", "https://b.test/atom"]
    assert (config.count("lookback_hours"), config.count("max_items")) == (24, 10)
    assert config.texts("agent_secret_names") == ("GITHUB_TOKEN",)
    assert config.text("writer") == "embedded"
    assert config.flag("allow_private_hosts") is False
    assert config.channel_options == {}


@pytest.mark.parametrize("empty", [None, ""])
@pytest.mark.parametrize("name", REFERENCE_KEYS)
def test_what_the_reference_leaves_empty_has_its_default(name: str, empty: Any) -> None:
    assert configure({name: empty}, {}, reference=True).origins[name].place == "default"


def test_a_wrong_value_in_the_references_configuration_is_an_error() -> None:
    with pytest.raises(ConfigError, match=r"wrong value: max_items in config\.json: 'x' is not a whole number"):
        configure({"max_items": "x"}, {}, file="config.json", reference=True)


# --- always --------------------------------------------------------------------------------------------------------

JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text()
    | st.sampled_from(["https://a.test/", "1", "yes"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.text() | st.sampled_from(["url", "headers"]), inner, max_size=3)
    ),
    max_leaves=6,
)
NAMES = (
    st.sampled_from([name for key in KEYS for name in (key.name, key.name.partition(".")[0])] + ["channel"]) | st.text()
)


@given(
    st.dictionaries(NAMES, JSON, max_size=4), st.dictionaries(NAMES.map(variable), st.text(), max_size=3), st.booleans()
)
def test_any_document_gives_a_configuration_or_one_error(document: Any, environment: Any, reference: Any) -> None:
    with suppress(ConfigError):
        config = configure(document, environment, file=FILE, reference=reference)
        assert set(config.values) == set(config.origins) == {key.name for key in KEYS}
        assert config.feeds


def test_no_two_keys_share_a_variable() -> None:
    assert len({variable(key.name) for key in KEYS}) == len(KEYS)


@pytest.mark.parametrize("key", KEYS, ids=lambda key: key.name)
def test_every_key_says_what_it_takes_and_its_default_is_that(key: Any) -> None:
    assert key.about
    assert KINDS[key.kind] in key.allowed
    assert configure({}, {}).values[key.name] == key.default
