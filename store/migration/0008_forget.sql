-- +goose Up

-- The project whose memory a forgotten session was withdrawn from; '' for none.
ALTER TABLE mark ADD COLUMN project_id TEXT NOT NULL DEFAULT '';
UPDATE mark SET project_id = coalesce((SELECT project_id FROM session WHERE key = session_key), '') WHERE forgotten;
CREATE INDEX mark_forgotten ON mark (project_id) WHERE forgotten;

-- Projects whose memory is yet to be rid of what was forgotten. A row goes when
-- that is done; a run finishes what another process had to leave.
CREATE TABLE withdrawal (
    project_id TEXT    NOT NULL REFERENCES project (id) ON DELETE CASCADE,
    text       TEXT    NOT NULL, -- lines that hold it go, too; '' for none
    seq        INTEGER NOT NULL, -- the project's change_seq when it was begun
    purge      INTEGER NOT NULL, -- earlier generations go, too
    PRIMARY KEY (project_id, text)
) STRICT, WITHOUT ROWID;

-- 1 while what was deleted is yet to be taken out of copies, logs and free pages.
INSERT INTO counter (name, n) VALUES ('purge', 0);

-- +goose Down
-- There is no way down: the copy made before a migration is the way back.
SELECT 1;
