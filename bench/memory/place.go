package main

import (
	"fmt"
	"os"
	"path/filepath"
)

// places fills in the directories that were not named.
func (o *options) places() error {
	root, err := moduleRoot()
	if err != nil && o.data == "" {
		return err
	}
	if o.data == "" {
		o.data = filepath.Join(root, "bench", "memory")
	}
	if o.corpus == "" {
		o.corpus = filepath.Join(root, "..", "shared", "corpus")
		if set := os.Getenv("MEMOIR_CORPUS"); set != "" {
			o.corpus = set
		}
	} else if !o.fit {
		o.real = true
	}
	return nil
}

func (o options) sessions() string { return filepath.Join(o.data, "sessions") }

// moduleRoot is the directory of go.mod above the current one.
func moduleRoot() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir, nil
		}
		up := filepath.Dir(dir)
		if up == dir {
			return "", fmt.Errorf("the data is not found from here: name its directory with -data")
		}
		dir = up
	}
}
