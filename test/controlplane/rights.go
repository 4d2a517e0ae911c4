package controlplane

import (
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
)

// Namespace is where the users with rights in one namespace have them. It is
// also the namespace of the kubeconfigs.
const Namespace = "exam"

// Grant gives a user rights in one namespace, or in the whole cluster if the
// namespace is empty. Rights add up; the returned function takes these back.
func (cp *ControlPlane) Grant(ctx context.Context, name, namespace string, rules ...rbacv1.PolicyRule) (func(context.Context) error, error) {
	meta := metav1.ObjectMeta{GenerateName: "granted-", Namespace: namespace}
	if namespace == "" {
		return grantCluster(ctx, cp.admin, meta, name, rules)
	}
	return grantNamespace(ctx, cp.admin, meta, name, rules)
}

func grantCluster(ctx context.Context, client kubernetes.Interface, meta metav1.ObjectMeta, name string, rules []rbacv1.PolicyRule) (func(context.Context) error, error) {
	roles, bindings := client.RbacV1().ClusterRoles(), client.RbacV1().ClusterRoleBindings()
	role, err := roles.Create(ctx, &rbacv1.ClusterRole{ObjectMeta: meta, Rules: rules}, metav1.CreateOptions{})
	if err != nil {
		return nil, fmt.Errorf("grant rights to %s: %w", name, err)
	}
	meta.Name, meta.GenerateName = role.Name, ""
	_, err = bindings.Create(ctx, &rbacv1.ClusterRoleBinding{
		ObjectMeta: meta,
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role.Name},
		Subjects:   subjects(name),
	}, metav1.CreateOptions{})
	if err != nil {
		return nil, fmt.Errorf("grant rights to %s: %w", name, err)
	}
	return func(ctx context.Context) error {
		return bindings.Delete(ctx, role.Name, metav1.DeleteOptions{})
	}, nil
}

func grantNamespace(ctx context.Context, client kubernetes.Interface, meta metav1.ObjectMeta, name string, rules []rbacv1.PolicyRule) (func(context.Context) error, error) {
	roles, bindings := client.RbacV1().Roles(meta.Namespace), client.RbacV1().RoleBindings(meta.Namespace)
	role, err := roles.Create(ctx, &rbacv1.Role{ObjectMeta: meta, Rules: rules}, metav1.CreateOptions{})
	if err != nil {
		return nil, fmt.Errorf("grant rights to %s in %s: %w", name, meta.Namespace, err)
	}
	meta.Name, meta.GenerateName = role.Name, ""
	_, err = bindings.Create(ctx, &rbacv1.RoleBinding{
		ObjectMeta: meta,
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: role.Name},
		Subjects:   subjects(name),
	}, metav1.CreateOptions{})
	if err != nil {
		return nil, fmt.Errorf("grant rights to %s in %s: %w", name, meta.Namespace, err)
	}
	return func(ctx context.Context) error {
		return bindings.Delete(ctx, role.Name, metav1.DeleteOptions{})
	}, nil
}

func subjects(name string) []rbacv1.Subject {
	return []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: name}}
}

// readRules cover everything that claimref reads to show its tables.
func readRules() []rbacv1.PolicyRule {
	return []rbacv1.PolicyRule{
		read("", "persistentvolumes", "persistentvolumeclaims", "pods", "events", "namespaces", "nodes",
			"resourcequotas", "limitranges"),
		read("storage.k8s.io", "storageclasses", "volumeattachments", "csidrivers"),
		read("apps", "*"),
		read("batch", "*"),
		read("autoscaling", "horizontalpodautoscalers"),
	}
}

func read(group string, resources ...string) rbacv1.PolicyRule {
	return rbacv1.PolicyRule{APIGroups: []string{group}, Resources: resources, Verbs: []string{"get", "list", "watch"}}
}

// grantAll makes the namespace and gives the users of every control plane
// their rights.
func (cp *ControlPlane) grantAll(ctx context.Context) error {
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: Namespace}}
	_, err := cp.admin.CoreV1().Namespaces().Create(ctx, namespace, metav1.CreateOptions{})
	if err != nil && !apierrors.IsAlreadyExists(err) {
		return fmt.Errorf("create namespace %s: %w", Namespace, err)
	}
	patchVolumes := rbacv1.PolicyRule{APIGroups: []string{""}, Resources: []string{"persistentvolumes"}, Verbs: []string{"patch"}}
	for _, g := range []struct {
		user      string
		namespace string
		rules     []rbacv1.PolicyRule
	}{
		{StorageAdmin, "", append(slices.Clip(readRules()), patchVolumes)},
		{Viewer, "", readRules()},
		{AppDev, Namespace, []rbacv1.PolicyRule{read("", "persistentvolumeclaims", "pods")}},
		{ClaimsOnly, Namespace, []rbacv1.PolicyRule{read("", "persistentvolumeclaims")}},
	} {
		if _, err := cp.Grant(ctx, g.user, g.namespace, g.rules...); err != nil {
			return err
		}
	}
	return nil
}
