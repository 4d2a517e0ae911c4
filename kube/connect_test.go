package kube

import (
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// versionServer answers /version.
func versionServer(t *testing.T, answer http.HandlerFunc) *httptest.Server {
	server := httptest.NewServer(answer)
	t.Cleanup(server.Close)
	return server
}

func TestIdentity(t *testing.T) {
	c := connect(t, "https://u:secret@example.com:6443", nil)
	want := Identity{Context: "lab", Cluster: "lab", User: "me", Server: "https://example.com:6443", Namespace: "exam"}
	if c.Identity() != want {
		t.Errorf("identity = %+v", c.Identity())
	}
	c = connect(t, "https://example.com:6443", func(cfg *Config) { cfg.Namespace = "other" })
	if got := c.Identity().Namespace; got != "other" {
		t.Errorf("namespace = %q", got)
	}
}

func TestConnectProblems(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	load := func(path, context string) clientcmd.ClientConfig {
		return clientcmd.NewNonInteractiveDeferredLoadingClientConfig(
			&clientcmd.ClientConfigLoadingRules{ExplicitPath: path}, &clientcmd.ConfigOverrides{CurrentContext: context})
	}
	good := write("good", "apiVersion: v1\nkind: Config\ncurrent-context: lab\ncontexts:\n- name: lab\n  context: {cluster: lab, user: me}\nclusters:\n- name: lab\n  cluster: {server: 'https://127.0.0.1:1'}\nusers:\n- name: me\n  user: {}\n")
	tests := []struct {
		name   string
		config clientcmd.ClientConfig
		want   []string
	}{
		{"not YAML", load(write("bad", "{"), ""), []string{"can't be used", "--kubeconfig"}},
		{"no such file", load(filepath.Join(dir, "none"), ""), []string{"can't be used", "none", "--kubeconfig"}},
		{"no such context", load(good, "prod"), []string{`no context "prod"`, "get-contexts"}},
		{"empty", clientcmd.NewDefaultClientConfig(*clientcmdapi.NewConfig(), &clientcmd.ConfigOverrides{}), []string{"no kubeconfig", "KUBECONFIG"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := Connect(Config{ClientConfig: tt.config})
			if KindOf(err) != KindConfig {
				t.Fatalf("error = %v", err)
			}
			checkSentence(t, err, tt.want)
		})
	}
	if c, err := Connect(Config{ClientConfig: load(good, "")}); err != nil || c.Identity().Context != "lab" {
		t.Errorf("a good kubeconfig: %v", err)
	}
}

func checkSentence(t *testing.T, err error, want []string) {
	t.Helper()
	got := Explain(err)
	for _, w := range want {
		if !strings.Contains(got, w) {
			t.Errorf("%q lacks %q", got, w)
		}
	}
	if strings.ContainsAny(got, "\n\x1b") || strings.Contains(got, "Get \"http") {
		t.Errorf("not one plain sentence: %q", got)
	}
}

func TestCheck(t *testing.T) {
	refused, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	closedPort := "http://" + refused.Addr().String()
	if err := refused.Close(); err != nil {
		t.Fatal(err)
	}
	status := func(code int32, reason metav1.StatusReason, message string) string {
		return versionServer(t, func(w http.ResponseWriter, _ *http.Request) {
			(&apiServer{t: t}).fail(w, code, reason, message)
		}).URL
	}
	untrusted := httptest.NewTLSServer(http.NotFoundHandler())
	untrusted.Config.ErrorLog = log.New(io.Discard, "", 0)
	t.Cleanup(untrusted.Close)
	token := &clientcmdapi.AuthInfo{Token: "secret"}
	plugin := &clientcmdapi.AuthInfo{Exec: &clientcmdapi.ExecConfig{
		APIVersion: "client.authentication.k8s.io/v1", Command: "false", InteractiveMode: clientcmdapi.NeverExecInteractiveMode,
	}}
	missing := &clientcmdapi.AuthInfo{Exec: &clientcmdapi.ExecConfig{
		APIVersion: "client.authentication.k8s.io/v1", Command: "claimref-no-such-plugin", InteractiveMode: clientcmdapi.NeverExecInteractiveMode,
		InstallHint: "install it",
	}}
	secure := httptest.NewTLSServer(http.NotFoundHandler())
	t.Cleanup(secure.Close)

	tests := []struct {
		name string
		url  string
		user *clientcmdapi.AuthInfo
		kind Kind
		want []string
	}{
		{"refused", closedPort, token, KindUnreachable, []string{closedPort, "can't be reached", "connection refused", "check"}},
		{"unknown host", "http://nowhere.invalid:6443", token, KindUnreachable, []string{"nowhere.invalid", "can't be found", "check"}},
		{"bad credentials", status(401, metav1.StatusReasonUnauthorized, "Unauthorized"), token, KindUnauthorized, []string{`user "me"`, "log in again"}},
		{"not ready", status(503, metav1.StatusReasonServiceUnavailable, "starting\x1b[2J"), token, KindServer, []string{"not ready", "unable to handle", "try again"}},
		{"not Kubernetes", status(404, metav1.StatusReasonNotFound, "x"), token, KindNotFound, []string{"not a Kubernetes API server"}},
		{"unknown authority", untrusted.URL, token, KindUntrusted, []string{"certificate", "certificate-authority-data"}},
		{"failing plugin", secure.URL, plugin, KindUnauthorized, []string{"credential plugin", "exit code 1", "log in again"}},
		{"missing plugin", secure.URL, missing, KindUnauthorized, []string{"credential plugin", "claimref-no-such-plugin"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c, err := Connect(Config{ClientConfig: kubeconfig(tt.url, tt.user)})
			if err != nil {
				t.Fatal(err)
			}
			err = c.Check(t.Context())
			if KindOf(err) != tt.kind {
				t.Errorf("kind = %d: %v", KindOf(err), err)
			}
			checkSentence(t, err, tt.want)
		})
	}
}

func TestCheckPasses(t *testing.T) {
	server := versionServer(t, func(w http.ResponseWriter, _ *http.Request) {
		(&apiServer{t: t}).answer(w, 200, map[string]string{"gitVersion": "v1.37.2", "platform": "linux"})
	})
	c := connect(t, server.URL, nil)
	if err := c.Check(t.Context()); err != nil {
		t.Error(err)
	}
	if version, err := c.probe.version(t.Context()); err != nil || version != "v1.37.2" {
		t.Errorf("version = %q, %v", version, err)
	}
	// Someone who may not ask for the version may still use the rest.
	forbidden := versionServer(t, func(w http.ResponseWriter, _ *http.Request) {
		(&apiServer{t: t}).fail(w, 403, metav1.StatusReasonForbidden, "no")
	})
	if err := connect(t, forbidden.URL, nil).Check(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestRequestTimeoutSparesWatches(t *testing.T) {
	config := kubeconfig("http://127.0.0.1:1", &clientcmdapi.AuthInfo{})
	c, err := Connect(Config{ClientConfig: timeoutConfig{config}})
	if err != nil {
		t.Fatal(err)
	}
	if c.timing.Request != 7*time.Second {
		t.Errorf("request timeout = %v", c.timing.Request)
	}
	if got := clientTimeout(t, c.api); got != 7*time.Second {
		t.Errorf("requests time out after %v", got)
	}
	if got := clientTimeout(t, c.streams); got != 0 {
		t.Errorf("watches time out after %v", got)
	}
}

// timeoutConfig is a kubeconfig with --request-timeout=7s.
type timeoutConfig struct{ config clientcmd.ClientConfig }

func (c timeoutConfig) ClientConfig() (*rest.Config, error) {
	config, err := c.config.ClientConfig()
	if err == nil {
		config.Timeout = 7 * time.Second
	}
	return config, err
}

func (c timeoutConfig) RawConfig() (clientcmdapi.Config, error) { return c.config.RawConfig() }
func (c timeoutConfig) Namespace() (string, bool, error)        { return c.config.Namespace() }
func (c timeoutConfig) ConfigAccess() clientcmd.ConfigAccess    { return c.config.ConfigAccess() }

func clientTimeout(t *testing.T, api kubernetes.Interface) time.Duration {
	t.Helper()
	client, ok := api.CoreV1().RESTClient().(*rest.RESTClient)
	if !ok {
		t.Fatalf("a client of type %T", api.CoreV1().RESTClient())
	}
	return client.Client.Timeout
}
