// Package sandbox is an API server and its controllers in memory: a faithful,
// deterministic model, reached by the ordinary client-go REST path. The demo
// runs on it, and plans can be checked against every order in which things may
// happen.
//
// There are three parts, one upon the other:
//
//   - State is everything that is stored, as an immutable value: a change makes
//     a new State that shares what did not change. It has no clock, no
//     randomness and no goroutine.
//   - Controllers are transitions on a State, each the paraphrase of a named
//     part of Kubernetes. Which of the enabled ones happens next is the
//     caller's choice, so that a controller's lag is simply its not being
//     chosen.
//   - Server is an http.Handler over the current State: verbs, patches, dry
//     runs, validation, admission, access and watches. Driver lets enabled
//     transitions happen by themselves, for the demo.
//
// Only what the product's requests and plans meet is modelled; everything else
// answers as a server does that lacks it. Where Kubernetes' own code can be
// imported it is called, not retold.
//
// It imports kube/binding and k8s.io modules; it knows nothing of kube, of
// plans or of screens.
package sandbox
