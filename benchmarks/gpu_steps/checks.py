"""Runs the tests of the GPU backend on the card, compute-sanitizer and Nsight Compute."""

import csv
import io
import os
import re
import shutil
import sys

from benchmarks.gpu_steps.compare import ROOT, stream

SANITIZED = (
    "S1",
    "S4",
    "softmax, 1024",
    "layer norm, 64",
    "cross-entropy with gradient, 1000",
    "column sums, 100000",
    "M2",
    "vmap of Lorenz's",
    "N-body",
    "heat",
)
METRICS = {
    "gpu__time_duration.sum": "ns",
    "dram__bytes_read.sum": "bytes read",
    "dram__bytes_write.sum": "bytes written",
    "dram__throughput.avg.pct_of_peak_sustained_elapsed": "% of memory",
    "sm__throughput.avg.pct_of_peak_sustained_elapsed": "% of arithmetic",
    "sm__warps_active.avg.pct_of_peak_sustained_active": "% of warps",
    "launch__registers_per_thread": "registers",
}


def tests(seconds):
    """The test files of tests/gpu as they are, on the real CuPy."""
    folder = ROOT / "tests" / "gpu"
    if not folder.is_dir():
        yield {"what": "tests", "skipped": "there is no tests/gpu"}
        return
    command = [
        sys.executable,
        "-m",
        "pytest",
        "tests/gpu",
        "-q",
        "-n",
        "8",
        "-p",
        "no:cacheprovider",
        "--maxfail=40",
        "--tb=short",
        "-W",
        "default",
    ]
    tail = []
    for line in stream(command, seconds):
        tail = [*tail[-400:], line]
    for line in tail:
        if re.match(
            r"(FAILED|ERROR|exit status|stopped|=+ .*(passed|failed|error))|\d+ (passed|failed)",
            line,
        ):
            yield {"what": "tests", "line": line[:300]}
    yield {"what": "tests", "log": tail}


def sanitizers(seconds):
    """Small programs under memcheck and racecheck."""
    tool = shutil.which("compute-sanitizer") or "/usr/local/cuda/bin/compute-sanitizer"
    if not os.path.exists(tool):
        yield {"what": "compute-sanitizer", "skipped": "it is not installed"}
        return
    for check in ("memcheck", "racecheck"):
        worker = [
            sys.executable,
            "-m",
            "benchmarks.gpu_steps.worker",
            "tapeless",
            str(seconds / 2 - 10),
            "--small",
            "--dtypes",
            "float32",
            "--only",
            ";".join(SANITIZED),
        ]
        lines = [
            *stream(
                [tool, "--tool", check, *worker],
                seconds / 2,
                {"CUPY_CACHE_DIR": "/tmp/cupy-sanitized"},
            )
        ]
        told = [line for line in lines if line.startswith("=========")]
        programs = [line[:120] for line in lines if line.startswith("{")]
        yield {
            "what": check,
            "programs": len(programs),
            "failed": [p for p in programs if '"failed"' in p],
            "summary": told[-1:],
            "first": told[:40],
        }


def counters(seconds, programs=("softmax, 1024", "cross-entropy with gradient, 1000", "N-body")):
    """What Nsight Compute counts of the kernels of some programs."""
    tool = shutil.which("ncu") or "/usr/local/cuda/bin/ncu"
    if not os.path.exists(tool):
        yield {"what": "ncu", "skipped": "it is not installed"}
        return
    for name in programs:
        command = [
            tool,
            "--csv",
            "--clock-control",
            "none",
            "--launch-count",
            "12",
            "--metrics",
            ",".join(METRICS),
            "--kernel-name",
            "regex:.*(kernel|join).*",
            sys.executable,
            "-m",
            "benchmarks.gpu_steps.worker",
            "tapeless",
            "20",
            "--dtypes",
            "float32",
            "--only",
            name,
        ]
        lines = [line for line in stream(command, seconds / len(programs)) if line.startswith('"')]
        yield from ({"what": "ncu", "program": name, **record} for record in _kernels(lines))


def _kernels(lines):
    """A record for each launch of a table of Nsight Compute."""
    launches = {}
    for row in csv.DictReader(io.StringIO("\n".join(lines))):
        record = launches.setdefault(
            row["ID"],
            {"kernel": row["Kernel Name"], "grid": row["Grid Size"], "block": row["Block Size"]},
        )
        record[METRICS.get(row["Metric Name"], row["Metric Name"])] = (
            f"{row['Metric Value']} {row['Metric Unit']}"
        )
    return launches.values()
