"""The picture of the table: how much faster than the best peer, and times by size."""

COLOURS = {
    "tapeless": "tab:blue",
    "NumPy": "tab:gray",
    "JAX": "tab:orange",
    "PyTorch": "tab:red",
    "torch.compile": "tab:pink",
    "autograd": "tab:green",
}


def chart(ratios, grown, path):
    """Draws it to a file; without matplotlib nothing.

    ratios   workload -> time of the best peer over that of tapeless
    grown    workload -> library -> size -> seconds
    """
    try:
        import matplotlib as mpl  # noqa: PLC0415  # where it is installed
    except ImportError:
        print("matplotlib is not installed: no chart")
        return
    mpl.use("Agg")
    from matplotlib import pyplot as plt  # noqa: PLC0415  # after the backend is chosen

    columns = min(5, max(1, len(grown)))
    lines = -(-len(grown) // columns)
    figure = plt.figure(figsize=(13, 4.5 + 2.2 * lines), layout="constrained")
    grid = figure.add_gridspec(1 + lines, columns, height_ratios=[2, *[1] * lines])
    bars(figure.add_subplot(grid[0, :]), ratios)
    for k, (name, times) in enumerate(grown.items()):
        axes = figure.add_subplot(grid[1 + k // columns, k % columns])
        lines_by_size(axes, times)
        axes.set_title(name, fontsize=9)
    handles = {h.get_label(): h for axes in figure.axes[1:] for h in axes.lines}
    if handles:
        figure.legend(handles=handles.values(), loc="outside lower center", ncols=6, fontsize=8)
    figure.savefig(path, dpi=110)


def bars(axes, ratios):
    shown = axes.bar([*ratios], [*ratios.values()], color="tab:blue")
    axes.bar_label(shown, [f"{value:.1f}" for value in ratios.values()], fontsize=8)
    axes.axhline(1, color="black", linewidth=0.8)
    axes.set_yscale("log")
    axes.set_ylabel("best peer / tapeless, time")
    axes.tick_params(axis="x", rotation=30, labelsize=8)


def lines_by_size(axes, times):
    for library, found in times.items():
        colour = COLOURS.get(library)
        axes.loglog([*map(int, found)], [*found.values()], marker=".", label=library, color=colour)
    axes.set_xlabel("size", fontsize=7)
    axes.set_ylabel("seconds", fontsize=7)
    axes.tick_params(labelsize=7)
