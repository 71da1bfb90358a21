"""Meta-evaluation: how well intrinsic scores predict scores on tasks (Wang 2022, sections 4.5, 5, 6)."""
