package kube

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
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
		checked, err := dryBody(req)
		if err != nil {
			return nil, err
		}
		return g.next.RoundTrip(checked)
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

// maxDeleteOptions is far more than the options of a deletion ever need.
const maxDeleteOptions = 1 << 16

// dryBody sees to it that the body agrees that a request is a dry run. That of
// a deletion has a say: where it has one, the server reads the options from it,
// and the parameters count for nothing (k8s.io/apiserver,
// endpoints/handlers/delete.go).
func dryBody(req *http.Request) (*http.Request, error) {
	if req.Method != http.MethodDelete || req.Body == nil || req.Body == http.NoBody {
		return req, nil
	}
	text, err := io.ReadAll(io.LimitReader(req.Body, maxDeleteOptions))
	if err := errors.Join(err, req.Body.Close()); err != nil {
		return nil, fmt.Errorf("read the body of a request: %w", err)
	}
	var options struct {
		DryRun []string `json:"dryRun"`
	}
	// What can't be looked into is not believed, either.
	if len(text) > 0 && (json.Unmarshal(text, &options) != nil || len(options.DryRun) != 1 || options.DryRun[0] != "All") {
		return nil, ErrDryRunOnly
	}
	// A RoundTripper leaves the request as it was.
	checked := *req
	checked.Body = io.NopCloser(strings.NewReader(string(text)))
	return &checked, nil
}
