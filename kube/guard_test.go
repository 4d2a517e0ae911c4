package kube

import (
	"errors"
	"net/http"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestReadOnlyWritesNothing(t *testing.T) {
	server, http1 := newAPIServer(t, releasedVolume())
	p, err := connect(t, http1.URL, nil).Preview(t.Context(), nil, reserveStep())
	if err != nil {
		t.Fatal(err)
	}
	before := len(server.sent(http.MethodPatch))
	c := connect(t, http1.URL, func(cfg *Config) { cfg.ReadOnly = true })
	if _, err := c.Preview(t.Context(), nil, reserveStep()); !errors.Is(err, ErrReadOnly) {
		t.Errorf("preview: %v", err)
	}
	if _, err := c.Apply(t.Context(), p, nil); !errors.Is(err, ErrReadOnly) {
		t.Errorf("apply: %v", err)
	}
	// The transport keeps the promise by itself.
	if _, err := c.patch(t.Context(), p, p.Step.Patch, true); !errors.Is(err, ErrReadOnly) || KindOf(err) != KindReadOnly {
		t.Errorf("dry run: %v", err)
	}
	if _, err := c.patch(t.Context(), p, p.Step.Patch, false); !errors.Is(err, ErrReadOnly) {
		t.Errorf("write: %v", err)
	}
	if err := c.api.CoreV1().PersistentVolumes().Delete(t.Context(), "pv", metav1.DeleteOptions{}); !errors.Is(err, ErrReadOnly) {
		t.Errorf("delete: %v", err)
	}
	if got := len(server.sent(http.MethodPatch)) + len(server.sent(http.MethodDelete)); got != before {
		t.Errorf("%d writing requests reached the server", got-before)
	}
	// Questions about access may be asked.
	if _, err := c.rights(t.Context()); err != nil {
		t.Errorf("rights: %v", err)
	}
	if got := len(server.sent(http.MethodPost)); got != 1 {
		t.Errorf("%d access reviews reached the server", got)
	}
}

func TestDryRunModePreviewsOnly(t *testing.T) {
	server, http1 := newAPIServer(t, releasedVolume())
	c := connect(t, http1.URL, func(cfg *Config) { cfg.DryRun = true })
	p, err := c.Preview(t.Context(), nil, reserveStep())
	if err != nil || !p.DryRun.Supported {
		t.Fatalf("preview: %+v, %v", p.DryRun, err)
	}
	if _, err := c.Apply(t.Context(), p, nil); !errors.Is(err, ErrDryRunOnly) {
		t.Errorf("apply: %v", err)
	}
	if _, err := c.patch(t.Context(), p, p.Step.Patch, false); !errors.Is(err, ErrDryRunOnly) {
		t.Errorf("write: %v", err)
	}
	if got := len(server.sent(http.MethodPatch)); got != 1 {
		t.Errorf("%d patches reached the server, want the dry run", got)
	}
}

func TestGuardIsNotFooled(t *testing.T) {
	sent := 0
	next := roundTripper(func(*http.Request) (*http.Response, error) {
		sent++
		return nil, errors.New("sent")
	})
	for _, tt := range []struct {
		method, url    string
		readOnly, only bool
	}{
		{"GET", "/api/v1/pods", true, true},
		{"PATCH", "/api/v1/persistentvolumes/pv", false, false},
		{"PATCH", "/api/v1/persistentvolumes/pv?dryRun=All", false, true},
		{"PATCH", "/api/v1/persistentvolumes/pv?dryRun=", false, false},
		{"PATCH", "/api/v1/persistentvolumes/pv?dryRun=All&dryRun=None", false, false},
		{"DELETE", "/api/v1/persistentvolumes/pv", false, false},
		{"POST", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", true, true},
		{"POST", "/proxy/c-1/apis/authorization.k8s.io/v1/selfsubjectrulesreviews", true, true},
		{"POST", "/apis/authorization.k8s.io/v1/subjectaccessreviews", false, false},
		{"POST", "/api/v1/namespaces/a/pods", false, false},
		{"CONNECT", "/api/v1/namespaces/a/pods/p/exec", false, false},
	} {
		for _, dryRun := range []bool{false, true} {
			req, err := http.NewRequestWithContext(t.Context(), tt.method, "http://h"+tt.url, strings.NewReader("{}"))
			if err != nil {
				t.Fatal(err)
			}
			sent = 0
			response, err := guard{next: next, dryRun: dryRun}.RoundTrip(req)
			if response != nil {
				_ = response.Body.Close()
				t.Fatal("a guard made up an answer")
			}
			if err == nil {
				t.Fatal("a guard kept quiet")
			}
			want := tt.readOnly
			if dryRun {
				want = tt.only
			}
			if (sent == 1) != want {
				t.Errorf("%s %s, dryRun %v: sent %d", tt.method, tt.url, dryRun, sent)
			}
		}
	}
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }
