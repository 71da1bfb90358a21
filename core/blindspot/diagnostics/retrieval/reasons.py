"""Reasons why a document may be ranked high: shared words, a hub, a negation, a part that the model does not read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from blindspot.diagnostics.retrieval.outcomes import QueryTable, Side
from blindspot.encoders.rankings.bm25 import terms
from blindspot.numerics.neighbors.hubness import HUB
from blindspot.texts import counted, is_negated, length


@dataclass(frozen=True, eq=False)
class TopTens:
    """How often documents are in the top tens of a ranking.

    Attributes:
        counts: number of queries by the document's id.
        mean: of the counts over all documents.
    """

    counts: Mapping[str, int]
    queries: int
    mean: float

    @classmethod
    def of(cls, table: QueryTable, side: Side, documents: int) -> TopTens:
        """Count over the table's queries, among so many documents."""
        counts = Counter(document for top in table.in_top_ten(side) for document in top)
        return cls(counts, len(table), sum(counts.values()) / documents)

    def is_hub(self, document: str) -> bool:
        """Whether it is in ``HUB`` times as many top tens as the average document."""
        return self.counts[document] >= HUB * self.mean


def in_words(query: str, document: str, text: str, tens: TopTens, unread: int) -> str:
    """What may have put a document where it is, as one line.

    Shared words are those of keyword search, without stop words; a query has one top ten.

    Args:
        document: its id.
        unread: tokens at its end that the model does not read.
    """
    asked, text_words = (frozenset(words) for words in terms([query, text]))
    count = tens.counts.get(document, 0)
    out = [
        f"{len(asked & text_words)} of {counted(len(asked), 'query word')}",
        f"{counted(length(text), 'word')} long",
        f"{'hub, ' if tens.is_hub(document) else ''}in {count:,} of {counted(tens.queries, 'top ten')}",
    ]
    in_query, in_text = is_negated(query), is_negated(text)
    if in_query != in_text:
        out.append(f"{'has a' if in_text else 'no'} negation, unlike the query")
    if unread:
        out.append(f"last {counted(unread, 'token')} not read")
    return " · ".join(out)
