package kube

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/claimref/claimref/kube/sandbox"
)

// lab is a cluster in memory, with the real controllers' behaviour and the real
// server's preconditions, dry runs and finalizers.
type lab struct {
	t      *testing.T
	server *sandbox.Server
	cs     []sandbox.Controller
	wire   *wire
	client *Client
}

// labGround is in every lab.
const labGround = `
apiVersion: v1
kind: Node
metadata: {name: n1, labels: {kubernetes.io/hostname: n1}}
status: {allocatable: {cpu: "8", memory: 16Gi, pods: "110"}}
---
apiVersion: v1
kind: Namespace
metadata: {name: exam}
---
apiVersion: v1
kind: Namespace
metadata: {name: other}
---
apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata: {name: folders}
provisioner: folders.claimref.test
reclaimPolicy: Delete
volumeBindingMode: Immediate
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: data, namespace: exam, labels: {app: web}}
spec: {storageClassName: folders, accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}
`

const labDeployment = `
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: exam}
spec:
  replicas: 1
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers: [{name: c, image: example.test/none, volumeMounts: [{name: d, mountPath: /d}]}]
      volumes: [{name: d, persistentVolumeClaim: {claimName: data}}]
`

const labSet = `
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: db, namespace: exam}
spec:
  replicas: 2
  serviceName: db
  persistentVolumeClaimRetentionPolicy: {whenDeleted: Delete, whenScaled: Delete}
  selector: {matchLabels: {app: db}}
  template:
    metadata: {labels: {app: db}}
    spec:
      containers: [{name: c, image: example.test/none, volumeMounts: [{name: data, mountPath: /d}]}]
  volumeClaimTemplates:
    - metadata: {name: data}
      spec: {storageClassName: folders, accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}
`

const labCron = `
apiVersion: batch/v1
kind: CronJob
metadata: {name: backup, namespace: exam}
spec:
  schedule: "0 3 * * *"
  jobTemplate:
    spec:
      template:
        spec:
          restartPolicy: Never
          containers: [{name: c, image: example.test/none}]
`

// user has a lab's client be somebody with the given rights only.
func user(rules ...sandbox.Rule) func(*labOptions) {
	return func(o *labOptions) { o.rules = rules }
}

func withConfig(change func(*Config)) func(*labOptions) {
	return func(o *labOptions) { o.config = change }
}

func with(manifests ...string) func(*labOptions) {
	return func(o *labOptions) { o.manifests = append(o.manifests, manifests...) }
}

type labOptions struct {
	rules     []sandbox.Rule
	config    func(*Config)
	manifests []string
}

func newLab(t *testing.T, options ...func(*labOptions)) *lab {
	t.Helper()
	o := labOptions{config: func(*Config) {}}
	for _, option := range options {
		option(&o)
	}
	l := &lab{t: t, cs: sandbox.Controllers()}
	s := sandbox.NewState(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC))
	for _, manifest := range append([]string{labGround}, o.manifests...) {
		var err error
		if s, err = sandbox.LoadManifest(s, l.cs, []byte(manifest)); err != nil {
			t.Fatal(err)
		}
	}
	who := sandbox.Admin
	access := map[string][]sandbox.Rule{}
	if o.rules != nil {
		who = "ann"
		access[who] = o.rules
	}
	l.server = sandbox.NewServer(s, sandbox.ServerOptions{Access: access})
	l.settle()
	l.wire = &wire{lab: l}
	l.client = l.connect(who, o.config)
	return l
}

// connect makes another client of the lab.
func (l *lab) connect(who string, change func(*Config)) *Client {
	l.t.Helper()
	config := l.server.RESTConfig(who)
	config.Wrap(func(next http.RoundTripper) http.RoundTripper {
		return roundTripper(func(r *http.Request) (*http.Response, error) { return l.wire.carry(next, r) })
	})
	cfg := Config{
		ClientConfig: labConfig{clientcmd.NewDefaultClientConfig(*clientcmdapi.NewConfig(), nil), config},
		Timing:       Timing{Readback: 100 * time.Millisecond, Request: 8 * time.Second},
	}
	change(&cfg)
	c, err := Connect(cfg)
	if err != nil {
		l.t.Fatal(err)
	}
	return c
}

// settle lets the controllers do all that they would.
func (l *lab) settle() {
	l.server.Apply(func(s *sandbox.State) *sandbox.State {
		settled, err := sandbox.Settle(s, l.cs, 5000)
		if err != nil {
			l.t.Error(err)
			return s
		}
		return settled
	})
}

func (l *lab) state() *sandbox.State { return l.server.State() }

// edit changes a stored object, as somebody else would.
func edit[T sandbox.Object](l *lab, o T, as func(T)) {
	l.t.Helper()
	l.server.Apply(func(s *sandbox.State) *sandbox.State {
		copied, ok := s.Get(sandbox.KeyOf(o)).DeepCopyObject().(T)
		if !ok {
			l.t.Errorf("no %s", o.GetName())
			return s
		}
		as(copied)
		return s.Update(copied)
	})
}

// labConfig is a kubeconfig whose server is reached without a network.
type labConfig struct {
	described
	config *rest.Config
}

// described is what a kubeconfig says besides.
type described = clientcmd.ClientConfig

func (c labConfig) ClientConfig() (*rest.Config, error) { return rest.CopyConfig(c.config), nil }
func (c labConfig) Namespace() (string, bool, error)    { return "exam", false, nil }

// errLost is a connection that broke.
var errLost = errors.New("read: connection reset by peer")

// wire is what lies between a client and the lab. It can lose things.
type wire struct {
	lab *lab
	mu  sync.Mutex
	// sent are the writing requests, dry runs among them.
	sent []sentRequest
	// before may answer in the server's place, or fail.
	before func(*http.Request) (*http.Response, error)
	// lose says that the answer to a request is lost.
	lose func(*http.Request) bool
	// settles: the controllers act after each write.
	settles bool
}

type sentRequest struct {
	method, path, query, body string
	dry                       bool
}

func (s sentRequest) String() string { return s.method + " " + s.path }

func (w *wire) carry(next http.RoundTripper, r *http.Request) (*http.Response, error) {
	writes := mutates(r)
	dry := r.URL.Query().Get("dryRun") == "All"
	if writes {
		var text []byte
		if r.Body != nil {
			var err error
			if text, err = io.ReadAll(r.Body); err != nil {
				return nil, err
			}
			r.Body = io.NopCloser(strings.NewReader(string(text)))
		}
		w.mu.Lock()
		w.sent = append(w.sent, sentRequest{r.Method, r.URL.Path, r.URL.RawQuery, string(text), dry})
		w.mu.Unlock()
	}
	if w.before != nil {
		if answer, err := w.before(r); answer != nil || err != nil {
			return answer, err
		}
	}
	answer, err := next.RoundTrip(r)
	if err != nil || !writes || dry {
		return answer, err
	}
	// The whole answer is there before the controllers act.
	text, err := io.ReadAll(answer.Body)
	if err := errors.Join(err, answer.Body.Close()); err != nil {
		return nil, err
	}
	answer.Body = io.NopCloser(strings.NewReader(string(text)))
	if w.settles {
		w.lab.settle()
	}
	if w.lose != nil && w.lose(r) {
		return nil, errLost
	}
	return answer, nil
}

// real lists the writes that were no dry runs.
func (w *wire) real() []string { return w.list(false) }

// dry lists the dry runs.
func (w *wire) dry() []string { return w.list(true) }

func (w *wire) list(dry bool) []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	var list []string
	for _, s := range w.sent {
		if s.dry == dry {
			list = append(list, s.String())
		}
	}
	return list
}

// refusal answers with an API server's error.
func refusal(code int, reason, message string) (*http.Response, error) {
	text, err := json.Marshal(metav1.Status{
		TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}, Status: metav1.StatusFailure,
		Code: int32(code), Reason: metav1.StatusReason(reason), Message: message,
	})
	if err != nil {
		return nil, err
	}
	return &http.Response{
		StatusCode: code, Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(strings.NewReader(string(text))),
	}, nil
}

// webhook refuses every dry run of a writing request.
func webhook(r *http.Request) (*http.Response, error) {
	if mutates(r) && r.URL.Query().Get("dryRun") != "" {
		return refusal(400, "BadRequest", `admission webhook "disk.example.com" does not support dry run`)
	}
	return nil, nil
}

// success answers with an object.
func success(text string) *http.Response {
	return &http.Response{
		StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(strings.NewReader(text)),
	}
}
