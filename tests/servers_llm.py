"""A scripted model behind real HTTP on loopback: OpenAI's chat completions and Anthropic's messages.

It answers what the test tells it to, one entry of the script per request, the last one for ever; and it remembers every
request, headers and all.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass
class Answer:
    """One answer of the script."""

    body: Any = None
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    delay: float = 0.0
    drip: float = 0.0
    """Seconds between single bytes."""


Script = list[Answer | Callable[[dict[str, Any]], Answer]]


@dataclass
class Asked:
    """One request as it came."""

    path: str
    headers: dict[str, str]
    body: dict[str, Any]

    @property
    def prompt(self) -> str:
        """Return the first user turn."""
        return str(next(turn["content"] for turn in self.body["messages"] if turn["role"] == "user"))


@dataclass
class LlmServer:
    """What the test holds of the server."""

    script: Script
    asked: list[Asked] = field(default_factory=list)
    url: str = ""


def chat(
    text: str, *, finish: str = "stop", tokens: tuple[int, int] | None = (900, 300), refusal: str | None = None
) -> Answer:
    """Return an answer of chat completions."""
    body = {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1,
        "model": "scripted",
        "choices": [
            {"index": 0, "message": {"role": "assistant", "content": text, "refusal": refusal}, "finish_reason": finish}
        ],
    }
    if tokens:
        body["usage"] = {"prompt_tokens": tokens[0], "completion_tokens": tokens[1], "total_tokens": sum(tokens)}
    return Answer(body)


def message(text: str, *, stop: str = "end_turn") -> Answer:
    """Return an answer of Anthropic's messages."""
    return Answer(
        {
            "id": "msg_1",
            "type": "message",
            "role": "assistant",
            "model": "scripted",
            "content": [{"type": "text", "text": text}],
            "stop_reason": stop,
            "stop_sequence": None,
            "usage": {"input_tokens": 800, "output_tokens": 200},
        }
    )


def error(status: int, text: str = "scripted", code: str | None = None, **headers: str) -> Answer:
    """Return an error as providers send it."""
    body = {"error": {"message": text, "type": "scripted", "code": code}}
    return Answer(body, status, {name.replace("_", "-"): value for name, value in headers.items()})


@contextmanager
def llm_server(*script: Answer | Callable[[dict[str, Any]], Answer]) -> Iterator[LlmServer]:
    """Serve the script until the block ends."""
    server = LlmServer(list(script))
    lock = threading.Lock()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *_: object) -> None:
            """Say nothing."""

        def do_GET(self) -> None:
            self.do_POST()

        def do_POST(self) -> None:
            raw = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            body = json.loads(raw or b"{}")
            with lock:
                at = min(len(server.asked), len(server.script) - 1)
                server.asked.append(Asked(self.path, {k.lower(): v for k, v in self.headers.items()}, body))
                entry = server.script[at]
            answer = entry if isinstance(entry, Answer) else entry(body)
            time.sleep(answer.delay)
            data = answer.body if isinstance(answer.body, bytes) else json.dumps(answer.body).encode()
            self.close_connection = True
            try:
                self.send_response(answer.status)
                for name, value in {"Content-Type": "application/json", **answer.headers}.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(data)))
                self.send_header("Connection", "close")
                self.end_headers()
                if not answer.drip:
                    self.wfile.write(data)
                for byte in data if answer.drip else b"":
                    self.wfile.write(bytes([byte]))
                    self.wfile.flush()
                    time.sleep(answer.drip)
            except OSError:
                return

    httpd = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    httpd.daemon_threads = True
    server.url = f"http://127.0.0.1:{httpd.server_address[1]}"
    thread = threading.Thread(target=httpd.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        httpd.shutdown()
        httpd.server_close()
        thread.join()
