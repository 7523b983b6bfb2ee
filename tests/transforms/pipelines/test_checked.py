"""Under TAPELESS_CHECK a pass that leaves a program ill-formed is named, in each pipeline."""

from dataclasses import replace

import numpy as np
import pytest

import tapeless
from tapeless import grad, jit
from tapeless.staging import derivative_blocks, subprogram
from tapeless.transforms.core.language import For, Type, Var
from tapeless.transforms.errors import InternalError
from tapeless.transforms.pipelines import array_form, loop_form

STRAY = Var(Type(np.dtype(float), ()), "stray")


def loss(x):
    return np.sum(np.sin(x) ** 2)


def _stray_result(block, *args, **kwargs):
    return replace(block, results=(STRAY, *block.results[1:]))


@pytest.fixture
def checking(monkeypatch):
    monkeypatch.setenv("TAPELESS_CHECK", "1")
    return monkeypatch


@pytest.mark.parametrize(
    "name", ["written_out", "simplify", "detach_results", "plain", "store_in_place"]
)
def test_array_form_is_verified_after_each_pass(checking, name):
    def broken(block, *args, **kwargs):
        return _stray_result(block)

    broken.__name__ = name
    checking.setattr(array_form, name, broken)
    with pytest.raises(InternalError, match=f"not well formed after {name}"):
        grad(lambda x: loss(x) + 1)(np.ones(3))


@pytest.mark.parametrize(
    "name", ["decompose", "vectorise", "rematerialize", "store_out_parameters"]
)
def test_loop_form_is_verified_after_each_pass(checking, name):
    def broken(block, *args, **kwargs):
        return _stray_result(block)

    broken.__name__ = name
    checking.setattr(loop_form, name, broken)
    with pytest.raises(InternalError, match=f"not well formed after {name}"):
        jit(lambda x: loss(x) + 2)(np.ones(3))


def test_derivatives_are_verified(checking):
    resolve = derivative_blocks.resolve

    def dropping(primal, linear):
        """Forgets a statement of the backward part."""
        forward, back, new = resolve(primal, linear)
        return forward, back[1:], new

    checking.setattr(derivative_blocks, "resolve", dropping)
    with pytest.raises(InternalError, match="not well formed after transpose"):
        grad(lambda x: loss(x) + 3)(np.ones(3))


def test_what_is_staged_is_verified(checking):
    """The block to be differentiated reads a value of an inner block, outside of it."""
    plain = subprogram.Subprogram.block

    def leaking(region, inputs, results):
        inner = [s.body.body[-1].outs[0] for s in region.body if isinstance(s, For)]
        return plain(region, inputs, inner or results)

    def looped(x):
        for _ in range(3):
            x = np.sin(x) * loss(x)
        return x

    checking.setattr(subprogram.Subprogram, "block", leaking)
    for strict in (True, False):  # nor is it traced instead
        with tapeless.strict(strict), pytest.raises(InternalError, match="well formed after stagi"):
            grad(looped)(0.5)


def test_programs_are_not_verified_without_it(monkeypatch):
    monkeypatch.delenv("TAPELESS_CHECK")
    monkeypatch.setattr(array_form.passes, "verify", None)
    assert grad(lambda x: loss(x) + 4)(np.zeros(2)).tolist() == [0.0, 0.0]
