-- The version of a session whose texts were last stored for searching; '': none. A run reads again what was stored
-- before this migration, without commands and results.
ALTER TABLE session ADD COLUMN taken TEXT NOT NULL DEFAULT '';
CREATE INDEX session_untaken ON session (updated_at DESC, key)
    WHERE taken <> version AND error = '' AND kind NOT IN ('own_run', 'entry');

-- The commands of a session and what their results say, as packed JSON: redacted and bounded like its messages.
ALTER TABLE searchable ADD COLUMN tools BLOB NOT NULL DEFAULT x'';

-- texts: grows when something is forgotten, and before stored texts are redacted. What a process read before is not
-- stored any more.
INSERT INTO counter (name, n) VALUES ('texts', 0);
