// Package pipeline makes one run: scan the agents' sessions into the registry, extract
// from the eligible ones with bounded concurrency (Phase 1), and consolidate every project
// that is due under its lease and publish the result (Phase 2). It knows the order of the
// steps and what may fail between them; it knows no flags, no terminal and no exit codes.
// Read run.go first, then scan.go, phase1.go and phase2.go, in the order in which data passes.
package pipeline
