package cases

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// direct is a kubeconfig whose server is reached as another configuration says.
func direct(config *rest.Config) clientcmd.ClientConfig {
	return directConfig{clientcmd.NewDefaultClientConfig(*clientcmdapi.NewConfig(), nil), config}
}

type (
	described    = clientcmd.ClientConfig
	directConfig struct {
		described
		config *rest.Config
	}
)

// ClientConfig implements clientcmd.ClientConfig.
func (c directConfig) ClientConfig() (*rest.Config, error) { return rest.CopyConfig(c.config), nil }

// wrapped is a configuration whose requests somebody stands in the way of.
func wrapped(config *rest.Config, answer func(*http.Request) *metav1.Status) *rest.Config {
	config = rest.CopyConfig(config)
	config.Wrap(func(next http.RoundTripper) http.RoundTripper { return gate{answer, next} })
	return config
}

// gate answers some requests in the server's place.
type gate struct {
	answer func(*http.Request) *metav1.Status
	next   http.RoundTripper
}

// RoundTrip implements http.RoundTripper.
func (g gate) RoundTrip(r *http.Request) (*http.Response, error) {
	status := g.answer(r)
	if status == nil {
		return g.next.RoundTrip(r)
	}
	status.TypeMeta = metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}
	status.Status = metav1.StatusFailure
	text, err := json.Marshal(status)
	if err != nil {
		return nil, err
	}
	return &http.Response{
		StatusCode: int(status.Code), Status: http.StatusText(int(status.Code)), Request: r,
		Header: http.Header{"Content-Type": []string{"application/json"}}, Body: io.NopCloser(bytes.NewReader(text)),
	}, nil
}

// refusing puts the story's webhook before the server. It was not made for dry
// runs (k8s.io/apiserver/pkg/admission/plugin/webhook/errors/statuserror.go).
func (s *Story) refusing(config *rest.Config) *rest.Config {
	return wrapped(config, func(r *http.Request) *metav1.Status {
		if s.Head.Webhook == "" || r.Method != http.MethodPost || r.URL.Query().Get("dryRun") != metav1.DryRunAll {
			return nil
		}
		return &metav1.Status{
			Code: http.StatusBadRequest, Reason: metav1.StatusReasonBadRequest,
			Message: fmt.Sprintf("admission webhook %q does not support dry run", s.Head.Webhook),
		}
	})
}

// forbidding lets nobody read what the story's eyes may not see.
func (s *Story) forbidding(config *rest.Config) *rest.Config {
	return wrapped(config, func(r *http.Request) *metav1.Status {
		parts := strings.Split(r.URL.Path, "/")
		if r.Method != http.MethodGet || !slices.ContainsFunc(s.Head.Unread, func(name string) bool { return slices.Contains(parts, name) }) {
			return nil
		}
		return &metav1.Status{Code: http.StatusForbidden, Reason: metav1.StatusReasonForbidden, Message: "you may not read this"}
	})
}
