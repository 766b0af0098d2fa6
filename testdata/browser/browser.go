// Package browser drives Chromium through its debugging pipe, for tests and pictures of pages.
package browser

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strings"
)

// A Browser is a running Chromium with one page. It is not for concurrent use.
type Browser struct {
	Errors []string // what the console reported

	command *exec.Cmd
	profile string // its folder
	in      *os.File
	out     *bufio.Reader
	session string
	last    int  // number of the last call
	loaded  bool // since the last Visit
}

// Open starts Chromium in a new profile. It sends some headers with each request, and ends with ctx.
func Open(ctx context.Context, headers map[string]string) (*Browser, error) {
	path, err := exec.LookPath("chromium")
	if err != nil {
		return nil, err
	}
	profile, err := os.MkdirTemp("", "chromium")
	if err != nil {
		return nil, err
	}
	commands, in, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer commands.Close()
	out, answers, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer answers.Close()
	b := &Browser{profile: profile, in: in, out: bufio.NewReader(out), command: exec.CommandContext(ctx, path, "--headless", "--no-sandbox",
		"--disable-gpu", "--disable-dev-shm-usage", "--no-first-run", "--hide-scrollbars", "--user-data-dir="+profile,
		"--enable-features=NetworkServiceInProcess2", // no process writes when the first has ended
		"--remote-debugging-pipe")}
	b.command.Env = append(os.Environ(), "TMPDIR="+profile)
	b.command.ExtraFiles = []*os.File{commands, answers} // 3 and 4
	if err := b.command.Start(); err != nil {
		return nil, err
	}
	var made struct{ TargetID, SessionID string }
	err = b.call("Target.createTarget", map[string]any{"url": "about:blank"}, &made)
	if err == nil {
		err = b.call("Target.attachToTarget", map[string]any{"targetId": made.TargetID, "flatten": true}, &made)
	}
	b.session = made.SessionID
	for _, domain := range []string{"Page", "Runtime", "Log", "Network"} {
		if err == nil {
			err = b.call(domain+".enable", nil, nil)
		}
	}
	if err == nil {
		err = b.call("Network.setExtraHTTPHeaders", map[string]any{"headers": headers}, nil)
	}
	return b, err
}

// Close ends Chromium and removes its profile.
func (b *Browser) Close() {
	b.session = ""
	_ = b.call("Browser.close", nil, nil)
	_ = b.in.Close()
	_ = b.command.Wait()
	_ = os.RemoveAll(b.profile)
}

// call sends a command, waits for its answer and decodes the result unless into is nil.
func (b *Browser) call(method string, params, into any) error {
	b.last++
	id := b.last
	text, err := json.Marshal(map[string]any{"id": id, "method": method, "params": params, "sessionId": b.session})
	if b.session == "" {
		text, err = json.Marshal(map[string]any{"id": id, "method": method, "params": params})
	}
	if err == nil {
		_, err = b.in.Write(append(text, 0))
	}
	for err == nil {
		var m message
		if m, err = b.read(); err != nil || m.ID != id {
			continue
		}
		switch {
		case m.Error != nil:
			return fmt.Errorf("%s: %s", method, m.Error.Message)
		case into == nil:
			return nil
		}
		return json.Unmarshal(m.Result, into)
	}
	return fmt.Errorf("%s: %w", method, err)
}

type message struct {
	ID     int
	Method string
	Result json.RawMessage
	Params json.RawMessage
	Error  *struct{ Message string }
}

// read reads an answer or an event.
func (b *Browser) read() (m message, err error) {
	text, err := b.out.ReadBytes(0)
	if err == nil {
		err = json.Unmarshal(bytes.TrimSuffix(text, []byte{0}), &m)
	}
	about := string(m.Params)
	switch {
	case m.Method == "Page.loadEventFired":
		b.loaded = true
	case m.Method == "Runtime.exceptionThrown",
		m.Method == "Runtime.consoleAPICalled" && strings.Contains(about, `"type":"error"`),
		m.Method == "Log.entryAdded" && strings.Contains(about, `"level":"error"`):
		b.Errors = append(b.Errors, about)
	}
	return m, err
}

// Screen sets the size of the window in pixels, and the colours that the person prefers.
func (b *Browser) Screen(width, height int, dark bool) error {
	err := b.call("Emulation.setDeviceMetricsOverride", map[string]any{"width": width, "height": height,
		"deviceScaleFactor": 1, "mobile": false}, nil)
	if err != nil {
		return err
	}
	scheme := map[bool]string{false: "light", true: "dark"}[dark]
	return b.call("Emulation.setEmulatedMedia", map[string]any{
		"features": []map[string]string{{"name": "prefers-color-scheme", "value": scheme}}}, nil)
}

// Script allows or forbids the scripts of pages.
func (b *Browser) Script(on bool) error {
	return b.call("Emulation.setScriptExecutionDisabled", map[string]any{"value": !on}, nil)
}

// Visit opens an address and waits until it is loaded.
func (b *Browser) Visit(address string) error {
	b.loaded = false
	var out struct{ ErrorText string }
	err := b.call("Page.navigate", map[string]any{"url": address}, &out)
	if err == nil && out.ErrorText != "" {
		err = fmt.Errorf("%s: %s", address, out.ErrorText)
	}
	return b.wait(err)
}

// wait waits until a page is loaded, unless there is an error already.
func (b *Browser) wait(err error) error {
	for err == nil && !b.loaded {
		_, err = b.read()
	}
	return err
}

// Key presses a key with a name and a code, such as Tab and 9. With loads it waits for the page that this opens.
func (b *Browser) Key(name string, code int, loads bool) error {
	b.loaded = !loads
	text := map[bool]string{true: name, false: map[string]string{"Enter": "\r"}[name]}[len(name) == 1]
	params := map[string]any{"type": "keyDown", "key": name, "code": name, "windowsVirtualKeyCode": code, "text": text}
	err := b.call("Input.dispatchKeyEvent", params, nil)
	if params["type"] = "keyUp"; err == nil {
		err = b.call("Input.dispatchKeyEvent", params, nil)
	}
	return b.wait(err)
}

// Eval runs an expression in the page, waits for its promise if it is one, and decodes its value.
func (b *Browser) Eval(expression string, into any) error {
	var out struct {
		Result           struct{ Value json.RawMessage }
		ExceptionDetails json.RawMessage
	}
	err := b.call("Runtime.evaluate", map[string]any{"expression": expression, "returnByValue": true, "awaitPromise": true}, &out)
	if err == nil && out.ExceptionDetails != nil {
		err = fmt.Errorf("%s: %s", expression, out.ExceptionDetails)
	}
	if err != nil || into == nil {
		return err
	}
	return json.Unmarshal(out.Result.Value, into)
}

// Over opens what is folded, and returns up to three elements that stand out of the window at a width in pixels.
func (b *Browser) Over(width int) (over []string, err error) {
	if err = b.Screen(width, 800, false); err == nil {
		err = b.Eval(`document.querySelectorAll("details").forEach((d) => { d.open = true; });
			document.documentElement.scrollWidth <= innerWidth ? [] : [...document.querySelectorAll("main *")].filter((e) =>
				e.getBoundingClientRect().right > innerWidth).map((e) => e.outerHTML.slice(0, 200)).slice(0, 3)`, &over)
	}
	return over, err
}

// Picture returns what the window shows as PNG.
func (b *Browser) Picture() ([]byte, error) {
	var out struct{ Data []byte }
	err := b.call("Page.captureScreenshot", map[string]any{"format": "png"}, &out)
	return out.Data, err
}
