-- Hand edits have a further action: 'restored', a line that a restoration brought back.
CREATE TABLE note_new (
    id         INTEGER NOT NULL PRIMARY KEY,
    project_id TEXT    NOT NULL REFERENCES project (id) ON DELETE CASCADE,
    base       INTEGER NOT NULL, -- the generation that was edited
    file       TEXT    NOT NULL,
    action     TEXT    NOT NULL CHECK (action IN ('added', 'removed', 'file', 'deleted', 'restored')),
    section    TEXT    NOT NULL,
    after      TEXT    NOT NULL,
    text       TEXT    NOT NULL,
    at         INTEGER NOT NULL,
    UNIQUE (project_id, base, file, action, section, text)
) STRICT;
INSERT INTO note_new SELECT id, project_id, base, file, action, section, after, text, at FROM note;
DROP TABLE note;
ALTER TABLE note_new RENAME TO note;
