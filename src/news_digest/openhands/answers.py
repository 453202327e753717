"""What the agent server says of a conversation and of its settings, read out of its JSON and checked. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import date
from typing import Final

from news_digest.model import Draft, Json, Period
from news_digest.openhands.server import one_line

__all__ = ["TAG", "brief_tag", "day_of", "model_of", "secret_values", "tools_of", "with_usage", "writer_name"]

TAG: Final = "brief"
"""Conversation tag with the brief's hash; the server takes lower-case letters and digits as a tag's name."""


def brief_tag(found: Mapping[str, Json]) -> str:
    """Return the hash of the brief that a conversation was given; empty where it was created without one."""
    tags = found.get("tags")
    return str(tags.get(TAG, "")) if isinstance(tags, Mapping) else ""


def tools_of(found: Mapping[str, Json]) -> Sequence[Mapping[str, Json]]:
    """Return the tools that a conversation's agent has."""
    agent = found.get("agent")
    tools = agent.get("tools") if isinstance(agent, Mapping) else None
    return [tool for tool in tools or () if isinstance(tool, Mapping)]


def model_of(settings: Mapping[str, Json]) -> Mapping[str, Json]:
    """Return the model of the server's settings; empty where none is set."""
    agent = settings.get("agent_settings")
    model = agent.get("llm") if isinstance(agent, Mapping) else None
    return model if isinstance(model, Mapping) else {}


def secret_values(model: Mapping[str, Json]) -> list[str]:
    """Return what of a model's settings must not be repeated, the longest first."""
    held = [value for key, value in model.items() if key == "api_key" or key.startswith("aws_") or "token" in key]
    headers = model.get("extra_headers")
    held += list(headers.values()) if isinstance(headers, Mapping) else []
    return sorted((value for value in held if isinstance(value, str) and value), key=len, reverse=True)


def writer_name(found: Mapping[str, Json]) -> str:
    """Return who wrote, as a digest says it."""
    agent = found.get("agent")
    model = model_of({"agent_settings": agent}).get("model")
    return f"openhands ({one_line(str(model))})" if model else "openhands"


def with_usage(draft: Draft, found: Mapping[str, Json]) -> Draft:
    """Return the draft with what the conversation cost: requests to the model and tokens."""
    stats = found.get("stats")
    used = stats.get("usage_to_metrics") if isinstance(stats, Mapping) else None
    totals: dict[str, int] = {}
    for metrics in used.values() if isinstance(used, Mapping) else ():
        counted = metrics.get("accumulated_token_usage") if isinstance(metrics, Mapping) else None
        if isinstance(counted, Mapping):
            calls = metrics.get("token_usages")
            _add(totals, "requests", len(calls) if isinstance(calls, list) else 0)
            _add(totals, "input_tokens", counted.get("prompt_tokens"))
            _add(totals, "output_tokens", counted.get("completion_tokens"))
    return replace(draft, usage=totals)


def _add(totals: dict[str, int], name: str, count: Json) -> None:
    totals[name] = totals.get(name, 0) + (count if isinstance(count, int) else 0)


def day_of(workspace: str) -> Period | None:
    """Return the day that a workspace's path ends with."""
    try:
        return Period(date.fromisoformat(workspace.rpartition("/")[2]))
    except ValueError:
        return None
