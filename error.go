package memoir

import (
	"errors"
	"fmt"
)

// Code is the class of an error, by which callers decide.
type Code string

// The codes.
const (
	CodeUsage       Code = "usage"       // an invalid command line
	CodeConfig      Code = "config"      // a setting that is unknown or out of range
	CodeNotFound    Code = "not_found"   // the named session, project or file is unknown
	CodeBusy        Code = "busy"        // another process holds the lease
	CodeLeaseLost   Code = "lease_lost"  // our lease or fence is no longer the valid one
	CodeChanged     Code = "changed"     // live files changed between reading and publishing
	CodeUnreadable  Code = "unreadable"  // a session that cannot be read
	CodeCorrupt     Code = "corrupt"     // the database is damaged
	CodeNewer       Code = "newer"       // the database was written by a newer version
	CodeStorage     Code = "storage"     // the disk is full, read-only or forbidden
	CodeInvalid     Code = "invalid"     // an answer or artifact that breaks its rules
	CodeModel       Code = "model"       // a call to a language model failed, or its answer is useless
	CodeLimit       Code = "limit"       // a spending limit stops the work
	CodeHub         Code = "hub"         // a hub of a team cannot be reached, or refuses
	CodeInterrupted Code = "interrupted" // stopped by a signal or a time limit
	CodeInternal    Code = "internal"
)

// Error is an error for people: what failed, and what they can do.
type Error struct {
	Code    Code
	Message string // lower case, without a full stop, its cause included
	Hint    string // advice; may be empty
	Err     error  // the cause, for errors.Is; may be nil
}

// Error returns the message, without the hint.
func (e *Error) Error() string { return e.Message }

// Unwrap returns the cause, nil if there is none.
func (e *Error) Unwrap() error { return e.Err }

// Errorf returns an Error whose message is formatted as by fmt.Errorf; a %w verb sets its cause.
func Errorf(code Code, hint, format string, args ...any) *Error {
	err := fmt.Errorf(format, args...)
	return &Error{Code: code, Message: err.Error(), Hint: hint, Err: errors.Unwrap(err)}
}

// CodeOf returns the code of the outermost Error in err's chain, CodeInternal if there is none, and "" for nil.
func CodeOf(err error) Code {
	if err == nil {
		return ""
	}
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Code
	}
	return CodeInternal
}

// HintOf returns the hint of the outermost Error in err's chain that has one.
func HintOf(err error) string {
	var e *Error
	for errors.As(err, &e) {
		if e.Hint != "" {
			return e.Hint
		}
		err = e.Err
	}
	return ""
}

// AnswerError is the error of an invalid answer of a language model. It does not contain the
// answer, which is untrusted text.
type AnswerError struct {
	Err error // the fault of the answer
}

// Error describes the fault of the answer.
func (e *AnswerError) Error() string { return e.Err.Error() }

// Unwrap returns the fault of the answer.
func (e *AnswerError) Unwrap() error { return e.Err }
