-- A user's file under another name, or a copy of it, has the same content and so the same runs; they carry the name
-- under which they were computed first. Here is under which other names the content was asked for.

CREATE TABLE dataset_alias (
    dataset        VARCHAR NOT NULL,
    dataset_digest VARCHAR NOT NULL,
    PRIMARY KEY (dataset, dataset_digest)
);
