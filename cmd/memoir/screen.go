package main

import (
	"fmt"
	"os"
	"os/signal"
	"strings"

	"golang.org/x/term"
)

// ctrlC is what the key sends where the terminal makes no signal of it.
const ctrlC = 3

// screen is a terminal that frames are drawn on, one in the place of the other. What
// was on it before scrolls away; no other screen is switched to, so that the last
// frame stays.
type screen struct {
	ui      *ui
	keys    chan byte      // what is typed; nothing where standard input is no terminal
	resized chan os.Signal // the terminal has another size
	restore func()
	w, h    int // of the last frame; 0: there was none
}

// openScreen takes the terminal: keys come at once and are not shown. The caller must
// close it, or the terminal stays so.
func (u *ui) openScreen() *screen {
	s := &screen{ui: u, keys: make(chan byte), resized: make(chan os.Signal, 1), restore: func() {}}
	if u.inTTY {
		fd := int(u.stdin.Fd())
		if before, err := term.MakeRaw(fd); err == nil {
			s.restore = func() { _ = term.Restore(fd, before) }
		}
		go func() {
			key := make([]byte, 1)
			for {
				if n, err := u.stdin.Read(key); err != nil {
					return
				} else if n == 1 {
					s.keys <- key[0]
				}
			}
		}()
	}
	onResize(s.resized)
	u.handOn("\x1b[?25l\x1b[?7l") // no cursor; lines that are too long are cut
	return s
}

func (s *screen) close() {
	signal.Stop(s.resized)
	s.ui.handOn("\x1b[?7h\x1b[?25h\r\n")
	s.restore()
}

func (s *screen) width() int {
	w, _ := s.size()
	return w
}

// size is that of the terminal now.
func (s *screen) size() (w, h int) {
	w, h, err := term.GetSize(int(os.Stdout.Fd()))
	if err != nil || w < 1 || h < 2 {
		return 80, 24
	}
	return w, h
}

// draw puts a frame in the place of the one before. Lines beyond the last row are left
// out, and said to be.
func (s *screen) draw(lines []string) {
	w, h := s.size()
	var b strings.Builder
	if w != s.w || h != s.h {
		b.WriteString("\x1b[2J")
	}
	s.w, s.h = w, h
	if len(lines) > h {
		more := len(lines) - h + 1
		lines = append(lines[:h-1:h-1], fmt.Sprintf("… %s more: make the terminal higher", count(more, "line")))
	}
	b.WriteString("\x1b[H")
	// A row is emptied before it is written: after a line as wide as the terminal the
	// cursor stands on its last character, which would be emptied with the rest.
	for i, line := range lines {
		if i > 0 {
			b.WriteString("\r\n")
		}
		b.WriteString("\x1b[K" + line)
	}
	if len(lines) < h {
		b.WriteString("\r\n\x1b[J")
	}
	s.ui.handOn(b.String())
}

// broken reports that nobody sees the screen any more.
func (s *screen) broken() bool { return !s.ui.handOn("") }

// handOn writes to standard output at once, as it is, and reports whether that still works.
func (u *ui) handOn(text string) bool {
	u.put(text)
	u.mu.Lock()
	defer u.mu.Unlock()
	u.flush()
	return u.outBroken == nil
}
