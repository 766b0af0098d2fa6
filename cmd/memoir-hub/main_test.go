package main

import (
	"bytes"
	"context"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"memoir/hub"
	"memoir/hub/hubtest"
)

func TestMain(m *testing.M) { testscript.Main(cluster{m}, map[string]func(){"memoir-hub": main}) }

// cluster stops what the tests share after them.
type cluster struct{ *testing.M }

func (c cluster) Run() int {
	code := c.M.Run()
	hubtest.Stop()
	return code
}

// TestScripts runs the scripts in testdata/script, each with an empty database, which MEMOIR_HUB_DATABASE names for its
// owner and $SERVE for the role that serves.
func TestScripts(t *testing.T) {
	shared := hubtest.Shared(t)
	var n atomic.Int32
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script",
		Setup: func(env *testscript.Env) error {
			name := fmt.Sprintf("script%d", n.Add(1))
			env.Setenv("MEMOIR_HUB_DATABASE", shared.URL(hubtest.Owner, name, false))
			env.Setenv("SERVE", shared.URL(hubtest.Serve, name, true))
			env.Setenv("SUPER", shared.URL("postgres", name, false))
			return shared.Exec("postgres", "CREATE DATABASE "+name+" OWNER "+hubtest.Owner)
		},
	})
}

// TestServeAnswersUntilItIsStopped starts the program, reads what it logs and serves, and stops it.
func TestServeAnswersUntilItIsStopped(t *testing.T) {
	d := hubtest.NewDatabase(t)
	program, err := exec.LookPath("memoir-hub")
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), program, "serve", "--listen", "127.0.0.1:0")
	cmd.Env = append(os.Environ(), "MEMOIR_HUB_DATABASE="+d.ServeURL())
	log, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := json.NewDecoder(log)
	var line struct{ Msg, Address string }
	if err := lines.Decode(&line); err != nil || line.Msg != "listening" {
		t.Fatalf("logged %+v, %v", line, err)
	}
	for path, want := range map[string]string{
		"/healthz": "{}", "/readyz": "{}", "/v1/me": "unauthorised", "/openapi.json": `"openapi"`, "/nowhere": "not_found",
		"/metrics": `memoir_hub_requests_total{code="unauthorised",route="GET /v1/me",status="401"}`,
	} {
		if path == "/metrics" {
			_ = get(t, "http://"+line.Address+"/v1/me")
		}
		if got := get(t, "http://"+line.Address+path); !strings.Contains(got, want) {
			t.Errorf("%s: %s", path, got)
		}
	}
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	rest, _ := io.ReadAll(io.MultiReader(lines.Buffered(), log))
	if err := cmd.Wait(); err != nil || !bytes.Contains(rest, []byte("stopping")) {
		t.Errorf("%v: %s", err, rest)
	}
}

// TestServeSpeaksHTTPS starts a hub with a certificate, which then may listen for other machines, and metrics apart.
func TestServeSpeaksHTTPS(t *testing.T) {
	d := hubtest.NewDatabase(t)
	secured := httptest.NewTLSServer(nil) // for its certificate
	defer secured.Close()
	pair := secured.TLS.Certificates[0]
	key, err := x509.MarshalPKCS8PrivateKey(pair.PrivateKey)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for name, block := range map[string]*pem.Block{
		"cert.pem": {Type: "CERTIFICATE", Bytes: pair.Certificate[0]}, "key.pem": {Type: "PRIVATE KEY", Bytes: key},
	} {
		if err := os.WriteFile(filepath.Join(dir, name), pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	h, err := hub.Open(t.Context(), hub.Options{Database: d.ServeURL()})
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	ctx, stop := context.WithCancel(t.Context())
	ready, ended := make(chan string, 1), make(chan error, 1)
	go func() {
		ended <- h.Serve(ctx, hub.ServeOptions{Listen: "0.0.0.0:0", Certificate: filepath.Join(dir, "cert.pem"),
			Key: filepath.Join(dir, "key.pem"), Metrics: "127.0.0.1:0", Ready: func(address string) { ready <- address }})
	}()
	_, port, _ := net.SplitHostPort(<-ready)
	for path, want := range map[string]int{"/healthz": 200, "/v1/me": 401, "/metrics": 404} {
		answer, err := secured.Client().Get("https://127.0.0.1:" + port + path)
		if err != nil {
			t.Fatal(err)
		}
		_ = answer.Body.Close()
		if answer.StatusCode != want {
			t.Errorf("%s: %d", path, answer.StatusCode)
		}
	}
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

func get(t *testing.T, url string) string {
	t.Helper()
	answer, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err != nil && !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	return string(body)
}
