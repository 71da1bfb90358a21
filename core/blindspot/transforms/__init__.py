"""Transforms of embeddings: post-processing steps, codes, repairs and invertible flows."""
