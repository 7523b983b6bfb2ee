"""Sequences are cut where what repeats begins and ends."""

import itertools

import numpy as np
import pytest

from tapeless.transforms.lowering.schedule.repeated_sequences import repeated_pieces


def pieces(text, weight=3, most=24):
    found = repeated_pieces(text, [weight] * len(text), most)
    assert [k for piece in found for k in piece] == list(range(len(text)))
    return [text[piece.start : piece.stop] for piece in found]


def test_layers():
    assert pieces("xabcabcabcy") == ["x", "abc", "abc", "abc", "y"]
    assert pieces("abcdef" * 3) == ["abcdef"] * 3


def test_what_repeats_inside_of_a_layer_is_a_piece_where_that_is_less_to_write():
    assert pieces("uhhhhvuhhhhvuhhhhv", weight=4) == ["u", "h", "h", "h", "h", "v"] * 3


def test_light_ones_stay_together():
    assert pieces("ababab", weight=1) == ["ababab"]
    assert pieces("abcabd", weight=1) == ["abcabd"]


def test_heavy_pieces_are_cut():
    assert pieces("abcdef", most=6) == ["ab", "cd", "ef"]
    assert pieces("abc", weight=30) == ["a", "b", "c"]


def test_nothing():
    assert pieces("") == []


@pytest.mark.parametrize("seed", range(20))
def test_pieces_of_any_sequence(seed):
    rng = np.random.default_rng(seed)
    text = "".join(rng.choice(list("abcd"), size=rng.integers(1, 60)))
    weights = rng.integers(1, 6, size=len(text)).tolist()
    by_letter = dict(zip(text, weights, strict=True))
    found = repeated_pieces(text, [by_letter[c] for c in text], 12)
    assert list(itertools.chain.from_iterable(found)) == list(range(len(text)))
    assert all(sum(by_letter[text[k]] for k in piece) <= 12 or len(piece) == 1 for piece in found)
