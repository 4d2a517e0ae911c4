// Package migration proves that an operation on volumes ends well on a real
// control plane, whatever comes between: its program is killed before or after
// any of its writes, and another one on another machine goes on with it or
// undoes it; claims wait for the volume; a controller starts the pods again;
// answers are lost.
//
// Each run has namespaces and a class of its own. The data of each volume are a
// file, which the provisioner deletes with the volume as those of real drivers
// do. What a cluster has come to is compared as a picture, in which all is left
// out that differs from one run to another: uids, versions and times.
//
// The ordinary run has every kind of operation with some of the moments, drawn
// from CLAIMREF_SEED; CLAIMREF_E2E=full has all of them.
package migration
