package kube

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// apiServer is as much of an API server as the write path needs: it keeps
// objects by path, honours resourceVersion, uid and dryRun, and can be told
// to misbehave. client-go's fake clientset ignores all three, and would prove
// nothing.
type apiServer struct {
	t *testing.T

	mu       sync.Mutex
	objects  map[string]map[string]any
	requests []*http.Request
	bodies   []map[string]any
	// before is asked ahead of everything else; true when it has answered.
	before func(w http.ResponseWriter, r *http.Request) bool
	// after is told about a write that has been stored, and answers in its
	// place when it returns true.
	after func(w http.ResponseWriter, r *http.Request) bool
	// follow changes an object right after a write, as a controller would.
	follow func(object map[string]any)
	// denies answers access reviews; nil denies nothing.
	denies func(asked *authorizationv1.ResourceAttributes) bool
}

func newAPIServer(t *testing.T, objects ...apiObject) (*apiServer, *httptest.Server) {
	s := &apiServer{t: t, objects: make(map[string]map[string]any)}
	for _, o := range objects {
		s.put(o)
	}
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	return s, server
}

func (s *apiServer) put(o apiObject) {
	path := ""
	switch o := o.(type) {
	case *corev1.PersistentVolume:
		path = "/api/v1/persistentvolumes/" + o.Name
	case *corev1.PersistentVolumeClaim:
		path = "/api/v1/namespaces/" + o.Namespace + "/persistentvolumeclaims/" + o.Name
	case *storagev1.StorageClass:
		path = "/apis/storage.k8s.io/v1/storageclasses/" + o.Name
	case *corev1.Namespace:
		path = "/api/v1/namespaces/" + o.Name
	default:
		s.t.Fatalf("no path for %T", o)
	}
	data, err := json.Marshal(o)
	if err != nil {
		s.t.Fatal(err)
	}
	var object map[string]any
	if err := json.Unmarshal(data, &object); err != nil {
		s.t.Fatal(err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.objects[path] = object
}

func (s *apiServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var body map[string]any
	data, err := io.ReadAll(r.Body)
	if err == nil && r.Method == http.MethodPatch {
		if err := json.Unmarshal(data, &body); err != nil {
			s.t.Errorf("body of %s %s: %v", r.Method, r.URL, err)
		}
	}
	s.requests = append(s.requests, r)
	s.bodies = append(s.bodies, body)
	if s.before != nil && s.before(w, r) {
		return
	}
	object := s.objects[r.URL.Path]
	switch {
	case r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, "/selfsubjectaccessreviews"):
		s.review(w, data)
	case r.Method == http.MethodGet && isCollection(r.URL.Path):
		s.list(w, r.URL.Path)
	case object == nil:
		s.fail(w, 404, metav1.StatusReasonNotFound, r.URL.Path+" not found")
	case r.Method == http.MethodGet:
		s.answer(w, 200, object)
	case r.Method == http.MethodPatch:
		s.patch(w, r, object, body)
	default:
		s.fail(w, 405, metav1.StatusReasonMethodNotAllowed, r.Method)
	}
}

// isCollection tells a list's path from an object's.
func isCollection(path string) bool {
	return slices.Contains([]string{"persistentvolumes", "persistentvolumeclaims", "storageclasses"}, path[strings.LastIndexByte(path, '/')+1:])
}

func (s *apiServer) list(w http.ResponseWriter, path string) {
	prefix, resource := path[:strings.LastIndexByte(path, '/')], path[strings.LastIndexByte(path, '/'):]+"/"
	items := []any{}
	for _, key := range slices.Sorted(maps.Keys(s.objects)) {
		if strings.HasPrefix(key, prefix) && strings.Contains(key, resource) {
			items = append(items, s.objects[key])
		}
	}
	s.answer(w, 200, map[string]any{"metadata": map[string]any{"resourceVersion": "1000"}, "items": items})
}

func (s *apiServer) review(w http.ResponseWriter, body []byte) {
	object, _, err := scheme.Codecs.UniversalDeserializer().Decode(body, nil, nil)
	if err != nil {
		s.t.Error(err)
	}
	review := object.(*authorizationv1.SelfSubjectAccessReview)
	review.Status.Allowed = s.denies == nil || !s.denies(review.Spec.ResourceAttributes)
	s.answer(w, 201, review)
}

func (s *apiServer) patch(w http.ResponseWriter, r *http.Request, object, body map[string]any) {
	meta := object["metadata"].(map[string]any)
	asked, _ := body["metadata"].(map[string]any)
	if version := asked["resourceVersion"]; version != nil && version != meta["resourceVersion"] {
		s.fail(w, 409, metav1.StatusReasonConflict, "the object has been modified")
		return
	}
	if uid := asked["uid"]; uid != nil && uid != meta["uid"] {
		s.fail(w, 422, metav1.StatusReasonInvalid, "metadata.uid: field is immutable")
		return
	}
	var copied any
	data, err := json.Marshal(object)
	if err == nil {
		err = json.Unmarshal(data, &copied)
	}
	if err != nil {
		s.t.Error(err)
	}
	patched := mergeJSON(copied, any(body)).(map[string]any)
	if r.URL.Query().Get("dryRun") == "All" {
		s.answer(w, 200, patched)
		return
	}
	bump(patched)
	s.objects[r.URL.Path] = patched
	answer := maps.Clone(patched)
	if s.follow != nil {
		bump(patched)
		s.follow(patched)
	}
	if s.after != nil && s.after(w, r) {
		return
	}
	s.answer(w, 200, answer)
}

func bump(object map[string]any) {
	meta := maps.Clone(object["metadata"].(map[string]any))
	version, _ := strconv.Atoi(meta["resourceVersion"].(string))
	meta["resourceVersion"] = strconv.Itoa(version + 1)
	object["metadata"] = meta
}

func (s *apiServer) answer(w http.ResponseWriter, code int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	if err := json.NewEncoder(w).Encode(body); err != nil {
		s.t.Error(err)
	}
}

func (s *apiServer) fail(w http.ResponseWriter, code int32, reason metav1.StatusReason, message string) {
	s.answer(w, int(code), metav1.Status{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"},
		Status:   metav1.StatusFailure, Code: code, Reason: reason, Message: message,
	})
}

// hangUp closes the connection without an answer.
func hangUp(t *testing.T, w http.ResponseWriter) {
	conn, _, err := w.(http.Hijacker).Hijack()
	if err != nil {
		t.Error(err)
		return
	}
	if err := conn.Close(); err != nil {
		t.Error(err)
	}
}

// sent lists the requests as "METHOD path?parameters".
func (s *apiServer) sent(method string) []*http.Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(s.requests), func(r *http.Request) bool { return r.Method != method })
}

func (s *apiServer) lastBody() map[string]any {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, body := range slices.Backward(s.bodies) {
		if body != nil {
			return body
		}
	}
	return nil
}

// kubeconfig is a configuration for one server.
func kubeconfig(server string, user *clientcmdapi.AuthInfo) clientcmd.ClientConfig {
	config := clientcmdapi.NewConfig()
	config.Clusters["lab"] = &clientcmdapi.Cluster{Server: server}
	config.AuthInfos["me"] = user
	config.Contexts["lab"] = &clientcmdapi.Context{Cluster: "lab", AuthInfo: "me", Namespace: "exam"}
	config.CurrentContext = "lab"
	return clientcmd.NewDefaultClientConfig(*config, &clientcmd.ConfigOverrides{})
}

func connect(t *testing.T, url string, change func(*Config)) *Client {
	t.Helper()
	cfg := Config{
		ClientConfig: kubeconfig(url, &clientcmdapi.AuthInfo{Token: "secret"}),
		// The server is patient for a second, then: a test of a lost answer has
		// to wait for that.
		Timing: Timing{Readback: 10 * time.Millisecond, Request: 2 * time.Second},
	}
	if change != nil {
		change(&cfg)
	}
	c, err := Connect(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// parameters are those of a request without the one that only bounds time.
func parameters(r *http.Request) string {
	q := r.URL.Query()
	q.Del("timeout")
	return fmt.Sprintf("%s %s", r.Header.Get("Content-Type"), strings.ReplaceAll(q.Encode(), "&", " "))
}
