-- Minimal pairs: original `item_no` of a dataset and its rewrite of one subset, as numbers of texts.

CREATE TABLE dataset_minimal_pair (
    dataset_seq INTEGER NOT NULL,
    item_no     INTEGER NOT NULL,
    subset      VARCHAR NOT NULL,
    original_no INTEGER NOT NULL,
    rewrite_no  INTEGER NOT NULL
);
