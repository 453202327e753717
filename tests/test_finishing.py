"""From what a writer wrote to the digest."""

from __future__ import annotations

from tests.digests import DRAFT, TICKET, UNTIL, WRITTEN, brief

from news_digest.finishing import finish, secret_values
from news_digest.model import Active, Claim, Draft, Period
from news_digest.ports import Wrote

TASK = Active(Period(UNTIL.date()), TICKET, (), (), 5, UNTIL, conversation_url="https://agents.example/c/1")


def test_a_clean_draft_becomes_its_digest() -> None:
    made = finish(Wrote(DRAFT, notes=("an image was left out",)), brief(), TASK, WRITTEN, ("a feed moved",))
    assert made.draft.sections == DRAFT.sections
    assert (made.findings, made.notices) == (("an image was left out",), ("a feed moved",))
    assert made.conversation_url == "https://agents.example/c/1"


def test_what_is_odd_about_a_feed_is_told_without_its_address() -> None:
    notices = (
        "https://a.example/f?key=s3cret has moved for good to http://[b: `x` writes that down.",
        "A feed: ended.",
    )
    made = finish(Wrote(DRAFT), brief(), TASK, WRITTEN, notices)
    assert made.notices == ("a.example has moved for good to unknown host: `x` writes that down.", "A feed: ended.")


def test_of_many_odd_feeds_a_few_are_told_each_host_once() -> None:
    notices = tuple(f"https://{host}.example/{feed} has ended." for host in range(13) for feed in range(2))
    told = finish(Wrote(DRAFT), brief(), TASK, WRITTEN, notices).notices
    assert told[:10] == tuple(f"{host}.example has ended." for host in range(10))
    assert told[10:] == ("3 more: `news-digest feeds check` names all.",)
    assert finish(Wrote(DRAFT), brief(), TASK, WRITTEN, notices[:20]).notices == told[:10]


def test_what_the_checker_finds_is_put_right_and_kept_with_sentence_and_evidence() -> None:
    made = finish(Wrote(Draft(lead=(Claim("Training it cost $9.9 million.", (1,)),))), brief(), TASK, WRITTEN)
    assert made.draft.lead[0].text == "Training it cost $4.2 million."
    assert made.findings == (
        "number (lead, sentence 1): “Training it cost $9.9 million.”: not in its stories: 9.9 million",
    )


def test_no_secret_of_the_environment_stands_in_a_digest() -> None:
    secrets = secret_values({"SESSION_API_KEY": " s3cret-value ", "PATH": "/usr/bin"})
    leaking = Draft(lead=(Claim("The weights of Gale cost s3cret-value.", (1,)),))
    made = finish(Wrote(leaking, notes=("no story was named for: s3cret-value",)), brief(), TASK, WRITTEN, (), secrets)
    assert "s3cret" not in str(made)
    assert any(finding.startswith("leak") for finding in made.findings)


def test_secrets_are_told_by_the_names_of_their_variables() -> None:
    environment = {
        "OPENAI_API_KEY": "sk-12345678",
        "SMTP_PASSWORD": "hunter2-hunter2",
        "MY_TOKENS": "t0ken-t0ken",
        "KEYBOARD_LAYOUT": "us-intl-12345",
        "DB_PASS": "short1",
        "APP_SECRET": "onlyletters",
        "HOME": "/home/me-12345",
    }
    assert secret_values(environment) == ("hunter2-hunter2", "sk-12345678", "t0ken-t0ken")


def test_without_its_brief_a_digest_has_words_and_no_links() -> None:
    made = finish(Wrote(DRAFT), None, TASK, WRITTEN)
    assert made.stories == ()
    assert made.draft.sections[0].items[0].stories == ()
