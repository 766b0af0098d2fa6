-- What the built-in model found in sessions that no consolidation has taken yet: what a person said to hold from now on,
-- and repairs. New sessions are told it until a consolidation takes it from the session's extraction.
CREATE TABLE said (
    session_key TEXT NOT NULL PRIMARY KEY REFERENCES session (key) ON DELETE CASCADE,
    statements  TEXT NOT NULL -- as in extraction
) STRICT, WITHOUT ROWID;
