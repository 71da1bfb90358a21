-- Questions about words, and words in classes, as numbers of texts.

CREATE TABLE dataset_analogy (
    dataset_seq INTEGER NOT NULL,
    item_no     INTEGER NOT NULL,
    section     VARCHAR NOT NULL,
    a_no        INTEGER NOT NULL,
    b_no        INTEGER NOT NULL,
    c_no        INTEGER NOT NULL,
    d_no        INTEGER NOT NULL
);

-- A row per word and class: a word may be in several.
CREATE TABLE dataset_category (
    dataset_seq INTEGER NOT NULL,
    item_no     INTEGER NOT NULL,
    class       VARCHAR NOT NULL
);
