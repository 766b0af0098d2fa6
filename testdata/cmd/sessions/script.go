package main

import (
	"path/filepath"

	"memoir/testdata/mockmodel"
)

// conversation is one session: what is typed, and what the model then says and
// has done.
type conversation struct {
	name  string
	turns mockmodel.Script
	// cut says that the agent is told to stop during the last command.
	cut bool
	// own says that the session is to be taken for one of our own model calls.
	own bool
	// sub says that a sub-agent holds it, for the conversation before.
	sub bool
}

// The conversations in the order in which they are held.
const (
	talk = iota
	branchedOff
	interrupted
	ownRun
	helped
	helper
)

// started is the file that shows that the command to interrupt is running.
const started = "started"

// ownMarker in a first prompt marks memoir's own model calls.
const ownMarker = "memoir:own-run"

// forkName is the conversation that begins with a copy of another.
const forkName = "fork"

// task is what the sub-agent is given to do.
const task = "Look at the shed and report how many lamps hang in it."

// conversations are what is said in a directory.
func conversations(work string) []conversation {
	return []conversation{
		talk: {name: "conversation", turns: mockmodel.Script{
			{Prompt: "Please find out why the lantern build fails, and note what you find in NOTES.md.", Steps: []mockmodel.Step{
				{Text: "I will look at the workspace first.", Shell: lookAround},
				{Text: "Now the failing step.", Shell: failing},
				{Text: "I will write the note.", Write: &mockmodel.File{Path: filepath.Join(work, "NOTES.md"),
					Content: "The wick is missing.\nBuild with make lantern.\n"}},
				{Text: "The lantern build fails because the wick is missing; NOTES.md says so."},
			}},
			{Prompt: "Now always use tabs in the Makefile, and tell me that you did.", Steps: []mockmodel.Step{
				{Shell: second},
				{Text: "Understood: tabs in the Makefile from now on."},
			}},
		}},
		branchedOff: {name: forkName, turns: mockmodel.Script{
			{Prompt: "In this branch, try the oil lamp instead.", Steps: []mockmodel.Step{{Text: "The oil lamp works too."}}},
		}},
		interrupted: {name: "interrupted", cut: true, turns: mockmodel.Script{
			{Prompt: "Watch the harbour all night.", Steps: []mockmodel.Step{
				{Text: "Watching.", Shell: "echo harbour; touch " + started + "; sleep 60"},
				{Text: "Nothing came."},
			}},
		}},
		ownRun: {name: "own run", own: true, turns: mockmodel.Script{
			{Prompt: ownMarker + "\nSay good night to the keeper.", Steps: []mockmodel.Step{{Text: "Good night, keeper."}}},
		}},
		helped: {name: "sub-agent's parent", turns: mockmodel.Script{
			{Prompt: "Send a helper to the shed.", Steps: []mockmodel.Step{
				{Text: "I send a helper.", Agent: task},
				{Text: "The helper is back."},
			}},
		}},
		helper: {name: "sub-agent", sub: true, turns: mockmodel.Script{
			{Prompt: task, Steps: []mockmodel.Step{
				{Text: "I look.", Shell: countLamps},
				{Text: "Two lamps hang in the shed."},
			}},
		}},
	}
}

// pause is what commands end with: some agents lose what is printed just before the end.
const pause = "sleep 0.3"

// The commands.
const (
	lookAround = "echo lantern-ok && ls && " + pause
	failing    = "echo wick-missing; " + pause + "; exit 3"
	second     = "echo second-turn; " + pause
	countLamps = "echo lamps=2; " + pause
)

// outputs are what the commands print, and exits how those end that fail.
var (
	outputs = map[string]string{
		lookAround: "lantern-ok\nMakefile",
		failing:    "wick-missing",
		second:     "second-turn",
		countLamps: "lamps=2",
	}
	exits = map[string]int{failing: 3}
)

// script is all of it, for the mock model.
func script(all []conversation) mockmodel.Script {
	var out mockmodel.Script
	for _, c := range all {
		out = append(out, c.turns...)
	}
	return out
}
