package search

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"memoir"
	"memoir/memory"
)

// An answer is weak if little of the query stands in its best hit, and says what it leaves out.
func TestAnOffTopicQueryGetsAWeakAnswer(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	for i, topic := range []string{"lexer", "parser", "linker", "loader", "daemon"} {
		h.say(project, fmt.Sprint("s", i), "", "please look at the "+topic+" and its tables", "the "+topic+" has slow tables")
	}
	h.say(project, "x", "", "the parser again", "a quince")
	h.update()
	for query, weak := range map[string]bool{
		"slow parser tables": false, "tabels of the slow linker": false,
		"kubernetes ingress tables behind a balancer in staging": true,
	} {
		r := h.find(query, "")
		if r.Weak != weak || len(r.Hits) == 0 || r.Hits[0].Match > 1 || weak && (len(r.Hits) > weakHits || r.Hits[0].Match > 0.3) {
			t.Errorf("%q: %+v", query, r)
		}
	}
	few := newHome(t)
	few.say(project, "x", "", "fix the daemon", "it was the socket")
	few.update()
	for query, weak := range map[string]bool{"fix my bicycle tyre": true, "fix the daemon": false, "daemon": false} {
		if r := few.find(query, ""); r.Weak != weak || len(r.Hits) == 0 {
			t.Errorf("%q: %+v", query, r)
		}
	}
	r := h.find("slow parser tables quince", "")
	all, err := Find(t.Context(), h.dir, Query{Text: "slow parser tables quince", Redact: masked, Weak: true})
	h.must(err)
	if r.Below == 0 || len(all.Hits) != len(r.Hits)+r.Below || all.Below != 0 {
		t.Errorf("%d hits and %d below, with weak %d", len(r.Hits), r.Below, len(all.Hits))
	}
}

// An answer whose words stand far apart, or that an agent gave, becomes weak with fewer words that nothing contains.
func TestWordsThatStandApartOrThatAnAgentSaidAreWeakerAnswers(t *testing.T) {
	t.Parallel()
	bearable := func(typed, said string) (unknown int) {
		h := newHome(t)
		h.say(project, "a", "", typed, said)
		for i := range 10 {
			h.say(project, fmt.Sprint("b", i), "", "something else", "of no interest")
		}
		h.update()
		for query := "quokka marimba"; !h.find(query, "").Weak; unknown++ {
			query += fmt.Sprint(" alpha", unknown)
		}
		return unknown
	}
	between := strings.Repeat(" and so on", 40)
	typed, apart := bearable("quokka marimba"+between, "yes"), bearable("quokka"+between+" marimba", "yes")
	if agent := bearable("well?", "quokka marimba"+between); apart >= typed || agent >= typed {
		t.Errorf("%d unknown words make it weak; %d if it stands apart, %d of an agent", typed, apart, agent)
	}
}

// Words that decide stand anywhere in a long query; a word that nothing contains is tried with one letter changed.
func TestWordsOfAQuery(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	unknown := ""
	for i := range 2 * maxTerms {
		unknown += fmt.Sprintf(" alpha%d", i)
	}
	h.say(project, "a", "", "the retrieval of maxOpenConns", "a zebra")
	h.say(project, "c", "", "a database for each release", "licenses in the repository, for goreleaser and its environment")
	h.say(project, "d", "", "a word that is cut: gorelea…")
	for i := range 3 {
		h.say(project, fmt.Sprint("b", i), "", "something else", "max and open and conns")
	}
	h.update()
	for query, want := range map[string]string{
		unknown + " zebra": "pi:a", "retreival": "pi:a", "retraeval": "pi:a", "rerieval": "pi:a", "retrrieval": "pi:a",
		"max_open_conns": "pi:a", "databse": "pi:c", "relaese": "pi:c", "releese": "pi:c", "licnse": "pi:c",
		"repositry": "pi:c", "goreleasr": "pi:c", "enviroment": "pi:c",
	} {
		if r := h.find(query, ""); len(r.Hits) == 0 || r.Hits[0].Session != want {
			t.Errorf("%.30q finds %q, want first %s", query, places(r), want)
		}
	}
	if r := h.find("xyzzy zebra", ""); r.Hits[0].Match > 0.6 {
		t.Errorf("half of the query is missing, and the match is %v", r.Hits[0].Match)
	}
	if _, err := Find(t.Context(), h.dir, Query{Text: "what do we use, and who used it", Redact: strings.Clone}); err == nil {
		t.Error("to use something is no distinctive word")
	}
}

func TestACompoundCountsOnce(t *testing.T) {
	t.Parallel()
	query := terms("maxOpenConns zebra zebra max")
	if got := wordsOf(query); !slices.Equal(got, []string{"max", "open", "conns", "maxopenconns", "zebra"}) {
		t.Fatalf("%q", got)
	}
	weights := rarity([]uint32{0b11111, 0b00001}, query, 1000)
	if sum := weights[1] + weights[2] + weights[3]; math.Abs(sum-weights[4]) > 0.001 {
		t.Errorf("the compound counts %v, a word as rare %v", sum, weights[4])
	}
	if weights = rarity([]uint32{0b00111}, query, 1000); weights[3] != 0 || weights[1] != inverse(1, 1000) {
		t.Errorf("nothing contains the compound: %v", weights)
	}
}

// Of two hits that speak of the same thing, the newer one stands first, unless it lacks the query's rare words.
func TestTheNewerWordStandsFirst(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.say(project, "old", "", "what is the retry limit of the webhook sender", "the retry limit of the webhook sender is five")
	h.say(project, "new", "", "x", "x", "x", "I raised the retry limit of the webhook sender to twelve")
	h.say(project, "else", "", "x", "x", "x", "x", "x", "the webhook sender logs less")
	h.update()
	if r := h.find("retry limit webhook sender", ""); len(r.Hits) < 2 || r.Hits[0].Session != "pi:new" || r.Hits[1].Session != "pi:old" {
		t.Errorf("%q", places(r))
	}
}

// What a later word overturned is found only if it is asked for, with that.
func TestWhatWasReplacedIsNotFound(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.say(project, "a", "## Findings\n- zebras are kept in the northern stable\n")
	h.say(project, "b", "## Findings\n- zebras are kept in the southern stable\n")
	h.update()
	all, _, err := h.st.Selected(t.Context(), project, 10)
	h.must(err)
	slices.SortFunc(all, func(a, b memoir.Extraction) int { return strings.Compare(a.SessionKey, b.SessionKey) })
	all[1].Statements[0].Replaces = all[0].Statements[0].ID
	all[0].Statements[0].Kind, all[0].Statements[0].Outcome = memoir.StatementRefuted, "2026-09-01"
	h.publish(1, memory.Files{memory.StatementsFile: memory.EncodeStatements(all, strings.Clone),
		"rollout_summaries/a.md": []byte("session: a\nagent: pi\nended: 2026-05-01T10:00:00Z\n\n## Findings\n" +
			"- zebras are kept in the northern stable [3, 4]\n")})
	h.update()
	for replaced, want := range map[bool]string{false: "", true: "zebras are kept in the southern stable"} {
		r, err := Find(t.Context(), h.dir, Query{Text: "zebras northern", Weak: true, Redact: masked, Filter: Filter{Replaced: replaced}})
		h.must(err)
		got, found := "", 0
		for _, hit := range r.Hits {
			if hit.Session == "pi:a" {
				got, found = hit.ReplacedBy, found+1
			}
		}
		if got != want || found > 0 != replaced {
			t.Errorf("replaced %v: %+v", replaced, r.Hits)
		}
	}
}
