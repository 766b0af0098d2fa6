-- What is searched for words. A passage's number is its document's, its place there and its kind:
-- document << 18 | place << 4 | kind. The text itself is in the database and in the memories.
CREATE VIRTUAL TABLE IF NOT EXISTS passage USING fts5 (words, content = '', contentless_delete = 1, detail = none,
    tokenize = 'porter unicode61');

-- A session, or a file of a memory.
CREATE TABLE IF NOT EXISTS document (
    n        INTEGER NOT NULL PRIMARY KEY,
    project  TEXT    NOT NULL,
    seq      INTEGER NOT NULL, -- of a session, as in the database; 0 for a file
    path     TEXT    NOT NULL, -- of a file, below the root
    state    TEXT    NOT NULL, -- of a file's memory, when it was read
    passages INTEGER NOT NULL,
    words    INTEGER NOT NULL
) STRICT;
CREATE INDEX IF NOT EXISTS document_size ON document (project, n, path, passages, words);

-- One row: the state of all that was indexed.
CREATE TABLE IF NOT EXISTS indexed (state TEXT NOT NULL) STRICT;
