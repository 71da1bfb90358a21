-- Chunked sentences: words and tags of phrases with a space between, as many of both.

CREATE TABLE dataset_chunked_sentence (
    dataset_seq INTEGER NOT NULL,
    item_no     INTEGER NOT NULL,
    split       VARCHAR NOT NULL,
    sentence    VARCHAR NOT NULL,
    tags        VARCHAR NOT NULL
);
