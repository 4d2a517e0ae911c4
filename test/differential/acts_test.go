package differential

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"
	"text/template"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
)

const (
	merge     = types.MergePatchType
	jsonPatch = types.JSONPatchType
	strategic = types.StrategicMergePatchType
)

// request is what an act asks of the API server.
type request struct {
	verb func(rest.Interface) *rest.Request
	on   ref
	// sub is a subresource, whose answer may be of a kind of its own.
	sub string
	// create is set for requests to the collection.
	create bool
	// body is a template: "$" is the history, {{uid "pvc/data"}} and
	// {{rv "pvc/data"}} are those of an object as it is when the act begins.
	body   string
	dryRun bool
	strict bool
	// user is who asks, if not the admin.
	user string
}

func (r request) do(p *play) outcome {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(p.ctx), requestTimeout)
	defer cancel()
	k, namespace, name := r.on.parse()
	body, err := p.fill(ctx, r.body)
	if err != nil {
		return outcome{"code": "none", "reason": err.Error()}
	}
	if name, err = p.fill(ctx, name); err != nil {
		return outcome{"code": "none", "reason": err.Error()}
	}
	client, err := p.world.as(r.user)
	if err != nil {
		return outcome{"code": "none", "reason": err.Error()}
	}
	call := r.verb(k.client(client)).NamespaceIfScoped(p.real(namespace), k.namespaced).Resource(k.resource)
	if !r.create {
		call = call.Name(p.real(name))
	}
	if r.sub != "" {
		call = call.SubResource(r.sub)
	}
	switch {
	case r.dryRun && strings.Contains(body, `"DeleteOptions"`):
		// A body of a deletion is all that counts of its options.
		body = strings.Replace(body, `"DeleteOptions"`, `"DeleteOptions","dryRun":["All"]`, 1)
	case r.dryRun:
		call = call.Param("dryRun", metav1.DryRunAll)
	}
	if r.strict {
		call = call.Param("fieldValidation", metav1.FieldValidationStrict)
	}
	if body != "" {
		call = call.Body([]byte(body))
	}
	answer, err := call.Do(ctx).Get()
	return p.outcome(answer, err)
}

// hostDirMark stands for the folder of the volumes of the built-in plugin.
const hostDirMark = "@hosts"

// fill fills in a body.
func (p *play) fill(ctx context.Context, body string) (string, error) {
	get := func(r string) (object, error) {
		k, namespace, name := ref(r).parse()
		o := k.empty()
		err := k.client(p.world.client()).Get().NamespaceIfScoped(p.real(namespace), k.namespaced).
			Resource(k.resource).Name(p.real(name)).Do(ctx).Into(o)
		return o, err
	}
	filled, err := template.New("").Funcs(template.FuncMap{
		"uid": func(r string) (string, error) {
			o, err := get(r)
			return string(o.GetUID()), err
		},
		"rv": func(r string) (string, error) {
			o, err := get(r)
			return o.GetResourceVersion(), err
		},
		// noted is the uid of an object that was there when it was noted.
		"noted": func(r string) string { return p.noted[r] },
	}).Parse(body)
	if err != nil {
		return "", fmt.Errorf("parse the body: %w", err)
	}
	var out bytes.Buffer
	if err := filled.Execute(&out, nil); err != nil {
		return "", fmt.Errorf("fill in the body: %w", err)
	}
	return strings.ReplaceAll(p.real(out.String()), hostDirMark, hostDir), nil
}

func (p *play) outcome(answer runtime.Object, err error) outcome {
	if status := apierrors.APIStatus(nil); errors.As(err, &status) {
		s := status.Status()
		out := outcome{"code": strconv.Itoa(int(s.Code)), "reason": string(s.Reason)}
		if s.Details != nil {
			causes := make([]string, 0, len(s.Details.Causes))
			for _, c := range s.Details.Causes {
				causes = append(causes, string(c.Type)+" "+c.Field)
			}
			out["causes"] = p.symbolic(sorted(causes))
			out["about"] = p.symbolic(strings.TrimSpace(s.Details.Group + " " + s.Details.Kind + " " + s.Details.Name))
		}
		return out
	}
	if err != nil {
		return outcome{"code": "none", "reason": err.Error()}
	}
	out := outcome{"code": "200", "answer": fmt.Sprintf("%T", answer)}
	if o, ok := answer.(object); ok && slices.ContainsFunc(kinds(), func(k kind) bool {
		return fmt.Sprintf("%T", k.empty()) == fmt.Sprintf("%T", o)
	}) {
		for field, v := range p.answer(o) {
			out["answer."+field] = v
		}
	}
	return out
}

// asking is the act of one request.
func asking(what string, r request) act { return act{what: what, do: r.do, request: &r} }

func post(c rest.Interface) *rest.Request { return c.Post() }
func put(c rest.Interface) *rest.Request  { return c.Put() }
func drop(c rest.Interface) *rest.Request { return c.Delete() }

// create makes an object.
func create(o object) act {
	return asking("create "+string(refOf(o)), request{verb: post, on: refOf(o), create: true, body: encoded(o)})
}

// refOf is the symbolic name of a built object. Only kind and namespace are
// asked of it.
func refOf(o object) ref {
	k := kindOf(o)
	if k.namespaced {
		return ref(k.short + "/" + o.GetNamespace() + "/" + o.GetName())
	}
	return ref(k.short + "/" + strings.TrimPrefix(o.GetName(), "$-"))
}

// encoded is an object as clients send it.
func encoded(o object) string {
	gvks, _, err := scheme.Scheme.ObjectKinds(o)
	if err != nil {
		panic(err) // A kind that is not in kinds.
	}
	o.GetObjectKind().SetGroupVersionKind(gvks[0])
	data, err := json.Marshal(o)
	if err != nil {
		panic(err) // API objects can be encoded.
	}
	return string(data)
}

// given makes several objects and only then lets the world settle.
func given(objects ...object) act {
	var requests []func(*play) outcome
	for _, o := range objects {
		requests = append(requests, create(o).do)
	}
	return together("given", requests...)
}

// together is several requests as one act, of which the first that is refused
// is the outcome.
func together(what string, requests ...func(*play) outcome) act {
	return act{what: what, do: func(p *play) outcome {
		out := outcome{"code": "200"}
		for _, do := range requests {
			if out = do(p); out["code"] != "200" {
				return out
			}
			// What the later ones are answered may depend on how far the
			// controllers have come.
			out = outcome{"code": "200"}
		}
		return out
	}}
}

// patch patches an object, or a subresource of it: "pv/vol" or "pv/vol:status".
func patch(on string, kind types.PatchType, body string) act {
	name, sub, _ := strings.Cut(on, ":")
	return asking("patch "+on+" "+body, request{
		verb: func(c rest.Interface) *rest.Request { return c.Patch(kind) }, on: ref(name), sub: sub, body: body,
	})
}

// update replaces an object by one that is edited from what is there.
func update(on string, edit func(object)) act {
	name, sub, _ := strings.Cut(on, ":")
	return act{what: "update " + on, do: func(p *play) outcome {
		k, namespace, object := ref(name).parse()
		o := k.empty()
		ctx, cancel := context.WithTimeout(context.WithoutCancel(p.ctx), requestTimeout)
		defer cancel()
		err := k.client(p.world.client()).Get().NamespaceIfScoped(p.real(namespace), k.namespaced).
			Resource(k.resource).Name(p.real(object)).Do(ctx).Into(o)
		if err != nil {
			return p.outcome(nil, err)
		}
		edit(o)
		return request{verb: put, on: ref(name), sub: sub, body: encoded(o)}.do(p)
	}}
}

// remove deletes an object; options is the body, or nothing.
func remove(on ref, options string) act {
	if options == "" {
		options = "{}"
	}
	options = strings.Replace(`{"apiVersion":"v1","kind":"DeleteOptions",`+strings.TrimPrefix(options, "{"), ",}", "}", 1)
	return asking("delete "+string(on)+" "+options, request{verb: drop, on: on, body: options})
}

// dry is the same act as a dry run.
func dry(a act) act {
	r := *a.request
	r.dryRun = true
	a.what, a.do, a.request = "dry run: "+a.what, r.do, &r
	return a
}

// strict is the same act with unknown fields refused.
func strict(a act) act {
	r := *a.request
	r.strict = true
	a.what, a.do, a.request = "strictly: "+a.what, r.do, &r
	return a
}

// as is the same act by another user.
func as(user string, a act) act {
	r := *a.request
	r.user = user
	a.what, a.do, a.request = "as "+user+": "+a.what, r.do, &r
	return a
}

// note remembers the uid of an object for later bodies.
func note(on ref) act {
	return act{what: "note " + string(on), unsettled: true, do: func(p *play) outcome {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(p.ctx), requestTimeout)
		defer cancel()
		uid, err := p.fill(ctx, `{{uid "`+string(on)+`"}}`)
		if err != nil {
			return outcome{"code": "none", "reason": err.Error()}
		}
		p.noted[string(on)] = uid
		return outcome{"code": "200"}
	}}
}

// data puts data behind a volume that is described by hand.
func data(handle string) act {
	return act{what: "data behind " + handle, unsettled: true, do: func(p *play) outcome {
		actual := strings.ReplaceAll(p.real(handle), hostDirMark, hostDir)
		// The volume may be gone before it is seen.
		p.handles[strings.TrimPrefix(path.Base(handle), "$-")] = actual
		if err := p.world.addData(actual); err != nil {
			return outcome{"code": "none", "reason": err.Error()}
		}
		return outcome{"code": "200"}
	}}
}

// lag stops the controller manager, or lets it go on.
func lag(on bool) act {
	return act{what: fmt.Sprintf("controllers lag: %t", on), do: func(p *play) outcome {
		if err := p.world.lag(on); err != nil {
			return outcome{"code": "none", "reason": err.Error()}
		}
		return outcome{"code": "200"}
	}}
}
