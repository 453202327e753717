"""Deploy a bundle: create the automation, or change what differs; twice changes nothing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Final

from news_digest.errors import ConfigError
from news_digest.model import Json
from news_digest.openhands.bundle import Bundle
from news_digest.openhands.service import AutomationService
from news_digest.ports import Clock, Sleep

__all__ = ["Ended", "Plan", "Wanted", "apply", "follow", "plan"]

TAG: Final = "news-digest"
ENTRYPOINT: Final = "python3 main.py"
SETUP: Final = "setup.sh"
LEAST_TIMEOUT: Final = 900
MOST_TIMEOUT: Final = 1800
"""The service's own default and limit, in seconds."""
MARGIN: Final = 180
"""Beyond reading and writing: installing for the first time, settling, delivering."""

POLL: Final = timedelta(seconds=1)
LONGEST: Final = timedelta(minutes=35)
"""The longest run that the service allows, and the wait for its start."""
_ENDED: Final = frozenset({"COMPLETED", "FAILED", "CANCELLED", "SKIPPED"})


@dataclass(frozen=True, slots=True)
class Wanted:
    """The automation as it should be, but for the bundle."""

    name: str
    schedule: str
    timezone: str
    seconds: int
    """How long a run may read and write."""

    def fields(self) -> dict[str, Json]:
        """Return what the service stores of it."""
        return {
            "name": self.name,
            "trigger": {"type": "cron", "schedule": self.schedule, "timezone": self.timezone},
            "entrypoint": ENTRYPOINT,
            "setup_script_path": SETUP,
            "timeout": min(MOST_TIMEOUT, max(LEAST_TIMEOUT, self.seconds + MARGIN)),
            "tags": [TAG],
        }


@dataclass(frozen=True, slots=True)
class Plan:
    """What a deployment would do."""

    automation_id: str
    """Empty: it will be created."""
    uploads: bool
    changes: Mapping[str, Json] = field(default_factory=dict)

    @property
    def is_needed(self) -> bool:
        """Return whether anything would change."""
        return not self.automation_id or self.uploads or bool(self.changes)

    def lines(self) -> Iterator[str]:
        """Yield what it does, one sentence each."""
        if not self.is_needed:
            yield f"nothing to change: automation {self.automation_id} is as configured"
            return
        yield f"update automation {self.automation_id}" if self.automation_id else "create a new automation"
        if self.uploads:
            yield "upload the bundle"
        for name, value in self.changes.items():
            if self.automation_id:
                yield f"set {name} to {value}"


def plan(service: AutomationService, bundle: Bundle, wanted: Wanted) -> Plan:
    """Return what is to be done, without doing it; raises ``ConfigError`` where the name is taken twice."""
    found = service.named(wanted.name)
    if len(found) > 1:
        ids = ", ".join(str(each.get("id")) for each in found)
        raise ConfigError(
            "cannot tell which automation is meant",
            thing=wanted.name,
            cause=f"there are {len(found)}: {ids}",
            hint="delete the others, or deploy under another --name",
        )
    fields = wanted.fields()
    if not found:
        return Plan("", uploads=True, changes=fields)
    there = found[0]
    changes = {name: value for name, value in fields.items() if there.get(name) != value}
    automation_id = str(there["id"])
    return Plan(automation_id, uploads=service.tarball(automation_id) != bundle.tarball(), changes=changes)


def apply(service: AutomationService, bundle: Bundle, wanted: Wanted, planned: Plan) -> str:
    """Do what was planned and return the automation's id."""
    changes = dict(planned.changes)
    if planned.uploads:
        changes["tarball_path"] = service.upload(TAG, bundle.tarball())
    if not planned.automation_id:
        return str(service.create({**wanted.fields(), **changes})["id"])
    if changes:
        service.update(planned.automation_id, changes)
    return planned.automation_id


@dataclass(frozen=True, slots=True)
class Ended:
    """How a run ended, and the digest of its day."""

    status: str
    error: str = ""
    conversation_id: str = ""
    digest: str = ""


def follow(service: AutomationService, automation_id: str, run_id: str, *, clock: Clock, sleep: Sleep) -> Ended:
    """Wait until a run has ended and return how; a run that does not end in time has the status it was left with."""
    ends = clock() + LONGEST
    while True:
        run = service.run(automation_id, run_id)
        status = str(run.get("status") or "unknown")
        if status in _ENDED or clock() >= ends:
            break
        sleep(POLL)
    said = service.state(automation_id).get("last_digest") if status == "COMPLETED" else None
    text = said.get("text") if isinstance(said, Mapping) else ""
    return Ended(status, str(run.get("error_detail") or ""), str(run.get("conversation_id") or ""), str(text or ""))
