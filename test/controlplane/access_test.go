package controlplane_test

import (
	"context"
	"fmt"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/claimref/claimref/test/controlplane"
)

func TestRights(t *testing.T) {
	t.Parallel()
	const elsewhere = "default"
	for _, tc := range []struct {
		user                                    string
		volumes, patch, claims, claimsElsewhere bool
	}{
		{user: controlplane.Admin, volumes: true, patch: true, claims: true, claimsElsewhere: true},
		{user: controlplane.StorageAdmin, volumes: true, patch: true, claims: true, claimsElsewhere: true},
		{user: controlplane.Viewer, volumes: true, claims: true, claimsElsewhere: true},
		{user: controlplane.AppDev, claims: true},
		{user: controlplane.ClaimsOnly, claims: true},
		{user: controlplane.Nobody},
		{user: "a-stranger"},
	} {
		t.Run(tc.user, func(t *testing.T) {
			t.Parallel()
			client := clientOf(t, tc.user).CoreV1()
			_, err := client.PersistentVolumes().List(t.Context(), metav1.ListOptions{})
			checkAllowed(t, "list volumes", tc.volumes, err)
			_, err = client.PersistentVolumes().Patch(t.Context(), "none", types.MergePatchType, []byte("{}"), metav1.PatchOptions{})
			checkAllowed(t, "patch volumes", tc.patch, err)
			_, err = client.PersistentVolumeClaims(controlplane.Namespace).List(t.Context(), metav1.ListOptions{})
			checkAllowed(t, "list claims", tc.claims, err)
			_, err = client.PersistentVolumeClaims(elsewhere).List(t.Context(), metav1.ListOptions{})
			checkAllowed(t, "list claims elsewhere", tc.claimsElsewhere, err)
		})
	}
}

func TestGrant(t *testing.T) {
	t.Parallel()
	client := clientOf(t, "newcomer")
	revoke, err := shared.cp.Grant(t.Context(), "newcomer", "", rbacv1.PolicyRule{
		APIGroups: []string{"storage.k8s.io"}, Resources: []string{"storageclasses"}, Verbs: []string{"list"},
	})
	if err != nil {
		t.Fatal(err)
	}
	// The authorizer learns of new bindings by a watch.
	list := func() error {
		_, err := client.StorageV1().StorageClasses().List(t.Context(), metav1.ListOptions{})
		return err
	}
	eventually(t, "the rights to count", func(context.Context) (string, bool) {
		err := list()
		return fmt.Sprint(err), err == nil
	})
	if err := revoke(t.Context()); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the rights to be gone", func(context.Context) (string, bool) {
		err := list()
		return fmt.Sprint(err), apierrors.IsForbidden(err)
	})
}

// clientOf goes through the written kubeconfig, as the product does.
func clientOf(t *testing.T, user string) kubernetes.Interface {
	t.Helper()
	path, err := shared.cp.Kubeconfig(user)
	if err != nil {
		t.Fatal(err)
	}
	config, err := clientcmd.BuildConfigFromFlags("", path)
	if err != nil {
		t.Fatal(err)
	}
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	return client
}

func checkAllowed(t *testing.T, what string, allowed bool, err error) {
	t.Helper()
	if apierrors.IsNotFound(err) {
		// Whoever may touch it learns that it is not there.
		err = nil
	}
	if allowed && err != nil {
		t.Errorf("%s: %v", what, err)
	}
	if !allowed && !apierrors.IsForbidden(err) {
		t.Errorf("%s: got %v, want Forbidden", what, err)
	}
}
