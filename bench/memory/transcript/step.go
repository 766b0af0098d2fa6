package transcript

import (
	"memoir/bench/memory/scenario"
)

// step is one thing that a session records as one: something said, or an answer of
// the agent with the call that goes with it.
type step struct {
	scenario.Entry                 // of an answer that calls a tool: the call
	text           string          // of an answer, perhaps empty
	call           *scenario.Entry // of an answer, nil if it calls nothing
	refused        bool            // the person rejected the call
	reason         string          // what they said to it
	final          bool            // the answer closes the turn
}

// steps joins what the agent says with the call that it makes next: most agents write
// these as one message.
func (b *book) steps() []step {
	var out []step
	said := b.session.Said
	for i := 0; i < len(said); i++ {
		e := said[i]
		s := step{Entry: e, final: b.session.Closing(i)}
		if e.Kind == scenario.Agent {
			s.text = e.Text
			if i+1 < len(said) && said[i+1].IsCall() {
				i++
				s.Entry = said[i]
			}
		}
		if s.IsCall() {
			call := s.Entry
			if s.Kind == scenario.Refused {
				s.refused, s.reason = true, s.Text
				call = *s.Call
				call.At = s.At
			}
			s.call = &call
		}
		out = append(out, s)
	}
	return out
}

// answer reports whether the step is the agent's.
func (s step) answer() bool { return s.call != nil || s.Kind == scenario.Agent }

// names are what an agent calls the tools of the kinds, and the arguments in them.
type names struct {
	run, read, edit, write, search string
	path, old, new, content        string
}

// tool is a call's name and arguments.
func (n names) tool(b *book, c scenario.Entry) (name string, arguments obj) {
	switch c.Kind {
	case scenario.Run:
		return n.run, obj{"command", commandLine(c)}
	case scenario.Read:
		return n.read, obj{n.path, b.file(c.Text)}
	case scenario.Edit:
		return n.edit, obj{n.path, b.file(c.Text), n.old, c.Old, n.new, c.New}
	case scenario.Write:
		return n.write, obj{n.path, b.file(c.Text), n.content, c.Content}
	case scenario.Search:
		return n.search, obj{"pattern", c.Text}
	}
	return c.Text, sorted(c.Input)
}

// sorted makes an object of what an author wrote as a tool's input.
func sorted(input map[string]any) obj {
	out := obj{}
	for _, key := range sortedKeys(input) {
		out = append(out, key, input[key])
	}
	return out
}

// done is what a tool says when it did what was asked and the scenario has no output
// of it.
func done(b *book, c scenario.Entry) string {
	switch c.Kind {
	case scenario.Edit:
		return "The file " + b.file(c.Text) + " has been updated."
	case scenario.Write:
		return "File created successfully at: " + b.file(c.Text)
	}
	return c.Output
}
