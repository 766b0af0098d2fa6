-- What the project's history says of the session, by a language model; '' for what the raw memory says.
ALTER TABLE extraction ADD COLUMN history_entry TEXT NOT NULL DEFAULT '';

-- The last messages of sessions that a model failed on, until the history has them: redacted.
CREATE TABLE fallback (
    session_key TEXT    NOT NULL PRIMARY KEY REFERENCES session (key) ON DELETE CASCADE,
    at          INTEGER NOT NULL, -- of the last message
    text        TEXT    NOT NULL
) STRICT, WITHOUT ROWID;

-- Projects count their sessions without reading them.
DROP INDEX session_project;
CREATE INDEX session_project ON session (project_id, kind);
