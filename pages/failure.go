package pages

import (
	"errors"
	"html/template"
	"net/http"

	"memoir"
)

// A Failure is an error as a page or as JSON.
type Failure struct {
	Error string `json:"error"`
	Hint  string `json:"hint"`
	Code  string `json:"code"`
}

// FailureOf returns an error that a request ended with, and its HTTP status.
func FailureOf(err error) (int, Failure) {
	f := Failure{memoir.Cut(err.Error(), 1000), memoir.HintOf(err), string(memoir.CodeOf(err))}
	if _, large := errors.AsType[*http.MaxBytesError](err); large {
		f.Hint, f.Code = "at most 1 MB", "too_large"
		return http.StatusRequestEntityTooLarge, f
	}
	if status, ok := statuses[memoir.CodeOf(err)]; ok {
		return status, f
	}
	return http.StatusInternalServerError, f
}

// statuses are the HTTP statuses of error codes. The status of other errors is 500.
var statuses = map[memoir.Code]int{
	memoir.CodeUsage: http.StatusUnprocessableEntity, memoir.CodeInvalid: http.StatusUnprocessableEntity,
	memoir.CodeNotFound: http.StatusNotFound, memoir.CodeUnreadable: http.StatusNotFound,
	memoir.CodeBusy: http.StatusConflict, memoir.CodeLeaseLost: http.StatusConflict,
	memoir.CodeChanged: http.StatusConflict,
	memoir.CodeStorage: http.StatusInsufficientStorage, memoir.CodeInterrupted: http.StatusServiceUnavailable,
}

// Show answers with the page of the failure.
func (f Failure) Show(w http.ResponseWriter, all *template.Template, status int) {
	Write(w, all, Page{Name: "failure", Title: http.StatusText(status), Data: f}, status)
}
