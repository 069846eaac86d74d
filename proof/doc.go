// Package proof shows that the log was not rewritten.
//
// Its one rule: nothing is believed, everything is computed from the stored bytes. A Merkle tree
// (RFC 6962) per tenant grows with the log; [Prover] builds it, signs what it has become, and proves
// that an event is in it, and that a later tree continues an earlier one. [Verify] and [VerifyFile]
// trust neither the database nor the rest of this program: they encode, hash and check by
// themselves, and want nothing but the bytes and a public key.
//
// Leaf number n of a tenant's tree (0, 1, 2 …) is the event at position n+1; its data are the 32 bytes
// of the record's hash. So the leaf's hash is SHA-256(00 hash), and that of a node SHA-256(01 left right).
package proof
