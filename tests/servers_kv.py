"""A small KV service on loopback, as the automation service answers: ``python servers_kv.py`` prints its address.

It behaves like the service on SQLite: the counter and the rows are read outside the transaction, so that ``if_version``
alone lets several of a few simultaneous writers through, and the table's unique index is what excludes. ``delay_seconds``
widens that window. Facts measured on automation service 1.26.
"""

from __future__ import annotations

import json
import sys
import threading
import time
import traceback
from collections.abc import Callable
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self
from urllib.parse import parse_qs, unquote, urlsplit

TOKEN = "kv-token-of-a-run"
PREFIX = "/api/automation/v1/kv"
LIMIT = 65_536

Answer = tuple[int, Any]
"""Status and body; a string body is sent as plain text."""


class _RolledBackError(Exception):
    """The unique index refused an insert, or a row to update was gone."""


class _QuietServer(ThreadingHTTPServer):
    def handle_error(self, *_: object) -> None:
        """Say nothing of clients that were killed."""
        if not isinstance(sys.exception(), ConnectionError):
            traceback.print_exc()


class KvServer:
    """Context manager; ``url`` is what a store takes as ``base_url``.

    ``before`` and ``after`` may return an answer to give instead, before or after the request took effect; the status 0
    closes the connection without any.
    """

    def __init__(self, delay_seconds: float = 0.0) -> None:
        self.keys: dict[str, Any] = {}
        self.version = 0
        self.delay_seconds = delay_seconds
        self.before: Callable[[str, str], Answer | None] = lambda _method, _path: None
        self.after: Callable[[str, str], Answer | None] = lambda _method, _path: None
        self.headers: dict[str, str] = {}
        self.requests: list[tuple[str, str]] = []
        self._commit = threading.Lock()
        self._server = _QuietServer(("127.0.0.1", 0), self._handler())
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_port}/api/automation"
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    # --- what the service does -------------------------------------------------------------------------------------

    def put(self, key: str, value: Any) -> None:
        """Write one key without any condition, as the reference does."""
        self._write({key}, lambda rows: rows | {key: value}, None)

    def answer(self, method: str, path: str, query: dict[str, str], body: Any) -> Answer:
        key = unquote(path.removeprefix(PREFIX).lstrip("/"))
        if method == "GET":
            with self._commit:
                found = self.keys.get(key, self)
                version = self.version
            return (
                (404, {"detail": "key_not_found"}) if found is self else (200, self._shown(key, found, version, query))
            )
        if method == "PUT":
            return self._put(key, query, body)
        if method == "POST" and key == "batch":
            return self._batch(body)
        return 404, {"detail": "Not Found"}

    @staticmethod
    def _shown(key: str, value: Any, version: int, query: dict[str, str]) -> dict[str, Any]:
        plain = {"key": key, "value": value}
        stamp = "2026-12-01T03:43:08"
        return {**plain, "version": version, "created_at": stamp, "updated_at": stamp} if query.get("meta") else plain

    def _put(self, key: str, query: dict[str, str], body: Any) -> Answer:
        if query.get("nx") and key in self.keys:
            return 409, {"key": key, "created": False, "error": "key_exists"}
        wanted = int(query["if_version"]) if "if_version" in query else None
        return self._write({key}, lambda rows: rows | {key: body}, wanted)

    def _batch(self, body: Any) -> Answer:
        operations = body["operations"]

        def change(rows: dict[str, Any]) -> dict[str, Any] | Answer:
            rows = dict(rows)
            for index, operation in enumerate(operations):
                key = operation["key"]
                if operation["op"] == "set" and operation.get("nx") and key in rows:
                    return 400, _failed(f"key '{key}' already exists (nx=true)", index, operation)
                if operation["op"] == "set":
                    rows[key] = operation["value"]
                else:
                    rows.pop(key, None)
            return rows

        return self._write({operation["key"] for operation in operations}, change, body.get("if_version"))

    def _write(
        self, keys: set[str], change: Callable[[dict[str, Any]], dict[str, Any] | Answer], wanted: int | None
    ) -> Answer:
        with self._commit:
            version, rows = self.version, {key: self.keys[key] for key in keys if key in self.keys}
        if wanted is not None and version != wanted:
            return 409, _mismatch(wanted, version)
        changed = change(rows)
        if isinstance(changed, tuple):
            return changed
        for key, value in changed.items():
            size = len(json.dumps(value, ensure_ascii=False).encode())
            if size > LIMIT:
                detail = {"error": "value_too_large", "message": f"Value for key '{key}' is {size} bytes", "key": key}
                return 413, {"detail": {**detail, "size": size, "limit": LIMIT}}
        time.sleep(self.delay_seconds)
        try:
            self._store(rows, changed, version + 1)
        except _RolledBackError:
            return 500, "Internal Server Error"
        return 200, {"version": version + 1, "results": []}

    def _store(self, before: dict[str, Any], after: dict[str, Any], version: int) -> None:
        with self._commit:
            for key in after:
                if (key in before) != (key in self.keys):
                    raise _RolledBackError(key)
            for key in before.keys() - after.keys():
                self.keys.pop(key, None)
            self.keys.update(json.loads(json.dumps(after)))
            self.version = version

    # --- HTTP ------------------------------------------------------------------------------------------------------

    def _handler(server) -> type[BaseHTTPRequestHandler]:  # noqa: N805 - the handler's own self is another
        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            wbufsize = -1
            disable_nagle_algorithm = True  # Else head and body wait for each other, 40 ms a time.

            def _serve(self) -> None:
                length = int(self.headers.get("Content-Length") or 0)
                raw = self.rfile.read(length)
                parts = urlsplit(self.path)
                server.requests.append((self.command, self.path))
                status, body = server.before(self.command, self.path) or self._answered(parts.path, parts.query, raw)
                if status == 0:
                    self.close_connection = True
                    return
                text = body if isinstance(body, str) else json.dumps(body)
                self.send_response(status)
                extra = {"Retry-After": "1"} if status == 409 else {}
                for name, value in {"Content-Length": str(len(text.encode())), **extra, **server.headers}.items():
                    self.send_header(name, value)
                self.end_headers()
                with suppress(ConnectionError):
                    self.wfile.write(text.encode())
                    self.wfile.flush()

            def _answered(self, path: str, query: str, raw: bytes) -> Answer:
                if self.headers.get("Authorization") != f"Bearer {TOKEN}":
                    return 401, {"detail": "Invalid or expired KV token"}
                asked = {name: values[0] for name, values in parse_qs(query).items()}
                answer = server.answer(self.command, path, asked, json.loads(raw) if raw else None)
                return server.after(self.command, self.path) or answer

            do_GET = do_PUT = do_POST = _serve  # noqa: N815

            def log_message(self, *_: object) -> None:
                """Stay quiet."""

        return Handler


def _failed(message: str, index: int, operation: Any) -> dict[str, Any]:
    named = {"op": operation["op"], "key": operation["key"]}
    return {"detail": {"error": "operation_failed", "message": message, "operation_index": index, "operation": named}}


def _mismatch(expected: int, actual: int) -> dict[str, Any]:
    detail = {"error": "version_mismatch", "message": "State was modified by another process"}
    return {"detail": {**detail, "expected_version": expected, "actual_version": actual}}


if __name__ == "__main__":
    with KvServer(float(sys.argv[1]) if len(sys.argv) > 1 else 0.0) as running:
        sys.stdout.write(f"{running.url}\n")
        sys.stdout.flush()
        sys.stdin.read()
