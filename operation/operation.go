// Package operation is what every door to memory offers: the command line, MCP and HTTP. Each operation has one function
// and the form of its JSON. It knows no flag, no terminal, no request and no budget of an answer: doors parse, call an
// operation and render its result.
//
// Read operation.go first, then form.go (the forms of stored data), generation.go and status.go.
package operation
