"""Makes keys, from seeds and from one another."""

from __future__ import annotations

from typing import Any

import numpy as np

from tapeless.random import checked_bits
from tapeless.random.argument_checks import (
    IMPLEMENTATION,
    checked_implementation,
    checked_key,
    checked_number,
    checked_shape,
    checked_words,
    unused_key,
)
from tapeless.random.key_reuse import noted_new
from tapeless.random.threefry import fold_word

__staged__ = True  # plain NumPy code: a staged run enters it


def key(seed: Any, *, impl: Any = None, dtype: Any = None) -> Any:
    """A key made from a seed.

    seed   an integer of at most 64 bits; a seed and a key of the same 64 bits belong together
    impl   None or 'threefry2x32', the only generator; `dtype` is the same

    Returns an array of two uint32 words.

    Raises TypeError for what is no integer, ValueError for one that is too large.

    >>> key(2**32 + 5)
    array([1, 5], dtype=uint32)
    """
    checked_implementation("key", impl, dtype)
    return _key_of_seed("key", seed)


def PRNGKey(seed: Any, *, impl: Any = None) -> Any:  # noqa: N802 (JAX's name)
    """The same as `key`.

    >>> PRNGKey(42)
    array([ 0, 42], dtype=uint32)
    """
    checked_implementation("PRNGKey", impl)
    return _key_of_seed("PRNGKey", seed)


def _key_of_seed(name: str, seed: Any) -> Any:
    seed = np.reshape(checked_number(name, "the seed", seed), (1,))
    if seed.dtype.itemsize < 8:  # the high word of narrow integers is 0, also of negative ones
        return noted_new(np.concatenate((np.zeros(1, np.uint32), seed.astype(np.uint32))))
    seed = seed.astype(np.uint64)
    high = (seed >> np.uint64(32)).astype(np.uint32)
    return noted_new(np.concatenate((high, seed.astype(np.uint32))))


def split(key: Any, num: Any = 2) -> Any:
    """New keys from one key, which is used by this.

    num  how many, or the shape of an array of keys

    Returns a uint32 array of shape (num, 2) or (*num, 2), which can be unpacked.

    >>> from tapeless import random
    >>> key, subkey = random.split(random.key(0))
    >>> key, subkey
    (Array([1797259609, 2579123966], dtype=uint32), Array([ 928981903, 3453687069], dtype=uint32))
    """
    key = checked_key("split", key)
    return checked_bits.split(key, checked_shape("split", num))


def fold_in(key: Any, data: Any) -> Any:
    """The key that belongs to a key and an integer: of a loop, say.

    data  an integer, of which 32 bits are taken

    Returns a key. The first one may be used further, with other integers.

    Raises TypeError for what is no integer.

    >>> from tapeless import random
    >>> random.fold_in(random.key(0), 7)
    Array([2716826189,  292468403], dtype=uint32)
    """
    key = unused_key("fold_in", key)
    data = checked_number("fold_in", "data", data)
    return fold_word(key, data.astype(np.uint32))


def clone(key: Any) -> Any:
    """A copy of a key that may be used although the key itself is used.

    >>> from tapeless import random
    >>> key = random.key(0)
    >>> bool(random.uniform(random.clone(key)) == random.uniform(key))
    True
    """
    return noted_new(checked_words("clone", key).copy())


def key_data(keys: Any) -> Any:
    """The words of keys: a uint32 array of shape (..., 2), which is what keys are here.

    >>> key_data(key(1))
    array([0, 1], dtype=uint32)
    """
    return checked_words("key_data", keys)


def wrap_key_data(key_bits_array: Any, *, impl: Any = None, dtype: Any = None) -> Any:
    """Keys from their words, a uint32 array of shape (..., 2).

    >>> wrap_key_data(np.array([0, 1], np.uint32))
    array([0, 1], dtype=uint32)
    """
    checked_implementation("wrap_key_data", impl, dtype)
    return checked_words("wrap_key_data", key_bits_array)


def key_impl(keys: Any) -> str:
    """The name of the generator that keys are for.

    >>> key_impl(key(0))
    'threefry2x32'
    """
    checked_words("key_impl", keys)
    return IMPLEMENTATION


def key_dtype(impl_spec: Any = None) -> str:
    """What `key(seed, dtype=...)` takes: the name of the generator.

    >>> key(0, dtype=key_dtype())
    array([0, 0], dtype=uint32)
    """
    checked_implementation("key_dtype", impl_spec)
    return IMPLEMENTATION
