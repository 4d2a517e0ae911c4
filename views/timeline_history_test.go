package views

import (
	"errors"
	"testing"
	"time"

	"github.com/claimref/claimref/kube"
)

// TestTimelineHasOurHistory: what operations did stands among what the object
// and its events tell, in its place.
func TestTimelineHasOurHistory(t *testing.T) {
	r := newRig(t, shop())
	r.cluster.object, r.cluster.events = lifeOfOrders()
	r.cluster.history = []kube.Record{
		{Time: noon().Add(-4 * time.Minute), Title: "Keep the data of the volume", Outcome: "applied"},
		{Time: noon().Add(-3 * time.Minute), Title: "Delete claim shop/data-orders-0", Outcome: "Somebody else changed it"},
	}
	r.onReleased()
	r.press("T")
	r.wantOn("4m 2026-03-01 11:56:00 Keep the data of the volume claimref", "3m 2026-03-01 11:57:00 Delete claim shop/data-orders-0: Somebody else changed it claimref")
}

// TestTimelineWithoutOurHistory: the rest is shown all the same.
func TestTimelineWithoutOurHistory(t *testing.T) {
	r := newRig(t, shop())
	r.cluster.object, r.cluster.events = lifeOfOrders()
	r.cluster.historyErr = errors.New("the disk is gone")
	r.onReleased()
	r.press("T")
	r.wantOn("What this program itself has done can't all be read: the disk is gone.", "Created")
}
