"""The lab: a grid of encoders by settings, and how the ranking of encoders moves with each choice.

Every cell of a grid is an ordinary stored run; nothing here computes one.
"""
