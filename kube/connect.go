package kube

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// FieldManager is the name under which changes are recorded in managedFields.
const FieldManager = "claimref"

// A person triggers requests in bursts and waits for each of them, so the
// client-side limits are far above client-go's defaults, which are made for
// controllers. The server's own fairness is what protects it.
const (
	requestsPerSecond = 50
	requestBurst      = 100
)

// Config says how to connect.
type Config struct {
	// ClientConfig is the kubeconfig with the command line's overrides.
	ClientConfig clientcmd.ClientConfig
	// Namespace is the value of --namespace; when it is empty, the
	// kubeconfig's counts.
	Namespace string
	// AllNamespaces: never narrow the reading to one namespace, even where
	// listing all of them is forbidden.
	AllNamespaces bool
	// ReadOnly refuses every write, dry runs included.
	ReadOnly bool
	// DryRun refuses every write that is not a dry run.
	DryRun    bool
	UserAgent string
	// Timing overrides the pace of things; the zero value is right.
	Timing Timing
}

// Timing is the pace of reading, watching and retrying. Zero fields take
// their defaults.
type Timing struct {
	// Coalesce is how long changes are gathered before a new snapshot.
	Coalesce time.Duration
	// Probe is the pause between two looks at the server, ProbeTimeout how
	// long one may take.
	Probe        time.Duration
	ProbeTimeout time.Duration
	// Silence is how long a watch may be silent before it is not believed.
	// The server sends a bookmark each minute.
	Silence time.Duration
	// Retry and RetryMax bound the pause after a failure, SlowRetry is the
	// pause after a refusal: rights may come, but not often.
	Retry     time.Duration
	RetryMax  time.Duration
	SlowRetry time.Duration
	// Rights is the pause between two questions about access.
	Rights time.Duration
	// Request bounds one request, when --request-timeout does not.
	Request time.Duration
	// Readback is the pause between two looks at an object after a lost
	// answer.
	Readback time.Duration
	// Poll is the pause between two looks at an operation that waits for what
	// others do.
	Poll time.Duration
}

// withDefaults fills in what is not set.
func (t Timing) withDefaults() Timing {
	for field, value := range map[*time.Duration]time.Duration{
		&t.Coalesce:     150 * time.Millisecond,
		&t.Probe:        3 * time.Second,
		&t.ProbeTimeout: 3 * time.Second,
		&t.Silence:      2 * time.Minute,
		&t.Retry:        500 * time.Millisecond,
		&t.RetryMax:     5 * time.Second,
		&t.SlowRetry:    30 * time.Second,
		&t.Rights:       5 * time.Minute,
		&t.Request:      20 * time.Second,
		&t.Readback:     time.Second,
		&t.Poll:         500 * time.Millisecond,
	} {
		if *field <= 0 {
			*field = value
		}
	}
	return t
}

// Client talks to one API server as one user.
type Client struct {
	// api is for requests, which a timeout may end; streams is for lists and
	// watches, which it must not.
	api     kubernetes.Interface
	streams kubernetes.Interface
	probe   prober

	identity  Identity
	namespace string
	fallback  bool
	readOnly  bool
	dryRun    bool
	timing    Timing
	writes    writes
}

// Connect makes a client from a kubeconfig. It sends nothing: Check does.
func Connect(cfg Config) (*Client, error) {
	if cfg.ClientConfig == nil {
		return nil, errors.New("connect: no client configuration")
	}
	raw, err := rawConfig(cfg.ClientConfig)
	if err != nil {
		return nil, configProblem(err, raw)
	}
	requests, err := cfg.ClientConfig.ClientConfig()
	if err != nil {
		return nil, configProblem(err, raw)
	}
	requests = tune(requests, cfg)
	streams := rest.CopyConfig(requests)
	streams.Timeout = 0

	timing := cfg.Timing.withDefaults()
	if requests.Timeout > 0 {
		timing.Request = requests.Timeout
	}
	api, err := kubernetes.NewForConfig(requests)
	if err != nil {
		return nil, configProblem(err, raw)
	}
	streamAPI, err := kubernetes.NewForConfig(streams)
	if err != nil {
		return nil, configProblem(err, raw)
	}
	identity := identify(raw, requests, cfg)
	return &Client{
		api:       api,
		streams:   streamAPI,
		probe:     restProber{api.Discovery().RESTClient()},
		identity:  identity,
		namespace: identity.Namespace,
		fallback:  !cfg.AllNamespaces,
		readOnly:  cfg.ReadOnly,
		dryRun:    cfg.DryRun,
		timing:    timing,
	}, nil
}

// tune makes a REST configuration fit for a full-screen program.
func tune(from *rest.Config, cfg Config) *rest.Config {
	c := rest.CopyConfig(from)
	c.QPS = requestsPerSecond
	c.Burst = requestBurst
	// Warnings go to standard error by default, right across the screen.
	c.WarningHandler = rest.NoWarnings{}
	c.WarningHandlerWithContext = nil
	if cfg.UserAgent != "" {
		c.UserAgent = cfg.UserAgent
	}
	if c.ExecProvider != nil {
		// The keyboard belongs to the screen: a credential plugin that reads
		// from it would take the user's keys away.
		c.ExecProvider.StdinUnavailable = true
		c.ExecProvider.StdinUnavailableMessage = "claimref uses the terminal"
	}
	switch {
	case cfg.ReadOnly:
		c.Wrap(func(next http.RoundTripper) http.RoundTripper { return guard{next: next} })
	case cfg.DryRun:
		c.Wrap(func(next http.RoundTripper) http.RoundTripper { return guard{next: next, dryRun: true} })
	}
	return c
}

// rawConfig reads the kubeconfig with the command line's overrides in it, so
// that --context shows up as the current context.
func rawConfig(config clientcmd.ClientConfig) (clientcmdapi.Config, error) {
	if overriding, ok := config.(clientcmd.OverridingClientConfig); ok {
		return overriding.MergedRawConfig()
	}
	return config.RawConfig()
}

// identify says who and where the user is.
func identify(raw clientcmdapi.Config, c *rest.Config, cfg Config) Identity {
	id := Identity{Context: raw.CurrentContext, Server: withoutPassword(c.Host)}
	if context, ok := raw.Contexts[raw.CurrentContext]; ok {
		id.Cluster = context.Cluster
		id.User = context.AuthInfo
	}
	id.Namespace = "default"
	if namespace, _, err := cfg.ClientConfig.Namespace(); err == nil && namespace != "" {
		id.Namespace = namespace
	}
	if cfg.Namespace != "" {
		id.Namespace = cfg.Namespace
	}
	return id
}

func withoutPassword(host string) string {
	u, err := url.Parse(host)
	if err != nil {
		return host
	}
	u.User = nil
	return u.String()
}

// Identity says who and where the user is.
func (c *Client) Identity() Identity { return c.identity }

// configProblem says what is wrong with a kubeconfig.
func configProblem(err error, raw clientcmdapi.Config) error {
	text := fmt.Sprintf("the kubeconfig can't be used: %v; correct it, or name another with --kubeconfig or KUBECONFIG", err)
	missing, noContext := strings.CutSuffix(err.Error(), " does not exist")
	switch {
	case noContext && strings.HasPrefix(missing, "context "):
		// Merging the overrides finds this first, and has no error type for it.
		text = fmt.Sprintf("the kubeconfig has no %s; `kubectl config get-contexts` lists those it has", missing)
	case clientcmd.IsContextNotFound(err):
		text = fmt.Sprintf("the kubeconfig has no context %q; `kubectl config get-contexts` lists those it has", raw.CurrentContext)
	case clientcmd.IsEmptyConfig(err):
		text = "there is no kubeconfig; name one with --kubeconfig or KUBECONFIG"
	}
	return &Problem{Kind: KindConfig, Text: clean(text), Err: err}
}
