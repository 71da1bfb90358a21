"""Sweeps on the nodes of a cluster, by an engine that is there: Ray or Slurm."""
