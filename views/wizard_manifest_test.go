package views

import (
	"errors"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"

	"github.com/claimref/claimref/actions"
	"github.com/claimref/claimref/actions/migration"
	"github.com/claimref/claimref/kube"
)

const ordersVolume = "pvc-5e28b8a0-13ff-11e7-a430-5254001ba551"

// ordersClaim is a claim as a backup has it.
func ordersClaim(name, volume string, edit ...func(*corev1.PersistentVolumeClaim)) *corev1.PersistentVolumeClaim {
	c := pvc("shop", name, corev1.ClaimBound, volume, edit...)
	c.UID, c.ResourceVersion, c.Status = "", "", corev1.PersistentVolumeClaimStatus{}
	return c
}

func singlePodClaim(c *corev1.PersistentVolumeClaim) {
	c.Spec.AccessModes = []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOncePod}
}

func labelled(c *corev1.PersistentVolumeClaim) {
	c.Labels = map[string]string{"app": "orders", "tier": "data"}
}

// backupOf is a backup of an operation on one volume.
func backupOf(path string, verb migration.Verb, volume string, uid types.UID, from, to *corev1.PersistentVolumeClaim) kube.Backup {
	return kube.Backup{Path: path, Journal: migration.Journal{
		ID: path, Started: noon().Add(-72 * time.Hour), Request: migration.Request{Verb: verb},
		Volumes: []migration.Volume{{Ref: actions.Ref{Kind: actions.VolumeKind, Name: volume, UID: uid}, From: from, To: to}},
	}}
}

func TestManifestsFor(t *testing.T) {
	volume := pv(ordersVolume, corev1.VolumeReleased, claimedBy("shop", "data-orders-0", "old"))
	first, then := ordersClaim("data-orders-0", ordersVolume), ordersClaim("data-orders-0", ordersVolume, singlePodClaim)
	elsewhere := ordersClaim("data-orders-0", "pv-other", labelled)
	got := manifestsFor(volume, []kube.Backup{
		backupOf("/b/4", migration.SinglePod, "pv-other", "another", elsewhere, nil),
		{Path: "/b/bad", Err: errors.New("no journal")},
		// The volume had another name for it once.
		backupOf("/b/3", migration.MoveClaim, ordersVolume, volume.UID, ordersClaim("orders", ordersVolume), first),
		backupOf("/b/2", migration.SinglePod, ordersVolume, volume.UID, first, then),
		// A volume of the same name, which is gone.
		backupOf("/b/1", migration.SinglePod, ordersVolume, "gone", ordersClaim("stranger", ordersVolume), nil),
		backupOf("/b/0", migration.SinglePod, "pv-third", "third", ordersClaim("data-orders-1", "pv-third"), nil),
	}, noon())
	want := []keptManifest{
		{first, "as made by: Move the claim, begun 3d ago; in /b/3"},
		{nil, "as it was before: Move the claim, begun 3d ago; in /b/3"},
		{then, "as made by: Migrate to ReadWriteOncePod, begun 3d ago; in /b/2"},
		{elsewhere, "of volume pv-other, as it was before: Migrate to ReadWriteOncePod, begun 3d ago; in /b/4"},
	}
	if len(got) != len(want) {
		t.Fatalf("got %+v", got)
	}
	for i, w := range want {
		if got[i].origin != w.origin || w.claim != nil && got[i].claim != w.claim {
			t.Errorf("%d is %s of %s, want %s", i, got[i].origin, manifestText(got[i].claim), w.origin)
		}
	}
}

// recreating opens the checks of the re-creation of the claim that the Released
// volume lacks.
func recreating(t *testing.T, backups []kube.Backup, err error) *rig {
	t.Helper()
	r := newRig(t, shop())
	r.cluster.op = newFakeOperation(t)
	r.cluster.backups, r.cluster.backupsErr = backups, err
	r.press("/")
	r.typeText("pvc-5e28b8")
	r.press("enter", "a", "n")
	return r
}

func (r *rig) lastPlanned() migration.Request { return r.cluster.planned[len(r.cluster.planned)-1] }

// TestWizardRecreateFromBackup: the claim can be made as a backup has it, or as
// it fits the volume.
func TestWizardRecreateFromBackup(t *testing.T) {
	kept := ordersClaim("data-orders-0", ordersVolume, labelled)
	r := recreating(t, []kube.Backup{backupOf("/b/2", migration.SinglePod, ordersVolume, "pv-"+ordersVolume, kept, nil)}, nil)
	r.wantOn("Manifest: one that fits the volume", "the backups have 1 manifest of it", "b manifest")
	if r.lastPlanned().Manifest != nil {
		t.Fatal("a manifest was taken that nobody has chosen")
	}
	r.press("b")
	r.wantOn("Make the claim from", "shop/data-orders-0, RWO, 10Gi, 2 labels", "as it was before: Migrate to ReadWriteOncePod")
	r.typeText("2 labels")
	r.press("enter")
	if r.lastPlanned().Manifest != kept {
		t.Fatalf("planned with %+v", r.lastPlanned())
	}
	r.wantOn("Manifest: shop/data-orders-0, RWO, 10Gi, 2 labels as it was before")
	r.press("b", "enter")
	if r.lastPlanned().Manifest != nil {
		t.Fatalf("planned with %+v", r.lastPlanned())
	}
}

func TestWizardRecreateWithoutBackup(t *testing.T) {
	r := recreating(t, nil, nil)
	r.wantOff("Manifest:")
	r = recreating(t, nil, errors.New("the disk is gone"))
	r.wantOn("Manifest: one that fits the volume the backups can't be read: the disk is gone", "enter review")
	r.press("b")
	r.wantOn("The backups can't be read: the disk is gone.")
}

// TestLabRecreateFromBackup migrates a claim, loses it, and makes it again as
// the backup of the migration has it.
func TestLabRecreateFromBackup(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	config, err := l.demo.ClientConfig().ClientConfig()
	if err != nil {
		t.Fatal(err)
	}
	api := kubernetes.NewForConfigOrDie(config)
	claims := api.CoreV1().PersistentVolumeClaims("shop")
	patch := func(_ any, err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	patch(claims.Patch(t.Context(), "web-data", types.MergePatchType, []byte(`{"metadata":{"labels":{"app":"web"}}}`), metav1.PatchOptions{}))
	patch(api.AppsV1().Deployments("shop").Patch(t.Context(), "web", types.MergePatchType, []byte(`{"spec":{"replicas":0}}`), metav1.PatchOptions{}))

	r := l.open("ann on laptop-7")
	r.until("the label is seen", func() bool {
		c := r.app.claimNamed("shop", "web-data")
		return c != nil && c.Object.Labels["app"] == "web"
	})
	r.openMigration("web-data")
	r.finish("web-data")
	r.wantOn("Done, and seen to be done.")
	r.press("esc")
	r.until("the new claim is seen", func() bool {
		c := r.app.claimNamed("shop", "web-data")
		return c != nil && single(c.Object) && c.Object.Status.Phase == corev1.ClaimBound
	})

	volume := r.claim("web-data").Spec.VolumeName
	patch(api.CoreV1().PersistentVolumes().Patch(t.Context(), volume, types.MergePatchType, []byte(`{"spec":{"persistentVolumeReclaimPolicy":"Retain"}}`), metav1.PatchOptions{}))
	patch(nil, claims.Delete(t.Context(), "web-data", metav1.DeleteOptions{}))
	r.until("the volume is Released", func() bool {
		v := r.app.volumeNamed(volume)
		return v != nil && v.State.Phase == kube.Released && r.app.claimNamed("shop", "web-data") == nil
	})
	r.press("a", "n")
	r.wantOn("the backups have 2 manifests of it")
	r.press("b")
	r.typeText("as made by")
	r.press("enter")
	r.wantOn("Manifest: shop/web-data, RWOP, 1Gi, 1 label", "Nothing stands against it")
	r.press("enter")
	r.wantOn("enter start")
	r.finish("web-data")
	r.wantOn("Done, and seen to be done.")
	c, err := claims.Get(t.Context(), "web-data", metav1.GetOptions{})
	if err != nil || !single(c) || c.Labels["app"] != "web" || c.Status.Phase != corev1.ClaimBound || c.Spec.VolumeName != volume {
		t.Errorf("the claim is %+v, %v", c, err)
	}
}
