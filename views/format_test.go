package views

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/claimref/claimref/kube"
	"github.com/claimref/claimref/ui"
)

func TestBytes(t *testing.T) {
	for n, want := range map[int64]string{
		0: "0", 512: "512", 1024: "1Ki", 10 << 20: "10Mi", 1536 << 20: "1.5Gi", 2 << 40: "2Ti", 1 << 62: "4Ei",
	} {
		if got := bytes(n); got != want {
			t.Errorf("bytes(%d) is %q, want %q", n, got, want)
		}
	}
}

func TestAge(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "0s", 90 * time.Second: "90s", 27 * time.Minute: "27m", 12 * day: "12d",
		// A clock that is behind the server's shows no negative age.
		-time.Hour: "0s",
	} {
		if got := age(before(d), noon()); got != want {
			t.Errorf("age of %v is %q, want %q", d, got, want)
		}
	}
	if got := age(metav1.Time{}, noon()); got != none {
		t.Errorf("age of no time is %q, want %q", got, none)
	}
}

func TestModes(t *testing.T) {
	all := []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce, corev1.ReadOnlyMany, corev1.ReadWriteMany, corev1.ReadWriteOncePod, "New"}
	if got, want := modes(all), "RWO,ROX,RWX,RWOP,New"; got != want {
		t.Errorf("modes are %q, want %q", got, want)
	}
}

func TestUsedBy(t *testing.T) {
	pod := kube.Pod{Name: "p"}
	for name, tc := range map[string]struct {
		users []kube.User
		known bool
		want  string
	}{
		"nobody":          {nil, true, none},
		"not to be seen":  {nil, false, hidden},
		"one pod":         {[]kube.User{{Kind: "StatefulSet", Name: "db", Pods: []kube.Pod{pod}}}, true, "sts/db"},
		"several pods":    {[]kube.User{{Kind: "Deployment", Name: "web", Pods: []kube.Pod{pod, pod}}}, true, "deploy/web ×2"},
		"several users":   {[]kube.User{{Kind: "Job", Name: "a", Pods: []kube.Pod{pod}}, {Kind: "CronJob", Name: "b"}}, true, "job/a +1"},
		"custom resource": {[]kube.User{{Kind: "Kafka", Name: "k", Pods: []kube.Pod{pod}}}, true, "kafka/k"},
	} {
		if got := cellText(usedBy(tc.users, tc.known)); got != tc.want {
			t.Errorf("%s: %q, want %q", name, got, tc.want)
		}
	}
}

// TestPhasesAreTold checks that no two phases look the same: not by glyph, in
// either set, and not by word.
func TestPhasesAreTold(t *testing.T) {
	fancy, ascii := map[string]kube.Phase{}, map[string]kube.Phase{}
	for _, p := range phaseOrder() {
		m := markOf(p)
		// Failed (of volumes) and Lost (of claims) share the alarm; the word
		// and the table tell them apart.
		if p == kube.Lost {
			continue
		}
		if q, taken := fancy[m.glyph]; taken {
			t.Errorf("%s and %s have the glyph %s", p, q, m.glyph)
		}
		if q, taken := ascii[m.ascii]; taken {
			t.Errorf("%s and %s have the ASCII glyph %s", p, q, m.ascii)
		}
		fancy[m.glyph], ascii[m.ascii] = p, p
		if ui.Width(m.glyph) != 1 {
			t.Errorf("the glyph of %s is %d cells wide", p, ui.Width(m.glyph))
		}
	}
}

func cellText(c ui.Cell) string {
	text := ""
	for _, s := range c {
		text += s.Text
	}
	return text
}
