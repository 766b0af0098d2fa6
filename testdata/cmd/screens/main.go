// Command screens draws pages of `memoir serve` as PNG, over the fixture sessions. It needs Chromium. By default it
// draws those of the documentation; with addresses, each of them at 360 and 1,280 pixels, light and dark.
package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"log"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"memoir/testdata"
	"memoir/testdata/browser"
)

// documented are the pages of the documentation by the names of their pictures. Each is 1,280 pixels wide.
var documented = map[string]string{
	"serve-memory":  "/projects/lanternd/memory",
	"serve-session": "/sessions/2b9ad815",
}

func main() {
	log.SetFlags(0)
	if len(os.Args) < 3 {
		log.Fatal("usage: screens MEMOIR DIR [PAGE]...")
	}
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	if err := draw(ctx, os.Args[1], os.Args[2], os.Args[3:]); err != nil {
		log.Fatalf("screens: %v", err)
	}
}

func draw(ctx context.Context, program, to string, pages []string) error {
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	address, end, err := serve(ctx, program, dir)
	if err != nil {
		return err
	}
	defer end()
	token, err := os.ReadFile(filepath.Join(dir, "memoir", "token"))
	if err != nil {
		return err
	}
	b, err := browser.Open(ctx, map[string]string{"Authorization": "Bearer " + strings.TrimSpace(string(token))})
	if err != nil {
		return err
	}
	defer b.Close()
	take := func(page, name string, width, height int, dark bool) error {
		err := errors.Join(b.Screen(width, max(height, 800), dark), b.Visit(address+page))
		if height == 0 && err == nil { // all of it
			err = errors.Join(b.Eval("document.documentElement.scrollHeight", &height), b.Screen(width, min(height, 6000), dark))
		}
		picture, failed := b.Picture()
		if err = errors.Join(err, failed); err == nil {
			picture, err = paletted(picture)
		}
		return errors.Join(err, os.WriteFile(filepath.Join(to, name+".png"), picture, 0o644))
	}
	if len(pages) == 0 {
		for name, page := range documented {
			err = errors.Join(err, take(page, name, 1280, 1200, false))
		}
	}
	for _, page := range pages {
		name := regexp.MustCompile(`[^a-z0-9]+`).ReplaceAllString(strings.Trim(page, "/"), "-")
		for _, width := range []int{360, 1280} {
			err = errors.Join(err, take(page, fmt.Sprint(name, "-", width), width, 0, false),
				take(page, fmt.Sprint(name, "-", width, "-dark"), width, 0, true))
		}
	}
	for _, problem := range b.Errors {
		err = errors.Join(err, errors.New(problem))
	}
	return err
}

// paletted returns a PNG with one colour for all that are like it, which takes a third of the room.
func paletted(picture []byte) ([]byte, error) {
	from, err := png.Decode(bytes.NewReader(picture))
	if err != nil {
		return nil, err
	}
	const alike = 1 << 12 // of 16 bits a channel
	type kind [3]uint32
	kindOf := func(c color.Color) kind {
		r, g, b, _ := c.RGBA()
		return kind{r / alike, g / alike, b / alike}
	}
	counts, best := map[color.Color]int{}, map[kind]color.Color{}
	area := from.Bounds()
	for y := range area.Dy() {
		for x := range area.Dx() {
			counts[from.At(x, y)]++
		}
	}
	for c, n := range counts {
		if had := best[kindOf(c)]; had == nil || n > counts[had] || n == counts[had] && fmt.Sprint(c) < fmt.Sprint(had) {
			best[kindOf(c)] = c
		}
	}
	colors := color.Palette(slices.Collect(maps.Values(best)))
	slices.SortFunc(colors, func(a, b color.Color) int { return strings.Compare(fmt.Sprint(a), fmt.Sprint(b)) })
	if len(colors) > 256 {
		return picture, nil
	}
	to := image.NewPaletted(area, colors)
	for y := range area.Dy() {
		for x := range area.Dx() {
			to.Set(x, y, best[kindOf(from.At(x, y))])
		}
	}
	var out bytes.Buffer
	err = (&png.Encoder{CompressionLevel: png.BestCompression}).Encode(&out, to)
	return out.Bytes(), err
}

// serve makes a memory of the fixture sessions below a directory, and serves it.
func serve(ctx context.Context, program, dir string) (address string, end func(), err error) {
	sessions, home := filepath.Join(dir, "sessions"), filepath.Join(dir, "memoir")
	if _, err := testdata.Write(sessions); err != nil {
		return "", nil, err
	}
	run := func(args ...string) *exec.Cmd {
		c := exec.CommandContext(ctx, program, append(args, "--home", home)...)
		c.Env, c.Stderr = []string{"HOME=" + dir, "PATH=" + os.Getenv("PATH"), "TZ=UTC"}, os.Stderr
		return c
	}
	if err := run("run", "--quiet", "--sessions", sessions, "--min-idle", "0", "--max-age", "0", "--all").Run(); err != nil {
		return "", nil, err
	}
	served := run("serve", "--json")
	served.Stderr = nil
	out, err := served.StdoutPipe()
	if err == nil {
		err = served.Start()
	}
	if err != nil {
		return "", nil, err
	}
	var line struct{ Address string }
	err = json.NewDecoder(bufio.NewReader(out)).Decode(&line)
	return strings.TrimSuffix(line.Address, "/"), func() { _ = served.Process.Signal(os.Interrupt); _ = served.Wait() }, err
}
