package team

import (
	"strings"
	"testing"

	"memoir"
	"memoir/memory"
)

func TestALineThatWentHasItsReason(t *testing.T) {
	t.Parallel()
	says := func(member, digit, id string, kind memoir.StatementKind) memoir.Extraction {
		return memoir.Extraction{SessionKey: memoir.ReceivedKey(member, strings.Repeat(digit, 24)),
			Statements: []memoir.Statement{{ID: id, Kind: kind, Text: "x", Outcome: "2026-07-02"}}}
	}
	const finding, refuted = memoir.StatementFinding, memoir.StatementRefuted
	ann, two := says("ann", "1", "id", finding), says("ann", "2", "id", finding)
	for want, test := range map[string]struct {
		has    []memoir.Extraction
		ids    []string
		edited memoir.LineEdit
	}{
		"what says it is still at the hub: other lines have its place": {has: []memoir.Extraction{ann, two}},
		"a later word overturned it on 2026-07-02":                     {has: []memoir.Extraction{ann, says("ann", "2", "id", refuted)}},
		"of 2 sessions that said it 1 left: the others were forgotten or replaced": {
			has: []memoir.Extraction{ann}},
		"nothing of ann is left: erased, or withdrawn": {has: []memoir.Extraction{says("bob", "3", "other", finding)}},
		"the hub does not say why":                     {ids: []string{"unknown"}, has: []memoir.Extraction{ann}},
		"bob removed it for all on 2026-07-03":         {has: []memoir.Extraction{ann, two}, edited: memoir.LineEdit{By: "bob", Day: "2026-07-03"}},
		"bob changed it for all on 2026-07-03":         {has: []memoir.Extraction{ann}, edited: memoir.LineEdit{By: "bob", Day: "2026-07-03", Became: "key"}},
	} {
		const line = "- the cache leaks (from the team: ann) [ann-11111111 2026-07-01]"
		files := func(text string, sessions ...memoir.Extraction) memory.Files {
			return memory.Files{memoir.MemoryFile: []byte("## What is known\n\n" + text + "\n"), memory.StatementsFile: memory.EncodeStatements(sessions, strings.Clone)}
		}
		if test.ids == nil {
			test.ids = []string{"id"}
		}
		was := memory.Manifest{Lines: map[string]memoir.LineOrigin{memoir.LineKey(line): {Statements: test.ids}}}
		is := memory.Manifest{Edited: map[string]memoir.LineEdit{}}
		if test.edited.By != "" {
			is.Edited[memoir.LineKey("the cache leaks")] = test.edited
		}
		stays := "- the port is fixed [ann-11111111 2026-07-01]"
		got, err := went(files(line+"\n"+stays, ann, two), files(stays, test.has...), was, is)
		if err != nil || len(got) != 1 || got[0] != (Went{"the cache leaks", want}) {
			t.Errorf("%q: %+v, %v", want, got, err)
		}
	}
}
