"""The writer ``llm``: a model behind any OpenAI-compatible endpoint, or Anthropic's, that is asked for structure.

It has no tools, no files, no secrets and no say in links. The order of things: a JSON schema, then JSON mode, then
plain text; one turn in which the model may put right what the checker found; then, where a digest is made, the stories'
own words for what is still wrong; and the embedded writer, labelled, where there is no usable answer at all. What a
digest may cost in tokens is reserved before each request, at the most that it can cost, so the budget holds whatever
happens.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from news_digest.brief import PROMPT_CHARACTERS, brief_text
from news_digest.extract import compose_draft
from news_digest.findings import Finding, Kind, Review
from news_digest.model import Brief, Draft
from news_digest.review import review
from news_digest.rules import system_text
from news_digest.writers import Desk
from news_digest.writers.answers import SCHEMA, draft_of, looks_like_a_refusal
from news_digest.writers.models import Form, Model, ModelError, Reply, Trouble, Turn, open_model
from news_digest.writers.providers import account
from news_digest.writers.workspace import DirectWriter

__all__ = ["Budget", "Estimate", "ModelWriter", "estimate", "open_llm"]

BUDGET_TOKENS = 60_000
"""Input and output of one digest; a full brief takes some 11,000 and 45,000 at the very most."""

ANSWER_TOKENS = 4_000
"""A digest of 600 words as JSON takes some 1,500; reasoning models think within the same limit."""

LEAST_ANSWER_TOKENS = 500

CHARACTERS_PER_TOKEN = 4
"""Of English text, for estimates. A token is never less than one byte of UTF-8: that is what reservations count by."""

OVERHEAD_TOKENS = 64
"""What a chat's own marks take, generously."""

SECONDS = 540.0
"""For everything; a run waits ten minutes for its writer."""

REQUEST_SECONDS = 180.0

PATIENCE_SECONDS = 20.0
"""The longest pause that a server may ask for and get."""

TRIES = 3
"""Requests for one answer, where the server is busy or fails."""

FOUND_MOST = 30
"""Findings that the model is told; what is beyond is replaced anyway."""

UNFAITHFUL_SHARE = 0.5
"""From this share of faulty sentences on, an answer is no digest of these stories."""

STEP_DOWN = frozenset({Trouble.FORM, Trouble.UNREADABLE})
AGAIN = frozenset({Trouble.RATE, Trouble.SERVER})
UNFAITHFUL = frozenset({Kind.NUMBER, Kind.DATE, Kind.QUOTATION, Kind.NAME, Kind.CITATION, Kind.SOURCE, Kind.LANGUAGE})


@dataclass(frozen=True, slots=True)
class Estimate:
    """What a digest may cost, in tokens."""

    likely_input: int
    likely_output: int
    most: int
    """The budget: no digest costs more."""

    def __str__(self) -> str:
        """Return the estimate as a sentence."""
        likely = f"about {self.likely_input:,} tokens in and {self.likely_output:,} out"
        return f"{likely}; never more than {self.most:,} together"


def estimate(brief: Brief, most: int = BUDGET_TOKENS) -> Estimate:
    """Return what a digest of a brief will likely cost, with a repair turn, and what it can cost at most."""
    prompt = len(brief_text(brief, answer="json", limit=_room(most))) // CHARACTERS_PER_TOKEN
    output = min(ANSWER_TOKENS, 60 * len(brief.stories) + 200)
    return Estimate(min(2 * prompt + output, most), min(2 * output, most), most)


def _room(left: int) -> int:
    """Return how long a prompt may be, in bytes, that a budget has room for with its answer."""
    fixed = OVERHEAD_TOKENS + len(system_text()) + len(json.dumps(SCHEMA))
    return min(PROMPT_CHARACTERS, left - ANSWER_TOKENS - fixed)


@dataclass(slots=True)
class Budget:
    """Tokens that are left; what a request can cost is taken before it, what it did not cost is given back after."""

    left: int
    requests: int = 0
    input_tokens: int = 0
    output_tokens: int = 0

    def reserve(self, tokens: int) -> None:
        """Take tokens; raises ``ModelError`` where there are not so many."""
        if tokens > self.left:
            raise ModelError(Trouble.BUDGET)
        self.left -= tokens
        self.requests += 1

    def settle(self, reserved: int, reply: Reply | None, *, billed: bool) -> None:
        """Give back what was not spent; what a server does not say counts as spent."""
        if reply is None:
            self.left += 0 if billed else reserved
        elif reply.input_tokens is not None and reply.output_tokens is not None:
            self.input_tokens += reply.input_tokens
            self.output_tokens += reply.output_tokens
            self.left += reserved - reply.input_tokens - reply.output_tokens

    def usage(self) -> dict[str, int]:
        """Return requests and tokens, for the digest."""
        return {"requests": self.requests, "input_tokens": self.input_tokens, "output_tokens": self.output_tokens}


@dataclass
class ModelWriter:
    """Makes a draft of a brief with a model; never raises for anything that a model or its server does."""

    model: Model
    name: str
    """The model's, as the digest shows it."""
    budget_tokens: int = BUDGET_TOKENS
    secrets: Sequence[str] = ()
    now: Callable[[], float] = time.monotonic
    sleep: Callable[[float], None] = time.sleep

    def compose(self, brief: Brief) -> Draft:
        """Return the model's draft with its usage, or the embedded writer's, labelled with the reason."""
        asking = _Asking(self, brief, Budget(self.budget_tokens), self.now() + SECONDS)
        try:
            draft = asking.draft()
        except ModelError as error:
            label = f"embedded (llm failed: {error.trouble})"
            return replace(compose_draft(brief), writer=label, usage=asking.budget.usage())
        return replace(draft, writer=f"llm ({self.name})", usage=asking.budget.usage())


@dataclass
class _Asking:
    """One digest's conversation with the model."""

    writer: ModelWriter
    brief: Brief
    budget: Budget
    ends_at: float
    form: Form = Form.TEXT
    prompt_tokens: int = 0
    """What the prompt took by the server's own count; 0 where it did not say."""

    def draft(self) -> Draft:
        prompt = self._prompt(_room(self.budget.left))
        turns: list[Turn] = [("user", prompt)]
        first, reply = self._answer(turns)
        found = self._review(first)
        if found.clean:
            return first
        best = self._put_right(found, [*turns, ("assistant", reply.text)])
        self._judge(best)
        return best.draft

    def _prompt(self, room: int) -> str:
        """Return the longest prompt that fits; bytes count, not characters."""
        limit = room
        while limit > 0:
            text = brief_text(self.brief, answer="json", limit=limit)
            if len(text.encode("utf-8", "replace")) <= room:
                return text
            limit = min(limit - 1000, limit * 3 // 4)
        raise ModelError(Trouble.BUDGET)

    def _review(self, draft: Draft) -> Review:
        return review(draft, self.brief, secrets=self.writer.secrets)

    def _put_right(self, found: Review, turns: Sequence[Turn]) -> Review:
        """Return the better of the draft and the model's second one; trouble on the way costs nothing but the turn."""
        try:
            second, _ = self._answer([*turns, ("user", _request_for(found.findings))], forms=(self.form,))
        except ModelError:
            return found
        again = self._review(second)
        return again if len(again.findings) < len(found.findings) else found

    def _judge(self, best: Review) -> None:
        faulty = {finding.place for finding in best.findings if finding.kind in UNFAITHFUL}
        sections = best.draft.sections
        said = len(best.draft.lead) + sum(1 + len(item.sentences) for part in sections for item in part.items)
        if said and len(faulty) >= UNFAITHFUL_SHARE * said:
            foreign = any(finding.kind is Kind.LANGUAGE for finding in best.findings)
            raise ModelError(Trouble.LANGUAGE if foreign else Trouble.UNFAITHFUL)

    # --- one answer ------------------------------------------------------------------------------------------------

    def _answer(self, turns: Sequence[Turn], forms: Sequence[Form] = ()) -> tuple[Draft, Reply]:
        """Return the draft of an answer, in the strictest form that the endpoint understands."""
        last = ModelError(Trouble.UNREADABLE)
        for form in forms or self.writer.model.forms:
            self.form = form
            try:
                reply = self._whole(turns, form)
                return self._read(reply), reply
            except ModelError as error:
                if error.trouble not in STEP_DOWN:
                    raise
                last = error
        raise last

    def _read(self, reply: Reply) -> Draft:
        if reply.finish == "refusal" or looks_like_a_refusal(reply.text):
            raise ModelError(Trouble.REFUSED)
        draft = draft_of(reply.text, self.brief)
        if draft is None:
            raise ModelError(Trouble.UNREADABLE)
        return draft

    def _whole(self, turns: Sequence[Turn], form: Form) -> Reply:
        """Return an answer that is not cut off; it is asked for a second time with twice the room."""
        reply = self._patient(turns, form, ANSWER_TOKENS)
        if reply.finish == "length":
            reply = self._patient([*turns[:-1], (turns[-1][0], turns[-1][1] + SHORTER)], form, 2 * ANSWER_TOKENS)
        if reply.finish == "length":
            raise ModelError(Trouble.TRUNCATED)
        return reply

    def _patient(self, turns: Sequence[Turn], form: Form, output_tokens: int) -> Reply:
        """Return an answer, asked for again where the server is busy or fails; the first trouble is the one named."""
        attempt, first = 0, None
        while True:
            attempt += 1
            try:
                return self._once(turns, form, output_tokens)
            except ModelError as error:
                first = first or error
                if error.trouble not in AGAIN or attempt == TRIES or error.wait_seconds > PATIENCE_SECONDS:
                    raise first from None
                self.writer.sleep(max(error.wait_seconds, float(attempt)))

    def _once(self, turns: Sequence[Turn], form: Form, output_tokens: int) -> Reply:
        seconds = min(REQUEST_SECONDS, self.ends_at - self.writer.now())
        if seconds <= 0:
            raise ModelError(Trouble.TIMEOUT)
        output_tokens = min(output_tokens, self.budget.left - self._input_most(turns))
        if output_tokens < LEAST_ANSWER_TOKENS:
            raise ModelError(Trouble.BUDGET)
        reserved = self._input_most(turns) + output_tokens
        self.budget.reserve(reserved)
        try:
            reply = self.writer.model.ask(system_text(), turns, form, output_tokens, seconds)
        except ModelError as error:
            self.budget.settle(reserved, None, billed=error.billed)
            raise
        self.budget.settle(reserved, reply, billed=True)
        if len(turns) == 1 and reply.input_tokens:
            self.prompt_tokens = reply.input_tokens
        return reply

    def _input_most(self, turns: Sequence[Turn]) -> int:
        """Return the most tokens that turns can take: as many as bytes, the prompt by the count of the server."""
        texts = [text for _, text in turns]
        known = self.prompt_tokens if len(turns) > 1 else 0
        counted = texts[1:] if known else [*texts, system_text(), json.dumps(SCHEMA)]
        return (
            known + sum(len(text.encode("utf-8", "replace")) for text in counted) + OVERHEAD_TOKENS * (1 + len(turns))
        )


SHORTER = "\n\nThe last answer was cut off. Be shorter: at most eight items, the other stories under headlines."


def _request_for(findings: Sequence[Finding]) -> str:
    """Return the repair turn: what was found, and that the whole is wanted again."""
    lines = [f"- {finding}" for finding in findings[:FOUND_MOST]]
    return (
        "A checker compared your answer with the stories and found:\n"
        + "\n".join(lines)
        + "\nPut these right, by what the stories say or by leaving it out, change nothing else, and answer with the "
        "whole JSON object again."
    )


def open_llm(desk: Desk) -> DirectWriter:
    """Return the writer ``llm`` with the options of ``[llm]``; nothing is asked yet.

    Raises :class:`~news_digest.errors.ConfigError` for options that cannot work, a missing key, a missing extra.
    """
    options: Mapping[str, object] = desk.options
    who = account(desk.options, desk.environment)
    most = options.get("max_tokens")
    writer = ModelWriter(
        open_model(who, SCHEMA),
        who.model,
        budget_tokens=most if isinstance(most, int) and most > 0 else BUDGET_TOKENS,
        secrets=(who.key,) if who.key else (),
    )
    return DirectWriter(desk.workspaces, "llm", writer.compose)
