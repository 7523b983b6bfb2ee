"""Serves one page to the browsers of this machine, until the user interrupts."""

from __future__ import annotations

from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


class PageServer(ThreadingHTTPServer):
    """A server of one page, at a free port that only this machine reaches."""

    def __init__(self, text: str) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.page = text.encode()

    @property
    def address(self) -> str:
        """What a browser opens."""
        return f"http://127.0.0.1:{self.server_port}/"


class _Handler(BaseHTTPRequestHandler):
    server: PageServer

    def do_GET(self) -> None:
        """Sends the page; there is no other path."""
        if self.path != "/":
            self.send_error(404)
            return
        self.send_response(200)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(self.server.page)))
        self.end_headers()
        self.wfile.write(self.server.page)

    def log_message(self, *_: Any) -> None:
        """Requests are not reported."""
