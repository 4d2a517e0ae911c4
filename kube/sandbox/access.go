package sandbox

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	authorizationv1 "k8s.io/api/authorization/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// user is who a request is from: the impersonated user, or the one whose name
// is the bearer token. A sandbox has nothing to protect, so a name is enough.
func (s *Server) user(r *http.Request) (string, error) {
	name := r.Header.Get("Impersonate-User")
	if name == "" {
		name, _ = strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	}
	if name == "" {
		name = s.options.DefaultUser
	}
	if _, ok := s.options.Access[name]; !ok && name != Admin {
		return "", apierrors.NewUnauthorized("Unauthorized")
	}
	return name, nil
}

// request is what access rules are asked about.
type request struct {
	verb, group, resource, sub, namespace, name string
}

// allowed is what the RBAC authorizer of Kubernetes does
// (plugin/pkg/auth/authorizer/rbac): any rule that covers a request allows it.
func (s *Server) allowed(user string, q request) bool {
	if user == Admin || (q.resource == string(accessReviews) && q.verb == verbCreate) {
		// The role system:basic-user lets everybody ask what they may do.
		return true
	}
	return slices.ContainsFunc(s.options.Access[user], func(r Rule) bool {
		return (r.Namespace == "" || r.Namespace == q.namespace) && covers(r.PolicyRule, q)
	})
}

func covers(r rbacv1.PolicyRule, q request) bool {
	resource := q.resource
	if q.sub != "" {
		resource += "/" + q.sub
	}
	return has(r.Verbs, q.verb, rbacv1.VerbAll) && has(r.APIGroups, q.group, rbacv1.APIGroupAll) &&
		(has(r.Resources, resource, rbacv1.ResourceAll) || (q.sub != "" && slices.Contains(r.Resources, "*/"+q.sub))) &&
		(len(r.ResourceNames) == 0 || slices.Contains(r.ResourceNames, q.name))
}

func has(list []string, one, all string) bool {
	return slices.Contains(list, one) || slices.Contains(list, all)
}

// authorize refuses a call that the user has no right to, in the words of
// forbiddenMessage in endpoints/handlers/responsewriters/errors.go.
func (s *Server) authorize(c call) error {
	q := request{c.verb, c.kind.gvk.Group, string(c.kind.resource), c.sub, c.namespace, c.name}
	if c.kind.resource == Namespaces {
		// A namespace is in itself, as far as rights go.
		q.namespace = c.name
	}
	if s.allowed(c.user, q) {
		return nil
	}
	resource := q.resource
	if q.sub != "" {
		resource += "/" + q.sub
	}
	where := "at the cluster scope"
	if q.namespace != "" {
		where = fmt.Sprintf("in the namespace %q", q.namespace)
	}
	text := fmt.Sprintf("User %q cannot %s resource %q in API group %q %s", c.user, c.verb, resource, q.group, where)
	return apierrors.NewForbidden(c.kind.groupResource(), c.name, errors.New(text))
}

// review answers a SelfSubjectAccessReview.
func (s *Server) review(r *http.Request, c call) (answer, error) {
	data, err := body(r)
	if err != nil {
		return answer{}, err
	}
	asked := &authorizationv1.SelfSubjectAccessReview{}
	if err := s.codec.decode(r, data, c.kind.gvk, asked, false); err != nil {
		return answer{}, err
	}
	asked.Status = authorizationv1.SubjectAccessReviewStatus{}
	switch about := asked.Spec.ResourceAttributes; {
	case about != nil && asked.Spec.NonResourceAttributes == nil:
		asked.Status.Allowed = s.allowed(c.user, request{
			about.Verb, about.Group, about.Resource, about.Subresource, about.Namespace, about.Name,
		})
	case about == nil && asked.Spec.NonResourceAttributes != nil:
		asked.Status.Allowed = true
	default:
		return answer{}, &apierrors.StatusError{ErrStatus: metav1.Status{
			Status: metav1.StatusFailure, Code: http.StatusUnprocessableEntity, Reason: metav1.StatusReasonInvalid,
			Message: `SelfSubjectAccessReview.authorization.k8s.io "" is invalid: spec.resourceAttributes: Invalid value: null: ` +
				"exactly one of nonResourceAttributes or resourceAttributes must be specified",
			Details: &metav1.StatusDetails{Group: c.kind.gvk.Group, Kind: c.kind.gvk.Kind},
		}}
	}
	return answer{http.StatusCreated, asked, schema.GroupVersion{Group: c.kind.gvk.Group, Version: c.kind.gvk.Version}}, nil
}
