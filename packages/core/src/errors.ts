/**
 * Every error that Tallystick gives, in one table: the stable code, the HTTP status that the service
 * answers with, and the title that never changes for a code. The error's message says what is wrong in the
 * case at hand, and what to do next.
 */
export const errorTable = {
  // JSON gate (RFC 7493, RFC 8259)
  json_empty: { status: 400, title: 'The body is empty' },
  json_not_utf8: { status: 400, title: 'The body is not valid UTF-8' },
  json_bom: { status: 400, title: 'The body starts with a byte order mark' },
  json_syntax: { status: 400, title: 'The body is not JSON' },
  json_duplicate_member: { status: 400, title: 'An object has the same member twice' },
  json_lone_surrogate: { status: 400, title: 'A string contains an unpaired surrogate' },
  json_noncharacter: { status: 400, title: 'A string contains a Unicode noncharacter' },
  json_number_range: { status: 400, title: 'A number is too large for a double' },
  json_integer_range: { status: 400, title: 'An integer is larger than 2^53-1' },
  json_depth: { status: 400, title: 'The JSON is nested too deeply' },
  json_not_plain: { status: 400, title: 'The value is not plain JSON' },
  // Encodings and identifiers
  invalid_hex: { status: 422, title: 'Not lower-case hex of the expected length' },
  invalid_base64url: { status: 422, title: 'Not canonical base64url of the expected length' },
  invalid_multibase: { status: 422, title: 'Not canonical base58btc multibase' },
  invalid_did: { status: 422, title: 'Not a DID that this service can read' },
  invalid_public_key: { status: 422, title: 'Not an acceptable Ed25519 public key' },
  invalid_secret_key: { status: 422, title: 'Not an Ed25519 secret key' },
  // Requests
  request_malformed: { status: 400, title: 'The request is not well-formed HTTP' },
  request_timeout: { status: 408, title: 'The request took too long to arrive' },
  headers_too_large: { status: 431, title: 'The headers are too large' },
  expectation_failed: { status: 417, title: 'The Expect header is not supported' },
  body_too_large: { status: 413, title: 'The body is too large' },
  unsupported_media_type: { status: 415, title: 'The content type is not supported' },
  missing_field: { status: 422, title: 'A required field is missing' },
  unknown_field: { status: 422, title: 'A field is unknown' },
  invalid_field: { status: 422, title: 'A field has an invalid value' },
  conflicting_fields: { status: 422, title: 'Fields contradict each other' },
  empty_input: { status: 422, title: 'The input is empty' },
  unknown_profile: { status: 422, title: 'There is no such receipt profile' },
  origin_not_allowed: { status: 403, title: 'The Host or Origin does not belong to this service' },
  not_found: { status: 404, title: 'There is nothing at this path' },
  method_not_allowed: { status: 405, title: 'The path does not support this method' },
  rate_limited: { status: 429, title: 'Too many requests' },
  idempotency_key_invalid: { status: 400, title: 'The Idempotency-Key is malformed' },
  idempotency_key_reused: { status: 422, title: 'The Idempotency-Key was used with a different request' },
  idempotency_key_in_use: {
    status: 409,
    title: 'A request with this Idempotency-Key is still being processed',
  },
  internal: { status: 500, title: 'Something went wrong on our side' },
  unavailable: { status: 503, title: 'Temporarily unavailable' },
  // Receipts
  not_a_receipt: { status: 422, title: 'The document is not a receipt of a known family' },
  receipt_too_large: { status: 422, title: 'The receipt would be larger than its profile allows' },
  receipt_not_found: { status: 404, title: 'There is no such receipt' },
  receipt_purged: { status: 410, title: 'The receipt was deleted after its retention period' },
  too_many_receipts: { status: 422, title: 'Too many receipts in one batch' },
  already_corrected: { status: 409, title: 'The receipt already has another correction' },
  session_closed: { status: 409, title: 'The session is closed' },
  session_not_found: { status: 404, title: 'The caller has no such session' },
  session_conflict: { status: 409, title: 'The receipt is not the next one of the session' },
  session_key_changed: { status: 409, title: 'The service signs with another key than that of the session' },
  session_in_use: { status: 409, title: 'Another process records in the session' },
  session_unusable: { status: 409, title: 'The session’s file can’t be recorded in' },
  countersign_mismatch: { status: 422, title: 'The key does not belong to the party that the receipt names' },
  // Metering receipts
  metering_window: { status: 422, title: 'The billing window does not end after it starts' },
  metering_compiled_early: { status: 422, title: 'The bill was compiled before its window closed' },
  metering_compiled_late: { status: 422, title: 'The bill was compiled in the future' },
  metering_derived_mismatch: { status: 422, title: 'A derived value does not match the bill' },
  metering_unit_range: { status: 422, title: 'The evidence is for a unit that was not billed' },
  metering_unit_twice: { status: 422, title: 'A unit carries evidence twice' },
  metering_evidence_invalid: {
    status: 422,
    title: 'The evidence contains an invalid receipt or anchor',
  },
  metering_evidence_policy: { status: 422, title: 'The evidence does not meet its policy' },
  metering_receipt_twice: { status: 422, title: 'A receipt backs two units' },
  // Sealing
  seal_invalid: { status: 422, title: 'The sealed document is malformed' },
  seal_wrong_key: { status: 422, title: 'The key is not the one that sealed this document' },
  seal_tampered: { status: 422, title: 'The sealed document was changed' },
  // Merkle trees (RFC 6962)
  merkle_range: { status: 422, title: 'The leaf index or tree size is out of range' },
  // API keys
  api_key_missing: { status: 401, title: 'An API key is required' },
  api_key_invalid: { status: 401, title: 'The API key is malformed or unknown' },
  api_key_revoked: { status: 401, title: 'The API key was revoked' },
  api_key_expired: { status: 401, title: 'The API key has expired' },
  order_not_found: { status: 404, title: 'There is no such order' },
  operator_only: { status: 403, title: 'This is open to operators only' },
  partner_only: { status: 403, title: 'This pilot is open to partners only' },
  quota_exceeded: { status: 429, title: 'The quota of the API key is used up' },
  budget_exceeded: { status: 429, title: 'The budget does not cover the call' },
  model_not_allowed: { status: 403, title: 'The limits of the API key do not allow the model' },
  key_cannot_manage: { status: 403, title: 'The credential may not manage API keys' },
  key_not_found: { status: 404, title: 'The account has no such API key' },
  // Tenants
  tenant_not_found: { status: 404, title: 'There is no such tenant' },
  range_invalid: { status: 416, title: 'The range starts past the end of the file' },
  // The anchor log
  anchor_unavailable: { status: 503, title: 'The anchor log is not accepting hashes at the moment' },
  anchor_not_found: { status: 404, title: 'There is no such anchor' },
  anchor_ref_invalid: { status: 422, title: 'Not an anchor reference' },
  anchor_invalid: { status: 422, title: 'Not an anchored result' },
  too_many_hashes: { status: 422, title: 'Too many hashes in one batch' },
  note_invalid: { status: 422, title: 'Not a well-formed signed note' },
  checkpoint_invalid: { status: 422, title: 'Not a well-formed checkpoint' },
  checkpoint_signature_invalid: { status: 422, title: 'The checkpoint is not signed by the log' },
  attestation_invalid: { status: 422, title: 'Not evidence of hardware of a known kind' },
  cose_invalid: { status: 422, title: 'Not a well-formed COSE message' },
  statement_unverified: { status: 422, title: 'The signature of the statement can’t be verified' },
  tlog_proof_invalid: { status: 422, title: 'Not a well-formed tlog-proof' },
  log_fork_invalid: { status: 422, title: 'Not a proof of a fork' },
  witness_policy_invalid: { status: 422, title: 'Not a well-formed witness policy' },
  log_mismatch: { status: 503, title: 'The data belong to another log' },
  log_behind: { status: 503, title: 'The data are older than what this log has published' },
  log_corrupted: { status: 503, title: 'The log’s data contradict what it has signed' },
  // Chains
  chain_unavailable: { status: 503, title: 'The chain can’t be reached' },
  chain_mismatch: { status: 503, title: 'The node belongs to another chain' },
  // Issuers
  issuer_not_found: { status: 404, title: 'There is no such issuer' },
  issuer_exists: { status: 409, title: 'The handle is taken' },
  issuer_conflict: { status: 409, title: 'The issuer record has changed since it was read' },
  issuer_proof_invalid: { status: 422, title: 'The signature does not prove possession of the key' },
  // Agents
  signature_invalid: { status: 401, title: 'The message signature does not prove the agent’s DID' },
  // Inference
  invalid_request: { status: 400, title: 'The model request is not valid' },
  state_not_kept: { status: 400, title: 'The service keeps nothing between model calls' },
  model_not_found: { status: 404, title: 'There is no such model' },
  model_gone: { status: 404, title: 'The provider no longer offers the model' },
  price_outdated: { status: 503, title: 'The model’s price is too old to bill by' },
  context_too_long: { status: 400, title: 'The prompt is longer than any model here can read' },
  no_model_available: { status: 503, title: 'No model can take the request at the moment' },
  insufficient_balance: { status: 402, title: 'The balance does not cover the call' },
  already_answered: { status: 409, title: 'The request was already answered, and the answer was not kept' },
  provider_refused: { status: 400, title: 'The provider refused the request' },
  provider_rate_limited: { status: 429, title: 'The provider is limiting the rate of calls' },
  provider_failed: { status: 502, title: 'The provider failed' },
  provider_timeout: { status: 504, title: 'The provider took too long' },
  client_closed: { status: 499, title: 'The client disconnected before the answer' },
  // Payments
  payments_off: { status: 404, title: 'The service takes no payments' },
  payment_required: { status: 402, title: 'A payment is required' },
  payment_malformed: { status: 400, title: 'The payment is malformed' },
  payment_reused: { status: 409, title: 'The payment was already used with a different request' },
  payment_in_progress: { status: 409, title: 'The payment is being settled' },
  payment_unconfirmed: { status: 503, title: 'The chain does not show the payment yet' },
  payment_owed: { status: 402, title: 'An earlier call has not been paid for' },
  // Ratings
  rated_otherwise: { status: 409, title: 'The call has another rating already' },
  // Calls
  content_not_kept: { status: 404, title: 'Prompt and answer of the call are not kept' },
  // Webhooks
  webhook_not_found: { status: 404, title: 'The caller has no such webhook' },
  webhook_limit: { status: 409, title: 'The caller has as many webhooks as there may be' },
  webhook_disabled: { status: 409, title: 'The webhook is disabled' },
  // Members
  handle_taken: { status: 409, title: 'Another member has the handle' },
  // Policies across jurisdictions
  unknown_jurisdiction: { status: 400, title: 'The crosswalk has no such jurisdiction' },
  // Trust bundles
  trust_invalid: { status: 422, title: 'The trust bundle is malformed' },
  trust_signature_invalid: { status: 422, title: 'The trust bundle is not signed by its root' },
  trust_root_mismatch: {
    status: 422,
    title: 'The trust bundle is signed by a root other than the pinned one',
  },
  stream_not_found: { status: 404, title: 'No such stream was opened' },
  stream_invalid: { status: 422, title: 'Not a stream head, or not heads and hashes of one stream' },
  trust_rollback: { status: 422, title: 'The trust bundle is older than the one already seen' },
  trust_fork_invalid: { status: 422, title: 'Not a proof of two contradicting trust bundles' },
  trust_not_found: { status: 404, title: 'There is no trust bundle of that version' },
  trust_expired: { status: 422, title: 'The trust bundle has expired' },
  trust_unavailable: { status: 503, title: 'No trust bundle has been published' },
} as const;

export type ErrorCode = keyof typeof errorTable;

/**
 * The one error class: `message` is public text that says what is wrong and what to do next; `field` is the
 * path of the offending member (`request.hash`, `receipts[3].ts`); `cause` stays inside. Where a message quotes the
 * beginning of a text that ends within a surrogate pair, U+FFFD stands for the half.
 */
export class TallyError extends Error {
  override readonly name = 'TallyError';
  readonly code: ErrorCode;
  readonly field: string | undefined;

  constructor(
    code: ErrorCode,
    message: string,
    options: { field?: string | undefined; cause?: unknown } = {},
  ) {
    super(message.toWellFormed(), 'cause' in options ? { cause: options.cause } : undefined);
    this.code = code;
    this.field = options.field;
  }
}
