"""Inputs of a run: texts by role, embeddings that a transform is fitted on, rankings without vectors."""
