-- Carries over from a home of an earlier schema (15 to 21) into a new one: what was forgotten, disabled and excluded,
-- notes, journals, hand edits and the ledger. The next run reads the sessions again. The old home is only read.
-- Call the old program's `memoir run` a last time, so that hand edits are recorded. Then, before the new home's first
-- run over your sessions:
--
--   memoir run --home NEW --sessions "$(mktemp -d)"
--   sqlite3 -bail -cmd "ATTACH 'file:OLD/memoir.db?mode=ro' AS old" NEW/memoir.db < docs/carry-over.sql
--
-- Copy the folders projects/*/conversations and projects/*/journal as well, if there are any.
PRAGMA foreign_keys = ON;
BEGIN IMMEDIATE;

CREATE TEMP TABLE precondition (
    sessions    INTEGER CONSTRAINT "the new home already has sessions" CHECK (sessions = 0),
    withdrawals INTEGER CONSTRAINT "the old home has an unfinished forget: call its run again" CHECK (withdrawals = 0)
);
INSERT INTO precondition SELECT (SELECT count(*) FROM main.session), (SELECT count(*) FROM old.withdrawal);
DROP TABLE precondition;

INSERT INTO main.mark (session_key, disabled, directory, forgotten, at, project_id)
SELECT session_key, disabled, CASE excluded WHEN 1 THEN 'excluded' WHEN 2 THEN 'off' ELSE '' END, forgotten, at,
    project_id
FROM old.mark;

INSERT INTO main.project (id, name, identity, remote) SELECT id, name, identity, remote FROM old.project;
INSERT INTO main.project_directory (path, project_id) SELECT path, project_id FROM old.project_directory;
INSERT INTO main.project_alias (alias, project_id, kind) SELECT alias, project_id, kind FROM old.project_alias;

-- No number of an entry is given twice, not even that of a forgotten one.
INSERT INTO main.sqlite_sequence (name, seq) SELECT name, seq FROM old.sqlite_sequence WHERE name = 'entry';

INSERT INTO main.session (key, source, thread_id, project_id, kind, parent, title, cwd, branch, remote, bytes,
    created_at, updated_at, version, error, reason)
SELECT key, source, thread_id, project_id, kind, parent, title, cwd, branch, remote, bytes,
    created_at, updated_at, version, error, reason
FROM old.session WHERE key IN (SELECT session_key FROM old.entry) AND key IN (SELECT session_key FROM old.searchable);

-- The next run writes them into the files of the new home.
INSERT INTO main.entry (id, session_key, kind, category, author, filed, accessed_at)
SELECT id, session_key, kind, category, author, 0, accessed_at
FROM old.entry WHERE session_key IN (SELECT key FROM main.session);

INSERT INTO main.searchable (session_key)
SELECT session_key FROM old.searchable WHERE session_key IN (SELECT key FROM main.session) ORDER BY seq;

INSERT INTO main.message (seq, item, typed, at, text)
SELECT q.seq, m.item, m.typed, m.at, m.text FROM old.message m JOIN old.searchable o ON o.seq = m.seq
JOIN main.searchable q ON q.session_key = o.session_key ORDER BY m.id;

-- What a note states; a run takes the lines of journals in again.
INSERT INTO main.extraction (session_key, project_id, statements, rollout_summary, rollout_slug, title, cwd, branch,
    started_at, ended_at, content_hash, filter_version, model, seq, stored_at)
SELECT x.session_key, x.project_id, json_array(json_object(
        'kind', CASE WHEN n.author <> 'user' THEN 'Claims of the agent, not verified'
            WHEN n.category IN ('preference', 'routine') THEN 'Preferences' ELSE 'Findings' END,
        'text', iif(n.author = 'user' AND n.category IN ('preference', 'routine'), '“' || m.text || '”', m.text),
        'quote', iif(n.author = 'user' AND n.category IN ('preference', 'routine'), m.text, ''),
        'signal', 'note', 'by', iif(n.author = 'user', 'person', 'agent'), 'items', json_array(1),
        'at', date(x.ended_at / 1000, 'unixepoch'))),
    x.rollout_summary, x.rollout_slug, x.title, x.cwd, x.branch, x.started_at, x.ended_at, x.content_hash,
    x.filter_version, x.model, 1, x.stored_at
FROM old.extraction x JOIN main.entry n ON n.session_key = x.session_key AND n.kind = 'note'
JOIN main.searchable q ON q.session_key = n.session_key JOIN main.message m ON m.seq = q.seq;

-- Generations begin again at 1, so the earlier hand edits belong to negative ones, in their order.
INSERT INTO main.hand_edit (project_id, base, file, action, section, after, text, at)
SELECT project_id, base - (SELECT max(base) + 1 FROM old.note), file, action, section, after, text, at
FROM old.note ORDER BY base, id;

UPDATE main.project SET change_seq = 1
WHERE id IN (SELECT project_id FROM main.extraction UNION SELECT project_id FROM main.hand_edit);

INSERT INTO main.ledger SELECT * FROM old.ledger;

COMMIT;
