"""Models behind one small interface, through their makers' own SDKs: one question, one answer, or a named trouble.

No tool is ever offered. A request has an explicit timeout and no retry of its own (the writer decides about those), and
a redirect is an error, so a key reaches the one configured host and no other. Messages of providers are classified, not
passed on: they may hold a part of the key.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Protocol, cast

from news_digest.errors import ConfigError
from news_digest.model import Json
from news_digest.writers.providers import Account

__all__ = ["Form", "Model", "ModelError", "Reply", "Trouble", "Turn", "open_model"]

CONNECT_SECONDS = 10.0

Turn = tuple[str, str]
"""(``user`` or ``assistant``, text)"""


class Form(StrEnum):
    """How an answer is asked for, the strictest first."""

    SCHEMA = "JSON schema"
    OBJECT = "JSON mode"
    TEXT = "plain text"


class Trouble(StrEnum):
    """Why there is no usable answer, in the words that the digest uses."""

    KEY = "the key was refused"
    QUOTA = "the quota is used up"
    RATE = "too many requests"
    MODEL = "there is no such model"
    REDIRECT = "the address redirects elsewhere"
    TIMEOUT = "no answer in time"
    UNREACHABLE = "the server cannot be reached"
    SERVER = "the server failed"
    FORM = "the request was not understood"
    TOO_LARGE = "the request is too large for the model"
    REFUSED = "the model refused"
    TRUNCATED = "the answer was cut off"
    UNREADABLE = "the answer cannot be read"
    LANGUAGE = "the answer is in another language"
    UNFAITHFUL = "most of the answer is not in the stories"
    BUDGET = "the token budget is too small"


class ModelError(Exception):
    """There is no usable answer; ``billed`` says whether tokens may have been spent all the same."""

    def __init__(self, trouble: Trouble, *, status: int = 0, wait_seconds: float = 0.0, billed: bool = False) -> None:
        self.trouble = trouble
        self.status = status
        self.wait_seconds = wait_seconds
        self.billed = billed
        super().__init__(f"{trouble} (HTTP {status})" if status else str(trouble))


@dataclass(frozen=True, slots=True)
class Reply:
    """A model's answer; tokens are None where the server does not say."""

    text: str
    finish: str = "stop"
    """``stop``, ``length`` or ``refusal``"""
    input_tokens: int | None = None
    output_tokens: int | None = None


class Model(Protocol):
    """A model that can be asked."""

    @property
    def forms(self) -> Sequence[Form]:
        """Return the forms that it may be asked in, the strictest first."""
        ...

    def ask(self, system: str, turns: Sequence[Turn], form: Form, output_tokens: int, seconds: float) -> Reply:
        """Return the answer; raises :class:`ModelError`."""
        ...


def open_model(account: Account, schema: Json) -> Model:
    """Return the model of an account; raises :class:`~news_digest.errors.ConfigError` where the extra is missing."""
    try:
        return _Anthropic(account) if account.provider.dialect == "anthropic" else _OpenAi(account, schema)
    except ImportError as error:
        hint = 'install it with: pip install "news-digest[llm]"'
        raise ConfigError("cannot ask a model", thing=account.name, cause=str(error), hint=hint) from error


def _within(seconds: float, ask: Callable[[], Reply]) -> Reply:
    """Return what ``ask`` returns, or give up after so many seconds, however slowly the answer drips in."""
    outcome: list[Reply | BaseException] = []

    def work() -> None:
        try:
            outcome.append(ask())
        except BaseException as error:  # noqa: BLE001 - carried over to the waiting thread and raised there
            outcome.append(error)

    thread = threading.Thread(target=work, name="news-digest-model", daemon=True)
    thread.start()
    thread.join(seconds)
    if not outcome:
        raise ModelError(Trouble.TIMEOUT, billed=True)
    if isinstance(outcome[0], BaseException):
        raise outcome[0]
    return outcome[0]


class _OpenAi:
    """Any endpoint that speaks OpenAI's chat completions."""

    forms = (Form.SCHEMA, Form.OBJECT, Form.TEXT)

    def __init__(self, account: Account, schema: Json) -> None:
        import openai  # noqa: PLC0415 - an extra, and 0.7 s

        self._sdk = openai
        self._account = account
        self._schema = schema
        foreign = account.name != "openai"
        self._client = openai.OpenAI(
            api_key=account.key or "none",
            base_url=account.base_url,
            # An account's ids of OpenAI are nobody else's business, and their variables are read by default.
            organization="" if foreign else None,
            project="" if foreign else None,
            max_retries=0,
            http_client=openai.DefaultHttpxClient(follow_redirects=False),
        )

    def ask(self, system: str, turns: Sequence[Turn], form: Form, output_tokens: int, seconds: float) -> Reply:
        messages = [{"role": "system", "content": system}] + [{"role": who, "content": text} for who, text in turns]
        request: dict[str, Any] = {self._account.provider.output_limit: output_tokens}
        if form is Form.SCHEMA:
            named = {"name": "digest", "strict": True, "schema": self._schema}
            request["response_format"] = {"type": "json_schema", "json_schema": named}
        elif form is Form.OBJECT:
            request["response_format"] = {"type": "json_object"}
        create = cast("Callable[..., Any]", self._client.chat.completions.create)

        def send() -> Reply:
            timeout = self._sdk.Timeout(seconds, connect=CONNECT_SECONDS)
            return _openai_reply(create(model=self._account.model, messages=messages, timeout=timeout, **request))

        return _named(self._sdk, lambda: _within(seconds, send))


def _openai_reply(answer: Any) -> Reply:  # noqa: ANN401 - the SDK's; servers leave out what they like
    choices = getattr(answer, "choices", None)
    if not choices:
        raise ModelError(Trouble.UNREADABLE, billed=True)
    message, reason = choices[0].message, choices[0].finish_reason
    usage = getattr(answer, "usage", None)
    refused = bool(getattr(message, "refusal", None)) or reason == "content_filter"
    return Reply(
        text=str(message.content or "") if message else "",
        finish="refusal" if refused else "length" if reason == "length" else "stop",
        input_tokens=_count(getattr(usage, "prompt_tokens", None)),
        output_tokens=_count(getattr(usage, "completion_tokens", None)),
    )


class _Anthropic:
    """Anthropic's own messages; the JSON is asked for in words."""

    forms = (Form.TEXT,)

    def __init__(self, account: Account) -> None:
        import anthropic  # noqa: PLC0415 - an extra, and 1.6 s

        self._sdk = anthropic
        self._account = account
        self._client = anthropic.Anthropic(
            api_key=account.key or "none",
            base_url=account.base_url,
            max_retries=0,
            http_client=anthropic.DefaultHttpxClient(follow_redirects=False),
        )

    def ask(self, system: str, turns: Sequence[Turn], form: Form, output_tokens: int, seconds: float) -> Reply:  # noqa: ARG002
        messages = [{"role": who, "content": text} for who, text in turns]
        create = cast("Callable[..., Any]", self._client.messages.create)

        def send() -> Reply:
            timeout = self._sdk.Timeout(seconds, connect=CONNECT_SECONDS)
            return _anthropic_reply(
                create(
                    model=self._account.model,
                    system=system,
                    messages=messages,
                    max_tokens=output_tokens,
                    timeout=timeout,
                )
            )

        return _named(self._sdk, lambda: _within(seconds, send))


def _anthropic_reply(answer: Any) -> Reply:  # noqa: ANN401 - the SDK's
    text = "".join(str(getattr(block, "text", "")) for block in getattr(answer, "content", None) or ())
    reason, usage = getattr(answer, "stop_reason", ""), getattr(answer, "usage", None)
    return Reply(
        text=text,
        finish={"max_tokens": "length", "refusal": "refusal"}.get(str(reason), "stop"),
        input_tokens=_count(getattr(usage, "input_tokens", None)),
        output_tokens=_count(getattr(usage, "output_tokens", None)),
    )


def _count(value: object) -> int | None:
    return value if isinstance(value, int) and value >= 0 else None


# --- troubles ------------------------------------------------------------------------------------------------------


def _named(sdk: Any, ask: Callable[[], Reply]) -> Reply:  # noqa: ANN401 - either SDK: their errors have the same names
    """Return the answer; an error of the SDK becomes a named trouble."""
    try:
        return ask()
    except sdk.APITimeoutError as error:
        raise ModelError(Trouble.TIMEOUT, billed=True) from error
    except sdk.APIConnectionError as error:
        raise ModelError(Trouble.UNREACHABLE, billed=True) from error
    except sdk.APIStatusError as error:
        raise _of_status(error) from error
    except (sdk.APIError, ValueError, TypeError, AttributeError) as error:
        raise ModelError(Trouble.UNREADABLE, billed=True) from error


STATUSES = {
    401: Trouble.KEY,
    402: Trouble.QUOTA,
    403: Trouble.KEY,
    404: Trouble.MODEL,
    408: Trouble.TIMEOUT,
    413: Trouble.TOO_LARGE,
    429: Trouble.RATE,
    504: Trouble.TIMEOUT,
}
FIRST_ERROR, FIRST_SERVER_ERROR = 400, 500

SPENT = re.compile(r"quota|billing|credit|balance|spend")
"""How providers say with a 429 that waiting does not help."""

LONG = re.compile(r"context|too (?:long|large|many tokens)|maximum.*tokens")
"""How they say with a 400 that the request does not fit the model."""


def _of_status(error: Any) -> ModelError:  # noqa: ANN401 - either SDK's APIStatusError
    status, said = int(error.status_code), f"{getattr(error, 'code', '')} {error}".lower()
    trouble = STATUSES.get(status)
    if trouble is Trouble.RATE and SPENT.search(said):
        trouble = Trouble.QUOTA
    elif trouble is None and status < FIRST_ERROR:
        trouble = Trouble.REDIRECT
    elif trouble is None and status >= FIRST_SERVER_ERROR:
        trouble = Trouble.SERVER
    elif trouble is None:
        trouble = Trouble.TOO_LARGE if LONG.search(said) else Trouble.FORM
    return ModelError(trouble, status=status, wait_seconds=_wait(error), billed=trouble is Trouble.TIMEOUT)


def _wait(error: Any) -> float:  # noqa: ANN401
    try:
        return max(0.0, float(error.response.headers.get("retry-after", "1")))
    except ValueError:  # a date: the writer's own patience is shorter than its grain
        return 1.0
