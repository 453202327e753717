"""Topics as people phrase them: synonyms, names of companies and products, per common topic.

Entries are separated by commas. One with a capital letter is matched as written, any other in any case; a ``*`` at its
end stands for any ending, and a plural s is always allowed.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from news_digest.words import fold

__all__ = ["LEXICON_VERSION", "TOPICS", "Topic", "topic_for"]

LEXICON_VERSION = 1


@dataclass(frozen=True, slots=True)
class Topic:
    """A common topic: what people call it, words that settle it alone, and words that only hint at it."""

    phrase: str
    names: str
    strong_words: str
    weak_words: str = ""

    def strong(self, text: str) -> frozenset[str]:
        """Return the distinct settling words that a text has."""
        return _found(self.strong_words, text)

    def weak(self, text: str) -> frozenset[str]:
        """Return the distinct hinting words that a text has."""
        return _found(self.weak_words, text)


def topic_for(phrase: str) -> Topic | None:
    """Return the known topic that a phrase means; None for any other phrase."""
    return _by_name().get(_key(phrase))


def _key(phrase: str) -> str:
    plain = " ".join(re.findall(r"[\w+#]+", fold(phrase)))
    return re.sub(r"^(?:the|news about|news on|latest in|latest on|all about) | (?:news|stories|updates)$", "", plain)


@cache
def _by_name() -> Mapping[str, Topic]:
    return {_key(name): topic for topic in TOPICS for name in (topic.phrase, *_entries(topic.names))}


def _found(listed: str, text: str) -> frozenset[str]:
    if not listed or not text:
        return frozenset()
    return frozenset(match.casefold().removesuffix("s") for match in _pattern(listed).findall(text))


@cache
def _pattern(listed: str) -> re.Pattern[str]:
    return re.compile(rf"(?<![\w-])(?:{'|'.join(_expression(entry) for entry in _entries(listed))})(?!\w)")


def _entries(listed: str) -> list[str]:
    return [entry.strip() for entry in " ".join(listed.split()).split(",") if entry.strip()]


def _expression(entry: str) -> str:
    body = re.escape(entry.removesuffix("*")).replace(r"\ ", r"[\s-]+")
    body += r"\w*" if entry.endswith("*") else "(?:s|es)?"
    return body if entry != entry.lower() else f"(?i:{body})"


TOPICS = (
    Topic(
        "artificial intelligence",
        "ai, a.i., machine learning, ml, deep learning, generative ai, genai, llm, llms, large language models",
        """
        AI, A.I., artificial intelligence, machine learning, deep learning, neural network*, language model, LLM,
        generative, chatbot, OpenAI, ChatGPT, GPT, Anthropic, Claude, Gemini, DeepMind, Mistral, Llama, DeepSeek, Qwen,
        model weights, diffusion model, reinforcement learning, fine-tun*, agentic, copilot, transformer, xAI, Grok
        """,
        "model, agent, training, inference, prompt, GPU, Nvidia, benchmark, reasoning",
    ),
    Topic(
        "open source",
        "open-source, opensource, free software, foss, floss, oss, open source software",
        """
        open source, opensource, open sourced, open sourcing, free software, FOSS, GPL, MIT license, Apache license,
        Linux, GitHub repo*, open weight, self-hosted, maintainer
        """,
        "GitHub, repository, fork, contributor, license, Apache, kernel, Debian, community",
    ),
    Topic(
        "developer tools",
        "devtools, dev tools, developer tooling, programming tools, tools for developers",
        """
        developer tool*, devtools, IDE, SDK, CLI, VS Code, Visual Studio, compiler, debugger, linter, GitHub, GitLab,
        npm, PyPI, package manager, Copilot, Cursor, Claude Code, Codex, JetBrains, API, Docker, Kubernetes, git, CI
        """,
        "developer, coding, code, programm*, framework, library, Python, JavaScript, TypeScript, Rust, testing, deploy*",
    ),
)
