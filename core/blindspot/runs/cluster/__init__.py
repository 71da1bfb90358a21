"""Sweeps on the nodes of a cluster, by whichever engine is installed: Ray or Slurm."""
