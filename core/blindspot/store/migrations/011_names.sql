-- What users call their models and datasets. Ids stay what they are: links and runs know nothing of names.

CREATE TABLE display_name (
    kind      VARCHAR NOT NULL,
    reference VARCHAR NOT NULL,
    name      VARCHAR NOT NULL,
    PRIMARY KEY (kind, reference)
);
