-- Pairs that people scored, in named sets, as numbers of texts.

CREATE TABLE dataset_scored_pair (
    dataset_seq INTEGER NOT NULL,
    item_no     INTEGER NOT NULL,
    set_name    VARCHAR NOT NULL,
    first_no    INTEGER NOT NULL,
    second_no   INTEGER NOT NULL,
    gold        DOUBLE NOT NULL
);
