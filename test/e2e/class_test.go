package e2e

import (
	"testing"

	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/claimref/claimref/test/controlplane/folders"
)

// foldersClass makes a class whose volumes are folders with a sentinel file,
// and which are really removed when they may be.
func foldersClass(t *testing.T, c cluster, name string) string {
	t.Helper()
	_, err := c.StorageV1().StorageClasses().Create(t.Context(), &storagev1.StorageClass{
		ObjectMeta: metav1.ObjectMeta{Name: name}, Provisioner: folders.Name,
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = shared.cp.Admin().StorageV1().StorageClasses().Delete(c.ctx(), name, metav1.DeleteOptions{})
	})
	return name
}
