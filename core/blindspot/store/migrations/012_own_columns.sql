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
