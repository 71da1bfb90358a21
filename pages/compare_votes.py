"""Compare votes: a blind vote on which model's neighbors are most similar to the query."""

from blindspot.studies.judgments.page import show_compare_votes

show_compare_votes()
