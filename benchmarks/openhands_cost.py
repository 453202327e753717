"""What a run under the automation service costs on the real services: requests by addressee, model calls, seconds.

    python benchmarks/openhands_cost.py [FOLDER]    FOLDER: the material with start_stack.py, by default beside us

Needs the environment of ``make test-openhands``. Three runs of one automation: a day's first, its second, and the next
day's with nothing new.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from tests.openhands.environment import find  # noqa: E402 - found through the line above
from tests.openhands.stage import Asked, Automation, Feed, Loopback, Ran, Stage, send, stories  # noqa: E402


class Counted(Loopback):
    """A proxy in front of the agent server that remembers what was asked."""

    def __init__(self, target: str) -> None:
        self._target = target
        super().__init__(self._passed_on)

    def _passed_on(self, asked: Asked) -> tuple[int, dict[str, str], bytes]:
        wanted = ("x-session-api-key", "x-expose-secrets")
        headers = {name: asked.headers[name] for name in wanted if name in asked.headers}
        status, body = send(asked.method, self._target + asked.path, asked.body or None, "", **headers)
        return status, {"Content-Type": "application/json"}, body


def main() -> None:
    """Print the table."""
    shared = Path(sys.argv[1]) if sys.argv[1:] else ROOT.parent / "shared"
    stage, feed = Stage(shared, find()), Feed(stories(*range(1, 9)))
    agent = Counted(stage.agent_url)
    ours = Automation(stage, feed)
    try:
        print(f"{'run':<24}{'KV':>4}{'agent':>7}{'feed':>6}{'callback':>10}{'model':>7}{'tokens':>8}{'seconds':>9}")
        for name in ("first of the day", "second of the day", "next day, nothing new"):
            _row(name, stage, ours, agent, feed)
            if name.startswith("second"):
                ours.next_day()
    finally:
        stage.close()


def _row(name: str, stage: Stage, ours: Automation, agent: Counted, feed: Feed) -> None:
    for seen in (ours.gate.server.asked, agent.asked, feed.server.asked):
        seen.clear()
    stage.mode("finish_only")
    stage.clear_prompts()
    began = time.monotonic()
    ran: Ran = ours.run(AGENT_SERVER_URL=agent.url)
    seconds = time.monotonic() - began
    tokens = sum(len(str(prompt)) for prompt in stage.prompts()) // 4
    counts = (len(ours.gate.server.asked), len(agent.asked), len(feed.server.asked), len(ran.told))
    kv, asked, read, told = counts
    print(
        f"{name:<24}{kv:>4}{asked:>7}{read:>6}{told:>10}{len(stage.prompts()):>7}{tokens:>8}{seconds:>9.1f}"
        f"  {ran.told[0]['status']}"
    )
    print("    agent:", ", ".join(f"{each.method} {each.path[:40]}" for each in agent.asked) or "-", file=sys.stderr)
    print("    KV:", ", ".join(f"{each.method} {each.path[18:60]}" for each in ours.gate.server.asked), file=sys.stderr)


if __name__ == "__main__":
    main()
