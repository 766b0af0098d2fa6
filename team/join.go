package team

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"net/url"
	"path/filepath"
	"strings"

	"memoir"
	"memoir/internal/failpoint"
	"memoir/team/wire"
)

// Join exchanges a one-time code for a token of this machine, which it stores. A home may join its hub again, as the
// same member: what it shares stays.
func Join(ctx context.Context, home string, h Hub, code, machine string) error {
	was, err := Load(home)
	joined := err == nil
	if err != nil && !errors.Is(err, ErrNone) {
		return err
	}
	const leave = "`memoir team leave` leaves it"
	if h.URL = strings.TrimRight(h.URL, "/"); joined && was.URL != h.URL {
		return memoir.Errorf(memoir.CodeUsage, leave, "this home has joined %s", was.URL)
	}
	c, err := newClient(h, begins)
	if err != nil {
		return err
	}
	var j wire.Joined
	err = c.call(ctx, http.MethodPost, "/v1/join", wire.Join{Code: code, Machine: machine}, &j)
	switch c.token = j.Token; {
	case refused(err) == wire.CodeUnauthorised:
		return memoir.Errorf(memoir.CodeHub, "ask for a new code: each is valid once, for a day", "%w", err)
	case err != nil:
		return err
	case j.Token == "" || j.Member == "" || j.Epoch == "":
		return c.noHub()
	case joined && (was.Organisation != j.Organisation || was.Member != j.Member):
		return errors.Join(memoir.Errorf(memoir.CodeUsage, leave, "the code is of %s of %s, not of %s of %s",
			j.Member, j.Organisation, was.Member, was.Organisation), c.call(ctx, http.MethodDelete, "/v1/me", nil, nil))
	case joined:
		j.Epoch = was.Epoch // the next push compares it
	}
	h.Joined = j
	return write(home, "hub", h)
}

// Machines lists the machines of this member at the hub that a home has joined. Before, it revokes the token of another
// one by its id, unless that is empty.
func Machines(ctx context.Context, home, revoke string) (all []wire.Machine, err error) {
	h, c, err := dial(home)
	if err == nil && revoke == h.Machine {
		err = memoir.Errorf(memoir.CodeUsage, "`memoir team leave` gives its token up", "%q is this machine", revoke)
	}
	if err == nil && revoke != "" {
		err = c.call(ctx, http.MethodDelete, "/v1/machines/"+url.PathEscape(revoke), nil, nil)
	}
	if err == nil {
		err = c.call(ctx, http.MethodGet, "/v1/machines", nil, &all)
	}
	return all, err
}

// Grant gives a member a role in a project of the hub that a home has joined, or ends it, and returns the one that
// counts there now. It is for admins.
func Grant(ctx context.Context, home string, g wire.Grant) (now wire.Granted, err error) {
	if err = g.Check(); err == nil {
		err = administer(ctx, home, "/v1/grant", g, &now)
	}
	return now, err
}

// Erase removes a member of the hub that a home has joined, with all that they have sent. It is for admins.
func Erase(ctx context.Context, home string, e wire.Erase) (done wire.Erased, err error) {
	if err = e.Check(); err == nil {
		err = administer(ctx, home, "/v1/erase", e, &done)
	}
	return done, err
}

func administer(ctx context.Context, home, path string, in, out any) error {
	h, err := Load(home)
	if err != nil {
		return err
	}
	c, err := newClient(h, beginsAlone) // much may have to be erased
	if err == nil {
		err = c.call(ctx, http.MethodPost, path, in, out)
	}
	if refused(err) == wire.CodeNotFound {
		err = memoir.Errorf(memoir.CodeHub, "an operator updates it, or does it with `memoir-hub`",
			"the hub is of an earlier release, which lets nobody but its operators do this")
	}
	return err
}

// Leave ends all sharing. What was sent is withdrawn first, unless keep is set; so without the hub nothing is changed.
// What was received, the token and the shares go; the caller finishes the forgetting that this begins. left is why the
// hub may still have something that it should not, or accept the token.
func Leave(ctx context.Context, o Options, keep bool) (report Report, left, err error) {
	h, c, err := dial(o.Home)
	if err != nil {
		return report, nil, err
	}
	shares, waiting, err := o.Store.Shares(ctx)
	if err != nil {
		return report, nil, err
	}
	if keep = keep || len(shares)+waiting == 0; keep { // of what was forgotten, nothing may stay
		report, left = Sync(ctx, o, Push)
	} else if err = c.call(ctx, http.MethodGet, "/v1/me", nil, nil); err != nil {
		do := "repeat it later"
		if code := refused(err); code == wire.CodeRevoked || code == wire.CodeUnauthorised {
			do = "`memoir team join` with a new code, and repeat it"
		}
		err = memoir.Errorf(memoir.CodeHub, do+", or pass --keep: then what was sent stays at the hub",
			"nothing is withdrawn: %w", err)
	}
	if err = cmp.Or(err, context.Cause(ctx)); err != nil {
		return report, left, err
	}
	for _, share := range shares {
		if err := Unshare(ctx, o, share.ProjectID, keep); err != nil {
			return report, left, err
		}
	}
	if !keep {
		if report, err = Sync(ctx, o, Push); err != nil {
			return report, left, err
		}
	}
	if h, err = Load(o.Home); err == nil { // the token may be a new one
		c.token = h.Token
		left = errors.Join(left, c.call(ctx, http.MethodDelete, "/v1/me", nil, nil))
	}
	return report, left, errors.Join(err, failpoint.RemoveAll(filepath.Dir(fileOf(o.Home, "hub"))))
}
