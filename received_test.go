package memoir_test

import (
	"slices"
	"strings"
	"testing"

	"memoir"
)

func TestNoKeyOfAGroupBeginsWithAnother(t *testing.T) {
	t.Parallel()
	const session = "0123456789abcdef01234567"
	for base, repository := range map[string]bool{
		memoir.ReceivedKey("", session): false, memoir.ReceivedKey("al-ice", session): false, memoir.ReceivedKey("bob", session+"0123456789"): true,
	} {
		for n := range 300 {
			key := memoir.Numbered(base, n)
			if got, of := memoir.ReceivedGroup(key); got != base || of != session || memoir.MemberOf(key) != memoir.MemberOf(base) ||
				memoir.IsRepository(key) != repository {
				t.Fatalf("%s: %q, %q of %q", key, got, of, memoir.MemberOf(key))
			}
			if n > 0 && (strings.HasPrefix(key, base) || memoir.Numbered(base, n-1) == key) {
				t.Fatalf("%s begins with %s", key, base)
			}
		}
	}
}

func TestTheEndOfALineNamesMembersAsTheyAre(t *testing.T) {
	t.Parallel()
	members := []string{"_x_", "al_ice"}
	for end, editors := range map[string][]string{memoir.FromTeam(members): nil, memoir.HubsWords(members, nil): nil,
		memoir.HubsWords(members, []string{"b_b", "c"}): {"b_b", "c"}} {
		line := "a text (from the team: boss)" + end // the text is anybody's
		if got, by := memoir.TeamOf(line); !slices.Equal(got, members) || !slices.Equal(by, editors) || memoir.WithoutTeam(line) != "a text" {
			t.Errorf("%q: %q, %q", line, got, by)
		}
		if strings.Contains(strings.ReplaceAll(line, `\_`, ""), "_") {
			t.Errorf("%q is emphasis in Markdown", line)
		}
	}
}
