-- Runs, their scores, and the texts that their items speak of.

CREATE SEQUENCE run_seq;
CREATE TABLE run (
    run_seq            INTEGER PRIMARY KEY DEFAULT nextval('run_seq'),
    run_id             VARCHAR NOT NULL UNIQUE,
    diagnostic         VARCHAR NOT NULL,
    diagnostic_version INTEGER NOT NULL,
    encoder            VARCHAR NOT NULL,
    transform          VARCHAR NOT NULL,
    dataset            VARCHAR NOT NULL,
    dataset_digest     VARCHAR NOT NULL,
    params             JSON NOT NULL,
    status             VARCHAR NOT NULL CHECK (status IN ('running', 'done')),
    process_id         INTEGER NOT NULL,
    started_at         TIMESTAMP NOT NULL,
    finished_at        TIMESTAMP,
    coverage           JSON,
    timings            JSON,
    manifest           JSON,
    embedding_digest   VARCHAR NOT NULL,
    support            JSON NOT NULL,    -- the other encoders that had to have a vector for an item, too
    support_digest     VARCHAR NOT NULL, -- of the items that it ranked; '' means all
    own_support        BOOLEAN NOT NULL  -- the encoder's own coverage is all that limited it
);

CREATE TABLE metric (
    run_seq INTEGER NOT NULL,
    name    VARCHAR NOT NULL,
    value   DOUBLE NOT NULL,
    PRIMARY KEY (run_seq, name)
);

CREATE SEQUENCE dataset_seq;
CREATE TABLE dataset (
    dataset_seq    INTEGER PRIMARY KEY DEFAULT nextval('dataset_seq'),
    dataset        VARCHAR NOT NULL,
    dataset_digest VARCHAR NOT NULL UNIQUE,
    kind           VARCHAR NOT NULL
);

CREATE TABLE dataset_text (
    dataset_seq INTEGER NOT NULL,
    text_no     INTEGER NOT NULL,
    text        VARCHAR NOT NULL
);

CREATE TABLE dataset_pair (
    dataset_seq INTEGER NOT NULL,
    item_no     INTEGER NOT NULL,
    query_no    INTEGER NOT NULL,
    match_no     INTEGER NOT NULL
);

-- What encoding cost: shown beside the scores.

CREATE TABLE embedding (
    embedding_digest VARCHAR PRIMARY KEY,
    encoder          VARCHAR NOT NULL,
    revision         VARCHAR NOT NULL,
    dimension        INTEGER NOT NULL,
    parameters       BIGINT NOT NULL,
    memory_bytes     BIGINT NOT NULL,
    texts            INTEGER NOT NULL,
    seconds          DOUBLE NOT NULL,
    device           VARCHAR NOT NULL
);

-- Which items a run ranked, where an encoder has no vector for some.

CREATE TABLE support (
    support_digest VARCHAR PRIMARY KEY,
    items          INTEGER NOT NULL,
    ranked         BLOB NOT NULL
);

-- Encoders that users added by reference, before any run: pages list them with what the last check found.
-- One that was removed keeps its row, so that its runs do not bring it back.

CREATE TABLE encoder_reference (
    reference  VARCHAR PRIMARY KEY,
    checked_at TIMESTAMP NOT NULL,
    is_removed BOOLEAN NOT NULL,
    facts      JSON NOT NULL
);

-- Minimal pairs: original `item_no` of a dataset and its rewrite of one subset, as numbers of texts.

CREATE TABLE dataset_minimal_pair (
    dataset_seq INTEGER NOT NULL,
    item_no     INTEGER NOT NULL,
    subset      VARCHAR NOT NULL,
    original_no INTEGER NOT NULL,
    rewrite_no  INTEGER NOT NULL
);

-- A user's file under another name, or a copy of it, has the same content and so the same runs; they carry the name
-- under which they were computed first. Here is under which other names the content was asked for.

CREATE TABLE dataset_alias (
    dataset        VARCHAR NOT NULL,
    dataset_digest VARCHAR NOT NULL,
    PRIMARY KEY (dataset, dataset_digest)
);

-- What people judge and how: sets of items, the votes on them, and sessions of several raters.

CREATE TABLE judgment_set (
    set_id     VARCHAR PRIMARY KEY,
    task       VARCHAR NOT NULL CHECK (task IN ('intruder', 'comparative')),
    title      VARCHAR NOT NULL,
    variants   VARCHAR[] NOT NULL,
    manifest   JSON NOT NULL,
    created_at TIMESTAMP NOT NULL
);

CREATE TABLE judgment_item (
    set_id         VARCHAR NOT NULL,
    item_no        INTEGER NOT NULL,
    query          VARCHAR NOT NULL,
    part_of_speech VARCHAR NOT NULL,
    concreteness   VARCHAR NOT NULL,
    category       VARCHAR NOT NULL,
    band           VARCHAR NOT NULL,
    k              INTEGER,
    options        VARCHAR[] NOT NULL,
    own            INTEGER[] NOT NULL, -- per variant of the set its own option, -1 where the item is not about it
    PRIMARY KEY (set_id, item_no)
);

CREATE TABLE judgment_vote (
    set_id    VARCHAR NOT NULL,
    session   VARCHAR NOT NULL, -- '' outside of a session
    rater_key VARCHAR NOT NULL, -- the nickname as it is compared
    rater     VARCHAR NOT NULL, -- and as it was given
    item_no   INTEGER NOT NULL,
    option_no INTEGER,          -- NULL: the rater does not know the words
    seconds   DOUBLE,
    voted_at  TIMESTAMP NOT NULL,
    PRIMARY KEY (set_id, session, rater_key, item_no)
);

CREATE TABLE judgment_session (
    name       VARCHAR PRIMARY KEY,
    key_digest VARCHAR NOT NULL, -- of the facilitator's key, which itself is stored nowhere
    revealed   BOOLEAN NOT NULL,
    created_at TIMESTAMP NOT NULL
);

CREATE TABLE judgment_session_set (
    name   VARCHAR NOT NULL,
    task   VARCHAR NOT NULL,
    set_id VARCHAR NOT NULL,
    PRIMARY KEY (name, task)
);

-- Pairs that people scored, in named sets, as numbers of texts.

CREATE TABLE dataset_scored_pair (
    dataset_seq INTEGER NOT NULL,
    item_no     INTEGER NOT NULL,
    set_name    VARCHAR NOT NULL,
    first_no    INTEGER NOT NULL,
    second_no   INTEGER NOT NULL,
    gold        DOUBLE NOT NULL
);

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

-- Labeled texts, as numbers of texts; second_no is null where an example is one text, split is '' where none is prescribed.

CREATE TABLE dataset_labeled_text (
    dataset_seq INTEGER NOT NULL,
    item_no     INTEGER NOT NULL,
    split       VARCHAR NOT NULL,
    first_no    INTEGER NOT NULL,
    second_no   INTEGER,
    label       VARCHAR NOT NULL
);

-- What users call their models and datasets. Ids stay what they are: links and runs know nothing of names.

CREATE TABLE display_name (
    kind      VARCHAR NOT NULL,
    reference VARCHAR NOT NULL,
    name      VARCHAR NOT NULL,
    PRIMARY KEY (kind, reference)
);

-- Further columns of users' files, to group rows by: of one name of a content, since the same texts may have others in
-- another file. codes has a byte per row, a place in `labels`.

CREATE TABLE own_column (
    dataset        VARCHAR NOT NULL,
    dataset_digest VARCHAR NOT NULL,
    column_no      INTEGER NOT NULL,
    name           VARCHAR NOT NULL,
    labels         VARCHAR[] NOT NULL,
    codes          BLOB NOT NULL
);

-- Queries of retrieval datasets, as numbers of texts; their documents and judgments are read from the dataset itself.

CREATE TABLE dataset_retrieval (
    dataset_seq INTEGER NOT NULL,
    item_no     INTEGER NOT NULL,
    query_id    VARCHAR NOT NULL,
    query_no    INTEGER NOT NULL
);

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

-- Chunked sentences: words and tags of phrases with a space between, as many of both.

CREATE TABLE dataset_chunked_sentence (
    dataset_seq INTEGER NOT NULL,
    item_no     INTEGER NOT NULL,
    split       VARCHAR NOT NULL,
    sentence    VARCHAR NOT NULL,
    tags        VARCHAR NOT NULL
);
