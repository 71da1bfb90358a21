"""Study *Threshold*: from which similarity on two texts should count as the same."""
