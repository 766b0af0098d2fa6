// Package model knows language models: how a person names one, which providers
// there are, how each is called, what a call cost and what its failure means. It
// knows nothing of prompts and memory. The built-in model is no language model and
// needs nothing from here.
//
// Read call.go, then open.go. Each API has a file of its own; retry.go asks again.
package model
