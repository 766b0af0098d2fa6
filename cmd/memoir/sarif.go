package main

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/url"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"memoir/pipeline"
)

// The parts of SARIF 2.1.0 that findings need, as the standard of OASIS has them.
type (
	sarifLog struct {
		Schema  string     `json:"$schema"`
		Version string     `json:"version"`
		Runs    []sarifRun `json:"runs"`
	}
	sarifRun struct {
		Tool        sarifTool         `json:"tool"`
		Invocations []sarifInvocation `json:"invocations"`
		ColumnKind  string            `json:"columnKind"`
		Results     []sarifResult     `json:"results"`
	}
	sarifInvocation struct {
		Successful bool `json:"executionSuccessful"`
	}
	sarifTool struct {
		Driver sarifDriver `json:"driver"`
	}
	sarifDriver struct {
		Name    string      `json:"name"`
		Version string      `json:"version"`
		Rules   []sarifRule `json:"rules"`
	}
	sarifRule struct {
		ID    string    `json:"id"`
		Short sarifText `json:"shortDescription"`
		Help  sarifText `json:"help"`
	}
	sarifText struct {
		Text string `json:"text"`
	}
	sarifResult struct {
		RuleID       string            `json:"ruleId"`
		RuleIndex    int               `json:"ruleIndex"`
		Level        string            `json:"level"`
		Message      sarifText         `json:"message"`
		Locations    []sarifLocation   `json:"locations"`
		Fingerprints map[string]string `json:"partialFingerprints"`
	}
	sarifLocation struct {
		Physical sarifPhysical  `json:"physicalLocation"`
		Logical  []sarifLogical `json:"logicalLocations,omitempty"`
	}
	sarifPhysical struct {
		Artifact sarifArtifact `json:"artifactLocation"`
		Region   *sarifRegion  `json:"region,omitempty"`
	}
	sarifArtifact struct {
		URI string `json:"uri"`
	}
	sarifRegion struct {
		StartLine   int `json:"startLine"`
		StartColumn int `json:"startColumn"`
	}
	sarifLogical struct {
		Name string `json:"fullyQualifiedName"`
		Kind string `json:"kind"`
	}
)

// sarifOf writes findings as a SARIF log. A place in a row of the database or in an
// archive has the file that holds it, and a logical location beside it. It is whole unless
// something could not be read.
func sarifOf(rules []string, findings []pipeline.StoredPlace, whole bool) sarifLog {
	rules = slices.Clone(rules)
	for _, f := range findings {
		if !slices.Contains(rules, f.Rule) {
			rules = append(rules, f.Rule)
		}
	}
	run := sarifRun{Tool: sarifTool{sarifDriver{Name: "memoir", Version: version(), Rules: []sarifRule{}}},
		Invocations: []sarifInvocation{{whole}}, ColumnKind: "unicodeCodePoints", Results: []sarifResult{}}
	index := map[string]int{}
	for i, id := range rules {
		index[id] = i
		run.Tool.Driver.Rules = append(run.Tool.Driver.Rules, sarifRule{
			ID: id, Short: sarifText{"A secret of the form that the rule " + id + " knows"},
			Help: sarifText{"Revoke the secret where it is in use, then take it out of the file: `memoir redact` does so with a text, `memoir redact --stored` with all that memoir keeps. A form that is no secret can be allowed in .gitleaks.toml."},
		})
	}
	seen := map[string]int{}
	for _, f := range findings {
		location := sarifLocation{Physical: sarifPhysical{Artifact: sarifArtifact{uriOf(f)}}}
		inside := f.Table != "" || f.File != ""
		if f.Line > 0 && !inside {
			location.Physical.Region = &sarifRegion{f.Line, max(f.Column, 1)}
		}
		if inside {
			location.Logical = []sarifLogical{{placeText(f), "member"}}
		}
		run.Results = append(run.Results, sarifResult{RuleID: f.Rule, RuleIndex: index[f.Rule], Level: "error",
			Message: sarifText{"A secret was found: " + f.Hint}, Locations: []sarifLocation{location}, Fingerprints: fingerprintOf(f, seen)})
	}
	return sarifLog{Schema: "https://json.schemastore.org/sarif-2.1.0.json", Version: "2.1.0", Runs: []sarifRun{run}}
}

// fingerprintOf tells a finding from others by what of it does not change when lines are
// added before it. It is made of what is shown, and seen counts those that look the same.
func fingerprintOf(f pipeline.StoredPlace, seen map[string]int) map[string]string {
	shown := strings.Join([]string{f.Rule, f.Container(), f.File, f.Table, f.Field, f.Key, strconv.FormatBool(f.Line == 0), f.Hint}, "\x00")
	seen[shown]++
	sum := sha256.Sum256(fmt.Appendf(nil, "%s\x00%d", shown, seen[shown]))
	return map[string]string{"memoirFinding/v1": hex.EncodeToString(sum[:16])}
}

// uriOf names the file of a finding: relative as it was given, or file:// for a whole path.
func uriOf(f pipeline.StoredPlace) string {
	path := f.Path
	if f.Table != "" || f.File != "" {
		path = f.Container()
	}
	if path == "-" {
		return "stdin"
	}
	u := url.URL{Path: filepath.ToSlash(path)}
	if filepath.IsAbs(path) {
		u.Scheme = "file"
	}
	return u.String()
}
