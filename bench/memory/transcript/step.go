package transcript

import (
	"memoir/bench/memory/scenario"
)

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
