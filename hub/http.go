package hub

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"golang.org/x/sync/semaphore"

	"memoir"
	"memoir/team/wire"
)

// Handler returns the handler of the API and of the addresses for health.
func (h *Hub) Handler() http.Handler {
	mux := http.NewServeMux()
	for route, answer := range map[string]func(r *http.Request, token string) (any, error){
		"POST /v1/push":     h.pushed,
		"POST /v1/sessions": h.sent,
		"GET /v1/pull": func(r *http.Request, token string) (any, error) {
			p, err := readPull(r)
			if err != nil {
				return nil, err
			}
			return h.pull(r.Context(), token, p)
		},
		"GET /v1/archive": h.archive,
		"POST /v1/accept": h.accept,
		"POST /v1/join": func(r *http.Request, _ string) (any, error) {
			r.Body = http.MaxBytesReader(nil, r.Body, 4<<10) // anybody may send it
			var j wire.Join
			if err := readBody(r, &j); err != nil {
				return nil, err
			}
			return h.join(r.Context(), j)
		},
		"POST /v1/rotate":          h.rotate,
		"GET /v1/me":               func(r *http.Request, token string) (any, error) { return h.me(r.Context(), token) },
		"DELETE /v1/me":            h.leave,
		"GET /v1/machines":         h.machines,
		"DELETE /v1/machines/{id}": h.leave,
	} {
		mux.Handle(route, h.answering(route, answer))
	}
	mux.Handle("/", h.answering("/", func(*http.Request, string) (any, error) {
		return nil, refuse(404, wire.CodeNotFound, "the hub has no such address", "GET /openapi.json lists them")
	}))
	h.handleHealth(mux)
	return mux
}

// pushed takes a push.
func (h *Hub) pushed(r *http.Request, token string) (any, error) {
	// Only a member's push is read and scanned, which takes time.
	c, err := h.asMember(r.Context(), token, entry{}, nil)
	if err != nil {
		return nil, err
	}
	for key, most := range map[int64]int{c.member: maxPushes, 0: maxPushesOfAll} {
		if !h.pushes.add(key, 1, most) {
			return nil, refuse(503, wire.CodeUnavailable, "too many pushes are under way", "try again later")
		}
		defer h.pushes.add(key, -1, most)
	}
	release, err := admit(r, pushBytes)
	if err != nil {
		return nil, err
	}
	defer release()
	var p wire.Push
	if err := readBody(r, &p); err != nil {
		return nil, err
	}
	if err := p.Check(); err != nil {
		return nil, refuse(400, wire.CodeUsage, err.Error(), "")
	}
	pushed, err := h.push(r.Context(), token, p)
	if h.metrics.stored.Add(float64(pushed.New)); err == nil {
		h.full.Store(0)
	}
	return pushed, err
}

// answering checks what every request of the API must have, and writes its answer.
func (h *Hub) answering(route string, answer func(r *http.Request, token string) (any, error)) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		began := time.Now()
		r.Body = http.MaxBytesReader(w, r.Body, wire.MaxBytes)
		token, _ := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
		var out any
		err := h.checkRequest(r)
		if err == nil {
			out, err = answer(r, token)
		}
		status, code := http.StatusOK, ""
		if err != nil {
			refused := h.refusal(err)
			status, code, out = refused.status, refused.Code, refused.Problem
			sayWaiting(w, refused.waiting)
			if code != wire.CodeNotFound && code != wire.CodeUnavailable {
				ctx := context.WithoutCancel(r.Context()) // the caller may have gone
				if err := h.audit(ctx, token, h.address(r), route, refused); err != nil {
					h.log.Error("a refusal is not in the audit", "route", route, "code", code, "error", asError(err).Error())
				}
			}
		} else if out == nil {
			status = http.StatusNoContent
		}
		if found, ok := out.(archived); ok {
			status = found.write(w)
		} else {
			writeJSON(w, status, out)
		}
		h.metrics.requests.WithLabelValues(route, strconv.Itoa(status), code).Inc()
		h.metrics.duration.WithLabelValues(route).Observe(time.Since(began).Seconds())
		h.log.Info("request", "route", route, "status", status, "code", code, "address", h.address(r),
			"ms", time.Since(began).Milliseconds())
	})
}

// checkRequest refuses other versions of the protocol, and callers who came to the proxy by plain http.
func (h *Hub) checkRequest(r *http.Request) error {
	if h.proxied && r.Header.Get("X-Forwarded-Proto") != "https" {
		return refuse(403, wire.CodeForbidden, "this hub is reached by https only", "the proxy must set X-Forwarded-Proto")
	}
	said := r.Header.Get(wire.VersionHeader)
	version, err := strconv.Atoi(said)
	if said != "" && (err != nil || version < wire.Version-1 || version > wire.Version+1) {
		return refuse(400, wire.CodeVersion, "this hub speaks version "+strconv.Itoa(wire.Version)+" of the protocol",
			"update memoir on this machine, or the hub")
	}
	return nil
}

// address returns where a request came from.
func (h *Hub) address(r *http.Request) string {
	if said := r.Header.Values("X-Forwarded-For"); h.proxied && len(said) > 0 {
		list := said[len(said)-1]
		return memoir.Cut(strings.TrimSpace(list[strings.LastIndexByte(list, ',')+1:]), 60)
	}
	host, _, _ := net.SplitHostPort(r.RemoteAddr)
	return host
}

// refusal turns an error into an answer. What the database says goes to the log alone.
func (h *Hub) refusal(err error) *refusal {
	if refused, ok := errors.AsType[*refusal](err); ok {
		return refused
	}
	if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return refuse(413, wire.CodeTooLarge, "a body has more bytes than are accepted here", "")
	}
	// Data that PostgreSQL does not take: a date before its calendar, JSON nested too deeply, a NUL.
	failed, ok := errors.AsType[*pgconn.PgError](err)
	if ok && (strings.HasPrefix(failed.Code, "22") || failed.Code == "54001") {
		return refuse(400, wire.CodeUsage, "the database refuses a value of this request", "")
	}
	// The disk is full or fails, or the server only reads.
	if ok && slices.Contains([]string{"53100", "58030", "25006"}, failed.Code) {
		h.full.Store(time.Now().Unix())
	}
	h.log.Error("the database failed", "error", asError(err).Error())
	return refuse(503, wire.CodeUnavailable, "the hub cannot answer now", "try again later")
}

var pushBytes, transcriptBytes = semaphore.NewWeighted(6 * wire.MaxBytes), semaphore.NewWeighted(2 * wire.MaxBytes)

// admit waits until a body may be read: it is much larger in memory. A member's four pushes leave a part to others.
func admit(r *http.Request, bound *semaphore.Weighted) (release func(), err error) {
	n := int64(min(uint64(r.ContentLength), wire.MaxBytes)) // -1, a length that is not told, is the largest
	ctx, cancel := context.WithTimeout(r.Context(), patience)
	defer cancel()
	if bound.Acquire(ctx, n) != nil {
		return nil, refuse(503, wire.CodeUnavailable, "too much is being sent", "try again later")
	}
	return func() { bound.Release(n) }, nil
}

func readBody(r *http.Request, into any) error {
	body, err := io.ReadAll(r.Body)
	if _, tooLarge := errors.AsType[*http.MaxBytesError](err); tooLarge {
		return err
	}
	if err != nil || json.Unmarshal(body, into) != nil {
		return refuse(400, wire.CodeUsage, "the body is not the JSON that is wanted here", "")
	}
	return nil
}

func readPull(r *http.Request) (wire.Pull, error) {
	query := r.URL.Query()
	p := wire.Pull{Project: query.Get("project"), After: wire.Cursor(query.Get("after"))}
	if err := wire.CheckProject(p.Project); err != nil {
		return p, refuse(400, wire.CodeUsage, err.Error(), "")
	}
	var err error
	p.Limit, err = strconv.Atoi(cmp.Or(query.Get("limit"), strconv.Itoa(wire.MaxPage)))
	if err != nil || p.Limit < 1 || p.Limit > wire.MaxPage {
		return p, refuse(400, wire.CodeUsage, "limit is a number from 1 to "+strconv.Itoa(wire.MaxPage), "")
	}
	return p, nil
}

func marshal(v any) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(v) // of our own types, to memory
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

func writeJSON(w http.ResponseWriter, status int, v any) {
	head := w.Header()
	head.Set(wire.VersionHeader, strconv.Itoa(wire.Version))
	head.Set("Cache-Control", "no-store")
	head.Set("X-Content-Type-Options", "nosniff")
	if v == nil {
		w.WriteHeader(status)
		return
	}
	head.Set("Content-Type", "application/json")
	if status >= 400 {
		head.Set("Content-Type", "application/problem+json")
	}
	if status == http.StatusServiceUnavailable {
		head.Set("Retry-After", "5")
	}
	w.WriteHeader(status)
	_, _ = w.Write(marshal(v))
}
