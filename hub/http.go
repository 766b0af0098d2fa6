package hub

import (
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
	for route, answer := range map[string]answer{
		"POST /v1/push": h.pushed, "POST /v1/edits": h.pushed, // see wire.Edit
		"POST /v1/sessions": h.sent,
		"GET /v1/pull":      h.pull, "GET /v1/archive": h.archive,
		"POST /v1/join": h.join, "POST /v1/rotate": h.rotate, "GET /v1/me": h.me, "DELETE /v1/me": h.leave,
		"POST /v1/accept": h.accept, "GET /v1/machines": h.machines, "DELETE /v1/machines/{id}": h.leave,
		"POST /v1/grant": h.grant, "POST /v1/erase": h.erase,
		"/": func(*http.Request, string) (any, error) {
			return nil, refuse(404, wire.CodeNotFound, "the hub has no such address", "GET /openapi.json lists them")
		},
	} {
		mux.Handle(route, h.answering(route, answer))
	}
	h.handleHealth(mux)
	return mux
}

// answer answers a request with a value for JSON, or nothing.
type answer func(r *http.Request, token string) (any, error)

// answering checks what every request of the API must have, and writes its answer.
func (h *Hub) answering(route string, do answer) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		began := time.Now()
		token, _ := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
		var out any
		err := h.checkRequest(r)
		if err == nil {
			out, err = do(r, token)
		}
		status, code := http.StatusOK, ""
		if err != nil {
			refused := h.refusal(err)
			status, code, out = refused.status, refused.Code, refused.Problem
			refused.say(w)
			guess := code == wire.CodeNotFound && r.PathValue("id") == "" // of no address, or of a project without an archive
			if !guess && code != wire.CodeUnavailable {
				ctx := context.WithoutCancel(r.Context()) // the caller may have gone
				if err := h.audit(ctx, token, h.address(r), route, refused); err != nil {
					h.log.Error("a refusal is not in the audit", "route", route, "code", code, "error", asError(err).Error())
				}
			}
		} else if out == nil {
			status = http.StatusNoContent
		}
		if says, ok := out.(interface{ say(w http.ResponseWriter) }); ok {
			says.say(w)
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
	if memoir.CodeOf(err) == memoir.CodeUsage { // of a rule in team/wire
		return refuse(400, wire.CodeUsage, err.Error(), "")
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

// admit reads a body once there is room for it within each bound: it is much larger in memory. A member's four pushes
// leave a part to others. Without an error, release gives the room back.
func admit(r *http.Request, into any, bounds ...*semaphore.Weighted) (release func(), err error) {
	n := int64(min(uint64(r.ContentLength), wire.MaxBytes)) // -1, a length that is not told, is the largest
	ctx, cancel := context.WithTimeout(r.Context(), patience)
	defer cancel()
	held := 0
	release = func() {
		for _, bound := range bounds[:held] {
			bound.Release(n)
		}
	}
	for ; held < len(bounds); held++ {
		if bounds[held].Acquire(ctx, n) != nil {
			release()
			return nil, refuse(503, wire.CodeUnavailable, "too much is being sent", "try again later")
		}
	}
	if err = readBody(r, wire.MaxBytes, into); err != nil {
		release()
	}
	return release, err
}

// readBody reads a body of at most most bytes, and checks it if it has rules.
func readBody(r *http.Request, most int64, into any) error {
	body, err := io.ReadAll(http.MaxBytesReader(nil, r.Body, most))
	if _, tooLarge := errors.AsType[*http.MaxBytesError](err); tooLarge {
		return err
	}
	if err != nil || json.Unmarshal(body, into) != nil {
		return refuse(400, wire.CodeUsage, "the body is not the JSON that is wanted here", "")
	}
	if bound, ok := into.(interface{ Check() error }); ok {
		return bound.Check()
	}
	return nil
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
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false) // bodies of statements keep their bytes
	_ = e.Encode(v)        // the caller may have gone
}
