"""Prints whole programs in loop form as C99: kernels, and the function that calls them."""
