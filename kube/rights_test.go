package kube

import (
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	authorizationv1 "k8s.io/api/authorization/v1"
	"k8s.io/apimachinery/pkg/runtime"
	k8stesting "k8s.io/client-go/testing"
)

func TestRightsAreAskedForAgainSoonAfterAFailure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(newVolume("pv"))
		var asked atomic.Int32
		c.api.PrependReactor("create", "selfsubjectaccessreviews", func(a k8stesting.Action) (bool, runtime.Object, error) {
			if asked.Add(1) < 4 {
				return true, nil, statusError(500, "InternalError", "etcd")
			}
			review := a.(k8stesting.CreateAction).GetObject().(*authorizationv1.SelfSubjectAccessReview)
			review.Status.Allowed = true
			return true, review, nil
		})
		start := time.Now()
		c.run(t, func(f *Feed) {
			s := until(t, f, "rights", func(s *Snapshot) bool { return s.Rights != nil })
			if !s.Rights[Right{"patch", PersistentVolumes}] || time.Since(start) > 10*time.Second {
				t.Errorf("rights after %v: %v", time.Since(start), s.Rights)
			}
			// Once they are known, there is no hurry.
			synctest.Wait()
			time.Sleep(c.client.timing.Rights / 2)
			synctest.Wait()
			if got := asked.Load(); got != 4 {
				t.Errorf("asked %d times", got)
			}
		})
	})
}
