-- +goose Up

-- What a project's consolidator wants back next time, so that it need not work
-- everything out again. It may be lost at any time.
CREATE TABLE draft (
    project_id TEXT NOT NULL PRIMARY KEY REFERENCES project (id) ON DELETE CASCADE,
    model      TEXT NOT NULL, -- the consolidator that left it
    data       BLOB NOT NULL
) STRICT, WITHOUT ROWID;

-- +goose Down
-- There is no way down: the copy made before a migration is the way back.
SELECT 1;
