#!/usr/bin/env bash
# xprof 2.24.2 (TensorBoard's profile plugin): the first time that it lists the tools of a run, it
# logs an ERROR with a traceback: FileNotFoundError for `.cached_tools.json`, its own cache, which
# cannot be there yet. The tools are listed all the same.
#
# Output seen:
#   tools in the cache of a new run: None, errors logged: 1
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"${PYTHON:-python3}" -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet xprof==2.24.2
mkdir -p "$work/log/plugins/profile/run"
"$work/venv/bin/python" -W ignore - "$work/log/plugins/profile/run" 2>"$work/log.txt" <<'PROGRAM'
import logging
import sys

from etils import epath
from xprof import profile_io, profile_plugin

errors = []
handler = logging.Handler(logging.ERROR)
handler.emit = errors.append
profile_io.logger.addHandler(handler)
cache = profile_plugin.ToolsCache(epath.Path(sys.argv[1]), profile_io.get_file_system(sys.argv[1]))
print(f"tools in the cache of a new run: {cache.load()}, errors logged: {len(errors)}")
assert len(errors) == 1
assert issubclass(errors[0].exc_info[0], FileNotFoundError)
PROGRAM
