-- A page of the sessions with a reason is found without reading those before it, and without sorting.
DROP INDEX session_reason;
CREATE INDEX session_reason ON session (reason, updated_at DESC, key, source, kind);
