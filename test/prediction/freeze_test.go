package prediction

import (
	"context"
	"fmt"
	"time"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"

	"github.com/claimref/claimref/test/controlplane"
)

// freezePhases forbids all but the tests to set the phase of frozen volumes.
// Without it the controller calls each volume that has no claimRef Available
// at once, and no claim would ever be seen beside one that is not.
func freezePhases(ctx context.Context, client kubernetes.Interface) error {
	const name = "frozen.example.com"
	policy := &admissionv1.ValidatingAdmissionPolicy{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: admissionv1.ValidatingAdmissionPolicySpec{
			MatchConstraints: &admissionv1.MatchResources{ResourceRules: []admissionv1.NamedRuleWithOperations{{
				RuleWithOperations: admissionv1.RuleWithOperations{
					Operations: []admissionv1.OperationType{admissionv1.Update},
					Rule: admissionv1.Rule{
						APIGroups: []string{""}, APIVersions: []string{"v1"}, Resources: []string{"persistentvolumes/status"},
					},
				},
			}}},
			MatchConditions: []admissionv1.MatchCondition{{
				Name: "others", Expression: fmt.Sprintf("request.userInfo.username != %q || request.dryRun", controlplane.Admin),
			}},
			Validations: []admissionv1.Validation{{
				Expression: fmt.Sprintf("!has(object.metadata.labels) || !(%q in object.metadata.labels)", frozen),
			}},
		},
	}
	binding := &admissionv1.ValidatingAdmissionPolicyBinding{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: admissionv1.ValidatingAdmissionPolicyBindingSpec{
			PolicyName: name, ValidationActions: []admissionv1.ValidationAction{admissionv1.Deny},
		},
	}
	if _, err := client.AdmissionregistrationV1().ValidatingAdmissionPolicies().Create(ctx, policy, metav1.CreateOptions{}); err != nil {
		return fmt.Errorf("create the policy: %w", err)
	}
	if _, err := client.AdmissionregistrationV1().ValidatingAdmissionPolicyBindings().Create(ctx, binding, metav1.CreateOptions{}); err != nil {
		return fmt.Errorf("create the policy's binding: %w", err)
	}
	// The API server takes a while to heed it. A dry run is treated as if
	// somebody else made it.
	probe := newVolume("probe", "probe")
	probe.Finalizers, probe.Labels[frozen] = nil, "yes"
	probe, err := client.CoreV1().PersistentVolumes().Create(ctx, probe, metav1.CreateOptions{})
	if err != nil {
		return fmt.Errorf("create the probe: %w", err)
	}
	err = wait.PollUntilContextTimeout(ctx, poll, time.Minute, true, func(ctx context.Context) (bool, error) {
		probe.ResourceVersion = ""
		probe.Status.Phase = corev1.VolumeReleased
		_, err := client.CoreV1().PersistentVolumes().UpdateStatus(ctx, probe, metav1.UpdateOptions{DryRun: []string{metav1.DryRunAll}})
		return apierrors.IsInvalid(err) || apierrors.IsForbidden(err), nil
	})
	if err != nil {
		return fmt.Errorf("wait until the policy is heeded: %w", err)
	}
	return client.CoreV1().PersistentVolumes().Delete(ctx, probe.Name, metav1.DeleteOptions{})
}
