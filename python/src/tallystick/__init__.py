"""Signed receipts for AI calls and machine work that anyone can check, offline, years later.

``verify`` judges a receipt without any network; ``Client`` and ``AsyncClient`` talk to a service;
``issue`` and ``mint_metering`` sign receipts with a key of your own. ``open_session`` and
``open_session_file`` record an agent's tool calls in order, and ``verify_session`` judges them.
"""

from . import documents
from ._lib.authority import AnchorAuthority, AnchorHistory, Payee
from ._lib.call.collector import CallCollector, CollectedAnswer
from ._lib.call.protocol import CallProtocol
from ._lib.call.verify_call import CallCheck, CallVerdict, verify_call
from ._lib.canonical import canonical_bytes, canonicalize, copy_json, parse_json
from ._lib.client import (
    AgentAuth,
    AsyncClient,
    AsyncReceiptTransport,
    CallReport,
    Client,
    CollectedCall,
    ModelClientOptions,
    ReceiptTransport,
    RetryPolicy,
    SignedManifest,
    issue,
)
from ._lib.corrections import (
    CorrectedReceipt,
    CorrectedState,
    CorrectionVerdict,
    verify_corrections,
)
from ._lib.countersign import anchored_hash, countersign, with_anchor
from ._lib.did import did_key_of, did_svc, is_did, public_key_of_did_key
from ._lib.ed25519 import Signer, create_signer, generate_secret_key, verify_ed25519
from ._lib.errors import TallyError
from ._lib.foreign.verify_foreign import ForeignVerification, verify_foreign
from ._lib.issue import AnchorError, IssuedByIssuer, SigningKey
from ._lib.issuers import (
    IssuerDocument,
    SignedStatement,
    apply_statement,
    check_issuer_document,
    read_signed_statement,
    sign_statement,
)
from ._lib.json_types import JsonObject, JsonValue
from ._lib.log.anchor_checks import NOT_ASKED, AnchorTransaction
from ._lib.log.anchor_ref import AnchoredRef, AnchorRef, PendingRef, parse_anchor_ref
from ._lib.log.anchored import Anchor, AnchoredResult, PendingAnchor
from ._lib.log.checkpoint import Checkpoint, open_checkpoint
from ._lib.log.cosignature import check_cosignature, parse_witness_key
from ._lib.log.tlog_proof import TlogProof, parse_tlog_proof
from ._lib.log.witness_policy import (
    Witnessed,
    WitnessPolicy,
    WitnessPolicyError,
    parse_witness_policy,
)
from ._lib.message_signature import sign_request
from ._lib.metering import (
    EvidenceClass,
    EvidenceCounts,
    IssuedBill,
    MeteringBill,
    build_bill,
    check_opening,
    commit,
    evidence_leaf,
    evidence_receipt,
    new_salt,
    opening_key,
    salt_commitment,
)
from ._lib.mint import mint_metering
from ._lib.receipts.documents import (
    EnvelopeReceipt,
    IssueReceipt,
    MeteringReceipt,
    VerificationDocument,
)
from ._lib.receipts.family import Check
from ._lib.receipts.issued import Issued
from ._lib.receipts.profiles import (
    AnyReceipt,
    NanoReceipt,
    PqReceipt,
    Profile,
    ProfileReceipt,
    StandardReceipt,
    StoredReceipt,
)
from ._lib.receipts.settlement import SettlementTransaction, TokenTransfer
from ._lib.sealing import SealedDocument, SealReference, open_seal, seal, seal_reference
from ._lib.sessions.opened_value import check_opened_value, open_session_value
from ._lib.sessions.recorder import RecorderOptions, SessionHead, SessionRecorder
from ._lib.sessions.salted import SaltedPart, SessionValue, commit_salt, salt_of, salted_hash
from ._lib.sessions.session import BegunCall, Session, open_session
from ._lib.sessions.session_call import (
    ContinuedSession,
    ParentReceipt,
    SessionCall,
    ToolOutcome,
    ToolServer,
)
from ._lib.sessions.session_file import SessionFile, open_session_file
from ._lib.sessions.session_issuer import SessionService
from ._lib.sessions.session_receipt import SessionReceipt, read_session_receipt
from ._lib.sessions.sign_entry import SessionEntryToSign, SessionSigner, own_key_signer
from ._lib.sessions.verify_session import (
    RecordedBy,
    ReferenceState,
    SessionEntry,
    SessionFault,
    SessionFaultName,
    SessionVerification,
    verify_session,
)
from ._lib.streams import (
    AbsentReceipt,
    StreamFault,
    StreamHead,
    StreamPart,
    StreamVerdict,
    next_stream_head,
    read_stream_head,
    stream_start,
    verify_stream,
)
from ._lib.trust import (
    CheckedTrust,
    IssuerKey,
    IssuerRecord,
    Trust,
    TrustBundle,
    TrustPin,
    check_trust,
    root_fingerprint,
)
from ._lib.trust_fork import TrustFork, verify_trust_fork
from ._lib.trust_store import FetchedTrust, KnownTrust, MemoryTrustStore, SavedTrust, TrustStore
from ._lib.verify import Issuer, Verification, verify

__version__ = "0.1.0"

__all__ = [
    "NOT_ASKED",
    "AbsentReceipt",
    "AgentAuth",
    "Anchor",
    "AnchorAuthority",
    "AnchorError",
    "AnchorHistory",
    "AnchorRef",
    "AnchorTransaction",
    "AnchoredRef",
    "AnchoredResult",
    "AnyReceipt",
    "AsyncClient",
    "AsyncReceiptTransport",
    "BegunCall",
    "CallCheck",
    "CallCollector",
    "CallProtocol",
    "CallReport",
    "CallVerdict",
    "Check",
    "CheckedTrust",
    "Checkpoint",
    "Client",
    "CollectedAnswer",
    "CollectedCall",
    "ContinuedSession",
    "CorrectedReceipt",
    "CorrectedState",
    "CorrectionVerdict",
    "EnvelopeReceipt",
    "EvidenceClass",
    "EvidenceCounts",
    "FetchedTrust",
    "ForeignVerification",
    "IssueReceipt",
    "Issued",
    "IssuedBill",
    "IssuedByIssuer",
    "Issuer",
    "IssuerDocument",
    "IssuerKey",
    "IssuerRecord",
    "JsonObject",
    "JsonValue",
    "KnownTrust",
    "MemoryTrustStore",
    "MeteringBill",
    "MeteringReceipt",
    "ModelClientOptions",
    "NanoReceipt",
    "ParentReceipt",
    "Payee",
    "PendingAnchor",
    "PendingRef",
    "PqReceipt",
    "Profile",
    "ProfileReceipt",
    "ReceiptTransport",
    "RecordedBy",
    "RecorderOptions",
    "ReferenceState",
    "RetryPolicy",
    "SaltedPart",
    "SavedTrust",
    "SealReference",
    "SealedDocument",
    "Session",
    "SessionCall",
    "SessionEntry",
    "SessionEntryToSign",
    "SessionFault",
    "SessionFaultName",
    "SessionFile",
    "SessionHead",
    "SessionReceipt",
    "SessionRecorder",
    "SessionService",
    "SessionSigner",
    "SessionValue",
    "SessionVerification",
    "SettlementTransaction",
    "SignedManifest",
    "SignedStatement",
    "Signer",
    "SigningKey",
    "StandardReceipt",
    "StoredReceipt",
    "StreamFault",
    "StreamHead",
    "StreamPart",
    "StreamVerdict",
    "TallyError",
    "TlogProof",
    "TokenTransfer",
    "ToolOutcome",
    "ToolServer",
    "Trust",
    "TrustBundle",
    "TrustFork",
    "TrustPin",
    "TrustStore",
    "Verification",
    "VerificationDocument",
    "WitnessPolicy",
    "WitnessPolicyError",
    "Witnessed",
    "anchored_hash",
    "apply_statement",
    "build_bill",
    "canonical_bytes",
    "canonicalize",
    "check_cosignature",
    "check_issuer_document",
    "check_opened_value",
    "check_opening",
    "check_trust",
    "commit",
    "commit_salt",
    "copy_json",
    "countersign",
    "create_signer",
    "did_key_of",
    "did_svc",
    "documents",
    "evidence_leaf",
    "evidence_receipt",
    "generate_secret_key",
    "is_did",
    "issue",
    "mint_metering",
    "new_salt",
    "next_stream_head",
    "open_checkpoint",
    "open_seal",
    "open_session",
    "open_session_file",
    "open_session_value",
    "opening_key",
    "own_key_signer",
    "parse_anchor_ref",
    "parse_json",
    "parse_tlog_proof",
    "parse_witness_key",
    "parse_witness_policy",
    "public_key_of_did_key",
    "read_session_receipt",
    "read_signed_statement",
    "read_stream_head",
    "root_fingerprint",
    "salt_commitment",
    "salt_of",
    "salted_hash",
    "seal",
    "seal_reference",
    "sign_request",
    "sign_statement",
    "stream_start",
    "verify",
    "verify_call",
    "verify_corrections",
    "verify_ed25519",
    "verify_foreign",
    "verify_session",
    "verify_stream",
    "verify_trust_fork",
    "with_anchor",
]
