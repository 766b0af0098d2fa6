-- +goose Up

-- How far a session was read for its extraction: the content hash at its last items.
-- Where one still holds, the session only grew since. Extractions of before have none.
CREATE TABLE extraction_mark (
    session_key TEXT    NOT NULL REFERENCES extraction (session_key) ON DELETE CASCADE,
    item        INTEGER NOT NULL, -- number of the session's item
    hash        TEXT    NOT NULL, -- of the items up to it
    PRIMARY KEY (session_key, item)
) STRICT, WITHOUT ROWID;

-- +goose Down
-- There is no way down: the copy made before a migration is the way back.
SELECT 1;
