-- What people and agents wrote down at once. Each is a session; its text is that session's message.
CREATE TABLE entry (
    id          INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    session_key TEXT    UNIQUE REFERENCES session (key) ON DELETE CASCADE,
    kind        TEXT    NOT NULL CHECK (kind IN ('note', 'journal', 'history')),
    category    TEXT    NOT NULL, -- of a note; else empty
    author      TEXT    NOT NULL CHECK (author IN ('user', 'auto', 'agent')),
    filed       INTEGER NOT NULL DEFAULT 0, -- 1: the project's folder has been told of it
    accessed_at INTEGER NOT NULL
) STRICT;
CREATE INDEX entry_unfiled ON entry (id) WHERE NOT filed;
CREATE INDEX entry_accessed ON entry (kind, accessed_at DESC, id DESC);

-- The change_seq up to which the project's history has its sessions.
ALTER TABLE project ADD COLUMN history_seq INTEGER NOT NULL DEFAULT 0;
