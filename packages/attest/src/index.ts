export { reportDataOf } from './binding.ts';
export { ATTESTATION_TYPES, type AttestationType, type Statement } from './evidence.ts';
export { type AttestationVerdict, type ReceiptFacts, verifyAttestation } from './verify.ts';
