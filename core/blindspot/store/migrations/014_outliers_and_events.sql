-- Groups of words with one that does not belong, and events with a typical and an atypical patient, as numbers of texts.

-- A row per case and word; place 0 is the outlier's.
CREATE TABLE dataset_outlier (
    dataset_seq INTEGER NOT NULL,
    item_no     INTEGER NOT NULL,
    group_name  VARCHAR NOT NULL,
    place       INTEGER NOT NULL,
    word_no     INTEGER NOT NULL
);

CREATE TABLE dataset_event (
    dataset_seq INTEGER NOT NULL,
    item_no     INTEGER NOT NULL,
    agent_no    INTEGER NOT NULL,
    verb_no     INTEGER NOT NULL,
    typical_no  INTEGER NOT NULL,
    atypical_no INTEGER NOT NULL
);
