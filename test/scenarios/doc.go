// Package scenarios holds manifests that put a cluster into the states that
// claimref is about, and loads them.
//
// A manifest says what exists. What has to happen afterwards is said by the
// annotation AnnotationThen, so that states which only come about by a deletion
// are readable in the manifest, too.
package scenarios
