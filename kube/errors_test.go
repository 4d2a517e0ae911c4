package kube

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/url"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func statusError(code int32, reason metav1.StatusReason, message string) error {
	return &apierrors.StatusError{ErrStatus: metav1.Status{Status: metav1.StatusFailure, Code: code, Reason: reason, Message: message}}
}

func TestKindOf(t *testing.T) {
	tests := []struct {
		err  error
		want Kind
	}{
		{nil, KindOther},
		{errors.New("x"), KindOther},
		{context.Canceled, KindOther},
		{context.DeadlineExceeded, KindTimeout},
		{dialError(), KindUnreachable},
		{&net.DNSError{Name: "nowhere"}, KindUnreachable},
		{&url.Error{Op: "Get", Err: x509.UnknownAuthorityError{}}, KindUntrusted},
		{statusError(401, metav1.StatusReasonUnauthorized, ""), KindUnauthorized},
		{statusError(403, metav1.StatusReasonForbidden, ""), KindForbidden},
		{statusError(404, metav1.StatusReasonNotFound, ""), KindNotFound},
		{statusError(409, metav1.StatusReasonConflict, ""), KindConflict},
		{statusError(422, metav1.StatusReasonInvalid, ""), KindInvalid},
		{statusError(500, metav1.StatusReasonInternalError, ""), KindServer},
		{statusError(502, metav1.StatusReasonUnknown, ""), KindServer},
		{statusError(504, metav1.StatusReasonTimeout, ""), KindTimeout},
		{statusError(400, metav1.StatusReasonBadRequest, `admission webhook "x" does not support dry run`), KindDryRunUnsupported},
		{ErrReadOnly, KindReadOnly},
		{ErrDryRunOnly, KindDryRunOnly},
		{ErrReplaced, KindReplaced},
		{&GuardError{Reason: "x"}, KindGuard},
		{lost(ErrNotApplied, errors.New("x"), "y"), KindNotApplied},
		{lost(ErrOutcomeUnknown, errors.New("x"), "y"), KindOutcomeUnknown},
	}
	for _, tt := range tests {
		err := tt.err
		if err != nil {
			err = fmt.Errorf("read this: %w", err)
		}
		if got := KindOf(err); got != tt.want {
			t.Errorf("KindOf(%v) = %d, want %d", tt.err, got, tt.want)
		}
	}
}

func TestExplainIsOneCleanLine(t *testing.T) {
	hostile := "no\x1b[2J\x1b]0;x\x07 way\r\nat\tall\u202e\u009b31m"
	for _, err := range []error{
		errors.New(hostile), statusError(403, metav1.StatusReasonForbidden, hostile), &Problem{Text: hostile}, &GuardError{Reason: hostile},
	} {
		got := Explain(err)
		if strings.ContainsAny(got, "\x1b\x07\r\n\t\u202e\u009b") || !strings.Contains(got, "at all") {
			t.Errorf("Explain(%T) = %q", err, got)
		}
	}
	if Explain(nil) != "" {
		t.Error("nothing needs no explanation")
	}
}
