// Package proof shows that the log was not rewritten.
//
// Its one rule: everything is computed from the stored bytes, and nothing is trusted. A Merkle tree (RFC 6962) per
// tenant grows with the log. [Prover] builds and signs it, and proves that it contains an event, or that a later tree
// continues an earlier one. [Verify] and [VerifyFile] trust neither the database nor the rest of this program. They
// encode, hash and check independently, and need only the bytes and a public key.
//
// Leaf number n of a tenant's tree (0, 1, 2 …) is the event at position n+1; its data are the 32 bytes of the
// record's hash. So the leaf's hash is SHA-256(00 hash), and the hash of a node is SHA-256(01 left right).
package proof
