package kube

import (
	"fmt"
	"net/http"
	"strings"
)

// guard is a transport that keeps a promise made on the command line. It
// stands below everything else, so that no code path, of ours or of a
// library, can break the promise by mistake.
type guard struct {
	next http.RoundTripper
	// dryRun lets dry runs through.
	dryRun bool
}

// RoundTrip refuses a request that would write.
func (g guard) RoundTrip(req *http.Request) (*http.Response, error) {
	if !mutates(req) {
		return g.next.RoundTrip(req)
	}
	// A dry run that is asked for alongside something else is not believed.
	if values := req.URL.Query()["dryRun"]; g.dryRun && len(values) == 1 && values[0] == "All" {
		return g.next.RoundTrip(req)
	}
	// A RoundTripper closes the body, on errors too.
	if req.Body != nil {
		if err := req.Body.Close(); err != nil {
			return nil, fmt.Errorf("close the body of a refused request: %w", err)
		}
	}
	if g.dryRun {
		return nil, ErrDryRunOnly
	}
	return nil, ErrReadOnly
}

// mutates tells whether a request could change anything in the cluster. The
// access reviews are questions that the API happens to ask by POST.
func mutates(req *http.Request) bool {
	switch req.Method {
	case http.MethodGet, http.MethodHead, http.MethodOptions:
		return false
	case http.MethodPost:
		path := strings.TrimSuffix(req.URL.Path, "/")
		return !strings.HasSuffix(path, "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews") &&
			!strings.HasSuffix(path, "/apis/authorization.k8s.io/v1/selfsubjectrulesreviews")
	}
	return true
}
