package model

import (
	"errors"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

func TestAnthropicRetryAfter(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	date := func(d time.Duration) string { return at.Add(d).Format(http.TimeFormat) }
	for name, test := range map[string]struct {
		header http.Header
		want   time.Duration
	}{
		"nothing":               {http.Header{}, 0},
		"seconds":               {http.Header{"Retry-After": {"12"}}, 12 * time.Second},
		"parts of a second":     {http.Header{"Retry-After": {"1.5"}}, 1500 * time.Millisecond},
		"milliseconds":          {http.Header{"Retry-After-Ms": {"40"}, "Retry-After": {"1"}}, 40 * time.Millisecond},
		"no time":               {http.Header{"Retry-After": {"0"}}, 0},
		"less than none":        {http.Header{"Retry-After": {"-5"}}, 0},
		"words":                 {http.Header{"Retry-After": {"soon"}}, 0},
		"not a number":          {http.Header{"Retry-After": {"NaN"}}, 0},
		"a date":                {http.Header{"Retry-After": {date(time.Minute)}, "Date": {date(0)}}, time.Minute},
		"a date that is past":   {http.Header{"Retry-After": {date(-time.Minute)}, "Date": {date(0)}}, 0},
		"a date, by our clock":  {http.Header{"Retry-After": {date(-48 * time.Hour)}}, 0},
		"longer than we count":  {http.Header{"Retry-After": {"1e300"}}, 24 * time.Hour},
		"infinitely many hours": {http.Header{"Retry-After": {"Inf"}}, 24 * time.Hour},
		"in a hundred years":    {http.Header{"Retry-After": {date(24 * 36500 * time.Hour)}, "Date": {date(0)}}, 24 * time.Hour},
	} {
		got := retryAfter(test.header, time.Now())
		if got != test.want {
			t.Errorf("%s: got %s, want %s", name, got, test.want)
		}
	}
}

func TestAnthropicRedirectToAnotherServerIsNotFollowed(t *testing.T) {
	t.Parallel()
	asked := false
	elsewhere := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked = true }))
	defer elsewhere.Close()
	server := httptest.NewServer(http.RedirectHandler(elsewhere.URL, http.StatusTemporaryRedirect))
	defer server.Close()
	m, err := Open(anthropicSpec, Options{API: APIAnthropic, BaseURL: server.URL, Key: "secret"})
	if err != nil {
		t.Fatal(err)
	}
	_, err = m.Call(t.Context(), Request{Input: "in"})
	if e := errorOf(t, err); e.Class != ClassMissing || !errors.Is(err, errRedirect) || asked {
		t.Errorf("got %s: %v; asked: %v", e.Class, e, asked)
	}
}

func TestAnthropicServerThatCannotBeTalkedToIsOutOfReach(t *testing.T) {
	t.Parallel()
	start := func(f func(*httptest.Server)) string {
		server := httptest.NewUnstartedServer(nil)
		server.Config.ErrorLog = log.New(io.Discard, "", 0)
		f(server)
		t.Cleanup(server.Close)
		return server.URL
	}
	for want, url := range map[string]string{
		"certificate signed by unknown authority": start((*httptest.Server).StartTLS),
		"HTTP response to HTTPS client":           strings.Replace(start((*httptest.Server).Start), "http", "https", 1),
	} {
		m, err := Open(anthropicSpec, Options{API: APIAnthropic, BaseURL: url})
		if err != nil {
			t.Fatal(err)
		}
		_, err = m.Call(t.Context(), Request{Input: "in"})
		if e := errorOf(t, err); e.Class != ClassUnreachable || !strings.Contains(e.Message, want) || strings.Contains(e.Message, "127.0.0.1") {
			t.Errorf("got %s: %v", e.Class, e)
		}
	}
}
