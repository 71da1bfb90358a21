"""Invertible flows as a transform: training, applying and keeping them."""
