package serve

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"memoir/pages"
)

func TestWhoMayAsk(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	in := w.send(httptest.NewRequest("GET", "http://"+host+"/?token="+token, nil))
	cookies := in.Result().Cookies()
	if in.Code != http.StatusSeeOther || in.Header().Get("Location") != "/" || len(cookies) != 1 {
		t.Fatalf("a browser is let in: %d %v", in.Code, in.Header())
	}
	cookie := cookies[0]
	if !cookie.HttpOnly || cookie.SameSite != http.SameSiteStrictMode || cookie.Path != "/" || strings.Contains(cookie.Value, token) {
		t.Errorf("the cookie is %v", cookie)
	}
	bearer, browser := "Authorization: Bearer "+token, "Cookie: "+cookie.Name+"="+cookie.Value
	for _, c := range []struct {
		what, method, host string
		headers            []string
		status             int
	}{
		{"a program", "GET", host, []string{bearer}, 200},
		{"another name of the address", "GET", "localhost:4000", []string{bearer}, 200},
		{"nobody", "GET", host, nil, 401},
		{"another token", "GET", host, []string{bearer[:len(bearer)-1] + "H"}, 401},
		{"no token", "GET", host, []string{"Authorization: Bearer "}, 401},
		{"another scheme", "GET", host, []string{"Authorization: Basic " + token}, 401},
		{"another token beside a cookie", "GET", host, []string{bearer + "x", browser}, 401},
		{"the browser", "GET", host, []string{browser}, 200},
		{"a page of the server", "GET", host, []string{browser, "Sec-Fetch-Site: same-origin"}, 200},
		{"another browser with its cookie", "GET", host, []string{browser, "User-Agent: another"}, 401},
		{"another cookie", "GET", host, []string{browser[:len(browser)-1] + "!"}, 401},
		{"the cookie of another port", "GET", "127.0.0.1:4001", []string{browser}, 401},
		{"a page of another site", "GET", host, []string{browser, "Sec-Fetch-Site: cross-site"}, 401},
		{"a page of another port", "GET", host, []string{browser, "Sec-Fetch-Site: same-site"}, 401},
		{"a name that leads here", "GET", "evil.example:4000", []string{bearer}, 403},
		{"such a name with a cookie", "GET", "evil.example", []string{browser}, 403},
		{"a program that changes", "POST", host, []string{bearer}, 201},
		{"the server's page changes", "POST", host, []string{browser, "Origin: http://" + host, "Sec-Fetch-Site: same-origin"}, 201},
		{"another origin changes", "POST", host, []string{browser, "Origin: http://evil.example"}, 403},
		{"another port changes", "POST", host, []string{bearer, "Origin: http://127.0.0.1:4001"}, 403},
		{"another site changes", "POST", host, []string{bearer, "Sec-Fetch-Site: cross-site"}, 403},
		{"an origin without a name changes", "POST", host, []string{browser, "Origin: null"}, 403},
	} {
		target, body := "/memory", ""
		if c.method == "POST" {
			target, body = "/projects/lanternd/notes", `{"content": "a note"}`
		}
		r := httptest.NewRequest(c.method, target, strings.NewReader(body))
		r.Host = c.host
		for _, h := range c.headers {
			name, value, _ := strings.Cut(h, ": ")
			r.Header.Set(name, value)
		}
		answer := w.send(r)
		if answer.Code != c.status {
			t.Errorf("%s: %d %s, want %d", c.what, answer.Code, answer.Body, c.status)
		}
		h := answer.Header()
		if h.Get("Content-Security-Policy") != pages.Policy || h.Get("X-Content-Type-Options") != "nosniff" || h.Get("Cache-Control") != "no-store" {
			t.Errorf("%s: %v", c.what, h)
		}
	}
	for _, target := range []string{"/?token=", "/?token=x", "/memory?token=" + token} {
		if answer := w.send(httptest.NewRequest("GET", "http://"+host+target, nil)); answer.Code != 401 {
			t.Errorf("%s lets in: %d", target, answer.Code)
		}
	}
	style := w.send(httptest.NewRequest("GET", "http://"+host+"/style.css", nil))
	if style.Code != 200 || style.Header().Get("Content-Type") != "text/css; charset=utf-8" {
		t.Errorf("the page of a refusal has no style: %d", style.Code)
	}
}
