-- Searching finds what other machines sent.
INSERT INTO searchable (session_key) SELECT session_key FROM extraction
    WHERE (session_key LIKE 'team:%' OR session_key LIKE 'machine:%')
        AND session_key NOT IN (SELECT session_key FROM searchable)
        AND session_key IN (SELECT key FROM session);
