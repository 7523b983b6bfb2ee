"""A copy of a process that is made while another thread imports, stages or compiles goes on."""

import os
import subprocess
import sys
import textwrap

import pytest

WAIT = 60  # seconds; a copy that waits for a lock waits for ever

BUSY = {
    "imports": "imported('slow')",
    "stages": "held(STAGING)",
    "compiles": "held(COMPILING)",
}
SCRIPT = """
import os, threading, time
from tapeless import jit
from tapeless.backends.fork_safe_locks import COMPILING, STAGING
from tapeless.lazy_import import imported


def held(lock):
    with lock:
        time.sleep(0.5)


def busy():
    {busy}


jit(lambda x: x + 1)(1.0)
thread = threading.Thread(target=busy)
thread.start()
time.sleep(0.2)
child = os.fork()
if not child:
    assert imported("slow").VALUE == 3
    assert jit(lambda x: 3 * x + 1)(2.0) == 7
    os._exit(0)
assert os.waitpid(child, 0)[1] == 0
thread.join()
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="copies processes")
@pytest.mark.parametrize("busy", BUSY)
def test_copies_while_another_thread(tmp_path, busy):
    (tmp_path / "slow.py").write_text("import time\ntime.sleep(0.5)\nVALUE = 3\n")
    script = tmp_path / "script.py"
    script.write_text(textwrap.dedent(SCRIPT).replace("{busy}", BUSY[busy]))
    made = subprocess.run(
        [sys.executable, "-W", "ignore::DeprecationWarning", script],  # of forks
        capture_output=True,
        text=True,
        check=False,
        timeout=WAIT,
    )
    assert (made.returncode, made.stderr) == (0, "")
