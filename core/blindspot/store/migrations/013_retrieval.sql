-- Queries of retrieval datasets, as numbers of texts; their documents and judgments are read from the dataset itself.

CREATE TABLE dataset_retrieval (
    dataset_seq INTEGER NOT NULL,
    item_no     INTEGER NOT NULL,
    query_id    VARCHAR NOT NULL,
    query_no    INTEGER NOT NULL
);
