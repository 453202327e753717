"""The real services on loopback with a scripted model, and automations on them that a test can run, age and look into."""

from __future__ import annotations

import base64
import hashlib
import hmac
import importlib.util
import json
import os
import signal
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from email.utils import format_datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from uuid import uuid4
from xml.sax.saxutils import escape

SOURCE = Path(__file__).resolve().parents[2] / "src"
LONG = 180
"""Seconds after which something hangs, also on a machine that has other things to do."""


# --- HTTP servers of the test ---------------------------------------------------------------------------------------


@dataclass
class Asked:
    """A request as it came."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes


class Loopback:
    """A server on a free port that answers with what ``answer`` returns: status, headers, body; None: hang up."""

    def __init__(self, answer: Callable[[Asked], tuple[int, dict[str, str], bytes] | None]) -> None:
        loopback, self.asked = self, list[Asked]()

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            wbufsize = -1
            disable_nagle_algorithm = True

            def serve(self) -> None:
                length = int(self.headers.get("Content-Length") or 0)
                headers = {name.lower(): value for name, value in self.headers.items()}
                asked = Asked(self.command, self.path, headers, self.rfile.read(length))
                loopback.asked.append(asked)
                found = answer(asked)
                if found is None:
                    self.close_connection = True
                    return
                status, headers, body = found
                self.send_response(status)
                for name, value in {**headers, "Content-Length": str(len(body))}.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(body)
                self.wfile.flush()

            do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = serve  # noqa: N815

            def log_message(self, *_: object) -> None:
                """Stay quiet."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()


@dataclass
class Feed:
    """An RSS feed; ``secret`` is a header that it demands."""

    stories: list[tuple[str, str]]
    down: bool = False
    secret: str = ""
    server: Loopback = field(init=False)

    def __post_init__(self) -> None:
        self.server = Loopback(self._answer)

    @property
    def url(self) -> str:
        return f"{self.server.url}/rss.xml"

    def _answer(self, asked: Asked) -> tuple[int, dict[str, str], bytes]:
        if self.down or (self.secret and asked.headers.get("x-key") != self.secret):
            return 404, {}, b"gone"
        at = format_datetime(datetime.now(UTC) - timedelta(hours=1))
        items = "".join(
            f"<item><title>{escape(title)}</title><link>{escape(link)}</link><guid>{escape(link)}</guid>"
            f"<pubDate>{at}</pubDate><description>{escape(title)} in a few more words.</description></item>"
            for title, link in self.stories
        )
        channel = f"<channel><title>Loop</title><link>https://loop.test/</link>{items}</channel>"
        return 200, {"Content-Type": "application/rss+xml"}, f'<rss version="2.0">{channel}</rss>'.encode()


def stories(*numbers: int, about: str = "robots") -> list[tuple[str, str]]:
    return [(f"Story {number} about {about}", f"https://loop.test/{about}/{number}") for number in numbers]


class Gate:
    """A proxy in front of the automation service; ``rule`` may answer in its place, or hang up ("drop")."""

    def __init__(self, target: str) -> None:
        self._target = target
        self.rule: Callable[[Asked], str | int | None] = lambda _asked: None
        self.server = Loopback(self._answer)
        self.url = self.server.url + "/api/automation"

    def _answer(self, asked: Asked) -> tuple[int, dict[str, str], bytes] | None:
        ruled = self.rule(asked)
        if ruled == "drop":
            return None
        if isinstance(ruled, int):
            return ruled, {}, b"down"
        path = asked.path.removeprefix("/api/automation")
        status, body = send(
            asked.method, self._target + path, asked.body or None, asked.headers.get("authorization", "")
        )
        return status, {"Content-Type": "application/json"}, body


def send(method: str, url: str, body: bytes | None, authorization: str, **headers: str) -> tuple[int, bytes]:
    wanted = {
        "Content-Type": "application/json",
        **headers,
        **({"Authorization": authorization} if authorization else {}),
    }
    request = urllib.request.Request(url, body, wanted, method=method)
    try:
        with urllib.request.urlopen(request, timeout=LONG) as answer:
            return answer.status, answer.read()
    except urllib.error.HTTPError as error:
        return error.code, error.read()


# --- the services ---------------------------------------------------------------------------------------------------


class Stage:
    """The three services; ``stack`` is the material's own ``Stack``."""

    def __init__(self, shared: Path, python: str, path: str = "") -> None:
        specification = importlib.util.spec_from_file_location("start_stack", shared / "openhands" / "start_stack.py")
        assert specification is not None
        assert specification.loader is not None
        module: Any = importlib.util.module_from_spec(specification)
        specification.loader.exec_module(module)
        module.OH_PYTHON = python
        self.spawned: dict[str, tuple[list[str], dict[str, str]]] = {}
        self.stack = module.Stack(path=path or None)
        spawn = self.stack._spawn

        opened: list[Any] = []

        def kept_open(path: Path, mode: str) -> Any:
            opened.append(path.open(mode))
            return opened[-1]

        def remembered(name: str, argv: list[str], env: dict[str, str]) -> Any:
            self.spawned[name] = (argv, env)
            process = spawn(name, argv, env)
            opened.pop().close()  # The process has its own; the material's code leaves this one open.
            return process

        module.open = kept_open  # In place of the built-in, which its code calls

        self.stack._spawn = remembered
        self.stack.start()
        self.api = self.stack.automation_url
        self.agent_url = self.stack.agent_url
        self.workspaces = self.stack.root / "workspaces"

    def close(self) -> None:
        self.stack.stop()

    def kill_agent(self, number: int = signal.SIGKILL) -> None:
        """Stop the agent server with a signal."""
        name, process = next(pair for pair in self.stack.procs if pair[0] == "agent")
        process.send_signal(number)
        process.wait(LONG)
        self.stack.procs.remove((name, process))

    def start_agent(self) -> None:
        """Start it again, on the same port and the same disk."""
        argv, env = self.spawned["agent"]
        process = self.stack._spawn("agent", argv, env)
        self.stack._wait("agent", process, f"{self.agent_url}/ready", time.time() + LONG)

    # --- the model ---------------------------------------------------------------------------------------------------

    def mode(self, mode: str) -> None:
        send("POST", f"{self.stack.llm_url}/__mode", json.dumps({"mode": mode}).encode(), "")

    def prompts(self) -> list[dict[str, Any]]:
        """Return the bodies of all requests to the model since they were cleared."""
        return [each["body"] for each in json.loads(send("GET", f"{self.stack.llm_url}/__requests", None, "")[1])]

    def clear_prompts(self) -> None:
        send("DELETE", f"{self.stack.llm_url}/__requests", None, "")

    # --- the agent server --------------------------------------------------------------------------------------------

    def agent(self, method: str, path: str, body: Any = None) -> Any:
        data = None if body is None else json.dumps(body).encode()
        status, answer = send(method, self.agent_url + path, data, "", **{"X-Session-API-Key": self.stack.session_key})
        return json.loads(answer or b"null") if status < 400 else None

    def status(self, ticket: str) -> str:
        """Return a conversation's status; empty where there is none."""
        found = self.agent("GET", f"/api/conversations/{ticket}")
        return str(found["execution_status"]) if found else ""

    def settle(self, ticket: str) -> str:
        """Wait until a conversation is neither idle nor running, and return its status."""
        return str(until(lambda: (found := self.status(ticket)) not in {"idle", "running"} and found))

    def conversations(self) -> set[str]:
        """Return the ids of all conversations."""
        found, page = set(), ""
        while True:
            answer = self.agent("GET", f"/api/conversations/search?limit=100{page}")
            found |= {each["id"] for each in answer["items"]}
            if not answer.get("next_page_id"):
                return found
            page = f"&page_id={answer['next_page_id']}"

    def create(self, ticket: str, **fields: Any) -> Any:
        """Create a conversation of somebody else's."""
        model = {"model": "openai/fake", "base_url": f"{self.stack.llm_url}/v1", "api_key": "sk-fake", "num_retries": 0}
        body = {
            "conversation_id": ticket,
            "workspace": {"working_dir": str(self.stack.root / "elsewhere" / ticket)},
            "agent": {"kind": "Agent", "llm": model, "tools": []},
            "initial_message": {"content": [{"text": "Write about nothing."}]},
            "autotitle": False,
            **fields,
        }
        return self.agent("POST", "/api/conversations", body)

    # --- the automation service ---------------------------------------------------------------------------------------

    def service(self, method: str, path: str, body: Any = None) -> Any:
        data = body if isinstance(body, bytes) else None if body is None else json.dumps(body).encode()
        kind = "application/gzip" if isinstance(body, bytes) else "application/json"
        status, answer = send(method, self.api + path, data, f"Bearer {self.stack.local_key}", **{"Content-Type": kind})
        return json.loads(answer or b"null") if status < 400 else None

    def run_log(self, run: Mapping[str, Any]) -> tuple[str, str]:
        """Return stdout and stderr of a run, once its process has ended (it calls back a moment before)."""
        query = f"command_id__eq={run['bash_command_id']}&limit=100&sort_order=TIMESTAMP"

        def events() -> list[dict[str, Any]]:
            found: list[dict[str, Any]] = self.agent("GET", f"/api/bash/bash_events/search?{query}")["items"]
            return found if any(each.get("exit_code") is not None for each in found) else []

        items = until(events)
        out, err = ("".join(each.get(name) or "" for each in items) for name in ("stdout", "stderr"))
        return out, err

    def finished(self, automation_id: str, run_id: str, seconds: float = LONG) -> dict[str, Any]:
        """Wait for a run's end and return it."""

        def ended() -> dict[str, Any] | None:
            runs = self.service("GET", f"/v1/{automation_id}/runs?limit=100")["runs"]
            run: dict[str, Any] = next(each for each in runs if each["id"] == run_id)
            return run if run["status"] in {"COMPLETED", "FAILED"} else None

        found: dict[str, Any] = until(ended, seconds)
        return found

    @contextmanager
    def model_at(self, url: str) -> Iterator[None]:
        """Let the server's settings point to another model for a while."""
        self._point(url)
        try:
            yield
        finally:
            self._point(f"{self.stack.llm_url}/v1")

    def _point(self, url: str) -> None:
        model = {"base_url": url, "num_retries": 0}
        self.agent("PATCH", "/api/settings", {"agent_settings_diff": {"llm": model}})


def until(found: Callable[[], Any], seconds: float = LONG) -> Any:
    """Return the first true answer; fails after so many seconds."""
    ends = time.monotonic() + seconds
    while time.monotonic() < ends:
        if answer := found():
            return answer
        time.sleep(0.05)
    raise AssertionError(f"nothing came within {seconds} s")


# --- an automation, run by hand ---------------------------------------------------------------------------------------


@dataclass
class Ran:
    """How a run ended."""

    code: int
    out: str
    err: str
    told: list[dict[str, Any]]
    """What it called back."""

    @property
    def end(self) -> dict[str, Any]:
        """Return the one callback; a run has exactly one."""
        assert len(self.told) == 1, (self.told, self.err)
        return self.told[0]


@dataclass
class Automation:
    """A new automation on the services, run as the service runs it but for the callback, which a recorder takes."""

    stage: Stage
    feed: Feed
    config: dict[str, Any] = field(default_factory=dict)
    use_kv: bool = True
    id: str = ""
    gate: Gate = field(init=False)
    recorder: Loopback = field(init=False)

    def __post_init__(self) -> None:
        self.gate = Gate(self.stage.api)
        self.recorder = Loopback(lambda _asked: (200, {}, b"{}"))
        upload = self.stage.service("POST", "/v1/uploads?name=x", b"\x1f\x8b" + bytes(20))
        trigger = {"type": "cron", "schedule": "0 0 1 1 *", "timezone": "UTC"}
        made = {
            "name": "t",
            "trigger": trigger,
            "tarball_path": upload["tarball_path"],
            "entrypoint": "python3 main.py",
        }
        self.id = self.stage.service("POST", "/v1", made)["id"]

    def close(self) -> None:
        self.gate.server.close()
        self.recorder.close()

    # --- running ------------------------------------------------------------------------------------------------------

    def environment(self, **changes: str | None) -> dict[str, str]:
        """Return the environment of a new run as the service injects it; None takes a variable out."""
        run_id = str(uuid4())
        event = {"trigger": "manual", "automation_id": self.id, "automation_name": "t"}
        given: dict[str, str | None] = {
            "PATH": os.environ["PATH"],
            "HOME": str(self.stage.stack.root / "agent"),
            "LANG": "C.UTF-8",
            "PYTHONPATH": str(SOURCE),
            "AGENT_SERVER_URL": self.stage.agent_url,
            "SESSION_API_KEY": self.stage.stack.session_key,
            "WORKSPACE_BASE": str(self.stage.workspaces / "automation-runs" / run_id),
            "AUTOMATION_API_URL": self.gate.url,
            "AUTOMATION_CALLBACK_URL": f"{self.recorder.url}/v1/runs/{run_id}/complete",
            "AUTOMATION_CALLBACK_API_KEY": self.stage.stack.local_key,
            "AUTOMATION_KV_TOKEN": self.token() if self.use_kv else None,
            "AUTOMATION_EVENT_PAYLOAD": json.dumps(event),
            "AUTOMATION_RUN_ID": run_id,
            "AUTOMATION_ID": self.id,
            **changes,
        }
        return {name: value for name, value in given.items() if value is not None}

    def prepared(self, **changes: str | None) -> dict[str, Any]:
        """Return folder and environment of a new run, with its configuration in place."""
        environment = self.environment(**changes)
        folder = Path(environment.get("WORKSPACE_BASE") or self.stage.stack.root / "cloud")
        folder.mkdir(parents=True, exist_ok=True)
        document = {
            "format": "news-digest",
            "feeds": [{"url": self.feed.url}],
            "topics": ["robots"],
            "allow_private_hosts": True,
            **self.config,
        }
        (folder / "config.json").write_text(json.dumps(document))
        return {"folder": str(folder), "environment": environment}

    def start(self, **changes: str | None) -> subprocess.Popen[str]:
        """Start a run and return its process."""
        job = self.prepared(**changes)
        return subprocess.Popen(
            [sys.executable, "-m", "news_digest.automation", job["folder"]],
            cwd=job["folder"],
            env=job["environment"],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def ended(self, process: subprocess.Popen[str]) -> Ran:
        """Wait for a run and return how it ended; callbacks of runs that overlap come together."""
        out, err = process.communicate(timeout=LONG)
        told = [json.loads(each.body) for each in self.recorder.asked if each.path.endswith("/complete")]
        self.recorder.asked.clear()
        return Ran(process.returncode, out, err, told)

    def run(self, **changes: str | None) -> Ran:
        """Run once."""
        return self.ended(self.start(**changes))

    # --- looking and meddling -------------------------------------------------------------------------------------------

    def token(self, age: timedelta = timedelta(0)) -> str:
        """Return the KV token of a run: a JWT (RFC 7519) signed with HS256, valid for 24 hours."""
        now = int(time.time() - age.total_seconds())
        claims = {"automation_id": self.id, "run_id": str(uuid4()), "iat": now, "exp": now + 86_400}
        parts = [json.dumps(part).encode() for part in ({"alg": "HS256", "typ": "JWT"}, claims)]
        signed = b".".join(map(_base64, parts))
        return (
            signed + b"." + _base64(hmac.digest(self.stage.stack.kv_secret.encode(), signed, hashlib.sha256))
        ).decode()

    def state(self) -> dict[str, Any]:
        """Return the state document; empty where there is none."""
        file = self.state_file()
        if self.use_kv:
            found = self.stage.service("GET", f"/v1/kv/state?meta=true&automation_id={self.id}")
            state: dict[str, Any] = found["value"] if found else {}
        else:
            state = json.loads(file.read_text()) if file.exists() else {}
        return state

    def state_file(self) -> Path:
        return Path(self.stage.workspaces) / "automation-state" / f"news_digest_{self.id}.json"

    def put(self, state: Mapping[str, Any]) -> None:
        """Write the state document, as a test may."""
        self.stage.service("PUT", f"/v1/kv/state?automation_id={self.id}", state)

    def task(self) -> dict[str, Any]:
        """Return today's record; empty where there is none."""
        task: dict[str, Any] = self.state().get("tasks", {}).get(f"news:{today()}", {})
        return task

    def age(self, seconds: float) -> None:
        """Make every open record of the state so much older."""
        state = self.state()
        for record in state["tasks"].values():
            if record["status"] in {"starting", "active"}:
                record["last_activity"] -= seconds
        self.put(state)

    def next_day(self) -> None:
        """Let everything in the state be a day older, and today unclaimed."""
        state = self.state()
        day = today() - timedelta(days=1)
        moved = {}
        for record in state["tasks"].values():
            older = {**record, "period": str(day)}
            for name in ("last_activity", "completed_at"):
                if name in older:
                    older[name] -= 86_400
            moved[f"news:{day}"] = older
        if "last_digest" in state:
            state["last_digest"] |= {"period": str(day), "written_at": state["last_digest"]["written_at"] - 86_400}
        self.put({**state, "tasks": moved})


def today() -> date:
    return datetime.now(UTC).date()


def _base64(data: bytes) -> bytes:
    return base64.urlsafe_b64encode(data).rstrip(b"=")
