package model

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"memoir"
	"memoir/model/modeltest"
)

func TestFailuresAreClassified(t *testing.T) {
	t.Parallel()
	type want struct {
		class   Class
		status  int
		message string // part of it
		wait    time.Duration
	}
	for name, c := range map[string]struct {
		step modeltest.Step
		wire string // the only one; empty: both
		want
	}{
		"too many requests":   {modeltest.Step{Status: 429, RetryAfter: "7", Message: "Slow down."}, "", want{ClassLimited, 429, "Slow down.", 7 * time.Second}},
		"overloaded":          {modeltest.Step{Status: 529, Message: "Overloaded"}, "", want{ClassLimited, 529, "Overloaded", 0}},
		"overloaded, a proxy": {modeltest.Step{Status: 503, Code: "overloaded_error"}, "anthropic", want{ClassLimited, 503, "overloaded_error", 0}},
		"no quota":            {modeltest.Step{Status: 429, Code: "insufficient_quota", Message: "You exceeded your quota."}, "chat", want{ClassDenied, 429, "You exceeded your quota.", 0}},
		"no credit":           {modeltest.Step{Status: 400, Message: "Your credit balance is too low."}, "", want{ClassDenied, 400, "credit balance", 0}},
		"larger than allowed": {modeltest.Step{Status: 429, Message: "Request too large for m-1: Limit 30000, Requested 45000."}, "", want{ClassTooLong, 429, "Requested 45000", 0}},
		"server error":        {modeltest.Step{Status: 500, RetryAfter: "1.5", Message: "Oops"}, "", want{ClassTemporary, 500, "Oops", 1500 * time.Millisecond}},
		"unavailable":         {modeltest.Step{Status: 503}, "", want{ClassTemporary, 503, "", 0}},
		"a gateway's page": {modeltest.Step{Status: 502, Raw: "<html>\n<head><title>502 Bad\nGateway &amp; more</title></head><body>" + strings.Repeat("x", 5000)}, "",
			want{ClassTemporary, 502, "a web page instead of JSON: 502 Bad Gateway & more", 0}},
		"an unknown key":     {modeltest.Step{Status: 401, Message: "Incorrect API key"}, "", want{ClassDenied, 401, "Incorrect API key", 0}},
		"forbidden":          {modeltest.Step{Status: 403, Message: "Country not supported"}, "", want{ClassDenied, 403, "Country", 0}},
		"no such model":      {modeltest.Step{Status: 404, Message: "model: m-9"}, "", want{ClassMissing, 404, "model: m-9", 0}},
		"invalid":            {modeltest.Step{Status: 400, Message: "max_tokens: 100000 > 64000"}, "", want{ClassInvalid, 400, "max_tokens: 100000 > 64000", 0}},
		"about a context":    {modeltest.Step{Status: 400, Message: "context_management: Extra inputs are not permitted"}, "", want{ClassInvalid, 400, "context_management", 0}},
		"long words":         {modeltest.Step{Status: 400, Message: strings.Repeat("ä", 400)}, "", want{ClassInvalid, 400, strings.Repeat("ä", 248) + "…", 0}},
		"too long":           {modeltest.Step{Status: 400, Code: "context_length_exceeded", Message: "Too much."}, "chat", want{ClassTooLong, 400, "Too much.", 0}},
		"too long a text":    {modeltest.Step{Status: 400, Message: "prompt is too long: 205000 tokens > 200000 maximum"}, "", want{ClassTooLong, 400, "prompt is too long", 0}},
		"long with output":   {modeltest.Step{Status: 400, Message: "input length and `max_tokens` exceed context limit: 199000 + 8192 > 200000"}, "", want{ClassTooLong, 400, "context limit", 0}},
		"too large":          {modeltest.Step{Status: 413}, "anthropic", want{ClassTooLong, 413, "request_too_large", 0}},
		"text":               {modeltest.Step{Status: 500, Raw: "upstream\x1b[31m failed\n\n\x00again"}, "", want{ClassTemporary, 500, "upstream[31m failed again", 0}},
		"a page for 200":     {modeltest.Step{Raw: "<!DOCTYPE html><title>Login</title>"}, "", want{ClassTemporary, 0, "the answer cannot be read: no JSON: a web page instead of JSON: Login", 0}},
		"half an answer":     {modeltest.Step{Raw: `{"choices": [`}, "", want{ClassTemporary, 0, "the answer cannot be read: no JSON", 0}},
		"an unasked stream":  {modeltest.Step{Raw: "data: {}\n\n"}, "", want{ClassTemporary, 0, "the answer cannot be read: no JSON", 0}},
		"another JSON":       {modeltest.Step{Raw: `{"choices": [], "hello": 1}`}, "", want{ClassTemporary, 0, "the answer cannot be read: it", 0}},
		"a list":             {modeltest.Step{Raw: `[]`}, "", want{ClassTemporary, 0, "the answer cannot be read: it", 0}},
		"error for 200":      {modeltest.Step{Raw: `{"error":{"code":502,"message":"Provider returned error","metadata":{"raw":"upstream is down"}}}`}, "", want{ClassTemporary, 502, "Provider returned error: upstream is down", 0}},
		"limit for 200":      {modeltest.Step{Raw: `{"error":{"code":429,"message":"busy"}}`}, "", want{ClassLimited, 429, "busy", 0}},
		"wrong path":         {modeltest.Step{Raw: `{"error":"Unexpected endpoint or method. (POST /completions)"}`}, "", want{ClassMissing, 0, "Unexpected endpoint", 0}},
		"failed for 200":     {modeltest.Step{Code: "server_error", Message: "The model failed."}, "chat", want{ClassTemporary, 0, "The model failed.", 0}},
		"limit by its code":  {modeltest.Step{Code: "rate_limit_exceeded", Message: "Slow down."}, "chat", want{ClassLimited, 0, "Slow down.", 0}},
		"length by its code": {modeltest.Step{Code: "context_length_exceeded", Message: "Too much."}, "chat", want{ClassTooLong, 0, "Too much.", 0}},
		"cut in mid-body":    {modeltest.Step{Reset: true}, "", want{ClassTemporary, 0, "the connection broke: unexpected EOF", 0}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			bothWires(t, func(t *testing.T, wire string) {
				if c.wire != "" && c.wire != wire {
					return
				}
				m, s := serve(t, wire, step(c.step), Options{})
				e := fail(t, m)
				if e.Class != c.class || e.Status != c.status || e.RetryAfter != c.wait || !strings.Contains(e.Message, c.message) {
					t.Errorf("got %+v", e)
				}
				if e.Usage != (memoir.Usage{Calls: 1}) || e.Estimated || e.Unreported != c.step.Reset {
					t.Errorf("got usage %+v, estimated %t, unreported %t", e.Usage, e.Estimated, e.Unreported)
				}
				if n := len(s.Calls()); n != 1 && c.class != ClassInvalid {
					t.Errorf("got %d calls", n)
				}
			})
		})
	}
}

func TestAFilterOnTheQuestionIsARefusal(t *testing.T) {
	t.Parallel()
	for _, s := range []modeltest.Step{
		{Status: 400, Code: "content_filter", Message: "The prompt was filtered."},
		{Code: "invalid_prompt", Message: "The prompt was filtered."},
	} {
		m, _ := serve(t, "chat", step(s), Options{})
		got, err := m.Call(t.Context(), Request{Input: "?"})
		if err != nil || got.Stop != StopRefusal || got.Text != "The prompt was filtered." {
			t.Errorf("got %+v, %v", got, err)
		}
	}
}

func TestAFailureBehindARouterCostsWhatItReports(t *testing.T) {
	t.Parallel()
	raw := `{"choices":[{"error":{"code":502,"message":"m"},"finish_reason":"error","message":{"content":"a"}}],"usage":{"prompt_tokens":9,"completion_tokens":1}}`
	m, _ := serve(t, "chat", step(modeltest.Step{Raw: raw}), Options{})
	if e := fail(t, m); e.Usage != (memoir.Usage{Calls: 1, InputTokens: 9, OutputTokens: 1}) || e.Class != ClassTemporary {
		t.Errorf("got %+v", e)
	}
}

func TestATimeLimitIsTemporaryUnlessItIsTheCallers(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	patient, _ := serve(t, "chat", step(modeltest.Step{Hang: true}), Options{Timeout: time.Hour})
	if _, err := patient.Call(ctx, Request{Input: "?"}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v", err)
	}
	m, _ := serve(t, "chat", step(modeltest.Step{Hang: true}), Options{Timeout: 20 * time.Millisecond})
	e := fail(t, m)
	if e.Class != ClassTemporary || e.Message != "no answer within 20ms" || !e.Unreported ||
		e.TimedOut != 20*time.Millisecond || !strings.Contains(e.Hint(), "timeoutSeconds") || errors.Is(e, context.DeadlineExceeded) {
		t.Errorf("got %+v", e)
	}
}

func TestACallIsGivenUpWithItsContext(t *testing.T) {
	t.Parallel()
	t.Run("before the answer", func(t *testing.T) {
		t.Parallel()
		ctx, cancel := context.WithCancel(t.Context())
		m, _ := serve(t, "chat", func(int, modeltest.Call) modeltest.Step {
			cancel()
			return modeltest.Step{Hang: true}
		}, Options{Timeout: time.Hour})
		_, err := m.Call(ctx, Request{Input: "?"})
		if e := errorOf(t, err); !errors.Is(err, context.Canceled) || !e.Unreported || e.Usage != (memoir.Usage{Calls: 1}) {
			t.Errorf("got %+v", err)
		}
		// Now nobody is asked.
		if _, err := m.Call(ctx, Request{Input: "?"}); errorOf(t, err).Unreported {
			t.Errorf("got %+v", err)
		}
	})
	t.Run("in the middle of the answer", func(t *testing.T) {
		t.Parallel()
		ctx, cancel := context.WithCancel(t.Context())
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.WriteString(w, `{"choices":[`)
			_ = http.NewResponseController(w).Flush()
			cancel()
			<-r.Context().Done()
		}))
		defer s.Close()
		_, err := openModel(t, Options{API: APIChat, BaseURL: s.URL}).Call(ctx, Request{Input: "?"})
		if !errors.Is(err, context.Canceled) || !errorOf(t, err).Unreported {
			t.Errorf("got %v", err)
		}
	})
}

func TestAConnectionThatBreaksBeforeTheAnswerIsCountedByItsEstimate(t *testing.T) {
	t.Parallel()
	s := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }))
	defer s.Close()
	if e := fail(t, openModel(t, Options{API: APIChat, BaseURL: s.URL})); e.Class != ClassTemporary || !e.Unreported || e.Usage.Calls != 1 {
		t.Errorf("got %+v", e)
	}
}

func TestAServerThatIsNotThere(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	nobody := listener.Addr().String()
	if err := listener.Close(); err != nil {
		t.Fatal(err)
	}
	plainHTTP := httptest.NewServer(http.NotFoundHandler())
	defer plainHTTP.Close()
	secure := httptest.NewUnstartedServer(http.NotFoundHandler())
	secure.Config.ErrorLog = log.New(io.Discard, "", 0)
	secure.StartTLS()
	defer secure.Close()
	for name, c := range map[string]struct{ base, message string }{
		"nobody":                   {"http://me:geheim@" + nobody, "connection refused"},
		"HTTP instead of HTTPS":    {strings.Replace(plainHTTP.URL, "http:", "https:", 1), "HTTP response to HTTPS client"},
		"an unknown certificate":   {secure.URL, "certificate"},
		"a name that cannot exist": {"http://" + strings.Repeat("a", 70) + ".invalid", "lookup"},
	} {
		e := fail(t, openModel(t, Options{API: APIChat, BaseURL: c.base}))
		if e.Class != ClassUnreachable || !strings.Contains(e.Message, c.message) || e.Hint() == "" {
			t.Errorf("%s: got %+v", name, e)
		}
		if all := fmt.Sprint(e, e.Err); strings.Contains(all, "geheim") {
			t.Errorf("%s: the password is told: %s", name, all)
		}
	}
}

func TestAnAnswerWithoutEndIsNotRead(t *testing.T) {
	t.Parallel()
	block := []byte(strings.Repeat(" ", 1<<20))
	var sent atomic.Int64 // MiB, those that the connection holds included
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		for r.Context().Err() == nil {
			if _, err := w.Write(block); err != nil {
				return
			}
			sent.Add(1)
		}
	}))
	defer s.Close()
	if e := fail(t, openModel(t, Options{API: APIChat, BaseURL: s.URL})); e.Class != ClassTemporary || !strings.Contains(e.Message, "too large") || sent.Load() > 20 {
		t.Errorf("got %+v after %d MiB", e, sent.Load())
	}
}

func TestAKeyStaysWithItsServer(t *testing.T) {
	t.Parallel()
	const key = "k-123456"
	other := modeltest.Serve(t, step(modeltest.Step{Text: "stolen"}))
	for _, status := range []int{301, 302, 303, 307, 308} {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, other.URL+"/v1/chat/completions?key="+key, status)
		}))
		e := fail(t, openModel(t, Options{API: APIChat, BaseURL: s.URL, Key: key}))
		host := strings.TrimPrefix(other.URL, "http://")
		if e.Class != ClassMissing || e.Status != status || e.Message != "it redirects to another address, at "+host {
			t.Errorf("%d: got %+v", status, e)
		}
		s.Close()
	}
	if n := len(other.Calls()); n != 0 {
		t.Errorf("the other server was called %d times", n)
	}
}

func TestErrorsHoldNoKey(t *testing.T) {
	t.Parallel()
	key := "sk-" + "proj-" + strings.Repeat("Ab3", 12) + "wxyz"
	for _, message := range []string{
		"Incorrect API key provided: " + key + ".",
		"Incorrect API key provided: " + key[:8] + "*************wxyz. You can find yours at https://example.org/keys.",
		"Bad key " + key[:12] + "...",
		`Header "Authorization: Bearer ` + key + `" is wrong`,
		"https://example.org/?key=" + key + "&x=1",
		strings.Repeat("x", maxMessage-10) + " " + key,
		strings.Repeat("x ", 8*maxMessage-20) + key,
	} {
		for wire := range wires {
			for _, said := range []modeltest.Step{{Status: 401, Message: message}, {Status: 403, Raw: "<b>" + message}, {Raw: message}} {
				m, _ := serve(t, wire, step(said), Options{Key: key})
				e := fail(t, m)
				all := fmt.Sprint(e, e.Err)
				for _, part := range []string{key[:8], key[10:20]} {
					if strings.Contains(all, part) {
						t.Errorf("of %q is told %q", message, all)
					}
				}
				if said.Status > 0 && e.Class != ClassDenied {
					t.Errorf("got %+v", e)
				}
			}
		}
	}
}
