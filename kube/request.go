package kube

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"

	"github.com/claimref/claimref/actions"
	"github.com/claimref/claimref/actions/migration"
)

// object is an object as the server sent it, with all of its fields: also with
// those that this program has never heard of.
type object = unstructured.Unstructured

// apiKind is how the API calls a kind of objects.
type apiKind struct {
	gvk    schema.GroupVersionKind
	plural string
	// noun is how sentences call one of them.
	noun string
	// scales: it has a scale subresource.
	scales bool
}

// apiKindOf knows the kinds that steps are about.
func apiKindOf(kind actions.Kind) (apiKind, error) {
	core, apps := corev1.SchemeGroupVersion, appsv1.SchemeGroupVersion
	name := string(kind)
	switch kind {
	case actions.VolumeKind:
		return apiKind{core.WithKind(name), string(PersistentVolumes), "volume", false}, nil
	case actions.ClaimKind:
		return apiKind{core.WithKind(name), string(PersistentVolumeClaims), "claim", false}, nil
	case migration.PodKind:
		return apiKind{core.WithKind(name), string(Pods), "pod", false}, nil
	case migration.StatefulSetKind:
		return apiKind{apps.WithKind(name), string(StatefulSets), name, true}, nil
	case migration.DeploymentKind:
		return apiKind{apps.WithKind(name), string(Deployments), name, true}, nil
	case migration.ReplicaSetKind:
		return apiKind{apps.WithKind(name), string(ReplicaSets), name, true}, nil
	case migration.CronJobKind:
		return apiKind{batchv1.SchemeGroupVersion.WithKind(name), string(CronJobs), name, false}, nil
	default:
		return apiKind{}, fmt.Errorf("a %s is not known here", clean(name))
	}
}

// nameOf names an object in a sentence.
func nameOf(ref actions.Ref) string {
	noun := string(ref.Kind)
	if r, err := apiKindOf(ref.Kind); err == nil {
		noun = r.noun
	}
	return clean(noun + " " + objectKey(ref.Namespace, ref.Name))
}

// rest is the client of the resource's group.
func (c *Client) rest(r apiKind) rest.Interface {
	switch r.gvk.Group {
	case appsv1.GroupName:
		return c.api.AppsV1().RESTClient()
	case batchv1.GroupName:
		return c.api.BatchV1().RESTClient()
	default:
		return c.api.CoreV1().RESTClient()
	}
}

// get reads an object afresh.
func (c *Client) get(ctx context.Context, ref actions.Ref) (*object, error) {
	r, err := apiKindOf(ref.Kind)
	if err != nil {
		return nil, err
	}
	body, err := answer(c.rest(r).Get().
		NamespaceIfScoped(ref.Namespace, ref.Namespace != "").
		Resource(r.plural).
		Name(ref.Name).
		SetHeader("Accept", runtime.ContentTypeJSON).
		Do(ctx))
	if err != nil {
		return nil, err
	}
	return decode(body, r)
}

// write is one request that changes something.
type write struct {
	act  migration.Act
	kind actions.Kind
	// namespace and name are the target's; name is empty for a creation.
	namespace, name string
	body            []byte
	// options are those of a deletion, which has no other body.
	options *metav1.DeleteOptions
}

// send sends a write. The dry run and the real one differ in the dryRun
// parameter and in nothing else.
//
// It is bound to one version of one object by the body, which the server
// checks in the same transaction as it writes. And it is sent once: client-go
// would repeat it on its own after some failures, and the repetition of a
// request that did take effect fails with a conflict, which looks as if
// somebody else had written.
func (c *Client) send(ctx context.Context, w write, dryRun bool) ([]byte, error) {
	r, err := apiKindOf(w.kind)
	if err != nil {
		return nil, err
	}
	var dry []string
	if dryRun {
		dry = []string{metav1.DryRunAll}
	}
	client, body := c.rest(r), w.body
	var request *rest.Request
	var options runtime.Object
	switch w.act {
	case migration.Patch, migration.Scale:
		request = client.Patch(types.MergePatchType).Name(w.name)
		options = &metav1.PatchOptions{FieldManager: FieldManager, FieldValidation: metav1.FieldValidationStrict, DryRun: dry}
		if w.act == migration.Scale {
			request = request.SubResource("scale")
		}
	case migration.Create:
		request = client.Post().SetHeader("Content-Type", runtime.ContentTypeJSON)
		options = &metav1.CreateOptions{FieldManager: FieldManager, FieldValidation: metav1.FieldValidationStrict, DryRun: dry}
	case migration.Delete:
		// The server reads the options from the body alone; the parameter is
		// for the guard, which looks whether both say the same.
		request = client.Delete().Name(w.name).SetHeader("Content-Type", runtime.ContentTypeJSON)
		options = &metav1.DeleteOptions{DryRun: dry}
		if body, err = deletion(w.options, dry); err != nil {
			return nil, err
		}
	default:
		return nil, fmt.Errorf("%s is no request", w.act)
	}
	return answer(request.
		NamespaceIfScoped(w.namespace, w.namespace != "").
		Resource(r.plural).
		VersionedParams(options, scheme.ParameterCodec).
		SetHeader("Accept", runtime.ContentTypeJSON).
		// The server gives up before we do, so that after our timeout the
		// request can't take effect any more.
		Timeout(c.serverTimeout()).
		Body(body).
		MaxRetries(0).
		Do(ctx))
}

// deletion is the body of a deletion, which holds for one version of one
// object.
func deletion(o *metav1.DeleteOptions, dryRun []string) ([]byte, error) {
	if o == nil || o.Preconditions == nil || o.Preconditions.UID == nil || o.Preconditions.ResourceVersion == nil ||
		*o.Preconditions.UID == "" || *o.Preconditions.ResourceVersion == "" {
		return nil, errors.New("the object has no uid or no resourceVersion to guard its deletion with")
	}
	options := *o
	options.TypeMeta = metav1.TypeMeta{APIVersion: "v1", Kind: "DeleteOptions"}
	options.DryRun = dryRun
	return json.Marshal(options)
}

// serverTimeout is three quarters of the client's own, in the whole seconds
// that the API server is used to.
func (c *Client) serverTimeout() time.Duration {
	return max(time.Second, (c.timing.Request * 3 / 4).Truncate(time.Second))
}

// answer is what the server said. Raw alone would not read its error.
func answer(result rest.Result) ([]byte, error) {
	if err := result.Error(); err != nil {
		return nil, err
	}
	body, err := result.Raw()
	if err != nil {
		return nil, err
	}
	if len(body) == 0 {
		return nil, errors.New("the answer is empty")
	}
	return body, nil
}

// decode reads an object of a resource.
func decode(body []byte, r apiKind) (*object, error) {
	o := &object{}
	if err := utiljson.Unmarshal(body, &o.Object); err != nil {
		return nil, fmt.Errorf("read the answer: %w", err)
	}
	if o.GetKind() == "Status" {
		status := &metav1.Status{}
		if err := utiljson.Unmarshal(body, status); err != nil {
			return nil, fmt.Errorf("read the answer: %w", err)
		}
		return nil, apierrors.FromObject(status)
	}
	// In what clients write, the kind may be left to the path.
	o.SetGroupVersionKind(r.gvk)
	if o.GetName() == "" {
		return nil, errors.New("read the answer: the object has no name")
	}
	return o, nil
}
