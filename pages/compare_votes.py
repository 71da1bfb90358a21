"""Compare votes: whose neighbours do people find most similar to the query?"""

from core.studies.judgement.page import show_compare_votes

show_compare_votes()
