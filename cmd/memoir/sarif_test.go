package main

import (
	"encoding/json"
	"net/url"
	"testing"

	"memoir/pipeline"
)

// What the schema of SARIF 2.1.0 requires, and what it says of the fields that are used.
func TestFindingsAreASARIFLog(t *testing.T) {
	t.Parallel()
	findings := []pipeline.StoredPlace{
		{Rule: "b", Path: "a dir/x#y.md", Line: 3, Column: 5, Hint: "gh… (40 bytes)"},
		{Rule: "a", Path: "-", Line: 1, Column: 1, Hint: "h"},
		{Rule: "b", Path: "/srv/100%/name", Hint: "h"},
		{Rule: "c", Path: "/home/memoir.db#session.title[k]", Table: "session", Line: 2, Column: 1, Hint: "h"},
	}
	text, err := json.Marshal(sarifOf([]string{"a", "b"}, findings, true))
	if err != nil {
		t.Fatal(err)
	}
	var log map[string]any
	if err := json.Unmarshal(text, &log); err != nil {
		t.Fatal(err)
	}
	object := func(v any, required ...string) map[string]any {
		t.Helper()
		m, ok := v.(map[string]any)
		if !ok {
			t.Fatalf("%v is no object", v)
		}
		for _, name := range required {
			if m[name] == nil || m[name] == "" {
				t.Fatalf("%s is missing in %v", name, m)
			}
		}
		return m
	}
	object(log, "version", "runs", "$schema")
	if log["version"] != "2.1.0" {
		t.Errorf("version %v", log["version"])
	}
	run := object(log["runs"].([]any)[0], "tool", "results")
	if kind := run["columnKind"]; kind != "unicodeCodePoints" && kind != "utf16CodeUnits" {
		t.Errorf("columnKind %v", kind)
	}
	driver := object(object(run["tool"], "driver")["driver"], "name", "rules")
	ids := map[string]bool{}
	for _, r := range driver["rules"].([]any) {
		rule := object(r, "id")
		object(rule["help"], "text")
		object(rule["shortDescription"], "text")
		if id := rule["id"].(string); ids[id] {
			t.Errorf("rule %s is listed twice", id)
		} else {
			ids[id] = true
		}
	}
	results := run["results"].([]any)
	if len(results) != len(findings) || len(ids) != 3 {
		t.Fatalf("%d results, %d rules", len(results), len(ids))
	}
	for i, r := range results {
		result := object(r, "message", "ruleId", "level", "locations")
		object(result["message"], "text")
		rule := driver["rules"].([]any)[int(result["ruleIndex"].(float64))].(map[string]any)
		if rule["id"] != findings[i].Rule || result["ruleId"] != findings[i].Rule {
			t.Errorf("result %d is of rule %v", i, result["ruleId"])
		}
		location := object(result["locations"].([]any)[0], "physicalLocation")
		physical := object(location["physicalLocation"], "artifactLocation")
		uri := object(physical["artifactLocation"], "uri")["uri"].(string)
		if u, err := url.Parse(uri); err != nil || u.Fragment != "" || u.RawQuery != "" {
			t.Errorf("%q is no reference to a file: %v", uri, err)
		}
		if region, ok := physical["region"]; ok {
			for _, name := range []string{"startLine", "startColumn"} {
				if n := object(region, name)[name].(float64); n < 1 {
					t.Errorf("%s is %v", name, n)
				}
			}
		} else if findings[i].Line > 0 && findings[i].Table == "" {
			t.Errorf("result %d has no region", i)
		}
	}
}
