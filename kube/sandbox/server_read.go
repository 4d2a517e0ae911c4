package sandbox

import (
	"cmp"
	"encoding/base64"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
)

func (s *Server) get(c call) (answer, error) {
	if c.sub == subScale {
		return s.getScale(c)
	}
	o := s.State().Get(c.key())
	if o == nil {
		return answer{}, c.notFound()
	}
	return c.ok(o.DeepCopyObject()), nil
}

// ok is an answer with an object of the call's own group.
func (c call) ok(o runtime.Object) answer {
	return answer{code: http.StatusOK, object: o, gv: c.kind.gvk.GroupVersion()}
}

func (s *Server) list(c call) (answer, error) {
	o, match, err := c.listOptions()
	if err != nil {
		return answer{}, err
	}
	state := s.State()
	if err := tooNew(o.ResourceVersion, state); err != nil {
		return answer{}, err
	}
	after, err := readContinue(o.Continue)
	if err != nil {
		return answer{}, err
	}
	page, last := []runtime.Object(nil), Key{}
	more := int64(0)
	for _, item := range state.scope(c) {
		if !match.matches(item) || !after.before(item) {
			continue
		}
		if o.Limit > 0 && int64(len(page)) == o.Limit {
			more++
			continue
		}
		page, last = append(page, item), KeyOf(item)
	}
	list, err := s.newList(c.kind, page, state.version)
	if err != nil {
		return answer{}, err
	}
	if more > 0 {
		list.SetContinue(continueToken(last))
		// Which of the rest a selector would leave out is not known to a
		// real server.
		if match.everything() {
			list.SetRemainingItemCount(&more)
		}
	}
	return c.ok(list), nil
}

// apiList is what the typed lists have in common.
type apiList interface {
	runtime.Object
	metav1.ListInterface
}

func (s *Server) newList(k kind, items []runtime.Object, version int64) (apiList, error) {
	made, err := s.codec.scheme.New(k.gvk.GroupVersion().WithKind(k.gvk.Kind + "List"))
	if err != nil {
		return nil, fmt.Errorf("make a list of %s: %w", k.resource, err)
	}
	list, ok := made.(apiList)
	if !ok {
		return nil, fmt.Errorf("a list of %s is a %T", k.resource, made)
	}
	// The items are copied into the list one level deep: that is enough, as
	// they are only read.
	if err := meta.SetList(list, items); err != nil {
		return nil, fmt.Errorf("fill a list of %s: %w", k.resource, err)
	}
	list.SetResourceVersion(strconv.FormatInt(version, 10))
	return list, nil
}

// scope is the objects that a call may mean, before its selectors.
func (s *State) scope(c call) []Object {
	shelf := s.shelves[c.kind.resource]
	if c.namespace != "" {
		shelf = shelf.within(c.namespace)
	}
	return shelf.objects()
}

// matcher is the selectors of a call.
type matcher struct {
	labels labels.Selector
	fields fields.Selector
}

func (m matcher) everything() bool { return m.labels.Empty() && m.fields.Empty() }

func (m matcher) matches(o Object) bool {
	return (m.labels.Empty() || m.labels.Matches(labels.Set(o.GetLabels()))) &&
		(m.fields.Empty() || m.fields.Matches(fieldsOf(o)))
}

func (c call) listOptions() (metav1.ListOptions, matcher, error) {
	var o metav1.ListOptions
	if err := metav1.Convert_url_Values_To_v1_ListOptions(&c.query, &o, nil); err != nil {
		return o, matcher{}, apierrors.NewBadRequest(err.Error())
	}
	byLabel, err := labels.Parse(o.LabelSelector)
	if err != nil {
		return o, matcher{}, apierrors.NewBadRequest(err.Error())
	}
	byField, err := fields.ParseSelector(o.FieldSelector)
	if err != nil {
		return o, matcher{}, apierrors.NewBadRequest(err.Error())
	}
	known := fieldsOf(c.kind.make())
	for _, r := range byField.Requirements() {
		if !known.Has(r.Field) {
			return o, matcher{}, apierrors.NewBadRequest(fmt.Sprintf("%q is not a known field selector: only %s", r.Field, quoted(known)))
		}
	}
	return o, matcher{byLabel, byField}, nil
}

// quoted lists fields as AddFieldLabelConversionFunc's functions do.
func quoted(known fields.Set) string {
	names := slices.Sorted(maps.Keys(known))
	for i, name := range names {
		names[i] = strconv.Quote(name)
	}
	return strings.Join(names, ", ")
}

// fieldsOf is what a field selector may ask about, as the strategies' GetAttrs
// in Kubernetes' pkg/registry have it.
func fieldsOf(o Object) fields.Set {
	set := fields.Set{"metadata.name": o.GetName(), "metadata.namespace": o.GetNamespace()}
	switch o := o.(type) {
	case *corev1.Pod:
		set["spec.nodeName"] = o.Spec.NodeName
		set["spec.restartPolicy"] = string(o.Spec.RestartPolicy)
		set["spec.schedulerName"] = o.Spec.SchedulerName
		set["spec.serviceAccountName"] = o.Spec.ServiceAccountName
		set["status.phase"] = string(o.Status.Phase)
		set["status.podIP"] = o.Status.PodIP
	case *corev1.Namespace:
		set["status.phase"] = string(o.Status.Phase)
	case *corev1.Event:
		about := o.InvolvedObject
		set["involvedObject.kind"] = about.Kind
		set["involvedObject.namespace"] = about.Namespace
		set["involvedObject.name"] = about.Name
		set["involvedObject.uid"] = string(about.UID)
		set["involvedObject.apiVersion"] = about.APIVersion
		set["involvedObject.resourceVersion"] = about.ResourceVersion
		set["involvedObject.fieldPath"] = about.FieldPath
		set["reason"] = o.Reason
		set["reportingComponent"] = o.ReportingController
		set["source"] = cmp.Or(o.Source.Component, o.ReportingController)
		set["type"] = o.Type
	}
	return set
}

// fieldName is the one name that a field selector asks for.
func fieldName(selector string) (string, bool) {
	s, err := fields.ParseSelector(selector)
	if err != nil {
		return "", false
	}
	return s.RequiresExactMatch("metadata.name")
}

// tooNew refuses to read at a version that is still to come, as
// NewTooLargeResourceVersionError in storage/errors.go of k8s.io/apiserver does.
func tooNew(version string, s *State) error {
	if version == "" {
		return nil
	}
	asked, err := strconv.ParseInt(version, 10, 64)
	if err != nil || asked < 0 {
		return apierrors.NewBadRequest(fmt.Sprintf("resourceVersion: Invalid value: %q: strconv.ParseUint: parsing %q: invalid syntax", version, version))
	}
	if asked <= s.version {
		return nil
	}
	refusal := apierrors.NewTimeoutError(fmt.Sprintf("Too large resource version: %d, current: %d", asked, s.version), 1)
	refusal.ErrStatus.Details.Causes = []metav1.StatusCause{{
		Type: metav1.CauseTypeResourceVersionTooLarge, Message: "Too large resource version",
	}}
	return refusal
}

// position is where a page of a list begins: after a namespace and a name.
type position struct {
	set             bool
	namespace, name string
}

func (p position) before(o Object) bool {
	return !p.set || cmp.Or(cmp.Compare(p.namespace, o.GetNamespace()), cmp.Compare(p.name, o.GetName())) < 0
}

func continueToken(last Key) string {
	return base64.RawURLEncoding.EncodeToString([]byte(last.Namespace + "/" + last.Name))
}

func readContinue(token string) (position, error) {
	if token == "" {
		return position{}, nil
	}
	data, err := base64.RawURLEncoding.DecodeString(token)
	namespace, name, ok := strings.Cut(string(data), "/")
	if err != nil || !ok {
		return position{}, apierrors.NewBadRequest("continue key is not valid: " + token)
	}
	return position{true, namespace, name}, nil
}
