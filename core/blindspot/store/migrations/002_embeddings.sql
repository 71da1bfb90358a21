-- What encoding cost, and which embeddings a run uses: shown beside the scores,
-- and how a page finds the matrix behind a stored rank.

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

ALTER TABLE run ADD COLUMN embedding_digest VARCHAR;
