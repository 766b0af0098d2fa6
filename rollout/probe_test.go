package rollout

import "testing"

func TestARemoteKeepsItsSpellingButForItsAccount(t *testing.T) {
	t.Parallel()
	for remote, want := range map[string]string{
		"https://host.example/a/b.git":            "https://host.example/a/b.git",
		"https://ann:pw@host.example/a/b.git":     "https://host.example/a/b.git",
		"https://ann@host.example:8443":           "https://host.example:8443",
		"https://ann:p@w@host.example/a@b?x=y@z":  "https://host.example/a@b?x=y@z",
		"https://ann:p/w@host.example/a":          "https://host.example/a",
		"https://host.example/a b -U'x%D4'/%20.q": "https://host.example/a b -U'x%D4'/%20.q",
		"git@host.example:a/b.git":                "git@host.example:a/b.git",
		"/srv/a@b":                                "/srv/a@b",
		"":                                        "",
	} {
		if got := withoutCredentials(remote); got != want {
			t.Errorf("%q became %q, not %q", remote, got, want)
		}
	}
}
