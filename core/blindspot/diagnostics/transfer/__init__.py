"""Reading transfer runs: tested examples side by side, scores over tasks, what classifiers change (Wang 2022, 5.1)."""
