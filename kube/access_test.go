package kube

import (
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	k8stesting "k8s.io/client-go/testing"
)

func TestForbiddenVolumesLeaveTheRest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(newVolume("pv"), newClaim("exam", "c", boundTo("pv")), newPod("exam", "p", nil, "c"))
		allow := c.deny("list", PersistentVolumes, "")
		c.run(t, func(f *Feed) {
			s := until(t, f, "forbidden volumes", func(s *Snapshot) bool {
				return s.Resources[PersistentVolumes].Phase == Forbidden && s.Known(PersistentVolumeClaims, "") && s.Known(Pods, "")
			})
			if got := s.Resources[PersistentVolumes].Missing; got != "list persistentvolumes" {
				t.Errorf("missing = %q", got)
			}
			claim := s.Claim("exam", "c")
			if claim.Tie != TieUnknown || len(claim.Users) != 1 || len(s.Volumes) != 0 {
				t.Errorf("claim = %+v", claim)
			}
			// Rights may come.
			allow()
			s = until(t, f, "volumes", func(s *Snapshot) bool { return s.Known(PersistentVolumes, "") })
			if s.Claim("exam", "c").Tie != TieOpen {
				t.Errorf("claim = %+v", s.Claim("exam", "c"))
			}
		})
	})
}

func TestForbiddenNamespacesFallBackToOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(newClaim("exam", "c"), newClaim("other", "c"), newPod("exam", "p", nil, "c"))
		c.deny("list", PersistentVolumeClaims, "")
		c.deny("list", Pods, "")
		c.deny("list", Pods, "exam")
		c.run(t, func(f *Feed) {
			s := until(t, f, "claims of one namespace", func(s *Snapshot) bool {
				return s.Known(PersistentVolumeClaims, "exam") && s.Resources[Pods].Phase == Forbidden
			})
			if len(s.Claims) != 1 || s.Scope != "exam" || s.Known(PersistentVolumeClaims, "other") {
				t.Errorf("%d claims, scope %q", len(s.Claims), s.Scope)
			}
			if s.Resources[Pods].Missing != "list pods in namespace exam" || s.Claim("exam", "c").UsersKnown {
				t.Errorf("pods = %+v", s.Resources[Pods])
			}
			f.SetScope("other")
			s = until(t, f, "claims of the other namespace", func(s *Snapshot) bool {
				return s.Known(PersistentVolumeClaims, "other") && s.Known(Pods, "other")
			})
			if len(s.Claims) != 1 || s.Scope != "other" || s.Claim("other", "c") == nil || !s.Claim("other", "c").UsersKnown {
				t.Errorf("%d claims, scope %q", len(s.Claims), s.Scope)
			}
		})
	})
}

func TestAllNamespacesIsNotNarrowed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(newClaim("exam", "c"))
		c.client.fallback = false
		c.deny("list", PersistentVolumeClaims, "")
		c.run(t, func(f *Feed) {
			s := until(t, f, "forbidden claims", func(s *Snapshot) bool { return s.Resources[PersistentVolumeClaims].Phase == Forbidden })
			if s.Resources[PersistentVolumeClaims].Missing != "list persistentvolumeclaims" {
				t.Errorf("claims = %+v", s.Resources[PersistentVolumeClaims])
			}
		})
	})
}

func TestForbiddenWatchBecomesPolling(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(newVolume("pv"))
		c.api.PrependWatchReactor(string(PersistentVolumes), func(k8stesting.Action) (bool, watch.Interface, error) {
			return true, nil, apierrors.NewForbidden(schema.GroupResource{Resource: string(PersistentVolumes)}, "", errors.New("no"))
		})
		c.run(t, func(f *Feed) {
			s := until(t, f, "polling", func(s *Snapshot) bool { return s.Resources[PersistentVolumes].Missing != "" })
			if s.Resources[PersistentVolumes].Missing != "watch persistentvolumes" || len(s.Volumes) != 1 {
				t.Errorf("volumes = %+v", s.Resources[PersistentVolumes])
			}
			if _, err := c.api.CoreV1().PersistentVolumes().Create(t.Context(), newVolume("pv2"), metav1.CreateOptions{}); err != nil {
				t.Fatal(err)
			}
			until(t, f, "the next volume", func(s *Snapshot) bool { return len(s.Volumes) == 2 })
		})
	})
}

// A namespace that turns out to be forbidden is still the one that is chosen,
// and not the end of it.
func TestForbiddenNamespaceStaysChosen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(newClaim("exam", "c"), newClaim("other", "c"))
		c.deny("list", PersistentVolumeClaims, "")
		c.deny("list", PersistentVolumeClaims, "other")
		c.run(t, func(f *Feed) {
			inExam := func(s *Snapshot) bool {
				return s.Known(PersistentVolumeClaims, "exam") && len(s.Claims) == 1 && s.Claim("exam", "c") != nil && s.Scope == "exam"
			}
			until(t, f, "claims of one namespace", inExam)
			f.SetScope("other")
			s := until(t, f, "a forbidden namespace", func(s *Snapshot) bool { return s.Resources[PersistentVolumeClaims].Phase == Forbidden })
			want := ResourceState{
				Phase: Forbidden, Namespace: "other", Missing: "list persistentvolumeclaims in namespace other",
				Err: s.Resources[PersistentVolumeClaims].Err,
			}
			if s.Resources[PersistentVolumeClaims] != want || s.Scope != "other" || len(s.Claims) != 0 {
				t.Errorf("scope %q, %d claims, %+v", s.Scope, len(s.Claims), s.Resources[PersistentVolumeClaims])
			}
			f.SetScope("exam")
			until(t, f, "the claims again", inExam)
		})
	})
}

// What is narrowed, and refused all the same, is tried both ways again, and
// nothing of that shows until it succeeds.
func TestRefusalStandsUntilThereIsNews(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(newClaim("exam", "c"), newClaim("other", "c"))
		allow := c.deny("list", PersistentVolumeClaims, "")
		c.deny("list", PersistentVolumeClaims, "exam")
		c.run(t, func(f *Feed) {
			s := until(t, f, "forbidden claims", func(s *Snapshot) bool { return s.Resources[PersistentVolumeClaims].Phase == Forbidden })
			if s.Scope != "exam" {
				t.Errorf("scope = %q", s.Scope)
			}
			refused := s.Resources[PersistentVolumeClaims]
			for range 5 {
				time.Sleep(c.client.timing.SlowRetry)
				synctest.Wait()
				select {
				case s := <-f.out:
					if s.Resources[PersistentVolumeClaims] != refused {
						t.Errorf("claims = %+v", s.Resources[PersistentVolumeClaims])
					}
				default:
				}
			}
			allow()
			s = until(t, f, "all claims", func(s *Snapshot) bool { return len(s.Claims) == 2 })
			if s.Scope != "" || s.Resources[PersistentVolumeClaims] != (ResourceState{Phase: Synced}) {
				t.Errorf("scope %q, %+v", s.Scope, s.Resources[PersistentVolumeClaims])
			}
		})
	})
}

func TestNarrowedReadingSaysWhatIsMissing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(newClaim("exam", "c"))
		c.deny("list", PersistentVolumeClaims, "")
		c.run(t, func(f *Feed) {
			s := until(t, f, "claims of one namespace", func(s *Snapshot) bool { return s.Known(PersistentVolumeClaims, "exam") })
			want := ResourceState{Phase: Synced, Namespace: "exam", Missing: "list persistentvolumeclaims"}
			if s.Resources[PersistentVolumeClaims] != want {
				t.Errorf("claims = %+v", s.Resources[PersistentVolumeClaims])
			}
			// A namespace that was asked for lacks nothing.
			f.SetScope("other")
			s = until(t, f, "claims of another namespace", func(s *Snapshot) bool { return s.Known(PersistentVolumeClaims, "other") })
			if s.Resources[PersistentVolumeClaims].Missing != "" {
				t.Errorf("claims = %+v", s.Resources[PersistentVolumeClaims])
			}
		})
	})
}

func TestPollingSaysAllTheTimeWhatIsMissing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(newClaim("exam", "c"))
		c.deny("list", PersistentVolumeClaims, "")
		var allowed atomic.Bool
		c.api.PrependWatchReactor(string(PersistentVolumeClaims), func(k8stesting.Action) (bool, watch.Interface, error) {
			if allowed.Load() {
				return false, nil, nil
			}
			return true, nil, apierrors.NewForbidden(schema.GroupResource{Resource: string(PersistentVolumeClaims)}, "", errors.New("no"))
		})
		const missing = "list persistentvolumeclaims, watch persistentvolumeclaims in namespace exam"
		c.run(t, func(f *Feed) {
			polled := func(s *Snapshot) bool { return s.Resources[PersistentVolumeClaims].Missing == missing }
			until(t, f, "polling", polled)
			for i := range 3 {
				if _, err := c.api.CoreV1().PersistentVolumeClaims("exam").Create(t.Context(), newClaim("exam", fmt.Sprint("d", i)), metav1.CreateOptions{}); err != nil {
					t.Fatal(err)
				}
				until(t, f, "the next claim", func(s *Snapshot) bool {
					if !polled(s) || s.Link.Phase != Live {
						t.Errorf("claims = %+v, link = %+v", s.Resources[PersistentVolumeClaims], s.Link)
					}
					return len(s.Claims) == 2+i
				})
			}
			allowed.Store(true)
			s := until(t, f, "a watch", func(s *Snapshot) bool { return !polled(s) })
			if want := (ResourceState{Phase: Synced, Namespace: "exam", Missing: "list persistentvolumeclaims"}); s.Resources[PersistentVolumeClaims] != want {
				t.Errorf("claims = %+v", s.Resources[PersistentVolumeClaims])
			}
		})
	})
}
