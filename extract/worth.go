package extract

import (
	"strings"

	"memoir"
	"memoir/internal/lazyregexp"
)

// What a piece of an item is worth, in tiers. What tells more within a tier is worth more: prose
// up to 20, by informs.
const (
	worthTyped   = 90 // what a person typed
	worthError   = 78 // a failure's command and error lines, the command that passed after it
	worthPatch   = 74 // a patch's file and the first lines that it adds; text of a commit or pull request
	worthNear    = 72 // lines beside an error line
	worthMore    = 71 // the other changed lines and error lines, new files
	worthLong    = 66 // what follows the beginning of a long message of a person: often pasted
	worthFinal   = 55 // a closing answer
	worthCommand = 50 // a command that passed
	worthSaid    = 48 // the agent's other words, summaries, reports of sub-agents
	worthEnd     = 47 // the end of a command's output
	worthLater   = 36 // patches and failures beyond their share
	worthCall    = 25 // any other call
	worthPrinted = 15 // the beginning and the end of what it printed
	worthRest    = 5
)

const (
	typedHead = 400 // bytes of a message that are taken for a person's own words
	patchHead = 12  // lines of a patch that come before the rest of other patches
	errorHead = 6   // error lines of a failure that do
	readHead  = 12  // first and last lines that are kept at most of what is only read
	readTail  = 4
)

// fixesOf tells which calls succeeded where a call of the same kind had failed before.
func fixesOf(items []memoir.Item) map[int]bool {
	fixes, open := map[int]bool{}, map[string]bool{}
	for i, it := range items {
		if it.Kind != memoir.ItemTool {
			continue
		}
		words := strings.Fields(it.Input)
		key := it.Tool + " " + strings.Join(words[:min(len(words), 2)], " ")
		bad := failed(it)
		fixes[i], open[key] = !bad && open[key], bad
	}
	return fixes
}

// rateMessage values the sentences of a message.
func rateMessage(items []memoir.Item, i int, pieces []piece) {
	it := items[i]
	agents := float64(worthSaid)
	if it.Origin == memoir.OriginAgent && (it.Final || i+1 == len(items) || items[i+1].Origin.ByPerson()) {
		agents = worthFinal
	}
	fence := false
	for k := range pieces {
		p := &pieces[k]
		text := it.Text[p.from:p.to]
		fence = fence != strings.HasPrefix(strings.TrimSpace(text), "```")
		switch {
		case it.Origin.ByPerson() && p.from < typedHead && !fence:
			p.value = worthTyped
		case it.Origin.ByPerson():
			p.value = worthLong - min(0.1*float64(k), 20)
		case fence:
			p.value = agents
		default:
			p.value = agents + 2*informs(text)
		}
	}
}

// What tells how much a sentence says: names, reasons, and a beginning that only narrates.
var (
	nameLike    = lazyregexp.New("`[^`]+`" + `|\b[\w.-]*\w/[\w./-]+|\b\w+[_.]\w+\b|\b\d+\b|--\w+`)
	reasonWords = lazyregexp.New(`(?i)\b(?:because|since|so that|instead|root cause|caused? by|due to|turn(?:s|ed) out|` +
		`actually|reason|rather than|` +
		`must|never|always|only|fix(?:ed|es)?|fails?|works?|cannot|does not|doesn't|decided|blocked|remaining|still)\b`)
	narrates = lazyregexp.New(`(?i)^\W*(?:let me|let's|i'll|i will|i'm going|now |next,|first,|perfect|great|good|ok)\b`)
)

// informs is how much a sentence of the agent says, from 0 to 9: what it names, and whether it
// gives a reason.
func informs(text string) float64 {
	score := 2 + min(len(nameLike.FindAllStringIndex(text, 3)), 3) + 2*len(reasonWords.FindAllStringIndex(text, 2))
	if narrates.MatchString(text) || len(strings.Fields(text)) < 5 {
		score -= 2
	}
	return float64(max(score, 0))
}

// forPeople are the commands whose text the agent writes for people.
var forPeople = lazyregexp.New(`\bgit (?:-\S+ \S+ )?commit\b|\bglab mr\b` +
	`|\bgh (?:pr|issue|release) (?:create|edit|comment|review|merge)\b`)

// rateCall values the lines of a call: what was asked of the tool, and what it printed.
func rateCall(it *memoir.Item, pieces [partCount][]piece, fix bool) {
	bad, looks := failed(*it), reads(*it)
	letter := it.Shell() && forPeople.MatchString(it.Input)
	first, ends := float64(worthCall), float64(worthPrinted)
	switch {
	case bad || fix:
		first, ends = worthError, worthNear
	case it.Shell() && !looks:
		first, ends = worthCommand, worthEnd
	}
	if letter {
		first = max(first, worthPatch)
	}
	if it.Origin.ByPerson() {
		first = worthTyped
	}
	if isDiff(it.Input) {
		ratePatch(it.Input, pieces[partInput])
	} else {
		for k := range pieces[partInput] {
			pieces[partInput][k].value = first
			if k > 0 && !letter {
				pieces[partInput][k].value = min(first, worthCommand) - min(float64(k), 30)
			}
		}
	}
	rateOutput(it, pieces[partOutput], ends, looks)
	if bad {
		rateErrors(it, pieces[partOutput])
	}
	for _, list := range [][]piece{pieces[partInput], pieces[partOutput]} {
		for k := range list {
			list[k].evidence = list[k].value >= worthMore && list[k].value < worthTyped
		}
	}
}

// rateOutput values what a call printed; ends is what its first and last lines are worth.
func rateOutput(it *memoir.Item, output []piece, ends float64, looks bool) {
	for k := range output {
		switch fromEnd := len(output) - 1 - k; {
		case it.Tool == "Task" || it.Tool == "Agent": // what a sub-agent says
			output[k].value = worthSaid - 10 + 2*informs(it.Output[output[k].from:output[k].to])
		case k >= readHead && fromEnd >= readTail && looks:
			output[k].value = 0
		case fromEnd < 3:
			output[k].value = ends
		case k < 3:
			output[k].value = min(ends, worthPrinted+5)
		default:
			output[k].value = max(worthPrinted-0.1*float64(min(k, fromEnd)), worthRest)
		}
	}
}

// ratePatch values the lines of a patch.
func ratePatch(diff string, pieces []piece) {
	file := strings.HasPrefix(diff, addFile)
	added := 0
	for k := range pieces {
		p := &pieces[k]
		if diff[p.from] == '+' {
			added++
		}
		p.value = worthPatch
		if k > 0 && (file || diff[p.from] == '-' || added > patchHead) {
			p.value = worthMore
		}
	}
}

// rateErrors raises the lines that tell why a call failed, and those beside them.
func rateErrors(it *memoir.Item, pieces []piece) {
	told := 0
	for k := range pieces {
		line := strings.TrimSpace(it.Output[pieces[k].from:pieces[k].to])
		if !errorLine(line) {
			continue
		}
		value, around := float64(worthNear), float64(worthLater)
		if saysFailure(line) {
			value, around = worthError, worthNear
		}
		if told++; told > errorHead {
			value, around = worthMore, worthLater
		}
		for near := max(k-1, 0); near <= min(k+2, len(pieces)-1); near++ {
			pieces[near].value = max(pieces[near].value, around)
		}
		pieces[k].value = max(pieces[k].value, value)
	}
}
