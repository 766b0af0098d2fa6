package model

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path/filepath"

	"memoir"
)

// opencode is OpenCode. It keeps each run as a session, which the marker tells from a
// person's.
var opencode = preset{
	name: "opencode", program: "opencode",
	invoke: func(q question, s scratch) (invocation, error) {
		agent := map[string]any{"mode": "primary", "prompt": q.system(), "tools": map[string]bool{"*": false}, "permission": map[string]string{"*": "deny"}}
		if q.temperature != nil {
			agent["temperature"] = *q.temperature
		}
		// It is laid over the person's own settings, which name their providers.
		config := object(map[string]any{
			"agent": map[string]any{"memoir": agent},
			"mcp":   map[string]any{"memoir": map[string]any{"enabled": false}},
			"share": "disabled", "autoupdate": false, "snapshot": false,
		})
		args := []string{"run", "--pure", "--format", "json", "--agent", "memoir", "--title", memoir.OwnRunMarker}
		args = append(args, flag("--model", q.model)...)
		if q.effort != "none" {
			args = append(args, flag("--variant", q.effort)...)
		}
		return invocation{args: args, env: []string{"OPENCODE_CONFIG_CONTENT=" + config, "OPENCODE_DB=" + filepath.Join(s.files, "sessions.db")}, stdin: prompt(q.Request, false, true)}, nil
	},
	read: func(out printed, _ scratch) (r reading) {
		found := false
		for event := range bytes.Lines(out.stdout) {
			var e struct {
				Type string `json:"type"`
				Part struct {
					Text   string  `json:"text"`
					Reason string  `json:"reason"`
					Cost   float64 `json:"cost"`
					Tokens struct {
						Input     int64 `json:"input"`
						Output    int64 `json:"output"`
						Reasoning int64 `json:"reasoning"`
						Cache     struct {
							Read  int64 `json:"read"`
							Write int64 `json:"write"`
						} `json:"cache"`
					} `json:"tokens"`
				} `json:"part"`
				Error struct {
					Name string `json:"name"`
					Data struct {
						Message string `json:"message"`
						Status  int    `json:"statusCode"`
					} `json:"data"`
				} `json:"error"`
			}
			if json.Unmarshal(event, &e) != nil {
				continue
			}
			switch e.Type {
			case "text":
				found = true
				r.text = e.Part.Text
			case "step_finish":
				found = true
				if e.Part.Reason == "length" {
					r.stop = StopLength
				}
				if e.Part.Reason == "content-filter" {
					r.stop = StopRefusal
				}
				t := e.Part.Tokens
				r.usage = r.usage.Add(memoir.Usage{InputTokens: t.Input + t.Cache.Read + t.Cache.Write, CachedTokens: t.Cache.Read,
					OutputTokens: t.Output + t.Reasoning, Cost: e.Part.Cost})
			case "error":
				found = true
				r.objection = e.Error.Name
				if d := e.Error.Data; d.Message != "" {
					r.objection = d.Message
					if d.Status > 0 {
						r.objection = fmt.Sprintf("status %d: %s", d.Status, d.Message)
					}
				}
			}
		}
		if !found {
			return notResult(out.stdout)
		}
		return r
	},
}
