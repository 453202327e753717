"""Tell the automation service how a run ended, and where it stands.

Without a call at its end a run hangs in RUNNING until the service's watchdog looks, 17 minutes later by default. An
error goes as text: three errors of the service's own kind would switch the automation off.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from datetime import timedelta
from typing import Final

from news_digest.errors import HttpError
from news_digest.model import Json
from news_digest.openhands.injected import Injected
from news_digest.ports import Http, Request, Sleep

__all__ = ["Callback"]

DEADLINE: Final = timedelta(seconds=15)
PHASE_DEADLINE: Final = timedelta(seconds=2)
"""A phase is decoration; a run does not wait for it."""
PAUSES: Final = (timedelta(seconds=1), timedelta(seconds=4))
"""Between tries: a service that restarts is back by then, and a run must not hang on its end."""
ERROR_CHARACTERS: Final = 2000
PHASE_CHARACTERS: Final = 200

_ENDED_ALREADY: Final = 409
_TRANSIENT: Final = frozenset({429, 500, 502, 503, 504})


class Callback:
    """The service's ear for one run; ``http`` makes the client when it is first needed.

    Without an address (a run by hand) nothing is sent.
    """

    def __init__(self, injected: Injected, http: Callable[[], Http], sleep: Sleep) -> None:
        self._url, self._phase_url = injected.callback_url, injected.phase_url
        self._key, self._run_id = injected.callback_key, injected.run_id
        self._http, self._sleep = http, sleep

    def complete(self, *, error: str = "", conversation_id: str = "") -> str:
        """Report the end; return what went wrong with that, empty when the service knows.

        An end that was reported before is left as it is. Tries three times where trying again can help.
        """
        if not self._url:
            return ""
        body: dict[str, Json] = {"status": "FAILED" if error else "COMPLETED"}
        if self._run_id:
            body["run_id"] = self._run_id
        if conversation_id:
            body["conversation_id"] = conversation_id
        if error:
            body["error"] = error[:ERROR_CHARACTERS]
        trouble, again = self._post(self._url, body, DEADLINE)
        for pause in PAUSES:
            if not again:
                break
            self._sleep(pause)
            trouble, again = self._post(self._url, body, DEADLINE)
        return trouble

    def phase(self, text: str) -> None:
        """Show what the run is doing; failing at that is no matter."""
        if self._phase_url and text:
            self._post(self._phase_url, {"phase": text[:PHASE_CHARACTERS]}, PHASE_DEADLINE)

    def _post(self, url: str, body: Mapping[str, Json], deadline: timedelta) -> tuple[str, bool]:
        """Return what went wrong, and whether trying again can help."""
        headers = [("Content-Type", "application/json"), ("Accept", "application/json")]
        if self._key:
            headers.append(("Authorization", f"Bearer {self._key}"))
        data = json.dumps(body).encode("ascii")
        try:
            response = self._http().send(
                Request("POST", url, tuple(headers), data, deadline=deadline, max_bytes=1024 * 1024, redirects=0)
            )
        except HttpError as error:
            return error.cause or str(error), True
        if response.status < 300 or response.status == _ENDED_ALREADY:  # noqa: PLR2004 - any success
            return "", False
        return f"HTTP {response.status}", response.status in _TRANSIENT
