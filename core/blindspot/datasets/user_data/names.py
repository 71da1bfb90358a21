"""Names of columns in users' files by what they mean: one table for all kinds of file, and for the tables of a folder.

Only letters and digits count ("Sentence 1" is sentence1); the first name that a file has wins. *Weak* names mean other
things too: the content of their cells decides.
"""

from __future__ import annotations

# --- pairs
KNOWN_NAMES = (
    ("query", "positive"),
    ("query", "match"),
    ("query", "mate"),
    ("anchor", "positive"),
    ("text1", "text2"),
    ("sentence1", "sentence2"),
    ("sent1", "sent2"),
    ("word1", "word2"),
    ("question1", "question2"),
    ("texta", "textb"),
    ("sentencea", "sentenceb"),
    ("a", "b"),
    ("source", "target"),
)

# --- scores of pairs
SCORE_NAMES = (
    *("score", "gold", "goldscore", "similarity", "relatedness", "similarityscore", "relatednessscore"),
    *("humanscore", "meanscore", "rating", "meanrating", "simscore"),
)
WEAK_SCORE_NAMES = ("label",)  # often a class; a score only if the column has numbers
# --- queries and documents
QUERY_NAMES = ("query", "querytext")
DOCUMENT_NAMES = ("document", "doc", "documenttext", "doctext")
LIST_NAMES = (
    *("positives", "positive", "pos", "positivedocuments", "positivepassages", "relevantdocuments", "relevantdocs"),
    *("positivectxs", "referencecontexts"),  # not RAGAS' contexts, which were retrieved, right or wrong
)
NEGATIVE_NAMES = (
    *("negatives", "negative", "neg", "hardnegatives", "hardnegative", "negativedocuments", "negativepassages"),
    *("hardnegativectxs", "negativectxs"),
)
# Beside a grade, these count too; without a grade, such columns could be anything.
ASKING_NAMES = (*QUERY_NAMES, "question", "anchor", "search", "searchquery", "claim", "userinput")
FOUND_NAMES = (
    *("passage", "passagetext", "paragraph", "article", "chunk", "context", "content", "contents", "body", "answer"),
    *("response", "candidate", "text", "result", "evidence"),
)
TITLE_NAMES = ("title", "documenttitle", "doctitle")
GRADE_NAMES = (
    *("relevance", "isrelevant", "relevant", "grade", "rel", "relevancegrade", "relevancelabel", "relevancescore"),
    *("judgment", "judgement"),
)
WEAK_GRADE_NAMES = ("score", "label")  # a grade only if the column has whole numbers
QUERY_ID_NAMES = ("queryid", "qid", "query", "topic", "topicid", "questionid", "queryno")
DOCUMENT_ID_NAMES = (
    *("corpusid", "docid", "docno", "pid", "passageid", "documentid", "document", "doc", "did", "corpus"),
    "retrievalgt",  # AutoRAG's, with lists of ids
)

# --- labeled texts
TEXT_NAMES = (
    *("text", "sentence", "content", "review", "question", "document", "comment", "tweet", "utterance", "phrase"),
    *("body", "title", "string", "word"),
)
PAIR_NAMES = (
    *(names for names in KNOWN_NAMES if names[0] not in {"query", "anchor"}),
    *(("premise", "hypothesis"), ("question", "sentence"), ("question", "answer"), ("claim", "evidence")),
)
POSITIVE_NAMES = tuple(names for names in KNOWN_NAMES if names not in PAIR_NAMES)
LABEL_NAMES = (
    *("labeltext", "labelname", "label", "class", "classname", "category", "intent", "topic", "sentiment"),
    *("labels", "goldlabel", "target"),
)
WEAK_LABEL_NAMES = ("label", "labels", "goldlabel", "target")  # also names of scores and of other texts
SPLIT_NAMES = ("split", "partition", "fold", "set", "subset", "part")
WEAK_SPLIT_NAMES = ("set", "subset", "part")  # used only if all their cells are splits

# --- words with counts
WORD_NAMES = ("word", "words", "token", "term", "type")
COUNT_NAMES = ("count", "counts", "frequency", "freq", "occurrences", "n")

# --- marks, which say whether pairs are matches; their cells have two values
MARK_NAMES = (
    *("isduplicate", "duplicate", "isdup", "dup", "ismatch", "match", "matched", "matches", "ismatching", "similar"),
    *("issimilar", "paraphrase", "isparaphrase", "quality", "score", "gold", "similarity", "same", "issame"),
    *("equivalent", "isequivalent", "iscorrect", "correct", "ispositive"),
    *GRADE_NAMES,
    *WEAK_LABEL_NAMES,
)
