package store

import (
	"bytes"
	"database/sql/driver"
	"encoding/json"
	"fmt"
	"strings"

	"memoir"
)

// statementColumn reads and writes statements as JSON, without their ids, which follow from the session's project.
type statementColumn struct{ of *[]memoir.Statement }

// Scan reads a column.
func (c statementColumn) Scan(value any) error {
	text, _ := value.(string)
	*c.of = nil
	if err := json.Unmarshal([]byte(text), c.of); err != nil {
		return fmt.Errorf("read statements: %w", err)
	}
	return nil
}

// Value writes a column.
func (c statementColumn) Value() (driver.Value, error) { return encodeStatements(*c.of) }

func encodeStatements(statements []memoir.Statement) (string, error) {
	plain := make([]memoir.Statement, len(statements))
	for i, st := range statements {
		plain[i] = st
		plain[i].ID = ""
	}
	var b bytes.Buffer
	to := json.NewEncoder(&b)
	to.SetEscapeHTML(false)
	err := to.Encode(plain)
	return strings.TrimRight(b.String(), "\n"), err
}

// Plain returns the text as it is read: of statements, commands and errors, all their texts, each on a line.
func (t Text) Plain() string {
	if t.Column != statementsColumn && t.Column != toolsColumn {
		return t.Value
	}
	var lines []string
	t.Changed(func(text string) string {
		lines = append(lines, text)
		return text
	})
	return strings.Join(lines, "\n")
}

// Changed returns the value of the column with its texts changed.
func (t Text) Changed(change func(string) string) string {
	var changed string
	var err error
	switch t.Column {
	case toolsColumn:
		var tools []Message
		tools, err = decodeTools(t.Value)
		for i := range tools {
			tools[i].Text = change(tools[i].Text)
		}
		if err == nil {
			changed, err = encodeTools(tools)
		}
	case statementsColumn:
		var statements []memoir.Statement
		if err = json.Unmarshal([]byte(t.Value), &statements); err == nil {
			changed, err = encodeStatements(memoir.Changed(statements, change))
		}
	default:
		return change(t.Value)
	}
	if err != nil { // another program has written it
		return change(t.Value)
	}
	return changed
}

const statementsColumn = "statements"
