package secrets

import "testing"

func TestASecretIsKnownThoughHiddenCharactersStandInIt(t *testing.T) {
	t.Parallel()
	s := newScanner("", true)
	token := fake("ghp", "_", "k3Jd9sLq0WmZx7Yt2Rv5Bn8Cf4Hg6Pa1Ue0o")
	for _, hidden := range []string{"\u200b", "\u00ad", "\u2060\ufeff", "\u200d", "\U000e0041", "\u202e", "\ufe0f", "\u034f", "\u061c", "\u115f", "\u3164", "\uffa0"} {
		text := "set " + token[:11] + hidden + token[11:30] + hidden + token[30:] + " here"
		got, counts := s.Redact(text)
		if got != "set [REDACTED:github-pat] here" || counts["github-pat"] != 1 {
			t.Errorf("%+q becomes %+q", text, got)
		}
	}
	for _, text := range []string{"a\u200bb done \u2714\ufe0f ok", "zero\u00adwidth", "\u200b" + "word", "word\u200b", "na\u00efve \u65e5\u672c\u8a9e\u200b\u8a9e"} {
		if got, _ := s.Redact(text); got != text {
			t.Errorf("%+q becomes %+q", text, got)
		}
	}
}

// What a program prints of a file may begin with the mark of the file's encoding.
func TestASecretIsKnownOnALineThatBeginsWithAHiddenCharacter(t *testing.T) {
	t.Parallel()
	s := newScanner("", true)
	value := fake("Zk39", "fjQz7x")
	for _, line := range []string{
		"db.acme.test:5432:app:ada:" + value, "password=" + value, "user,password\nada," + value,
	} {
		want, counts := s.Redact(line)
		if len(counts) == 0 {
			t.Fatalf("%q has no secret", line)
		}
		for _, before := range []string{"\ufeff", "a file:\n\ufeff", "\u200b\u2060", "a file:\r\n\u200b"} {
			got, _ := s.Redact(before + line)
			if got != before+want {
				t.Errorf("%+q becomes %+q", before+line, got)
			}
			if again, _ := s.Redact(got); again != got {
				t.Errorf("%+q becomes %+q", got, again)
			}
		}
	}
}
