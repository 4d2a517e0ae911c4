package migration

import (
	"bytes"
	"io"
	"net/http"
	"strings"
	"sync"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/util/flowcontrol"
)

// wire is the program's line to the server. It counts the writes that took
// effect, and may do things right before and right after each.
type wire struct {
	mu   sync.Mutex
	done int
	// before is told which write is about to be sent, the first being 1. It is
	// told again when the server has refused that write.
	before func(write int)
	// after is told which write has been answered, and the request; its error
	// takes the place of the answer.
	after func(write int, r *http.Request) error
}

// writes is how many writes took effect.
func (w *wire) writes() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.done
}

type wrapped struct {
	*wire
	next http.RoundTripper
}

func (w wrapped) RoundTrip(r *http.Request) (*http.Response, error) {
	if !isWrite(r) {
		return w.next.RoundTrip(r)
	}
	if w.before != nil {
		w.before(w.writes() + 1)
	}
	response, err := w.next.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	// All of the answer has arrived before anybody is told.
	body, err := io.ReadAll(response.Body)
	_ = response.Body.Close()
	if err != nil {
		return nil, err
	}
	response.Body = io.NopCloser(bytes.NewReader(body))
	if response.StatusCode >= http.StatusBadRequest {
		return response, nil
	}
	w.mu.Lock()
	w.done++
	n := w.done
	w.mu.Unlock()
	if w.after != nil {
		if err := w.after(n, r); err != nil {
			return nil, err
		}
	}
	return response, nil
}

// isWrite tells the requests that change something.
func isWrite(r *http.Request) bool {
	switch r.Method {
	case http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete:
	default:
		return false
	}
	return r.URL.Query().Get("dryRun") == "" && !strings.Contains(r.URL.Path, "/selfsubject")
}

// kubeconfig is a clientcmd.ClientConfig by another name, so that it can be
// embedded beside its method.
type kubeconfig = clientcmd.ClientConfig

// wiredConfig is a kubeconfig whose requests go through a wire.
type wiredConfig struct {
	kubeconfig
	wire *wire
}

func newWiredConfig(path string, w *wire) wiredConfig {
	rules := &clientcmd.ClientConfigLoadingRules{ExplicitPath: path}
	return wiredConfig{clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, &clientcmd.ConfigOverrides{}), w}
}

// ClientConfig is the configuration of the requests.
func (c wiredConfig) ClientConfig() (*rest.Config, error) {
	config, err := c.kubeconfig.ClientConfig()
	if err != nil {
		return nil, err
	}
	config.Wrap(func(next http.RoundTripper) http.RoundTripper { return wrapped{c.wire, next} })
	// Nobody waits for a limit that spares a server which others use.
	config.RateLimiter = flowcontrol.NewFakeAlwaysRateLimiter()
	return config, nil
}
