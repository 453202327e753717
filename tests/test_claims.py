"""Numbers, dates, quotations, names, markup and languages, as sentences state them and stories bear them out."""

from __future__ import annotations

from datetime import UTC, date, datetime

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from tests.digests import story

from news_digest.claims.dates import date_claims, without_dates
from news_digest.claims.evidence import Evidence
from news_digest.claims.language import language_of
from news_digest.claims.markup import addresses, bare_hosts, inherent_markup, markup, plain
from news_digest.claims.names import name_claims, proper_words
from news_digest.claims.numbers import quantities
from news_digest.claims.quotations import is_quoted_from, quotations

TUESDAY = datetime(2026, 12, 1, 9, tzinfo=UTC)


def evidence(text: str, published: datetime | None = TUESDAY, **changes: object) -> Evidence:
    return Evidence([story(1, title="A title", excerpt=text, published=published, **changes)])


VALUES = [
    ("4,200,000 people", [4_200_000.0]),
    ("$4.2M and 4.2 million", [4_200_000.0, 4_200_000.0]),
    ("4.2bn kroner", [4_200_000_000.0]),
    ("twenty-one cases", [21.0]),
    ("two hundred thousand", [200_000.0]),
    ("half a million", [500_000.0]),
    ("a dozen eggs", [12.0]),
    ("one of them", []),
    ("3,5 Prozent", [3.5]),
    ("1\u202f234 km", [1234.0]),
    ("41st place", [41.0]),
    ("an H100 in Q3", []),
    ("seven", [7.0]),
    ("訓練には520万ドル", [520.0]),
]


@pytest.mark.parametrize(("text", "values"), VALUES)
def test_numbers_are_read_as_values(text: str, values: list[float]) -> None:
    assert [each.value for each in quantities(text)] == values


NUMBERS = [
    # the stories say, the sentence says, what is strange
    ("It costs 4.2 million.", "It costs $4.2M.", []),
    ("It costs 4.2 million.", "It costs 4.2 billion.", ["4.2 billion"]),
    ("It costs 4.2 million.", "It costs about 4 million.", []),
    ("It costs 4.2 million.", "It costs 4 million.", ["4 million"]),
    ("It costs 4.23 million.", "It costs 4.2 million.", []),
    ("It costs 4.27 million.", "It costs 4.2 million.", ["4.2 million"]),
    ("It costs 4.27 million.", "It costs more than 4.2 million.", []),
    ("There are 987.", "There are almost 1,000.", []),
    ("There are 987.", "There are almost 1,200.", ["1,200"]),
    ("There are 41.", "There are 42.", ["42"]),
    ("There are 41.", "There are 40.", ["40"]),
    ("There are three.", "There are 3.", []),
    ("It is the ninth outbreak.", "There were nine outbreaks.", []),
    ("Between $4 and 5 million.", "At least $4 million.", []),
    ("Version 2.0.1 is out.", "Version 2.0.2 is out.", ["2.0.2"]),
    ("At 17:30 it began.", "It began at 18:30.", ["18:30"]),
    ("At 09:00 it began.", "It began at 9 a.m.", []),
    ("A share of 34%.", "A share of 34 percent.", []),
    ("40 of them.", "40+ of them.", []),
    ("41 of them.", "40+ of them.", []),
    ("In 200 milliseconds.", "In 200 ms.", []),
    ("Weighs 2.1 trillion.", "Weighs 2.1T.", []),
]


@pytest.mark.parametrize(("known", "said", "strange"), NUMBERS)
def test_numbers_agree_as_values_and_when_honestly_rounded(known: str, said: str, strange: list[str]) -> None:
    assert evidence(known).strange_numbers(said) == strange


DATES = [
    ("on Monday", "on Monday", []),
    ("on Monday", "on Tuesday", ["Tuesday"]),
    ("on Monday", "on 30 November", []),
    ("on Monday", "on November 29", ["November 29"]),
    ("yesterday", "on November 30, 2026", []),
    ("on 3 December", "on December 3rd", []),
    ("on 3 December", "on Thursday", []),
    ("on December 9 and 11", "on 9 and 11 December", []),
    ("on December 9 and 11", "on 10 December", ["10 December"]),
    ("in March 2027", "in March", []),
    ("in March 2027", "in April 2027", ["April 2027"]),
    ("in 1897", "in 1898", ["1898"]),
    ("next year", "in 2027", []),
    ("from mid-2027", "in 2027", []),
    ("from 2021-2024", "until 2023", ["2023"]),
    ("2026-12-24", "on 24 December 2026", []),
    ("on Monday", "today", ["today"]),
    ("on 1 December", "today", []),
    ("today", "today", []),
    ("It may happen.", "It may happen in May.", ["May"]),
    ("on 31 February", "on 31 February", []),
]


@pytest.mark.parametrize(("known", "said", "strange"), DATES)
def test_dates_agree_however_they_are_said(known: str, said: str, strange: list[str]) -> None:
    assert evidence(known).strange_dates(said, date(2026, 12, 1)) == strange


def test_without_a_time_of_publishing_no_weekday_is_resolved() -> None:
    assert evidence("on Monday", None).strange_dates("on 30 November", date(2026, 12, 1)) == ["30 November"]


def test_the_numbers_of_dates_are_no_quantities() -> None:
    assert quantities(without_dates("On 3 December 2026 and December 9 and 11; 14 came")) == quantities(
        " " * 45 + "14 came"
    )


def test_a_modal_verb_is_no_month() -> None:
    assert date_claims("It may end. May it end.") == []


QUOTATIONS = [
    ("“We won,” she said.", ["We won,"]),
    ('He called it "a gift".', ["a gift"]),
    ("«Oui», dit-il", ["Oui"]),
    ("„So ist es“, sagte er", ["So ist es"]),
    ("It's the company's, isn't it", []),
    ("She said ‘not now’.", ["not now"]),
    ("an open “quotation without an end", ["quotation without an end"]),
]


@pytest.mark.parametrize(("text", "found"), QUOTATIONS)
def test_quotations_are_found_between_marks_of_any_kind(text: str, found: list[str]) -> None:
    assert quotations(text) == found


QUOTED = [
    ("“we grew too fast”", True),
    ("“We grew … fast,”", True),
    ("“We [the firm] grew too fast”", True),
    ("“we shrank too fast”", False),
    ("“fast … we grew”", False),
]


@pytest.mark.parametrize(("said", "true"), QUOTED)
def test_a_quotation_stands_word_for_word_in_its_story(said: str, true: bool) -> None:
    assert (evidence("“We grew too fast,” she wrote.").strange_quotations(said) == []) is true


NAMES = [
    ("The Federal Trade Commission approved it.", "Now the FTC approves.", []),
    ("The FTC approved it.", "The Federal Trade Commission approved it.", []),
    ("A Graphics Processing Unit costs less.", "These GPUS cost less.", []),
    ("Canada pays.", "The Canadian plan", []),
    ("Belgian foresters", "in Belgium", []),
    ("The French court", "a court in France", []),
    ("chief executive Dana Whitlock", "CEO Dana Whitlock", []),
    ("Dana Whitlock's plan", "the plan of Whitlock", []),
    ("Dana Whitlock spoke.", "as Dana Whitfield said", ["Whitfield"]),
    ("Senator Calloway", "for Sen. Calloway", []),
    ("The United States senators", "for U.S. senators", []),
    ("Barcelona is its home.", "the Barcelona-based firm", []),
    ("Barcelona is its home.", "the Madrid-based firm", ["Madrid"]),
    ("a model, GPT-5", "the GPT-6 model", []),  # the number is the number check's
    ("6.4 billion", "some 6.4bn and 3.8B", []),
    ("an H100 chip", "an H200 chip", ["H200"]),
    ("of iPhone owners", "iPhone and iPad owners", ["iPad"]),
    ("Google said so.", "Microsoft said so.", ["Microsoft"]),
    ("Google said so.", "Researchers said so.", []),
    ("in Ohio", "It is in Iowa.", ["Iowa"]),
    ("on 3 May", "in May, Mr Li", ["Li"]),
    ("「ゲイル」とNorthwind社", "訓練には520万ドルかかったNorthwind社", []),
    ("「ゲイル」とNorthwind社", "訓練にはSouthwind社", ["Southwind"]),
]


@pytest.mark.parametrize(("known", "said", "strange"), NAMES)
def test_names_agree_in_any_honest_form(known: str, said: str, strange: list[str]) -> None:
    assert evidence(known).strange_names(said) == strange


def test_a_name_of_another_story_is_one_at_the_beginning_too() -> None:
    proper = proper_words(["He met Zork today."])
    assert proper == {"zork"}
    assert [name.word for name in name_claims("Zork.", proper)] == ["Zork"]


def test_in_title_case_a_capital_tells_nothing() -> None:
    assert name_claims("Firm Publishes Weights Of Model") == []
    assert proper_words(["Firm Publishes Weights Of Model"]) == set()
    assert name_claims("Der Hund liest die Zeitung", capitals_tell=False) == []


def test_the_name_of_a_source_may_be_said() -> None:
    assert evidence("It rains.", source="Gazette", also=(("Planet", ""),)).strange_names("the Gazette and Planet") == []


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("see https://evil.example/x.", ["https://evil.example/x"]),
        ("www.evil.example", ["www.evil.example"]),
        ("javascript:alert(1)", ["javascript:alert(1"]),
        ("evil.example/login now", ["evil.example/login"]),
        ("write to a@evil.example", ["a@evil.example"]),
        ("Node.js/Express and either.or", []),
        ("at 9 a.m./p.m., 3:4", []),
        ("note: this", []),
    ],
)
def test_addresses_are_found(text: str, found: list[str]) -> None:
    assert addresses(text) == found


def test_a_bare_host_is_told_from_a_path() -> None:
    assert bare_hosts("Booking.com beat evil.example/x") == ["Booking.com"]


@pytest.mark.parametrize(
    "text", ["![x", "a](b", "[n]: x", "```", "<|im_end|>", "=====", "<<<end", "<img src=x>", "a\x1bb", "a\u202eb"]
)
def test_inherent_markup_is_found_and_plain_takes_it_out(text: str) -> None:
    assert inherent_markup(text)
    assert not inherent_markup(plain(text))


def test_markup_that_may_be_a_subject_is_told_apart() -> None:
    assert markup("why <dialog> matters") == ["<dialog>"]
    assert inherent_markup("why <dialog> matters") == []
    assert plain("why <dialog> matters") == "why <dialog> matters"


@given(st.text(max_size=120) | st.text("[]()!<>=`|#htps:/.wex ", max_size=60))
@example("([])")
@example("]  (")
@example("a (((())))")
@example("[[[[[[[[[[[[[[[[a]]]]]]]]]]]]]]]](b)" * 3)
@example("[" * 40 + "x" + "](y)" * 40)
@settings(max_examples=300, deadline=None)
def test_plain_text_has_no_address_and_no_inherent_markup(text: str) -> None:
    cleaned = plain(text)
    assert not inherent_markup(cleaned)
    assert not addresses(cleaned)
    assert plain(cleaned) == cleaned


@given(st.text(max_size=200))
@settings(max_examples=300, deadline=None)
def test_what_a_story_says_word_for_word_is_never_strange(text: str) -> None:
    known = evidence(text)
    assert known.strange_numbers(text) == []
    assert known.strange_dates(text, date(2026, 12, 1)) == []
    assert known.strange_names(text) == []
    assert known.coverage(text) == 1.0


LANGUAGES = [
    ("The company said on Monday that it would release the weights of its model by the end of the year.", "en"),
    (
        "Das Unternehmen sagte am Montag, dass es die Gewichte des Modells bis zum Ende des Jahres nicht veröffentlicht.",
        "de",
    ),
    ("L'entreprise a dit lundi que les poids du modèle ont été publiés pour la recherche dans le monde entier.", "fr"),
    ("La empresa dijo el lunes que los pesos del modelo se publican para todo el mundo por una fundación.", "es"),
    ("モデルの重みが公開された。", "ja"),
    ("Модель опубликована.", "ru"),
    ("too short", ""),
    ("", ""),
]


@pytest.mark.parametrize(("text", "code"), LANGUAGES)
def test_languages_are_told_by_script_and_small_words(text: str, code: str) -> None:
    assert language_of(text) == code


@pytest.mark.parametrize(
    ("quotation", "stands"), [("... too fast", True), ("We ... fast", True), ("fast ... We", False)]
)
def test_what_a_quotation_leaves_out_may_be_its_beginning(quotation: str, stands: bool) -> None:
    assert is_quoted_from(quotation, "we grew too fast") is stands
