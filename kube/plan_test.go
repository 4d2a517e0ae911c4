package kube

import (
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/claimref/claimref/actions"
)

func TestPlanUsesFreshObjects(t *testing.T) {
	// The snapshot is behind: it shows the volume bound, and a claim that has
	// been deleted since.
	old := newVolume("pv", claimedBy("a", "c", "uid-c"))
	snap := NewSnapshot(Objects{
		Volumes: []*corev1.PersistentVolume{old, newVolume("other")},
		Claims:  []*corev1.PersistentVolumeClaim{newClaim("a", "c", boundTo("pv"))},
	})
	fresh := newVolume("pv", claimedBy("a", "c", "uid-c"), inPhase(corev1.VolumeReleased))
	server, http1 := newAPIServer(t, fresh, &corev1.Namespace{ObjectMeta: named("", "a")}, newClaim("a", "new"))
	c := connect(t, http1.URL, nil)
	req := actions.Request{
		Verb: actions.Reserve, Volume: actions.Ref{Kind: actions.VolumeKind, Name: "pv", UID: "uid-pv"},
		Claim: actions.ClaimKey{Namespace: "a", Name: "new"},
	}
	plan, w, err := c.Plan(t.Context(), req, snap)
	if err != nil {
		t.Fatal(err)
	}
	if w.Volume.Status.Phase != corev1.VolumeReleased || len(w.Volumes) != 2 {
		t.Errorf("volume = %+v", w.Volume)
	}
	if len(w.Claims) != 1 || w.Claims[0].Name != "new" {
		t.Errorf("%d claims", len(w.Claims))
	}
	if deleting, exists := w.Namespaces["a"]; deleting || !exists || len(w.Unread) != 0 {
		t.Errorf("namespaces = %v, unread = %v", w.Namespaces, w.Unread)
	}
	if plan.Request != req || len(plan.Checks) == 0 {
		t.Errorf("plan = %+v", plan)
	}
	if len(snap.Claims) != 1 || snap.Volume("pv").Object.Status.Phase != corev1.VolumeBound {
		t.Error("planning has changed the snapshot")
	}

	server.before = func(w http.ResponseWriter, r *http.Request) bool {
		refused := !strings.Contains(r.URL.Path, "persistentvolumes/")
		if refused {
			server.fail(w, 403, metav1.StatusReasonForbidden, "no")
		}
		return refused
	}
	_, w, err = c.Plan(t.Context(), req, snap)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"namespaces", "persistentvolumeclaims"}, w.Unread); diff != "" || w.Namespaces != nil {
		t.Errorf("unread (-want +got):\n%s", diff)
	}
	if len(w.Claims) != 0 {
		t.Errorf("a claim that may not be read is there, as of another time: %+v", w.Claims[0])
	}

	server.before = nil
	req.Volume.Name = "gone"
	if plan, w, err = c.Plan(t.Context(), req, snap); err != nil || w.Volume != nil || plan.Blocked() == "" {
		t.Errorf("a volume that is gone: %v, %+v", err, plan)
	}
	http1.Close()
	if _, _, err = c.Plan(t.Context(), req, snap); KindOf(err) != KindUnreachable {
		t.Errorf("error = %v", err)
	}
}

// oldWorld is a snapshot that is behind in everything, and a server that
// knows better: the ghosts are gone, and the new ones are not in it.
func oldWorld(t *testing.T) (*Snapshot, *apiServer, *Client, actions.Request) {
	snap := NewSnapshot(Objects{
		Volumes: []*corev1.PersistentVolume{releasedVolume(), newVolume("ghost")},
		Claims:  []*corev1.PersistentVolumeClaim{newClaim("a", "ghost"), newClaim("b", "ghost")},
		Classes: []*storagev1.StorageClass{newClass("ghost", false)},
	})
	server, http1 := newAPIServer(t, releasedVolume(), newVolume("new"),
		newClaim("a", "new"), newClaim("b", "new"), newClass("new", false), &corev1.Namespace{ObjectMeta: named("", "a")})
	return snap, server, connect(t, http1.URL, nil), actions.Request{
		Verb: actions.Unreserve, Volume: actions.Ref{Kind: actions.VolumeKind, Name: "pv", UID: "uid-pv"},
	}
}

// contents names what a world is made of.
func contents(w actions.World) map[string][]string {
	all := map[string][]string{"unread": w.Unread}
	for _, v := range w.Volumes {
		all["volumes"] = append(all["volumes"], v.Name)
	}
	for _, c := range w.Claims {
		all["claims"] = append(all["claims"], c.Namespace+"/"+c.Name)
	}
	for _, c := range w.Classes {
		all["classes"] = append(all["classes"], c.Name)
	}
	return all
}

var (
	cachedWorld = map[string][]string{
		"volumes": {"ghost", "pv"}, "claims": {"a/ghost", "b/ghost"}, "classes": {"ghost"}, "unread": {},
	}
	freshWorld = map[string][]string{
		"volumes": {"new", "pv"}, "claims": {"a/new", "b/new"}, "classes": {"new"}, "unread": {},
	}
)

func TestPlanReadsAnewWhatTheSnapshotDoesNotVouchFor(t *testing.T) {
	freshClaims := maps.Clone(cachedWorld)
	freshClaims["claims"] = freshWorld["claims"]
	tests := []struct {
		name   string
		change func(*Snapshot)
		want   map[string][]string
		// unread is what the world lacks without asking the server.
		unread []string
	}{
		{"all is well", func(*Snapshot) {}, cachedWorld, nil},
		{"no link", func(s *Snapshot) { s.Link.Phase = Unreachable }, freshWorld, []string{"persistentvolumes", "persistentvolumeclaims", "storageclasses"}},
		{"a stale link", func(s *Snapshot) { s.Link.Phase = Stale }, freshWorld, []string{"persistentvolumes", "persistentvolumeclaims", "storageclasses"}},
		{"claims fail", func(s *Snapshot) {
			s.Resources[PersistentVolumeClaims] = ResourceState{Phase: Synced, Err: "x"}
		}, freshClaims, []string{"persistentvolumeclaims"}},
		{"claims are polled", func(s *Snapshot) {
			s.Resources[PersistentVolumeClaims] = ResourceState{Phase: Synced, Missing: "watch persistentvolumeclaims"}
		}, freshClaims, []string{"persistentvolumeclaims"}},
		{"claims of one namespace", func(s *Snapshot) {
			s.Resources[PersistentVolumeClaims] = ResourceState{Phase: Synced, Namespace: "a"}
			s.Scope = "a"
		}, freshClaims, []string{"persistentvolumeclaims"}},
		{"claims are loading", func(s *Snapshot) {
			s.Resources[PersistentVolumeClaims] = ResourceState{}
		}, freshClaims, []string{"persistentvolumeclaims"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			snap, _, c, req := oldWorld(t)
			tt.change(snap)
			unread := append([]string{"namespaces"}, tt.unread...)
			if diff := cmp.Diff(unread, snap.World("pv").Unread); diff != "" {
				t.Errorf("unread without asking (-want +got):\n%s", diff)
			}
			_, w, err := c.Plan(t.Context(), req, snap)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, contents(w)); diff != "" {
				t.Errorf("world (-want +got):\n%s", diff)
			}
		})
	}
}

// refuse makes the server refuse some lists.
func refuse(server *apiServer, code int32, reason metav1.StatusReason, paths ...string) {
	server.before = func(w http.ResponseWriter, r *http.Request) bool {
		refused := slices.Contains(paths, r.URL.Path)
		if refused {
			server.fail(w, code, reason, "no")
		}
		return refused
	}
}

func TestPlanKnowsWhatItCouldNotReadAnew(t *testing.T) {
	const (
		all     = "/api/v1/persistentvolumeclaims"
		inScope = "/api/v1/namespaces/a/persistentvolumeclaims"
	)
	tests := []struct {
		name   string
		code   int32
		reason metav1.StatusReason
		paths  []string
		claims []string
	}{
		{"only one namespace may be listed", 403, metav1.StatusReasonForbidden, []string{all}, []string{"a/new"}},
		{"no namespace may be listed", 403, metav1.StatusReasonForbidden, []string{all, inScope}, []string{"a/ghost", "b/ghost"}},
		{"the server fails", 500, metav1.StatusReasonInternalError, []string{all}, []string{"a/ghost", "b/ghost"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			snap, server, c, req := oldWorld(t)
			snap.Link.Phase, snap.Scope = Stale, "a"
			refuse(server, tt.code, tt.reason, tt.paths...)
			_, w, err := c.Plan(t.Context(), req, snap)
			if err != nil {
				t.Fatal(err)
			}
			want := maps.Clone(freshWorld)
			want["claims"], want["unread"] = tt.claims, []string{"persistentvolumeclaims"}
			if diff := cmp.Diff(want, contents(w)); diff != "" {
				t.Errorf("world (-want +got):\n%s", diff)
			}
		})
	}
	snap, server, c, req := oldWorld(t)
	snap.Link.Phase = Stale
	refuse(server, 403, metav1.StatusReasonForbidden, "/api/v1/persistentvolumes", "/apis/storage.k8s.io/v1/storageclasses")
	_, w, err := c.Plan(t.Context(), req, snap)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"persistentvolumes", "storageclasses"}, w.Unread); diff != "" {
		t.Errorf("unread (-want +got):\n%s", diff)
	}
}

// A role may be for some volumes by their names. What is said about volumes
// in general decides nothing then, either way.
func TestPlanAsksForTheRightToThisVolume(t *testing.T) {
	patch := Right{"patch", PersistentVolumes}
	tests := []struct {
		name   string
		known  bool
		denied bool
		broken bool
		want   []string
	}{
		{"only this one", false, false, false, nil},
		{"not any more", true, true, false, []string{"patch persistentvolumes"}},
		{"no answer", false, true, true, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			snap, server, c, req := oldWorld(t)
			snap.Rights = Rights{patch: tt.known}
			var asked *authorizationv1.ResourceAttributes
			server.denies = func(a *authorizationv1.ResourceAttributes) bool {
				asked = a
				return tt.denied
			}
			if tt.broken {
				refuse(server, 500, metav1.StatusReasonInternalError, "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews")
			}
			_, w, err := c.Plan(t.Context(), req, snap)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, w.Denied); diff != "" {
				t.Errorf("denied (-want +got):\n%s", diff)
			}
			want := &authorizationv1.ResourceAttributes{Verb: "patch", Resource: "persistentvolumes", Name: "pv"}
			if diff := cmp.Diff(want, asked); diff != "" && !tt.broken {
				t.Errorf("asked (-want +got):\n%s", diff)
			}
		})
	}
}
