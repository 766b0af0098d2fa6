// Package prompts knows what is said to language models and to the agents that
// memory is injected into: static Markdown files with placeholders, the variables
// that each declares, and how they are filled in. It knows no model, and nothing
// of where its values come from.
//
// Read the Markdown files first, then set.go (how they are
// filled in) and inert.go (how their data is kept from posing as more).
package prompts
