"""Encodes messages of Protocol Buffers: fields that are numbers, texts and messages.

Format: protobuf.dev/programming-guides/encoding.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable


def varint(n: int) -> bytes:
    """
    >>> varint(300)
    b'\\xac\\x02'
    """
    encoded_bytes = bytearray()
    n &= (1 << 64) - 1
    while n > 0x7F:
        encoded_bytes.append(n & 0x7F | 0x80)
        n >>= 7
    encoded_bytes.append(n)
    return bytes(encoded_bytes)


def integer(field: int, n: int) -> bytes:
    """A field that is a number; zero is what is not written."""
    return member(field, n) if n else b""


def member(field: int, n: int) -> bytes:
    """A number that is one of several alternatives, where zero says which."""
    return varint(field << 3) + varint(n)


def double(field: int, x: float) -> bytes:
    """A field that is a floating-point number."""
    return varint(field << 3 | 1) + struct.pack("<d", x)


def message(field: int, content: bytes) -> bytes:
    """A field that is a message or a text."""
    return varint(field << 3 | 2) + varint(len(content)) + content


def text(field: int, content: str) -> bytes:
    """A field that is a text."""
    return message(field, content.encode())


def packed_field(field: int, numbers: Iterable[int]) -> bytes:
    """A field of many numbers."""
    return message(field, b"".join(map(varint, numbers)))
