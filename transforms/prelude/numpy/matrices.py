"""Stands for np.matrix: arrays of two axes whose product is that of matrices."""

from __future__ import annotations

from typing import Any

import numpy as np

from tapeless.transforms.prelude.numpy.derived_arrays import (
    DerivedArray,
    array_of_class,
    elements_of,
    part_of_class,
)

__staged__ = True  # plain code: a staged run enters it


class Matrix(DerivedArray):
    """What np.matrix is, while a function is staged."""

    __stands_for__ = np.matrix

    def __new__(cls, data: Any, dtype: Any = None, copy: bool = True) -> Any:
        elements = elements_of(data)
        make = np.array if copy else np.asarray
        return array_of_class(cls, make(elements, dtype=dtype), None)

    def __array_finalize__(self, obj: Any) -> None:
        """All matrices have two axes."""
        axes = np.ndim(self.__elements__)
        if axes > 2:
            raise ValueError("shape too large to be a matrix.")
        if axes < 2:
            self.__elements__ = np.reshape(self.__elements__, (1, -1))

    def __of_class__(self, elements: Any) -> Any:
        return array_of_class(Matrix, elements, self)

    def __getitem__(self, key: Any) -> Any:
        part = self.__elements__[elements_of(key)]
        if np.ndim(part) == 1 and isinstance(key, tuple) and np.isscalar(key[1]):
            part = np.reshape(part, (-1, 1))
        return part_of_class(self, part)

    def __setitem__(self, key: Any, value: Any) -> None:
        elements = elements_of(value)
        if np.ndim(elements) == 2 and np.ndim(self.__elements__[key]) == 1:
            column = isinstance(key, tuple) and np.isscalar(key[1])
            if elements.shape[1 if column else 0] != 1:
                raise ValueError("could not broadcast a matrix into a part of another shape")
            elements = elements[:, 0] if column else elements[0]
        self.__elements__[key] = elements

    def __mul__(self, other: Any) -> Any:
        if np.ndim(elements_of(other)) == 0:
            return np.multiply(self, other)
        return np.dot(self, as_matrix(other))

    def __rmul__(self, other: Any) -> Any:
        return np.dot(other, self)

    def __imul__(self, other: Any) -> Any:
        self.__elements__[:] = elements_of(self * other)
        return self

    def __pow__(self, n: Any) -> Any:
        return np.linalg.matrix_power(self, n)

    def __ipow__(self, n: Any) -> Any:
        self.__elements__[:] = elements_of(self**n)
        return self

    @property
    def A(self) -> Any:  # noqa: N802 (NumPy's)
        return self.__elements__

    @property
    def A1(self) -> Any:  # noqa: N802 (NumPy's)
        return np.ravel(self.__elements__)

    @property
    def H(self) -> Any:  # noqa: N802 (NumPy's)
        return np.conjugate(self.T)

    @property
    def I(self) -> Any:  # noqa: E743, N802 (NumPy's)
        rows, columns = self.shape
        return np.linalg.inv(self) if rows == columns else np.linalg.pinv(self)

    def getA(self) -> Any:  # noqa: N802 (NumPy's)
        return self.A

    def getA1(self) -> Any:  # noqa: N802 (NumPy's)
        return self.A1

    def getH(self) -> Any:  # noqa: N802 (NumPy's)
        return self.H

    def getI(self) -> Any:  # noqa: N802 (NumPy's)
        return self.I

    def getT(self) -> Any:  # noqa: N802 (NumPy's)
        return self.T


def matrix_of(elements: Any) -> Any:
    """A matrix of elements that have two axes."""
    matrix: Any = object.__new__(Matrix)
    matrix.__elements__ = elements
    return matrix


def as_matrix(data: Any, dtype: Any = None) -> Any:
    """np.asmatrix(data, dtype)"""
    return Matrix(data, dtype, False)


def block_matrix(rows: Any) -> Any:
    """np.bmat(rows) of matrices and arrays in lists."""
    if not isinstance(rows, (list, tuple)):
        return Matrix(rows)
    if isinstance(rows[0], (list, tuple)):
        return Matrix(np.concatenate([np.concatenate(row, axis=-1) for row in rows], axis=0))
    return Matrix(np.concatenate(rows, axis=-1))


NUMPY = {np.asmatrix: as_matrix, np.bmat: block_matrix}
