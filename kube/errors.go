package kube

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"strings"
	"syscall"
	"unicode"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	utilnet "k8s.io/apimachinery/pkg/util/net"
)

// Kind says what sort of trouble an error is, so that a caller can choose what
// to do next without reading its text.
type Kind int

// The kinds of trouble.
const (
	KindOther Kind = iota
	// KindConfig: the kubeconfig can't be used.
	KindConfig
	// KindUnauthorized: the server does not know who the user is.
	KindUnauthorized
	// KindForbidden: the server knows, and says no.
	KindForbidden
	KindNotFound
	// KindConflict: the object has changed since it was read.
	KindConflict
	// KindInvalid: the server refuses the content.
	KindInvalid
	// KindTimeout: no answer in time.
	KindTimeout
	// KindUnreachable: no connection to the server.
	KindUnreachable
	// KindUntrusted: the server's certificate can't be verified.
	KindUntrusted
	// KindServer: the server failed.
	KindServer
	// KindDryRunUnsupported: an admission webhook can't take part in dry runs.
	KindDryRunUnsupported
	// KindReadOnly: claimref was told not to write.
	KindReadOnly
	// KindDryRunOnly: claimref was told to do dry runs only.
	KindDryRunOnly
	// KindGuard: the object is not in the state the step needs.
	KindGuard
	// KindReplaced: the name belongs to another object now.
	KindReplaced
	// KindNotApplied: a request whose answer was lost did not take effect.
	KindNotApplied
	// KindOutcomeUnknown: a request whose answer was lost may have taken effect.
	KindOutcomeUnknown
)

// The sentinels that callers may test for.
var (
	ErrReadOnly   = errors.New("nothing is written in read-only mode")
	ErrDryRunOnly = errors.New("nothing is written in dry-run mode")
	ErrReplaced   = errors.New("it was deleted, and another one of the same name exists now")
	ErrNotApplied = errors.New("the change was not applied")
	// ErrNotSent: the program ended before the request left.
	ErrNotSent        = errors.New("the program ended before the request was sent: nothing was written")
	ErrOutcomeUnknown = errors.New("whether the change was applied is not known")
	// ErrClosed is what Feed.Next returns after the feed has ended.
	ErrClosed = errors.New("the feed has ended")
)

// Problem is an error with a sentence written for the user.
type Problem struct {
	Kind Kind
	// Text says what is wrong and what to do about it.
	Text string
	Err  error
}

func (p *Problem) Error() string { return p.Text }

// Unwrap returns the cause.
func (p *Problem) Unwrap() error { return p.Err }

// GuardError says that an object is not in the state that a step needs.
type GuardError struct {
	// Reason is a sentence.
	Reason string
}

func (e *GuardError) Error() string { return e.Reason }

// KindOf classifies an error.
func KindOf(err error) Kind {
	if err == nil {
		return KindOther
	}
	if problem, ok := errors.AsType[*Problem](err); ok {
		return problem.Kind
	}
	if kind, ok := ownKind(err); ok {
		return kind
	}
	if status := apierrors.APIStatus(nil); errors.As(err, &status) {
		return statusKind(err)
	}
	return networkKind(err)
}

// ownKind knows the errors that this package makes.
func ownKind(err error) (Kind, bool) {
	if _, ok := errors.AsType[*GuardError](err); ok {
		return KindGuard, true
	}
	switch {
	case errors.Is(err, ErrReadOnly):
		return KindReadOnly, true
	case errors.Is(err, ErrDryRunOnly):
		return KindDryRunOnly, true
	case errors.Is(err, ErrReplaced):
		return KindReplaced, true
	case errors.Is(err, ErrNotApplied):
		return KindNotApplied, true
	case errors.Is(err, ErrOutcomeUnknown):
		return KindOutcomeUnknown, true
	}
	return KindOther, false
}

// statusKind reads the API server's own answer.
func statusKind(err error) Kind {
	switch {
	case refusesDryRun(err):
		return KindDryRunUnsupported
	case apierrors.IsUnauthorized(err):
		return KindUnauthorized
	case apierrors.IsForbidden(err):
		return KindForbidden
	case apierrors.IsNotFound(err), apierrors.IsGone(err):
		return KindNotFound
	case apierrors.IsConflict(err), apierrors.IsAlreadyExists(err):
		return KindConflict
	case apierrors.IsInvalid(err), apierrors.IsBadRequest(err):
		return KindInvalid
	case apierrors.IsTimeout(err), apierrors.IsServerTimeout(err):
		return KindTimeout
	case apierrors.IsInternalError(err), apierrors.IsServiceUnavailable(err),
		apierrors.IsTooManyRequests(err), apierrors.IsUnexpectedServerError(err), statusCode(err) >= 500:
		return KindServer
	}
	return KindOther
}

func statusCode(err error) int {
	if status := apierrors.APIStatus(nil); errors.As(err, &status) {
		return int(status.Status().Code)
	}
	return 0
}

// refusesDryRun recognises the answer of an API server one of whose webhooks
// has side effects. It has no reason code of its own, only this text
// (k8s.io/apiserver, pkg/admission/plugin/webhook/errors).
func refusesDryRun(err error) bool {
	return apierrors.IsBadRequest(err) && strings.Contains(err.Error(), "does not support dry run")
}

// networkKind knows what goes wrong before there is an answer.
func networkKind(err error) Kind {
	switch {
	case isUntrusted(err):
		return KindUntrusted
	case strings.Contains(err.Error(), "getting credentials: "):
		// client-go says so when an exec plugin fails; the chain is cut there.
		return KindUnauthorized
	case errors.Is(err, context.DeadlineExceeded), utilnet.IsTimeout(err):
		return KindTimeout
	case errors.Is(err, context.Canceled):
		return KindOther
	case isDialError(err), utilnet.IsConnectionRefused(err), utilnet.IsConnectionReset(err), utilnet.IsProbableEOF(err),
		utilnet.IsHTTP2ConnectionLost(err), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, syscall.EPIPE):
		return KindUnreachable
	}
	if _, ok := errors.AsType[net.Error](err); ok {
		return KindUnreachable
	}
	return KindOther
}

// isDialError tells that no connection came about, so nothing was sent.
func isDialError(err error) bool {
	if _, ok := errors.AsType[*net.DNSError](err); ok {
		return true
	}
	op, ok := errors.AsType[*net.OpError](err)
	return ok && op.Op == "dial"
}

func isUntrusted(err error) bool {
	if _, ok := errors.AsType[*tls.CertificateVerificationError](err); ok {
		return true
	}
	if _, ok := errors.AsType[x509.UnknownAuthorityError](err); ok {
		return true
	}
	if _, ok := errors.AsType[x509.HostnameError](err); ok {
		return true
	}
	_, ok := errors.AsType[tls.RecordHeaderError](err)
	return ok
}

// Explain says in one sentence what is wrong. What the cluster has to say in
// it is stripped of control characters.
func Explain(err error) string {
	if err == nil {
		return ""
	}
	if problem, ok := errors.AsType[*Problem](err); ok {
		return clean(problem.Text)
	}
	var lead string
	switch KindOf(err) {
	case KindUnauthorized:
		lead = "the API server does not accept the credentials; log in again"
	case KindForbidden:
		lead = "the API server says that you may not do this"
	case KindConflict:
		lead = "the object has changed since it was read"
	case KindTimeout:
		lead = "the API server did not answer in time"
	case KindUnreachable:
		lead = "the API server can't be reached"
	case KindUntrusted:
		lead = "the API server's certificate can't be verified"
	case KindServer:
		lead = "the API server failed"
	case KindDryRunUnsupported:
		lead = "an admission webhook does not support dry runs"
	case KindInvalid:
		lead = "the API server refuses the change"
	default:
		return clean(err.Error())
	}
	return clean(lead + ": " + cause(err))
}

// cause is what the server said, or what went wrong in the end. What the
// layers in between add repeats the URL and Go's names for things.
func cause(err error) string {
	if status := apierrors.APIStatus(nil); errors.As(err, &status) && status.Status().Message != "" {
		return status.Status().Message
	}
	for {
		inner := errors.Unwrap(err)
		if inner == nil {
			return err.Error()
		}
		err = inner
	}
}

// clean makes one line of printable text: line breaks and tabs become spaces,
// other control and format characters go. What a server says is data and
// never reaches the terminal as a command.
func clean(s string) string {
	s = strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\r' || r == '\t':
			return ' '
		case unicode.IsControl(r), unicode.Is(unicode.Cf, r), r == unicode.ReplacementChar:
			return -1
		}
		return r
	}, s)
	return strings.Join(strings.Fields(s), " ")
}
