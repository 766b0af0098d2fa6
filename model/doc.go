// Package model knows language models: how a person names one, and which of them
// this version can call. It knows nothing of prompts and memory. The built-in
// model is no language model and needs nothing from here; a configured one that
// cannot be called is refused by ParseSpec, before any work is claimed.
//
// Read spec.go.
package model
