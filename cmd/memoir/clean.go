package main

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"

	"memoir/config"
	"memoir/internal/disk"
	"memoir/pipeline"
	"memoir/secrets"
)

// cleaner removes secrets from messages and logs. An error quotes its subject, which may be a line
// of a transcript or an argument.
type cleaner struct {
	mu      sync.Mutex
	rules   string // path of a person's own rules; "" if there are none, or it is not known yet
	scanner *secrets.Scanner
	words   []string          // the arguments, and MEMOIR_ variables
	given   *secrets.Redactor // knows the secrets in words and in config.yml
	whole   *strings.Replacer // replaces words that contain secrets
}

// minWord is the length, in bytes, from which on a word is replaced as a whole.
const minWord = 8

// setArguments tells the cleaner the secrets in arguments and variables: an error may quote them
// in another form, or as a part of a path, which no rule matches.
func (c *cleaner) setArguments(args, environ []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.words, c.given = slices.Clone(args), nil
	for _, entry := range environ {
		if name, value, _ := strings.Cut(entry, "="); strings.HasPrefix(name, "MEMOIR_") {
			c.words = append(c.words, value)
		}
	}
}

// setRules makes the cleaner use a person's own rules, too.
func (c *cleaner) setRules(rules string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.rules != rules {
		c.rules, c.scanner, c.given = rules, nil, nil
	}
}

func (c *cleaner) clean(text string) string {
	if text == "" {
		return "" // the rules take longer to compile than most commands take
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.scanner == nil {
		var err error
		options := secrets.Options{ConfigPath: c.rules}
		if dir, err := os.Getwd(); err == nil { // rules that a project adds; its allowlists do not apply here
			options.ProjectPath, _, _ = pipeline.ProjectRules(dir, config.TrustStore{})
		}
		// The command that needs the rules reports what is wrong with them.
		for _, options := range []secrets.Options{options, {ConfigPath: c.rules}, {}} {
			if c.scanner, err = secrets.New(options); err == nil {
				break
			}
		}
		if err != nil {
			return ""
		}
	}
	if c.given == nil {
		c.given = c.scanner.Session()
		var pairs []string
		for _, word := range c.words {
			// A short password may also be a common word.
			if clean := c.given.Text(word); clean != word && len(word) >= minWord {
				quoted, path := strconv.Quote(word), filepath.Clean(word)
				pairs = append(pairs, word, clean, path, c.given.Text(path), quoted[1:len(quoted)-1], clean)
			}
		}
		c.whole = strings.NewReplacer(pairs...)
		if c.rules != "" {
			path := filepath.Join(filepath.Dir(c.rules), config.FileName)
			if settings, err := disk.ReadFile(path, config.MaxFileSize); err == nil {
				c.given.Text(string(settings))
			}
		}
	}
	return c.given.AgainText(c.scanner.Message(c.whole.Replace(text)))
}

// redact removes the secrets from a text.
func (p *program) redact(text string) string { return p.cleaner.clean(text) }
