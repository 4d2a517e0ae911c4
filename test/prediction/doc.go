// Package prediction proves kube/binding against the controllers of a real
// control plane: a seeded matrix of pairs of a volume and a claim, over all
// that the binder looks at and each way by which a claim can come to a volume.
//
// The controllers are paused while the last objects of a wave are made, so
// that what becomes of each pair is predicted from a picture that stands
// still. Then they go on, and when they are at rest, what they have done and
// the reasons they gave in events are compared with the prediction.
//
// All pairs of a wave are on one cluster. A claim chooses from the volumes of
// the whole cluster, so pairs that could choose from each other's are put into
// different waves; that is decided without the package that is on trial.
//
// CLAIMREF_SEED draws another matrix, CLAIMREF_E2E=full a larger one, and
// CLAIMREF_SUMMARY names a folder for the result.
package prediction
