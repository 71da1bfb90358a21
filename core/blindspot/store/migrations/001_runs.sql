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
    manifest           JSON
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
    mate_no     INTEGER NOT NULL
);
