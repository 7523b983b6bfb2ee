"""Makes values of loop bodies and branches available to the backward part: saved or recomputed.

    for t in range(n):                        for t in range(n):
        x = x * sin(x)                            x_saved[t] = x
    ...                           becomes         x = x * sin(x)
    for t in reversed(range(n)):              for t in reversed(range(n)):
        x_bar = x_bar * cos(<x of pass t>)        x = x_saved[t]
                                                  x_bar = x_bar * cos(x)

What is saved is a minimum cut between what the loop makes and what the backward part reads, as in
AOTAutograd's partitioner; arithmetic, comparisons and reads of elements are computed again.
"""

from __future__ import annotations

from tapeless.transforms.autodiff.residuals.load import Loading
from tapeless.transforms.autodiff.residuals.min_cut_plan import MinCutPlan
from tapeless.transforms.autodiff.residuals.move_functions import move_functions
from tapeless.transforms.autodiff.residuals.reuse_forward import known_before
from tapeless.transforms.autodiff.residuals.run_time_sizes import Sized, Wanted
from tapeless.transforms.autodiff.residuals.save import Saving
from tapeless.transforms.autodiff.residuals.saved_functions import functions_are_saved
from tapeless.transforms.autodiff.residuals.storage import Storage
from tapeless.transforms.core import builder, dims
from tapeless.transforms.core.language import (
    Atom,
    Block,
    Let,
    Statement,
    Var,
)
from tapeless.transforms.core.size_value import INT
from tapeless.transforms.core.substitution import replace_symbols
from tapeless.transforms.ops.numpy import creation
from tapeless.transforms.optimize.placeholders import with_placeholders


def resolve(
    primal: list[Statement], backward: list[Statement]
) -> tuple[list[Statement], list[Statement], dict[Var, Atom]]:
    """Primal statements that save, and backward statements that read only what is in scope; and
    what the variables that the backward part reads at its own top level are called now."""
    if not builder.active():  # sizes are asked of it
        with builder.building(builder.Builder()):
            return resolve(primal, backward)
    primal, backward = move_functions(primal, backward, functions_are_saved())
    plan = MinCutPlan(primal, backward)
    size_variables: dict[dims.Symbol, Var] = {}
    if plan.extra_sizes:
        wanted: Wanted = {}
        for symbol, home in plan.extra_sizes.items():
            size_variables[symbol] = Var(INT, "n")
            size_variables[symbol].size = dims.symbol("n", 0, size_variables[symbol])
            wanted.setdefault(home, []).append(symbol)
        sized = Sized(wanted, size_variables)
        primal = sized.primal(primal)
        names = {symbol: v.size for symbol, v in size_variables.items()}
        backward = sized.with_new_mirrors(
            replace_symbols(Block((), tuple(backward), ()), names).body
        )
        plan = MinCutPlan(primal, backward)
    fewer = known_before(plan, backward)
    if fewer is not backward:
        backward, plan = fewer, MinCutPlan(primal, fewer)
    plan.name_saved()
    places = Storage(plan)
    b = builder.Builder()
    with builder.building(b):
        for s in primal:
            if isinstance(s, Let):
                for v in s.outs:
                    b.definitions[v] = s
        storage: dict[Var, Atom] = {}
        new: dict[Var, Atom] = {}
        Saving(places).rebuild(primal, (), storage)
        saved_values = [v for v in plan.saved if places.kind(v) != "branch"]
        forward = with_placeholders(
            Block((), tuple(b.blocks[0]), ()), saved_values, creation.empty
        ).body
        b.blocks[0] = []
        new |= {  # lengths that other branches by the same test need, too
            v: storage[v]
            for v in size_variables.values()
            if v in plan.saved and places.kind(v) == "branch"
        }
        Loading(places, size_variables).run_back(backward, (), storage, new)
    return list(forward), b.blocks[0], new
