-- +goose Up

-- Records of a session that no reader understood, as its last extraction met them.
CREATE TABLE skipped_record (
    session_key TEXT    NOT NULL REFERENCES session (key) ON DELETE CASCADE,
    why         TEXT    NOT NULL CHECK (why IN ('unknown', 'malformed', 'oversized', 'cut')),
    type        TEXT    NOT NULL, -- of an unknown record: its type, redacted; else empty
    n           INTEGER NOT NULL,
    PRIMARY KEY (session_key, why, type)
) STRICT, WITHOUT ROWID;

-- +goose Down
-- There is no way down: the copy made before a migration is the way back.
SELECT 1;
