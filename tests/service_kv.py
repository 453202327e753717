"""The real automation service on loopback with SQLite, for its KV store alone: that needs no agent server."""

from __future__ import annotations

import base64
import hashlib
import hmac
import io
import json
import os
import secrets
import shutil
import socket
import subprocess
import tarfile
import tempfile
import time
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any, Self
from uuid import uuid4

READY_SECONDS = 90


class KvServiceProcess:
    """Context manager; ``automation()`` makes an automation with no keys and returns a run's KV token for it."""

    def __init__(self, python: str) -> None:
        self._python = python
        self._root = Path(tempfile.mkdtemp(prefix="nd-kv-"))
        self._local_key, self._secret = secrets.token_urlsafe(24), secrets.token_urlsafe(24)
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self._port = free.getsockname()[1]
        self._host = f"http://127.0.0.1:{self._port}"
        self.url = f"{self._host}/api/automation"

    def __enter__(self) -> Self:
        root = self._root
        environment = {
            "PATH": os.environ.get("PATH", "/usr/bin:/bin"),
            "HOME": str(root),
            "LANG": "C.UTF-8",
            "AUTOMATION_DB_URL": f"sqlite+aiosqlite:///{root}/automations.db",
            "AUTOMATION_AGENT_SERVER_URL": "http://127.0.0.1:9",
            "AUTOMATION_AGENT_SERVER_API_KEY": "none",
            "AUTOMATION_LOCAL_API_KEY": self._local_key,
            "AUTOMATION_KV_SECRET": self._secret,
            "AUTOMATION_BASE_URL": self._host,
            "AUTOMATION_WORKSPACE_BASE": str(root / "workspaces"),
            "LOCAL_STORAGE_PATH": str(root / "storage"),
            "LOG_LEVEL": "WARNING",
            "DO_NOT_TRACK": "1",
            "OPENHANDS_SUPPRESS_BANNER": "1",
            "LITELLM_LOCAL_MODEL_COST_MAP": "True",
        }
        arguments = ["-m", "uvicorn", "openhands.automation.app:app", "--host", "127.0.0.1", "--port", str(self._port)]
        with (root / "log").open("wb") as log:
            self._process = subprocess.Popen(
                [self._python, *arguments], cwd=root, env=environment, stdout=log, stderr=subprocess.STDOUT
            )
        try:
            self._wait()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self._process.terminate()
        try:
            self._process.wait(15)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait(5)
        shutil.rmtree(self._root, ignore_errors=True)

    def _wait(self) -> None:
        deadline = time.monotonic() + READY_SECONDS
        while True:
            try:
                with urllib.request.urlopen(f"{self._host}/ready", timeout=2) as answer:
                    answer.read()
            except (OSError, urllib.error.URLError):
                if self._process.poll() is not None or time.monotonic() > deadline:
                    message = (self._root / "log").read_text(errors="replace")[-2000:]
                    raise RuntimeError(message) from None
                time.sleep(0.1)
            else:
                return

    def automation(self) -> str:
        """Return the KV token of a new automation."""
        bundle = io.BytesIO()
        with tarfile.open(fileobj=bundle, mode="w:gz") as tar:
            tar.addfile(tarfile.TarInfo("main.py"))
        upload = self._post("/v1/uploads?name=x", bundle.getvalue(), "application/gzip")
        trigger = {"type": "cron", "schedule": "0 0 1 1 *", "timezone": "UTC"}
        asked = {
            "name": "kv",
            "trigger": trigger,
            "tarball_path": upload["tarball_path"],
            "entrypoint": "python3 main.py",
        }
        made = self._post("/v1", json.dumps(asked).encode(), "application/json")
        return _token(self._secret, made["id"])

    def _post(self, path: str, body: bytes, kind: str) -> Any:
        headers = {"Content-Type": kind, "Authorization": f"Bearer {self._local_key}"}
        request = urllib.request.Request(self.url + path, body, headers, method="POST")
        with urllib.request.urlopen(request, timeout=20) as answer:
            return json.load(answer)

    def put(self, token: str, key: str, value: Any) -> None:
        """Write a key as the reference does: a plain PUT."""
        headers = {"Content-Type": "application/json", "Authorization": f"Bearer {token}"}
        request = urllib.request.Request(f"{self.url}/v1/kv/{key}", json.dumps(value).encode(), headers, method="PUT")
        with urllib.request.urlopen(request, timeout=20) as answer:
            answer.read()


def _token(secret: str, automation_id: str) -> str:
    """Return the token that the service gives to a run: a JWT (RFC 7519) signed with HS256."""
    now = int(time.time())
    claims = {"automation_id": automation_id, "run_id": str(uuid4()), "iat": now, "exp": now + 86_400}
    signed = b".".join(_base64(json.dumps(part).encode()) for part in ({"alg": "HS256", "typ": "JWT"}, claims))
    return (signed + b"." + _base64(hmac.digest(secret.encode(), signed, hashlib.sha256))).decode()


def _base64(data: bytes) -> bytes:
    return base64.urlsafe_b64encode(data).rstrip(b"=")
