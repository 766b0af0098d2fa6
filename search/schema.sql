-- What is searched for words. A passage's number is its document's, its place there and its kind:
-- document << 16 | place << 3 | kind. The text itself is in the database and in the memories.
CREATE VIRTUAL TABLE passage USING fts5 (words, content = '', contentless_delete = 1, detail = none,
    tokenize = 'porter unicode61');

-- A session, or a file of a memory.
CREATE TABLE document (
    n        INTEGER NOT NULL PRIMARY KEY,
    project  TEXT    NOT NULL,
    seq      INTEGER NOT NULL, -- of a session, as in the database; 0 for a file
    path     TEXT    NOT NULL, -- of a file, below the root
    state    TEXT    NOT NULL, -- of a file's memory, when it was read
    units    INTEGER NOT NULL, -- that are ranked: the session, or the lines of MEMORY.md
    passages INTEGER NOT NULL,
    words    INTEGER NOT NULL
) STRICT;
CREATE INDEX document_size ON document (project, n, units, passages, words);

-- state: of all that was indexed. Empty while something is missing.
-- removed: 1 once something was taken out, whose words are yet in the index.
CREATE TABLE meta (
    name  TEXT NOT NULL PRIMARY KEY,
    value TEXT NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO meta (name, value) VALUES ('state', ''), ('removed', '');
