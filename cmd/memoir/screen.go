package main

import (
	"fmt"
	"os"
	"os/signal"
	"strings"
	"time"

	"golang.org/x/term"
)

// What keys send where the terminal makes no signals of them.
const (
	ctrlC = 3
	ctrlZ = 26
)

// screen is a terminal that frames are drawn on, one in the place of the other. What
// was on it before scrolls away; no other screen is switched to, so that the last
// frame stays.
type screen struct {
	ui      *ui
	keys    chan byte      // what is typed; nothing where standard input is no terminal
	resized chan os.Signal // the terminal has another size
	resumed chan os.Signal // the process goes on after it was stopped
	before  *term.State    // of the terminal; nil if it was not changed
	w, h    int            // of the last frame; 0: there was none
}

// openScreen takes the terminal: keys come at once and are not shown. The caller must
// close it, or the terminal stays so.
func (u *ui) openScreen() *screen {
	s := &screen{ui: u, keys: make(chan byte), resized: make(chan os.Signal, 1), resumed: make(chan os.Signal, 1)}
	if u.inTTY {
		if before, err := term.MakeRaw(int(u.stdin.Fd())); err == nil {
			s.before = before
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
	onResume(s.resumed)
	u.handOn(screenMode)
	return s
}

// screenMode asks for no cursor, and for lines that are too long to be cut; usualMode
// takes that back.
const (
	screenMode = "\x1b[?25l\x1b[?7l"
	usualMode  = "\x1b[?7h\x1b[?25h\r\n"
)

func (s *screen) close() {
	signal.Stop(s.resized)
	signal.Stop(s.resumed)
	s.giveBack()
}

// giveBack leaves the terminal as it was.
func (s *screen) giveBack() {
	s.ui.handOn(usualMode)
	if s.before != nil {
		_ = term.Restore(int(s.ui.stdin.Fd()), s.before)
	}
}

// suspend stops the process, as the key does elsewhere, until it is resumed.
func (s *screen) suspend() {
	s.giveBack()
	stopSelf()
	select { // another thread may be the one that is told, a moment later
	case <-s.resumed:
	case <-time.After(stopsWithin): // or nothing stops, as where no shell is there to go on from
	}
	s.resume()
}

// stopsWithin is how long a process may yet run that was told to stop.
const stopsWithin = 100 * time.Millisecond

// resume takes the terminal again, of which others had the use meanwhile.
func (s *screen) resume() {
	if s.before != nil {
		_, _ = term.MakeRaw(int(s.ui.stdin.Fd()))
	}
	s.ui.handOn(screenMode)
	s.w, s.h = 0, 0
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
