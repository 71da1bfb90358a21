"""Study *Threshold*: the similarity from which two texts should count as the same."""
