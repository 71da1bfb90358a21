-- Labeled texts, as numbers of texts; second_no is null where an example is one text, split is '' where none is prescribed.

CREATE TABLE dataset_labelled_text (
    dataset_seq INTEGER NOT NULL,
    item_no     INTEGER NOT NULL,
    split       VARCHAR NOT NULL,
    first_no    INTEGER NOT NULL,
    second_no   INTEGER,
    label       VARCHAR NOT NULL
);
