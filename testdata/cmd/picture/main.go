// Command picture sets memoir up in a terminal, over the fixture sessions, and draws what the terminal shows
// as SVG. It needs tmux.
package main

import (
	"cmp"
	"errors"
	"fmt"
	"html"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"memoir/testdata"
)

const columns, lineHeight, charWidth = 118, 19, 8.43 // the latter in pixels, at 14 pixels

func main() {
	log.SetFlags(0)
	if len(os.Args) != 3 {
		log.Fatal("usage: picture MEMOIR FILE.svg")
	}
	screen, err := record(os.Args[1])
	if err == nil {
		err = os.WriteFile(os.Args[2], []byte(draw(wrapped(screen))), 0o644)
	}
	if err != nil {
		log.Fatalf("picture: %v", err)
	}
}

// record runs `memoir init` in a home of its own and returns the lines on the screen, with their colours.
func record(program string) (string, error) {
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(dir)
	home := filepath.Join(dir, "home")
	_, err = testdata.Write(home)
	for _, agent := range []string{"claude", "copilot", "pi", "qwen"} {
		err = errors.Join(err, os.Rename(filepath.Join(home, agent), filepath.Join(home, "."+agent)))
	}
	program, failed := filepath.Abs(program)
	if err = errors.Join(err, failed, os.Symlink(program, filepath.Join(dir, "memoir"))); err != nil {
		return "", err
	}
	socket := []string{"-S", filepath.Join(dir, "tmux"), "-f", "/dev/null"}
	tmux := func(args ...string) string {
		out, failed := exec.Command("tmux", slices.Concat(socket, args)...).Output()
		if failed != nil {
			err = fmt.Errorf("tmux %s: %w", args[0], failed)
		}
		return string(out)
	}
	// The fixtures are of a day that has passed.
	tmux("new-session", "-d", "-x", fmt.Sprint(columns), "-y", "60", "env", "-i", "HOME="+home, "PATH="+dir+":/usr/bin:/bin",
		"PS1=$ ", "TERM=xterm-256color", "MEMOIR_MEMORIES_MAX_ROLLOUT_AGE_DAYS=0", "sh")
	defer tmux("kill-server")
	screen := ""
	for i, until := range []string{"$ ", "run? [Y/n]", "try it: "} {
		if i > 0 { // the shell is there
			tmux("send-keys", []string{"", "memoir init", ""}[i], "Enter")
		}
		for end := time.Now().Add(time.Minute); !strings.Contains(screen, until); time.Sleep(100 * time.Millisecond) {
			if screen = tmux("capture-pane", "-e", "-J", "-p"); err != nil || time.Now().After(end) {
				return "", cmp.Or(err, fmt.Errorf("no %q in a minute:\n%s", until, screen))
			}
		}
	}
	screen = strings.ReplaceAll(screen, home, "~")
	return strings.TrimRight(strings.TrimSuffix(strings.TrimRight(screen, " \n"), "$"), "\n"), err
}

// wrapped are lines that fit, broken at spaces.
func wrapped(screen string) (lines []string) {
	for line := range strings.Lines(screen) {
		for line = strings.TrimRight(line, " \n"); len(line) > columns; {
			end := strings.LastIndexByte(line[:columns], ' ')
			lines, line = append(lines, line[:end]), line[end:]
		}
		lines = append(lines, line)
	}
	return lines
}

// colours are those of the terminal's codes.
var colours = map[string]string{"31": "#f47067", "33": "#e0b341", "36": "#56c2c9"}

var code = regexp.MustCompile("\x1b\\[([0-9;]*)m")

// draw is the screen as SVG.
func draw(lines []string) string {
	var b strings.Builder
	width, height := columns*charWidth+40, len(lines)*lineHeight+32
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %.0f %d" width="%.0f" height="%d" role="img">`+
		"\n<title>memoir init: sessions found, a first run, and what the next session is told</title>\n"+
		`<rect width="100%%" height="100%%" rx="8" fill="#1c2128"/>`+"\n", width, height, width, height)
	b.WriteString(`<g font-family="ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace" ` +
		`font-size="14" fill="#cdd9e5">` + "\n")
	for i, line := range lines {
		fmt.Fprintf(&b, `<text x="20" y="%d">`, 30+i*lineHeight)
		at, open := 0, ""
		for _, m := range append(code.FindAllStringSubmatchIndex(line, -1), []int{len(line), len(line), 0, 0}) {
			b.WriteString(html.EscapeString(strings.ReplaceAll(line[at:m[0]], " ", "\u00a0")) + open)
			if at, open = m[1], ""; colours[line[m[2]:m[3]]] != "" {
				b.WriteString(`<tspan fill="` + colours[line[m[2]:m[3]]] + `">`)
				open = "</tspan>"
			}
		}
		b.WriteString("</text>\n")
	}
	return b.String() + "</g>\n</svg>\n"
}
