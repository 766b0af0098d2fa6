package model

import (
	"context"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"memoir"
	"memoir/model/modeltest"
)

// fail calls once and returns the *Error that must come of it.
func fail(t *testing.T, m *remote) *Error {
	t.Helper()
	got, err := m.Call(t.Context(), Request{Input: "12345678"})
	var e *Error
	if !errors.As(err, &e) {
		t.Fatalf("got %+v, %v, want an *Error", got, err)
	}
	if e.Model != m.Name() || len(e.Message) > maxMessage || !utf8.ValidString(e.Message) {
		t.Errorf("got model %q and a message of %d bytes: %q", e.Model, len(e.Message), e.Message)
	}
	return e
}

func TestOpenAIFailures(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		step    modeltest.Step
		class   Class
		status  int
		message string // part of it
		wait    time.Duration
	}{
		"too many requests":   {modeltest.Step{Status: 429, RetryAfter: "7", Code: "rate_limit_exceeded", Message: "Slow down."}, ClassLimited, 429, "Slow down.", 7 * time.Second},
		"overloaded":          {modeltest.Step{Status: 529, Message: "Overloaded"}, ClassLimited, 529, "Overloaded", 0},
		"no quota":            {modeltest.Step{Status: 429, Code: "insufficient_quota", Message: "You exceeded your current quota."}, ClassDenied, 429, "You exceeded your current quota.", 0},
		"larger than allowed": {modeltest.Step{Status: 429, Code: "rate_limit_exceeded", Message: "Request too large for m-1: Limit 30000, Requested 45000."}, ClassTooLong, 429, "Requested 45000", 0},
		"server error":        {modeltest.Step{Status: 500, RetryAfter: "1.5", Message: "Oops"}, ClassTemporary, 500, "Oops", 1500 * time.Millisecond},
		"unavailable":         {modeltest.Step{Status: 503}, ClassTemporary, 503, "", 0},
		"gateway's page": {modeltest.Step{Status: 502, Raw: "<html>\n<head><title>502 Bad\nGateway &amp; more</title></head><body>" + strings.Repeat("x", 5000)},
			ClassTemporary, 502, "a web page instead of JSON: 502 Bad Gateway & more", 0},
		"key":             {modeltest.Step{Status: 401, Code: "invalid_api_key", Message: "Incorrect API key"}, ClassDenied, 401, "Incorrect API key", 0},
		"forbidden":       {modeltest.Step{Status: 403, Message: "Country not supported"}, ClassDenied, 403, "Country", 0},
		"no model":        {modeltest.Step{Status: 404, Code: "model_not_found", Message: "The model does not exist"}, ClassMissing, 404, "does not exist", 0},
		"request":         {modeltest.Step{Status: 400, Message: "Missing field"}, ClassInvalid, 400, "Missing field", 0},
		"too long":        {modeltest.Step{Status: 400, Code: "context_length_exceeded", Message: "Too much."}, ClassTooLong, 400, "Too much.", 0},
		"text":            {modeltest.Step{Status: 500, Raw: "upstream\x1b[31m failed\n\n\x00again"}, ClassTemporary, 500, "upstream[31m failed again", 0},
		"a page for 200":  {modeltest.Step{Raw: "<!DOCTYPE html><title>Login</title>"}, ClassTemporary, 0, "the answer cannot be read: no JSON: a web page instead of JSON: Login", 0},
		"no JSON":         {modeltest.Step{Raw: `{"choices": [`}, ClassTemporary, 0, "the answer cannot be read: no JSON", 0},
		"another JSON":    {modeltest.Step{Raw: `{"choices": [], "hello": 1}`}, ClassTemporary, 0, "the answer cannot be read: it has no", 0},
		"a list":          {modeltest.Step{Raw: `[]`}, ClassTemporary, 0, "the answer cannot be read: it has no", 0},
		"error for 200":   {modeltest.Step{Raw: `{"error":{"code":502,"message":"Provider returned error","metadata":{"raw":"upstream is down"}}}`}, ClassTemporary, 502, "Provider returned error: upstream is down", 0},
		"limit for 200":   {modeltest.Step{Raw: `{"error":{"code":429,"message":"busy"}}`}, ClassLimited, 429, "busy", 0},
		"wrong path":      {modeltest.Step{Raw: `{"error":"Unexpected endpoint or method. (POST /completions)"}`}, ClassMissing, 0, "Unexpected endpoint", 0},
		"half-way":        {modeltest.Step{Text: "so", Code: "server_error", Message: "The model failed."}, ClassTemporary, 0, "The model failed.", 0},
		"limit half-way":  {modeltest.Step{Code: "rate_limit_exceeded", Message: "Slow down."}, ClassLimited, 0, "Slow down.", 0},
		"length half-way": {modeltest.Step{Code: "context_length_exceeded", Message: "Too much."}, ClassTooLong, 0, "Too much.", 0},
		"broken stream":   {modeltest.Step{Raw: "data: {\n\n"}, ClassTemporary, 0, "an event of the stream is not JSON", 0},
		"cut stream":      {modeltest.Step{Raw: ": keep-alive\n\n"}, ClassTemporary, 0, "the answer broke off", 0},
		"reset":           {modeltest.Step{Reset: true}, ClassTemporary, 0, "the connection broke: ", 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			bothWays(t, func(t *testing.T, open func(reply, Options) (*remote, *modeltest.Server)) {
				m, s := open(step(c.step), Options{})
				e := fail(t, m)
				if e.Class != c.class || e.Status != c.status || e.RetryAfter != c.wait || !strings.Contains(e.Message, c.message) {
					t.Errorf("got %+v", e)
				}
				if len(s.Calls()) != 1 && (c.class != ClassInvalid || m.plain.Load()) {
					t.Errorf("got %d calls", len(s.Calls()))
				}
			})
		})
	}
}

func TestAFilterOnTheQuestionIsARefusal(t *testing.T) {
	t.Parallel()
	bothWays(t, func(t *testing.T, open func(reply, Options) (*remote, *modeltest.Server)) {
		for _, s := range []modeltest.Step{
			{Status: 400, Code: "content_filter", Message: "The prompt was filtered."},
			{Code: "invalid_prompt", Message: "The prompt was filtered."},
		} {
			m, _ := open(step(s), Options{})
			got, err := m.Call(t.Context(), Request{Input: "?"})
			if err != nil || got.Stop != StopRefusal || got.Text != "The prompt was filtered." {
				t.Errorf("got %+v, %v", got, err)
			}
		}
	})
}

func TestOpenAIFailuresCostWhatTheServerHadDone(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		raw  string
		want memoir.Usage
	}{
		"text before the end": {"data: {\"choices\":[{\"delta\":{\"content\":\"12345678\"}}]}\n\n", memoir.Usage{Calls: 1, InputTokens: 2, OutputTokens: 2}},
		"a provider behind a router": {`{"choices":[{"error":{"code":502,"message":"m"},"finish_reason":"error","message":{"content":"a"}}],"usage":{"prompt_tokens":9,"completion_tokens":1}}`,
			memoir.Usage{Calls: 1, InputTokens: 9, OutputTokens: 1}},
		"nothing": {`{"error":{"message":"m"}}`, memoir.Usage{Calls: 1}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := modeltest.OpenAIChat(t, step(modeltest.Step{Raw: c.raw}))
			if e := fail(t, openModel(t, Options{API: APIChat, BaseURL: s.URL})); e.Usage != c.want || e.Class != ClassTemporary {
				t.Errorf("got %+v, want usage %+v", e, c.want)
			}
		})
	}
}

func TestOpenAITimeLimitIsTemporary(t *testing.T) {
	t.Parallel()
	bothWays(t, func(t *testing.T, open func(reply, Options) (*remote, *modeltest.Server)) {
		m, _ := open(step(modeltest.Step{Hang: true}), Options{Timeout: 20 * time.Millisecond})
		e := fail(t, m)
		if e.Class != ClassTemporary || e.Message != "no answer within 20ms; a slow model needs a larger timeoutSeconds" || e.TimedOut != 20*time.Millisecond || !strings.Contains(e.Hint(), "timeoutSeconds") || errors.Is(e, context.DeadlineExceeded) {
			t.Errorf("got %+v", e)
		}
	})
}

func TestOpenAICallIsGivenUpWithItsContext(t *testing.T) {
	t.Parallel()
	bothWays(t, func(t *testing.T, open func(reply, Options) (*remote, *modeltest.Server)) {
		ctx, cancel := context.WithCancel(t.Context())
		m, _ := open(func(int, modeltest.Call) modeltest.Step {
			cancel()
			return modeltest.Step{Hang: true}
		}, Options{Timeout: time.Hour})
		var e *Error
		if _, err := m.Call(ctx, Request{Input: "?"}); !errors.As(err, &e) || !errors.Is(err, context.Canceled) || !e.Untold || e.Usage != (memoir.Usage{Calls: 1}) {
			t.Errorf("got %+v", err)
		}
		// Now nobody is asked.
		if _, err := m.Call(ctx, Request{Input: "?"}); !errors.As(err, &e) || e.Untold {
			t.Errorf("got %+v", err)
		}
	})
	t.Run("in the middle of a stream", func(t *testing.T) {
		t.Parallel()
		ctx, cancel := context.WithCancel(t.Context())
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "text/event-stream")
			_, _ = w.Write([]byte("data: {\"choices\":[{\"delta\":{\"content\":\"1234\"}}]}\n\n"))
			_ = http.NewResponseController(w).Flush()
			cancel()
			<-r.Context().Done()
		}))
		defer s.Close()
		_, err := openModel(t, Options{API: APIChat, BaseURL: s.URL}).Call(ctx, Request{Input: "?"})
		if !errors.Is(err, context.Canceled) {
			t.Errorf("got %v", err)
		}
	})
	t.Run("with a deadline of the caller", func(t *testing.T) {
		t.Parallel()
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
		defer cancel()
		s := modeltest.OpenAIChat(t, step(modeltest.Step{Hang: true}))
		_, err := openModel(t, Options{API: APIChat, BaseURL: s.URL, Timeout: time.Hour}).Call(ctx, Request{Input: "?"})
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v", err)
		}
	})
}

func TestOpenAIServerThatIsNotThere(t *testing.T) {
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
		if all := e.Error() + errorText(e.Err); strings.Contains(all, "geheim") {
			t.Errorf("%s: the password is told: %s", name, all)
		}
	}
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

func TestOpenAIAnswerWithoutEndIsNotRead(t *testing.T) {
	t.Parallel()
	block := []byte(strings.Repeat(" ", 1<<20))
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		for r.Context().Err() == nil {
			if _, err := w.Write(block); err != nil {
				return
			}
		}
	}))
	defer s.Close()
	if e := fail(t, openModel(t, Options{API: APIChat, BaseURL: s.URL})); e.Class != ClassTemporary || !strings.Contains(e.Message, "too large") {
		t.Errorf("got %+v", e)
	}
}

func TestOpenAIKeyStaysWithItsServer(t *testing.T) {
	t.Parallel()
	const key = "k-123456"
	other := modeltest.OpenAIChat(t, step(modeltest.Step{Text: "stolen"}))
	for _, status := range []int{301, 302, 303, 307, 308} {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, other.URL+"/v1/chat/completions?key="+key, status)
		}))
		e := fail(t, openModel(t, Options{API: APIChat, BaseURL: s.URL, Key: key}))
		host := strings.TrimPrefix(other.URL, "http://")
		if e.Class != ClassMissing || e.Status != status || e.Message != "it sends calls to another address, at "+host {
			t.Errorf("%d: got %+v", status, e)
		}
		s.Close()
	}
	if n := len(other.Calls()); n != 0 {
		t.Errorf("the other server was called %d times", n)
	}
}

func TestOpenAIErrorsHoldNoKey(t *testing.T) {
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
		tell := func(s modeltest.Step) {
			server := modeltest.OpenAIChat(t, step(s))
			e := fail(t, openModel(t, Options{API: APIChat, BaseURL: server.URL, Key: key}))
			all := e.Error() + errorText(e.Err)
			for _, part := range []string{key[:8], key[10:20]} {
				if strings.Contains(all, part) {
					t.Errorf("of %q is told %q", message, all)
				}
			}
			if e.Class != ClassDenied {
				t.Errorf("got %+v", e)
			}
		}
		tell(modeltest.Step{Status: 401, Message: message})
		tell(modeltest.Step{Status: 403, Raw: message})
	}
}

func TestUnreachable(t *testing.T) {
	t.Parallel()
	for want, errs := range map[bool][]error{
		true: {
			&net.OpError{Op: "dial", Err: errors.New("no route to host")},
			&net.OpError{Op: "proxyconnect", Err: errors.New("refused")},
			&net.OpError{Op: "dial", Err: &net.DNSError{Err: "no such host", IsNotFound: true}},
			&net.DNSError{Err: "server misbehaving", IsTemporary: true},
		},
		false: {
			&net.OpError{Op: "read", Err: errors.New("connection reset by peer")},
			&url.Error{Op: "Post", Err: errors.New("EOF")},
		},
	} {
		for _, err := range errs {
			if got := unreachable(err); got != want {
				t.Errorf("%v: got %t", err, got)
			}
		}
	}
}
