package pipeline

import (
	"testing"

	"memoir"
	"memoir/team/wire"
)

func TestASessionOfTwoMachinesCountsOnce(t *testing.T) {
	t.Parallel()
	const here = "codex:019f6782-0000-7000-8000-000000000000"
	hash := wire.SessionHash(here, "another")
	all := []memoir.Extraction{{SessionKey: here}, {SessionKey: memoir.ReceivedKey("", hash)},
		{SessionKey: memoir.Numbered(memoir.ReceivedKey("al-ice", hash+"0123456789"), 300)}, {SessionKey: memoir.ReceivedKey("bob", "0123")},
		{SessionKey: "memoir:note-1"}}
	if got := once(all, nil); len(got) != 3 || got[0].SessionKey != here || got[1].SessionKey != "team:bob-0123" {
		t.Errorf("%+v", got)
	}
	if got := once([]memoir.Extraction{{SessionKey: memoir.ReceivedKey("bob", hash)}}, []string{here}); len(got) != 0 {
		t.Errorf("of a session that is not selected: %+v", got)
	}
}
