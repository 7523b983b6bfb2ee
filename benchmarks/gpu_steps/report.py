"""Prints records as lines and as tables of Markdown."""

PEAK = {
    "float32": 60e12,
    "float64": 30e12,
}  # floating-point operations a second that an H100 reaches outside of its matrix units


def line(record):
    """A record in a line."""
    return "  ".join(
        f"{name} {_short(value)}" for name, value in record.items() if name not in ("log", "first")
    )


def _short(value):
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def best(records, group, count=1):
    """The fastest right records of each group of records, a group by the values of some fields."""
    groups = {}
    for record in records:
        if "us" in record and record.get("error", 0) < 1e-3:
            groups.setdefault(tuple(str(record.get(name)) for name in group), []).append(record)
    return [r for kept in groups.values() for r in sorted(kept, key=lambda r: r["us"])[:count]]


def table(records):
    """Records with the same fields as a table of Markdown."""
    names = list(dict.fromkeys(name for record in records for name in record))
    rows = [" | ".join(_short(record.get(name, "")) for name in names) for record in records]
    return "\n".join(
        f"| {row} |" for row in (" | ".join(names), " | ".join("---" for _ in names), *rows)
    )


def comparison(records, bandwidth=3.0e12):
    """The systems side by side: time, share of the floor, ratio to JAX."""
    cells = {}
    for record in records:
        if "program" in record:
            cells.setdefault((record["program"], record["dtype"]), {})[record["system"]] = record
    rows = []
    for (program, dtype), by_system in cells.items():
        timed = {name: r for name, r in by_system.items() if "us" in r}
        if not timed:
            continue
        floor = max((_floor(r, dtype, bandwidth) for r in timed.values()), default=0.0)
        row = {"program": program, "dtype": dtype, "floor us": floor or ""}
        for name, record in by_system.items():
            row[name] = _cell(record)
        if "tapeless" in timed and "jax" in timed:
            row["ratio to JAX"] = timed["tapeless"]["us"] / timed["jax"]["us"]
            row["share of floor"] = floor / timed["tapeless"]["us"] if floor else ""
        rows.append(row)
    return table(rows)


def _floor(record, dtype, bandwidth):
    """Microseconds that no version can do without, by traffic or by arithmetic."""
    return 1e6 * max(record.get("traffic", 0.0) / bandwidth, record.get("work", 0.0) / PEAK[dtype])


def _cell(record):
    if "us" not in record:
        return (
            (record.get("failed") or record.get("skipped") or "")[:60]
            .replace("|", "/")
            .replace("\n", " ")
        )
    wrong = "" if record.get("right", True) else f" WRONG {record['error']:.1e}"
    return f"{record['us']:.1f}{wrong}"
