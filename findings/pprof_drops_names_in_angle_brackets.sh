#!/usr/bin/env bash
# pprof of Go 1.19: a function whose name stands in angle brackets, as Python's `<module>` and
# `<lambda>`, has no name in reports where `name` and `system_name` are the same: what looks like an
# argument of a C++ template is taken out. Needs Go (`apt-get install golang-go`).
#
# Output seen:
#   `<module>` is shown 0 times, `module main` 1 times
set -euo pipefail
command -v go >/dev/null || { echo "this needs Go: apt-get install golang-go"; exit 1; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"${PYTHON:-python3}" - "$work/memory.prof" <<'PROGRAM'
import gzip
import sys


def field(number, content):
    """A field of profile.proto that is a message or a text, or a small number."""
    if isinstance(content, int):
        return bytes([number << 3, content])
    return bytes([number << 3 | 2, len(content)]) + content


texts = [b"", b"space", b"bytes", b"<module>", b"module main", b"main.py"]
profile = field(1, field(1, 1) + field(2, 2))
for place in (1, 2):
    profile += field(2, field(1, bytes([place])) + field(2, bytes([100])))
    profile += field(4, field(1, place) + field(4, field(1, place) + field(2, 7)))
    name = place + 2
    profile += field(5, field(1, place) + field(2, name) + field(3, name) + field(4, 5))
profile += b"".join(field(6, text) for text in texts)
open(sys.argv[1], "wb").write(gzip.compress(profile))
PROGRAM
go tool pprof -top -lines "$work/memory.prof" >"$work/top" 2>/dev/null
module=$(grep -c '<module>' "$work/top" || true)
main=$(grep -c 'module main' "$work/top" || true)
echo "\`<module>\` is shown $module times, \`module main\` $main times"
[ "$module $main" = "0 1" ]
