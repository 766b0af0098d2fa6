package model

import (
	"os"
	"path/filepath"
	"strings"
	"time"
)

// scratchPrefix begins the names of the directories that programs work in.
const scratchPrefix = "memoir-exec-"

// abandoned is the age at which such a directory is nobody's: no call lasts a day.
const abandoned = 24 * time.Hour

// sweep removes the directories in temp that killed processes of this user left behind.
// What it cannot remove stays for the next time.
func sweep(temp string, now time.Time) {
	entries, err := os.ReadDir(temp)
	if err != nil {
		return
	}
	for _, e := range entries {
		if !e.IsDir() || !strings.HasPrefix(e.Name(), scratchPrefix) {
			continue
		}
		if info, err := e.Info(); err == nil && mine(info) && now.Sub(info.ModTime()) >= abandoned {
			removeAll(filepath.Join(temp, e.Name()))
		}
	}
}
