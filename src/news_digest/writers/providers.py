"""Who offers models: addresses, the usual names of key variables, and what each endpoint understands.

All but Anthropic speak OpenAI's chat completions, so a provider is a line in a table. Addresses and variables are those
of the providers' own documentation, 2026-11.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlsplit

from news_digest.errors import ConfigError
from news_digest.model import Json

__all__ = ["PROVIDERS", "Account", "Provider", "account"]


@dataclass(frozen=True, slots=True)
class Provider:
    """An endpoint; without ``key_variable`` it needs no key (a server on this machine)."""

    base_url: str
    key_variable: str = ""
    dialect: str = "openai"
    output_limit: str = "max_tokens"
    """What the limit of the answer is called."""


PROVIDERS: Final[Mapping[str, Provider]] = {
    "openai": Provider("https://api.openai.com/v1", "OPENAI_API_KEY", output_limit="max_completion_tokens"),
    "anthropic": Provider("https://api.anthropic.com", "ANTHROPIC_API_KEY", dialect="anthropic"),
    "openrouter": Provider("https://openrouter.ai/api/v1", "OPENROUTER_API_KEY"),
    "gemini": Provider("https://generativelanguage.googleapis.com/v1beta/openai", "GEMINI_API_KEY"),
    "mistral": Provider("https://api.mistral.ai/v1", "MISTRAL_API_KEY"),
    "groq": Provider("https://api.groq.com/openai/v1", "GROQ_API_KEY"),
    "deepseek": Provider("https://api.deepseek.com", "DEEPSEEK_API_KEY"),
    "ollama": Provider("http://127.0.0.1:11434/v1"),
    "llamacpp": Provider("http://127.0.0.1:8080/v1"),
    "vllm": Provider("http://127.0.0.1:8000/v1"),
}


@dataclass(frozen=True)
class Account:
    """A provider as configured; the key is never shown."""

    name: str
    provider: Provider
    base_url: str
    model: str
    key: str

    def __repr__(self) -> str:
        """Return provider, address and model, and no key."""
        return f"Account({self.name!r}, {self.base_url!r}, {self.model!r})"


def account(options: Mapping[str, Json], environment: Mapping[str, str]) -> Account:
    """Return the account that the options ``provider``, ``model``, ``base_url`` and ``api_key_env`` describe.

    Raises :class:`~news_digest.errors.ConfigError` for an unknown provider, a missing model, a missing key, and for an
    address that would carry the key in clear text to another machine.
    """
    name = str(options.get("provider") or "openai").lower()
    provider = PROVIDERS.get(name)
    if provider is None:
        known = ", ".join(PROVIDERS)
        raise ConfigError("there is no such provider", thing=name, cause=f"known are {known}", hint="set llm.base_url")
    model = str(options.get("model") or "")
    if not model:
        raise ConfigError("cannot ask a model", thing="llm.model", cause="it is not set", hint="name one of its models")
    base_url = str(options.get("base_url") or provider.base_url)
    key = _key(str(options.get("api_key_env") or ""), provider, base_url, environment)
    host = urlsplit(base_url).hostname or ""
    if key and urlsplit(base_url).scheme != "https" and host not in ("127.0.0.1", "localhost", "::1"):
        raise ConfigError("cannot send a key unencrypted", thing=base_url, hint="use an https:// address")
    return Account(name, provider, base_url, model, key)


def _key(named: str, provider: Provider, base_url: str, environment: Mapping[str, str]) -> str:
    """Return the key: of the variable that the options name, else of the provider's own, for its own address only."""
    variable = named or (provider.key_variable if base_url == provider.base_url else "")
    key = environment.get(variable, "").strip() if variable else ""
    if variable and not key:
        hint = "put the key there, or name another variable with llm.api_key_env"
        raise ConfigError("cannot ask a model", thing=variable, cause="the variable is not set", hint=hint)
    return key
