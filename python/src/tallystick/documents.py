"""What a service answers, as types. They are plain ``dict`` when the program runs.

Written by ``scripts/documents.py`` from the OpenAPI document. Amounts and times are as it says:
decimal text, and UTC timestamps ``YYYY-MM-DDThh:mm:ss[.fraction]Z``. A later service may answer
with more members.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypeAlias, TypedDict

from ._lib.json_types import JsonObject
from ._lib.receipts.documents import EnvelopeReceipt

if TYPE_CHECKING:
    from typing_extensions import NotRequired

__all__ = [
    "ApiKey",
    "ApiKeyList",
    "ApiKeySpent",
    "Balance",
    "BalanceStatement",
    "BalanceStatementLine",
    "Benchmark",
    "BenchmarkCorpus",
    "BenchmarkGeneratedWith",
    "BenchmarkLossless",
    "BenchmarkNode",
    "BenchmarkNodeByItem",
    "BenchmarkNodeByWordingItem",
    "BenchmarkNodeCorpus",
    "BenchmarkNodeGeneratedWith",
    "BenchmarkNodeItem",
    "BenchmarkNodeWorstCase",
    "BenchmarkPaired",
    "BenchmarkPeer",
    "BenchmarkRow",
    "CallContent",
    "CallCount",
    "CallCounts",
    "CallDetail",
    "CallDetailAnswered",
    "CallDetailTimelineItem",
    "CallDetailTry",
    "CallRow",
    "Calls",
    "Citation",
    "Compression",
    "CompressionRemovedItem",
    "CompressionStats",
    "CompressionStatsCaller",
    "CompressionTotals",
    "CompressionTotalsMethod",
    "ComputeDescriptor",
    "ComputeDescriptorAgentOnboarding",
    "ComputeDescriptorNetwork",
    "CorrectionLink",
    "Corrections",
    "DidDocument",
    "DidDocumentVerificationMethodItem",
    "Estimate",
    "EstimateCashback",
    "EstimateCost",
    "EstimateTokens",
    "EvidenceExport",
    "EvidenceExportPeriod",
    "EvidenceExports",
    "EvidenceManifest",
    "Feedback",
    "KeyOrder",
    "KeyQuote",
    "KeyQuoteDeliveredTo",
    "Leaderboard",
    "LeaderboardMember",
    "LeafList",
    "Limits",
    "LimitsMaxPrice",
    "LimitsOfCaller",
    "ListedAnchors",
    "ListedReceipt",
    "ListedReceiptAnchored",
    "ListedReceipts",
    "ListedSession",
    "ListedSessions",
    "LogLeaf",
    "LogStatus",
    "LogStatusChain",
    "Member",
    "Membership",
    "MembershipOther",
    "Model",
    "ModelList",
    "ModelSvc",
    "ModelSvcDimensions",
    "ModelSvcHealth",
    "ModelSvcPriceSource",
    "ModelSvcTariff",
    "Money",
    "NewApiKey",
    "NewApiKeySpent",
    "NewWebhook",
    "Payable",
    "PayableResource",
    "PaymentInstructions",
    "Posting",
    "Postings",
    "Price",
    "Pricing",
    "PricingAnchorTier",
    "PricingCompute",
    "PricingMetering",
    "PricingPayment",
    "PricingProfile",
    "PricingReads",
    "PurchasedKey",
    "Readiness",
    "ReadinessArea",
    "ReadinessEvidence",
    "ReadinessFinding",
    "Recommendation",
    "RecommendationAlternative",
    "RosettaAnswer",
    "RosettaAnswerCrosswalk",
    "RosettaAnswerPolicyItem",
    "RosettaAnswerSvc",
    "RosettaAnswerTarget",
    "RosettaAnswerTargetPolicyItem",
    "RosettaAnswerUnknownItem",
    "RosettaConcept",
    "RosettaConceptChecked",
    "RosettaConceptDecideItem",
    "RosettaCrosswalk",
    "RosettaTerm",
    "RosettaTermRequire",
    "Settlement",
    "SpenderLimits",
    "SpenderLimitsSpent",
    "Status",
    "StatusEndpoint",
    "StatusLog",
    "StatusLogCheckpoint",
    "StatusModel",
    "TenantReceipts",
    "TopUp",
    "Usage",
    "UsageAccount",
    "UsageDay",
    "UsageTotal",
    "Webhook",
    "WebhookDeliveries",
    "WebhookDelivery",
    "WebhookTest",
    "Webhooks",
    "Withdrawal",
    "Withdrawals",
]


class Money(TypedDict):
    """All that is in the account."""

    usdc: str
    """Decimal text with nine places."""
    nano: str
    """The same amount in nano-USDC."""


class Settlement(TypedDict):
    """How an x402 payment was settled."""

    network: str
    """CAIP-2."""
    asset: Literal["USDC"]
    """All amounts here are in USDC."""
    amount: Money
    """What was paid."""
    payer: str
    """Who paid."""
    tx: str | None
    """The transaction, where it is known already."""


class PurchasedKey(TypedDict):
    order_id: str
    """The id of the order."""
    key_id: str
    """The id of an API key, which is no secret."""
    key: str | None
    """Null if the key was issued more than 72 hours ago, and in a repetition without the
    identifier of the payment.
    """
    tier: Literal["pro", "scale"]
    """The tier of the key."""
    paid_until: str
    """Until when the key is good."""
    settlement: Settlement


class CallCount(TypedDict):
    """Sums of calls in a bucket of time."""

    at: str
    """When the bucket begins."""
    by: str | None
    """The model, provider, status or key; null with ``by=none``, or where a call has none."""
    calls: int
    """Number of calls."""
    errors: int
    """Of them, those that ended with an error."""
    cost_usdc: str
    """What they were charged, in USDC."""
    saving_usdc: str
    """What compression saved, in USDC."""
    prompt_tokens: int
    """Tokens of the prompts."""
    completion_tokens: int
    """Tokens of the answers."""
    p50_ms: int | None
    """Median of ``total_ms``; null where none is known."""
    p95_ms: int | None
    """The ``total_ms`` that 95 % of the calls stay below."""


class CallCounts(TypedDict):
    data: list[CallCount]
    """One entry for each bucket and group."""
    counted_from: str | None
    """The time from which on calls were counted; null where all of the period were."""


class NewWebhook(TypedDict):
    """A webhook with its secret, which is shown this once."""

    id: str
    """Its id."""
    url: str
    """Where messages are sent: an https URL without user name and fragment, at most 2048
    characters.
    """
    events: list[
        Literal["balance.low", "budget.reached", "key.revoked", "anchor.final", "status.changed"]
    ]
    """What it is told of (docs/webhooks.md)."""
    enabled: bool
    """Whether messages are sent to it."""
    disabled_because: Literal["owner", "failing", "gone"] | None
    """``owner``: you disabled it. ``failing``: it accepted nothing for three days. ``gone``: it
    answered 410. Null while it is enabled.
    """
    disabled_at: str | None
    """When it was disabled; null while it is enabled."""
    failing_since: str | None
    """Since when every attempt has failed; null after one that was accepted."""
    previous_secret_until: str | None
    """Until when messages carry a signature by the secret before as well; null if none was
    rotated away, or it no longer signs.
    """
    created_at: str
    """When it was made."""
    secret: str
    """The secret that its messages are signed with: ``whsec_`` and base64. It is shown this
    once.
    """


class EstimateTokens(TypedDict):
    """What the call would be charged by."""

    prompt: int
    """Tokens of the prompt, as it would be sent."""
    max_completion: int
    """The most tokens of the answer, of all choices."""
    counted_with: str
    """The encoding that counted."""


class CompressionRemovedItem(TypedDict):
    id: str
    """The id of the block."""
    removed: int
    """How many units were cut."""
    of: int
    """How many units the block had."""
    unit: str
    """What is counted."""
    tokens: int
    """Tokens that this saved."""


class Compression(TypedDict):
    """What became of the prompt (spec/compute.md)."""

    tier: Literal["off", "lossless", "extractive"]
    """As it was asked for."""
    tokenizer: str
    """The encoding that counted the tokens, or ``provider``."""
    estimate: bool
    """Whether the model's own tokenizer may count otherwise."""
    tokens_before: int | None
    """Tokens of the messages' texts as they came."""
    tokens_after: int | None
    """Tokens of them as they were sent."""
    methods: dict[str, int]
    """The number of tokens that each method saved."""
    lost_cache_tokens: int
    """Tokens that the provider could have read from its cache had the prompt not been changed."""
    removed: list[CompressionRemovedItem]
    """The blocks that were cut; the notice left in the text holds the id of its block."""
    note: NotRequired[str]
    """In words, where something was done otherwise than asked for."""


class Price(TypedDict):
    """By the tariff of the first call."""

    input: Money
    """Of prompt tokens."""
    output: Money
    """Of tokens of the answer."""
    cache_read: Money
    """Of prompt tokens read from the provider's cache."""
    cache_write: Money
    """Of prompt tokens written to the provider's cache."""
    cache_write_long: Money
    """Of those that the cache keeps for an hour or longer."""


class EstimateCost(TypedDict):
    """What the call would be charged."""

    asset: Literal["USDC"]
    """All amounts here are in USDC."""
    min: Money
    """Of the prompt alone."""
    max: Money
    """With the longest answer."""


EstimateCashback = TypedDict(
    "EstimateCashback",
    {
        # All amounts here are in USDC.
        "asset": "Literal['USDC']",
        # What compression would save.
        "saving": "Money",
        # The caller's share of the saving.
        "expected": "Money",
        # That share, in percent.
        "percent": "int",
        # The member tier that it follows from.
        "tier": "str",
        # How it would come back.
        "as": "Literal['discount', 'credit']",
        # The DID that it would be credited to.
        "to": "str | None",
    },
)


class Estimate(TypedDict):
    """What a chat call would come to, without making it."""

    model: str
    """The model that would answer."""
    tokens: EstimateTokens
    """What the call would be charged by."""
    compression: Compression
    price_per_million_tokens: Price
    """What 1,000,000 tokens cost."""
    cost: EstimateCost
    """What the call would be charged."""
    cashback: EstimateCashback
    """What would come back."""
    routing: JsonObject
    """Why the model would be chosen."""


EvidenceManifest: TypeAlias = JsonObject


class Balance(TypedDict):
    """What is in an account."""

    account: str
    """The ledger account: ``caller:`` and the id of the API key or the DID; ``development``
    where nobody is named.
    """
    asset: Literal["USDC"]
    """All amounts here are in USDC."""
    balance: Money
    reserved: Money
    """Of it, what is put aside for calls under way."""
    available: Money
    """What a call can spend."""
    low: bool
    """Whether ``available`` is below ``low_below``."""
    low_below: Money
    """Below this the balance is called low."""


class BalanceStatementLine(TypedDict):
    line: int
    """The number of the line."""
    at: str
    """When it was written."""
    amount: Money
    """What came in, or with a minus went out."""
    balance: Money
    """What was in the account after it."""
    memo: str
    """What it was for."""
    id: str
    """The id of what caused it, such as a receipt's."""


class BalanceStatement(TypedDict):
    account: str
    """The ledger account: ``caller:`` and the id of the API key or the DID; ``development``
    where nobody is named.
    """
    asset: Literal["USDC"]
    """All amounts here are in USDC."""
    lines: list[BalanceStatementLine]
    """The lines, oldest first."""
    next: int | None
    """The ``after`` of the next page; null on the last one."""


class BenchmarkCorpus(TypedDict):
    """What was measured on."""

    sha256: str
    """The digest of the corpus."""
    documents: int
    """Number of its documents."""
    cases: int
    """Number of its questions."""
    tokens: int
    """Number of its tokens."""


class BenchmarkGeneratedWith(TypedDict):
    """What measured it."""

    package: str
    """The package that was measured."""
    version: str
    """Its version."""
    tokenizer: str
    """The encoding that counted."""


class BenchmarkRow(TypedDict):
    """One tier at one budget. Shares are between 0 and 1."""

    tier: str
    """The tier of compression."""
    budget: float
    """Share of the tokens that may be left."""
    documents: int
    """Number of documents."""
    cases: int
    """Number of questions."""
    kept: float
    """All facts survived, and the tokens are within the budget."""
    kept_ci95: list[float]
    """The 95% confidence interval: its lower and its upper end."""
    facts_kept: float
    """Share of the facts that are still there."""
    over_budget: int
    """Cases with more tokens than their budget."""
    tokens_before: int
    """Tokens before compression."""
    tokens_after: int
    """Tokens after it."""
    saved_median: float
    """Share of the tokens that is saved, the median."""
    saved_worst: float
    """The same where least is saved."""
    saved_best: float
    """The same where most is saved."""


class BenchmarkPaired(TypedDict):
    """Two tiers on the same questions: a minus b."""

    a: str
    """One tier."""
    b: str
    """The other tier."""
    budget: float
    """Share of the tokens that may be left."""
    cases: int
    """Number of questions."""
    a_only: int
    """Questions whose facts only ``a`` kept."""
    b_only: int
    """Questions whose facts only ``b`` kept."""
    difference: float
    """Share that ``a`` kept, less that of ``b``."""
    ci95: list[float]
    """The 95% confidence interval: its lower and its upper end."""


class BenchmarkLossless(TypedDict):
    """What the lossless tier saves of one kind of material."""

    kind: str
    """What it is a row of."""
    documents: int
    """Number of documents."""
    decoded_equal: int
    """Documents that decode to what they were."""
    identical: int
    """Documents that nothing was changed of."""
    saved_median: float
    """Share of the tokens that is saved, the median."""
    saved_worst: float
    """The same where least is saved."""
    saved_best: float
    """The same where most is saved."""


class BenchmarkNodeItem(TypedDict):
    about: str
    """What was asked, in words."""
    tiers: list[BenchmarkRow]
    """Each tier at each budget."""
    paired: list[BenchmarkPaired]
    """Tiers compared on the same questions."""
    lossless: NotRequired[list[BenchmarkLossless]]
    """The lossless tier, by kind of material."""
    url: str
    """Where the node is."""


class BenchmarkPeer(TypedDict):
    name: str
    """Who reports."""
    source: str
    """Where they report it."""
    quoted: Literal[True]
    """It was not measured here."""


class Benchmark(TypedDict):
    """The benchmark of compression, signed (spec/benchmark.md)."""

    type: Literal["svc-benchmark-v1"]
    """Always this."""
    node: Literal["benchmark", "semantic", "temporal", "modality"]
    """Which of the four documents it is."""
    version: int
    """The version of the format."""
    corpus: BenchmarkCorpus
    """What was measured on."""
    command: str
    """The command that repeats it."""
    generated_with: BenchmarkGeneratedWith
    """What measured it."""
    issued_at: str
    """When it was signed."""
    issuer_did: str
    """The service."""
    issuer_pubkey: str
    """An Ed25519 public key: 32 bytes, base64url without padding."""
    key_id: str
    """The id of the benchmark key."""
    sig_b64u: str
    """An Ed25519 signature: 64 bytes, base64url without padding."""
    nodes: dict[str, BenchmarkNodeItem]
    """The other three documents in short, by name."""
    peers: list[BenchmarkPeer]
    """What others report of themselves."""


class CallDetailTimelineItem(TypedDict):
    step: Literal["compress", "route", "reserve", "tries", "first_byte", "settle"]
    """The step; ``route`` includes ``compress``, ``tries`` every call of a provider."""
    at_ms: float
    """Milliseconds from the call's acceptance to the beginning of this."""
    ms: float
    """How many milliseconds it took."""


class CallDetailTry(TypedDict):
    model: str
    """The model that was tried."""
    kind: str
    """What went wrong."""
    status: int | None
    """The provider's HTTP status, if it gave one."""
    at_ms: float
    """Milliseconds from the call's acceptance to the beginning of this."""
    ms: float
    """How many milliseconds it took."""


class CallDetailAnswered(TypedDict):
    """The try that the answer came from, until the answer began, or was there in one piece; null
    where there was none, or it is not known.
    """

    model: str
    """The model that answered."""
    provider: str
    """Its provider."""
    at_ms: float
    """Milliseconds from the call's acceptance to the beginning of this."""
    ms: float
    """How many milliseconds it took."""


class CallDetail(TypedDict):
    """A call of a model with everything that is known of it."""

    id: str
    """The id of the receipt; ``call_…`` for a call without one."""
    at: str
    """When the call ended."""
    receipt_id: str | None
    """The id of the receipt; null for a call that was not billed."""
    model: str | None
    """The model that answered, or that a failed call was sent to; null if none was chosen."""
    requested_model: str
    """The model that was asked for."""
    provider: str | None
    """The provider of the model."""
    route_reason: str | None
    """Why the model was chosen: ``outcome.why`` of the routing."""
    stream: bool
    """Whether the answer was streamed."""
    prompt_tokens: int | None
    """Tokens of the prompt, as billed."""
    completion_tokens: int | None
    """Tokens of the answer, as billed."""
    cached_tokens: int | None
    """Of the prompt, those read from the provider's cache."""
    cost_usdc: str
    """What the call was charged, in USDC."""
    saving_usdc: str
    """What compression saved, in USDC."""
    first_byte_ms: int | None
    """Milliseconds to the first byte of the answer; null where it is not known."""
    total_ms: int | None
    """Milliseconds to the end of the call; null where it is not known, as after a crash."""
    status: int
    """The HTTP status of the answer."""
    error_code: str | None
    """The code of the error that was answered, or that ended a stream early."""
    did: str | None
    """The DID that the call was made under."""
    key: str | None
    """The id of an API key, which is no secret."""
    session: str | None
    """The ``svc.session`` of the call."""
    tags: dict[str, str]
    """The ``svc.tags`` of the call."""
    request_hash: str | None
    """The hash of the request, as the receipt has it; null for a call without a receipt."""
    purpose: str
    """The purpose in the receipt."""
    profile: str | None
    """The profile of the receipt."""
    content_kept: bool
    """Whether prompt and answer are kept: ``GET /v1/compute/calls/{id}/content``."""
    timeline: list[CallDetailTimelineItem]
    """The steps of the call, in the order of their beginnings; empty where it is not known."""
    tries: list[CallDetailTry]
    """Tries that failed."""
    answered: CallDetailAnswered | None
    """The try that the answer came from, until the answer began, or was there in one piece; null
    where there was none, or it is not known.
    """
    routing: JsonObject | None
    """Why the model was chosen: what ``tally route explain`` reads."""
    billing: JsonObject | None
    """The bill, as ``svc.billing`` of an answer has it with ``svc.explain``."""
    compression: JsonObject | None
    """What became of the prompt, as ``svc.compression`` of an answer has it with
    ``svc.explain``.
    """


class CallContent(TypedDict):
    """Prompt and answer of a call."""

    kept_until: str
    """When it is deleted."""
    request: JsonObject | None
    """The body as the caller sent it; null if it is too long to be kept."""
    sent: JsonObject | None
    """The body that went to the provider, after routing and compression: in the caller's
    protocol where the provider speaks it, otherwise as a chat completion. Null if it is too
    long to be kept.
    """
    answer: JsonObject | None
    """The answer without ``svc``. Of a stream, what was passed on, put together as one chat
    completion. Null if it is too long to be kept.
    """


class CompressionTotalsMethod(TypedDict):
    calls: int
    """Number of calls that it was used in."""
    tokens: int
    """Tokens that it saved."""


class CompressionTotals(TypedDict):
    """Of all callers together."""

    calls: int
    """Number of chat calls."""
    changed_calls: int
    """Number of chat calls whose prompts came out shorter."""
    tokens_before: int
    """Tokens of the prompts as they came."""
    tokens_after: int
    """Tokens of them as they were sent."""
    saved_tokens: int
    """The difference."""
    lost_cache_tokens: int
    """Tokens that providers might have read from their caches and did not."""
    saving: Money
    """What was saved, in money."""
    share: Money
    """The part of the saving that was returned to callers."""
    methods: dict[str, CompressionTotalsMethod]
    """By the name of the method."""


class CompressionStatsCaller(CompressionTotals):
    subject: str
    """The DID, or the id of the API key."""


class CompressionStats(TypedDict):
    asset: Literal["USDC"]
    """All amounts here are in USDC."""
    service: CompressionTotals
    caller: CompressionStatsCaller | None
    """Of the caller; null where nobody is named."""


class ComputeDescriptorNetwork(TypedDict):
    """The chain that the service posts to."""

    chain: str
    """The chain's name."""
    chain_id: int
    """The number of the chain (EIP-155)."""
    operator: str
    """The service."""


class ComputeDescriptorAgentOnboarding(TypedDict):
    """How an agent begins."""

    base_url: str
    """The base URL for OpenAI's clients."""


class ComputeDescriptor(TypedDict):
    """The inference routes, for programs (specification 2.11)."""

    service: str
    """The name of the service."""
    version: Literal["2.0.0"]
    """The version of this descriptor."""
    description: str
    """What it is, in words."""
    endpoints: dict[str, str]
    """Method and path of each, by name."""
    benchmark_note: str
    """What of compression is measured, in words."""
    pricing: JsonObject
    """How calls are charged."""
    routing_spread_pct: dict[str, int]
    """Share of the saving that goes back, by member tier, in percent."""
    member_registration: JsonObject
    """How a DID is registered."""
    network: ComputeDescriptorNetwork
    """The chain that the service posts to."""
    agent_onboarding: ComputeDescriptorAgentOnboarding
    """How an agent begins."""


class CorrectionLink(TypedDict):
    """What supersedes it; null if nothing does."""

    link_id: str
    """The id of the envelope that links both receipts."""
    receipt_id: str
    """The id of the other receipt."""
    receipt_sha256: str
    """Its anchored hash."""
    reason: str | None
    """Why, in words; null if nobody said."""
    at: str
    """When the envelope was issued."""


class Corrections(TypedDict):
    receipt_id: str
    """The id of this receipt."""
    corrected_by: CorrectionLink | None
    corrects: CorrectionLink | None
    """What it supersedes; null if nothing."""


class RosettaCrosswalk(TypedDict):
    """The table that policies are compared with."""

    version: str
    """The version of the table."""
    digest: str
    """The hash of its JCS."""
    as_of: str
    """The day of the table."""
    entries: int
    """Number of its entries."""
    checked_by_person: int
    """Of them, how many a person has checked."""
    notice: str
    """That this is not legal advice."""
    crosswalk: JsonObject
    """The table itself."""


class DidDocumentVerificationMethodItem(TypedDict):
    id: str
    """The id of the key."""


class DidDocument(TypedDict):
    """A DID document (W3C DID Core)."""

    id: str
    """The did:web of the service."""
    alsoKnownAs: list[str]
    """Its did:svc."""
    verificationMethod: list[DidDocumentVerificationMethodItem]
    """The keys."""


class KeyOrder(TypedDict):
    """An order of a key or a top-up."""

    order_id: str
    """The id of the order."""
    kind: Literal["key", "renewal", "top_up"]
    """What was ordered."""
    state: Literal["open", "expired", "delivering", "undeliverable", "done"]
    """What became of it; ``open`` until it is paid."""
    tier: str | None
    """The tier of the key; null for a top-up."""
    months: int
    """For how many months the key is good."""
    payment: str | None
    """The transfer that paid it."""
    key_id: str | None
    """The id of the key, which is no secret."""
    paid_until: str | None
    """Until when the key is good."""
    delivered_at: str | None
    """When the key was delivered."""
    attempts: int
    """How often its delivery was tried."""
    sealed: JsonObject | None
    """The key, sealed to the DID that it is for; null for any other."""


class Member(TypedDict):
    """A DID that is registered."""

    did: str
    """The DID."""
    handle: str | None
    """The name that it chose."""
    registered: Literal[True]
    """Always true of a member."""
    registered_at: str
    """When it was registered."""
    tier: Literal["unregistered", "member", "member_enterprise", "member_scale"]
    """By its jobs."""
    spread_pct: int
    """The member's share of what compression saves, in percent."""
    jobs: int
    """Completed, paid calls since registration."""
    jobs_to_next_tier: int | None
    """Null in the highest tier."""


class LeaderboardMember(Member):
    rank: int
    """Its place, from 1."""


class Leaderboard(TypedDict):
    members: list[LeaderboardMember]
    """The members."""


class LimitsMaxPrice(TypedDict):
    """The dearest model that may serve calls."""

    prompt: NotRequired[str | None]
    """The most for 1,000,000 tokens of the prompt, in USDC."""
    completion: NotRequired[str | None]
    """The most for 1,000,000 tokens of the answer, in USDC."""
    request: NotRequired[str | None]
    """The most that a call is expected to cost, in USDC."""


class Limits(TypedDict):
    """Limits of calls. A member that is absent or null is no limit."""

    day_usdc: NotRequired[str | None]
    """What the calls of a UTC day may cost, in USDC."""
    month_usdc: NotRequired[str | None]
    """What the calls of a calendar month (UTC) may cost, in USDC."""
    requests_per_minute: NotRequired[int | None]
    """Calls in a minute."""
    tokens_per_minute: NotRequired[int | None]
    """Tokens in a minute, of prompts and answers; a call under way counts with the most that it
    may use.
    """
    models: NotRequired[list[str] | None]
    """Ids or aliases of the models that may serve calls, and no others."""
    providers: NotRequired[list[str] | None]
    """Names of the providers that may serve calls, and no others."""
    max_price: NotRequired[LimitsMaxPrice | None]
    """The dearest model that may serve calls."""


class SpenderLimitsSpent(TypedDict):
    """What its calls were charged."""

    day_usdc: str
    """What its calls of this UTC day were charged, in USDC."""
    month_usdc: str
    """What its calls of this calendar month (UTC) were charged, in USDC."""


class SpenderLimits(TypedDict):
    """What calls count in: its limits and spending."""

    spender: str
    """The id of the API key, or the DID."""
    limits: Limits
    spent: SpenderLimitsSpent
    """What its calls were charged."""


class LimitsOfCaller(TypedDict):
    data: list[SpenderLimits]
    """The caller itself first; empty for a caller without an account."""


class LogStatusChain(TypedDict):
    """Where roots are posted, and by which account."""

    network: str
    """The chain's name."""
    chain_id: int
    """The number of the chain (EIP-155)."""
    address: str
    """The account that posts."""


class LogStatus(TypedDict):
    """How far the anchor log is. Nothing of it is signed."""

    origin: str
    """The name of the log and of its key."""
    verifier_key: str
    """The log's key in the C2SP verifier key format."""
    accepted: int
    """The number of hashes accepted."""
    tree_size: int
    """How many of them the newest checkpoint covers."""
    anchored_size: int
    """How many of them are covered by a root that is final on the chain."""
    accepting: str
    """``ok``, or why no hashes are accepted."""
    posting: str
    """``ok``, or why postings are held up, if this process is the one that posts."""
    overdue_seconds: int
    """How long the oldest unanchored hash has waited past its posting; 0 if none has."""
    period_seconds: int
    """Time between two postings."""
    next_posting_at: str
    """When the next posting is due."""
    chain: LogStatusChain | None
    """Where roots are posted, and by which account."""
    witnesses: list[str]
    """The keys of the witnesses that are asked to cosign checkpoints: C2SP verifier keys of type
    0x04, or 0x06 for ML-DSA-44.
    """


class BenchmarkNodeCorpus(TypedDict):
    """What was measured on."""

    sha256: str
    """The digest of the corpus."""
    documents: int
    """Number of its documents."""
    cases: int
    """Number of its questions."""
    tokens: int
    """Number of its tokens."""


class BenchmarkNodeGeneratedWith(TypedDict):
    """What measured it."""

    package: str
    """The package that was measured."""
    version: str
    """Its version."""
    tokenizer: str
    """The encoding that counted."""


class BenchmarkNodeByItem(BenchmarkRow):
    kind: str
    """What it is a row of."""


class BenchmarkNodeByWordingItem(BenchmarkRow):
    kind: str
    """What it is a row of."""


class BenchmarkNodeWorstCase(TypedDict):
    id: str
    """The id of the case."""
    question: str
    """The question."""
    budget: float
    """The budget at which it failed."""


class BenchmarkNode(TypedDict):
    """A part of the benchmark in full, signed (spec/benchmark.md)."""

    type: Literal["svc-benchmark-v1"]
    """Always this."""
    node: Literal["benchmark", "semantic", "temporal", "modality"]
    """Which of the four documents it is."""
    version: int
    """The version of the format."""
    corpus: BenchmarkNodeCorpus
    """What was measured on."""
    command: str
    """The command that repeats it."""
    generated_with: BenchmarkNodeGeneratedWith
    """What measured it."""
    issued_at: str
    """When it was signed."""
    issuer_did: str
    """The service."""
    issuer_pubkey: str
    """An Ed25519 public key: 32 bytes, base64url without padding."""
    key_id: str
    """The id of the benchmark key."""
    sig_b64u: str
    """An Ed25519 signature: 64 bytes, base64url without padding."""
    about: str
    """What was asked, in words."""
    tiers: list[BenchmarkRow]
    """Each tier at each budget."""
    paired: list[BenchmarkPaired]
    """Tiers compared on the same questions."""
    lossless: NotRequired[list[BenchmarkLossless]]
    """The lossless tier, by kind of material."""
    by: list[BenchmarkNodeByItem]
    """The rows by kind."""
    by_wording: list[BenchmarkNodeByWordingItem]
    """The rows by how the question is worded."""
    worst_cases: list[BenchmarkNodeWorstCase]
    """Questions whose facts were lost."""


class ModelSvcDimensions(TypedDict):
    """The lengths of an embedding model's vectors, as far as they are known."""

    default: int
    """The length where none is asked for."""
    shorter: Literal["any"] | list[int]
    """The shorter ones that can be asked for."""


class ModelSvcTariff(TypedDict):
    above_tokens: int | None
    """Only for prompts of more tokens than this; null for any."""
    service_tier: Literal["batch", "flex", "priority"] | None
    """Only for calls that the provider served so; null for any."""
    price_per_million_tokens: Price
    """What 1,000,000 tokens cost."""


class ModelSvcPriceSource(TypedDict):
    """Where the prices are from; null for a free model, or one that the operator priced."""

    page: str
    """The page that states the prices."""
    read_on: str
    """The day on which it was read."""
    copy: bool
    """Whether a stored copy was read, which may be older than that day."""
    valid_until: str | None
    """The last day on which the page promises them; null if it does not say."""


class ModelSvcHealth(TypedDict):
    """The state that calls of the last minutes showed, as in ``/status``."""

    state: Literal["up", "degraded", "down", "unknown"]
    """``unknown`` where nobody called it lately."""
    code: str
    """``ok``, or what was wrong."""


class ModelSvc(TypedDict):
    """What the service knows of the model; of a built-in one also its ``card``."""

    kind: Literal["chat", "embedding"]
    """What the model does."""
    context: int
    """The most tokens of prompt and answer together."""
    max_output: int | None
    """The most tokens of an answer."""
    dimensions: NotRequired[ModelSvcDimensions]
    """The lengths of an embedding model's vectors, as far as they are known."""
    abilities: list[str]
    """What the model takes, such as ``tools``."""
    price_per_million_tokens: Price
    """What 1,000,000 tokens cost."""
    tariffs: list[ModelSvcTariff]
    """Other prices, for some calls. Of those that apply, the last one counts."""
    price_source: ModelSvcPriceSource | None
    """Where the prices are from; null for a free model, or one that the operator priced."""
    retires_at: str | None
    """The day on which its provider shuts it down; null if none is announced."""
    successors: list[str]
    """What its provider recommends instead."""
    warning: Literal["retired", "price_outdated", "retires_soon", "price_old"] | None
    """What is wrong with the entry, or will be. With ``retired`` and ``price_outdated`` the
    model is not called.
    """
    hardware: str | None
    """What it runs on, as far as is known."""
    region: str | None
    """Where it runs, as far as is known."""
    health: ModelSvcHealth
    """The state that calls of the last minutes showed, as in ``/status``."""


class Model(TypedDict):
    """A model, as OpenAI lists it, with ``svc``."""

    id: str
    """What ``model`` of a call names."""
    object: Literal["model"]
    """Always this."""
    created: int
    """Always 0: the service has no date for a model."""
    owned_by: str
    """The provider."""
    svc: ModelSvc
    """What the service knows of the model; of a built-in one also its ``card``."""


class PricingProfile(TypedDict):
    profile: Literal["nano", "standard", "pq"]
    """The profile."""
    price_usd: str
    """The price of one."""
    unit: Literal["call"]
    """What is paid for."""
    max_bytes: int | None
    """The most bytes of canonical JSON; null without limit."""
    retention_days: int
    """For how long it is kept, in days."""
    default: bool
    """Whether it is the one when none is named."""
    pay_by: list[str]
    """How it can be paid: names in ``payment.methods``."""


class PricingMetering(TypedDict):
    """Metering receipts."""

    path: str
    """Where they are minted."""
    price_usd: str
    """The price of one."""
    unit: Literal["call"]
    """What is paid for."""
    max_bytes: int | None
    """The most bytes of canonical JSON; null without limit."""
    retention_days: int
    """For how long it is kept, in days."""
    pay_by: list[str]
    """How it can be paid: names in ``payment.methods``."""


class PricingAnchorTier(TypedDict):
    tier: str
    """The tier."""
    verifier: str
    """The verifier that comes with it."""
    verifier_available: bool
    """Whether this service has that."""
    monthly_usd: str | None
    """A month's price."""
    annual_usd: str | None
    """A year's price, paid at once."""
    pay_by: list[str]
    """How it can be paid: names in ``payment.methods``."""


class PricingReads(TypedDict):
    """Reads of ``/v1/compute``."""

    price_usd: str
    """Of a read beyond the free ones."""
    free_per_day: int | None
    """Free reads a UTC day of each DID."""
    free_per_day_by_address: int | None
    """Free reads a UTC day of all DIDs at one address."""


class PricingCompute(TypedDict):
    """Calls of models."""

    share_of_savings_pct: dict[str, int]
    """By member tier, in percent."""


class PricingPayment(TypedDict):
    """How payments are made; null where none are taken."""

    network: str
    """CAIP-2."""
    token: str
    """The contract of USDC there."""
    treasury: str
    """Where payments go."""
    confirmations: int
    """After so many blocks a transfer counts."""
    methods: JsonObject
    """The names in ``pay_by``, explained."""


class Pricing(TypedDict):
    """What everything costs and how it is paid."""

    currency: Literal["USD"]
    """Of all amounts here."""
    valid_from: str
    """Since when these prices hold."""
    profiles: list[PricingProfile]
    """Receipts of each profile."""
    metering: PricingMetering
    """Metering receipts."""
    anchor_tiers: list[PricingAnchorTier]
    """What keys of each tier cost, and what they allow."""
    reads: PricingReads
    """Reads of ``/v1/compute``."""
    compute: PricingCompute
    """Calls of models."""
    payment: PricingPayment | None
    """How payments are made; null where none are taken."""


class StatusEndpoint(TypedDict):
    """How an endpoint is."""

    name: str
    """Its name here."""
    method: Literal["GET", "POST"]
    """The method of the request."""
    path: str
    """The path of the request."""
    availability: Literal["live", "pilot"]
    """Whether it is a pilot."""
    probe: Literal["answer", "refusal"]
    """``answer``: the probe's request was served in full. ``refusal``: the endpoint refused the
    probe's request, as it must.
    """
    state: Literal["up", "degraded", "down", "unknown"]
    """How it is."""
    code: str
    """``ok``, or what was wrong."""
    latency_ms: float | None
    """The median of the newest ``samples``."""
    samples: int
    """How many of the newest answers are looked at."""
    checked_at: str
    """When it was asked last."""
    since: str
    """When the endpoint or model entered this ``state``."""


class StatusModel(TypedDict):
    """How a provider or a model is."""

    id: str
    """The id of the provider or model."""
    state: Literal["up", "degraded", "down", "unknown"]
    """``unknown`` if nobody called it lately."""
    code: str
    """``ok``, or what was wrong."""
    since: str
    """When the endpoint or model entered this ``state``."""
    warning: NotRequired[Literal["retires_soon", "price_old"]]
    """Only of a model, where there is one: its provider shuts it down within a month, or its
    price was read more than 90 days ago.
    """


class StatusLogCheckpoint(TypedDict):
    """The newest checkpoint; null before the first."""

    origin: str
    """The name of the log."""
    size: int
    """Number of its leaves."""
    root: str
    """Its root hash."""


class StatusLog(TypedDict):
    """The anchor log."""

    checkpoint: StatusLogCheckpoint | None
    """The newest checkpoint; null before the first."""
    accepted: int
    """Hashes that have a place."""
    anchored: int
    """Of them, how many are final on the chain."""
    oldest_unanchored_seconds: int | None
    """The longest time that the oldest unanchored hash can have waited."""


class Status(TypedDict):
    """How the service is, signed (spec/status.md)."""

    type: Literal["svc-status-v1"]
    """Always this."""
    version: Literal[1]
    """The version of the format."""
    sequence: int
    """Each document has the next number."""
    previous_sha256: str | None
    """The hash of the document before; null for the first."""
    issued_at: str
    """When it was signed."""
    valid_until: str
    """From then on it says nothing of the present."""
    service: str
    """Name and version of the software."""
    endpoints: list[StatusEndpoint]
    """The endpoints."""
    providers: list[StatusModel]
    """The providers of models."""
    models: list[StatusModel]
    """The models."""
    log: StatusLog
    """The anchor log."""
    issuer_did: str
    """The service."""
    issuer_pubkey: str
    """An Ed25519 public key: 32 bytes, base64url without padding."""
    key_id: str
    """The id of the status key."""
    sig_b64u: str
    """An Ed25519 signature: 64 bytes, base64url without padding."""


class UsageDay(TypedDict):
    day: str
    """The UTC day."""
    model: str
    """The id of the model."""
    calls: int
    """Number of calls."""
    prompt_tokens: int
    """Tokens of their prompts."""
    completion_tokens: int
    """Tokens of their answers."""
    cached_tokens: int
    """Of the prompts, tokens read from providers' caches."""
    charged: Money
    """What they were charged."""
    saved_tokens: int
    """Tokens that compression saved."""
    saving: Money
    """What that saved."""
    share: Money
    """What of the saving went back."""


class UsageTotal(TypedDict):
    """The sums of ``days``."""

    calls: int
    """Number of calls."""
    prompt_tokens: int
    """Tokens of their prompts."""
    completion_tokens: int
    """Tokens of their answers."""
    cached_tokens: int
    """Of the prompts, tokens read from providers' caches."""
    charged: Money
    """What they were charged."""
    saved_tokens: int
    """Tokens that compression saved."""
    saving: Money
    """What that saved."""
    share: Money
    """What of the saving went back."""


class UsageAccount(TypedDict):
    """The account that pays for it."""

    asset: Literal["USDC"]
    """All amounts here are in USDC."""
    balance: Money
    """What is in the account."""
    reserved: Money
    """Of it, what is put aside for calls under way."""


class Usage(TypedDict):
    """The calls of a DID or an API key, by UTC day and model."""

    did: str
    """Whose usage it is: a DID, or the id of an API key."""
    days: list[UsageDay]
    """One entry for each day and model."""
    total: UsageTotal
    """The sums of ``days``."""
    account: UsageAccount
    """The account that pays for it."""


class Posting(TypedDict):
    """The first posting whose root covers it; null until there is one."""

    sequence: int
    """From 1, one for each posting."""
    tree_size: int
    """The number of leaves that the root covers."""
    merkle_root: str
    """The root hash."""
    state: Literal["queued", "broadcast", "confirmed", "finalized"]
    """The hashes under the root are anchored once this is ``finalized``."""
    scheduled_at: str
    """When it was due."""
    tx_hash: str | None
    """Its transaction; null until it is in a block."""
    block_height: int | None
    """Its block; null until it is in one."""
    block_time: str | None
    """The block's own time."""


class LogLeaf(TypedDict):
    """A hash in the log."""

    leaf_index: int
    """Its place in the log, from 0."""
    canonical_sha256: str
    """SHA-256 of the canonical JSON (JCS, RFC 8785) of the anchored document: base64url, 43
    characters.
    """
    batch_id: str
    """The posting that it was scheduled for, to the minute (UTC)."""
    anchor_ref: str
    """A reference by which ``GET /v1/anchor/{anchor_ref}`` finds it, now and later."""
    posting: Posting | None


class ListedAnchors(TypedDict):
    data: list[LogLeaf]
    """The rows, newest first."""
    next_cursor: str | None
    """Continues after the last row; null where there are no more."""


class CallRow(TypedDict):
    """A call of a model, as its caller's list shows it."""

    id: str
    """The id of the receipt; ``call_…`` for a call without one."""
    at: str
    """When the call ended."""
    receipt_id: str | None
    """The id of the receipt; null for a call that was not billed."""
    model: str | None
    """The model that answered, or that a failed call was sent to; null if none was chosen."""
    requested_model: str
    """The model that was asked for."""
    provider: str | None
    """The provider of the model."""
    route_reason: str | None
    """Why the model was chosen: ``outcome.why`` of the routing."""
    stream: bool
    """Whether the answer was streamed."""
    prompt_tokens: int | None
    """Tokens of the prompt, as billed."""
    completion_tokens: int | None
    """Tokens of the answer, as billed."""
    cached_tokens: int | None
    """Of the prompt, those read from the provider's cache."""
    cost_usdc: str
    """What the call was charged, in USDC."""
    saving_usdc: str
    """What compression saved, in USDC."""
    first_byte_ms: int | None
    """Milliseconds to the first byte of the answer; null where it is not known."""
    total_ms: int | None
    """Milliseconds to the end of the call; null where it is not known, as after a crash."""
    status: int
    """The HTTP status of the answer."""
    error_code: str | None
    """The code of the error that was answered, or that ended a stream early."""
    did: str | None
    """The DID that the call was made under."""
    key: str | None
    """The id of an API key, which is no secret."""
    session: str | None
    """The ``svc.session`` of the call."""
    tags: dict[str, str]
    """The ``svc.tags`` of the call."""
    request_hash: str | None
    """The hash of the request, as the receipt has it; null for a call without a receipt."""
    purpose: str
    """The purpose in the receipt."""
    profile: str | None
    """The profile of the receipt."""
    content_kept: bool
    """Whether prompt and answer are kept: ``GET /v1/compute/calls/{id}/content``."""


class Calls(TypedDict):
    data: list[CallRow]
    """The rows, newest first."""
    next_cursor: str | None
    """Continues after the last row; null where there are no more."""


EvidenceExportPeriod = TypedDict(
    "EvidenceExportPeriod",
    {
        # From this instant.
        "from": "str",
        # Up to this one, exclusive.
        "to": "str",
    },
)


class EvidenceExport(TypedDict):
    """An export of an evidence room."""

    receipt_id: str
    """The receipt of the export."""
    exported_at: str
    """When it was made."""
    manifest_sha256: str
    """The export that the receipt covers."""
    period: EvidenceExportPeriod
    """When the receipts were issued."""
    receipts: int
    """Number of receipts in it."""
    bytes: int
    """Size of the bundle."""


class EvidenceExports(TypedDict):
    exports: list[EvidenceExport]
    """Oldest first."""


class ApiKeySpent(TypedDict):
    """What its calls were charged."""

    day_usdc: str
    """What its calls of this UTC day were charged, in USDC."""
    month_usdc: str
    """What its calls of this calendar month (UTC) were charged, in USDC."""


class ApiKey(TypedDict):
    """An API key, without the key itself."""

    id: str
    """The id of an API key, which is no secret."""
    name: str | None
    """Its name; null where it has none."""
    created_at: str
    """When it was made."""
    last_used_at: str | None
    """When a request last came with it, to within some seconds; null where none did."""
    expires_at: str | None
    """When it stops working; null for never."""
    revoked_at: str | None
    """When it was revoked; null where it was not."""
    manages: bool
    """Whether it may make and change keys of the account."""
    keep: bool
    """Whether prompt and answer of its calls are kept where the operator allows it and the call
    does not say ``svc.keep`` itself.
    """
    limits: Limits
    spent: ApiKeySpent
    """What its calls were charged."""


class ApiKeyList(TypedDict):
    data: list[ApiKey]
    """The keys, newest first."""
    next_cursor: str | None
    """The ``cursor`` of the next page; null on the last one."""


class LeafList(TypedDict):
    data: list[LogLeaf]
    """The rows, newest first."""
    next_cursor: str | None
    """Continues after the last row; null where there are no more."""


class ModelList(TypedDict):
    object: Literal["list"]
    """Always this."""
    data: list[Model]
    """The models."""


class PayableResource(TypedDict):
    method: str
    """The method of the request."""
    url: str
    """Its URL; ``{name}`` stands for a path parameter."""
    unit: str
    """What the price is for."""


class Payable(TypedDict):
    """What can be paid for by x402."""

    x402Version: Literal[2]
    """The version of x402."""
    network: str | None
    """CAIP-2."""
    asset: str | None
    """The contract of USDC there."""
    pay_to: str | None
    """The treasury."""
    resources: list[PayableResource]
    """What can be paid for."""


class Postings(TypedDict):
    data: list[Posting | None]
    """The rows, newest first."""
    next_cursor: str | None
    """Continues after the last row; null where there are no more."""
    postings: list[Posting | None]
    """The same as ``data``."""


class ListedReceiptAnchored(TypedDict):
    """Its place in the log."""

    leaf_index: int | None
    """From 0; null if it is not in the log."""


class ListedReceipt(TypedDict):
    """A receipt in a list: ``GET /v1/receipt/{id}`` answers it whole."""

    receipt_id: str
    """The id of the receipt."""
    at: str
    """When it was issued."""
    profile: str
    """Its profile, or ``metering``."""
    purpose: str | None
    """The purpose that it states."""
    did: str | None
    """The agent that it names."""
    key: str | None
    """The API key that it was made with."""
    model: str | None
    """The model of the call that it is of."""
    provider: str | None
    """The provider of that model."""
    status: Literal["ok", "error"] | None
    """How that call ended: ``error`` where its answer broke off."""
    request_hash: str | None
    """SHA-256 of the request or the subject, in hex."""
    session: str | None
    """The session that it is a step of."""
    cost_usdc: str | None
    """What was paid for it; null where that is not known."""
    anchored: ListedReceiptAnchored
    """Its place in the log."""
    expires_at: str
    """Until when the service keeps it."""


class ListedReceipts(TypedDict):
    data: list[ListedReceipt]
    """The rows, newest first."""
    next_cursor: str | None
    """Continues after the last row; null where there are no more."""


class ListedSession(TypedDict):
    """A session in a list."""

    session: str
    """Its id: the ``svc.session`` of its calls, or the ``session_id`` that it was opened with."""
    at: str
    """When its first call ended or its first receipt was issued."""
    last_at: str
    """When its last call ended or its last receipt was issued, so far."""
    calls: int
    """Calls of models under its id."""
    errors: int
    """Calls among them that went wrong."""
    receipts: int
    """Receipts of the session that the service signed; 0 where it was not opened here."""
    tool_calls: int
    """Receipts among them of calls of tools."""
    cost_usdc: str
    """What its calls and its receipts cost."""


class ListedSessions(TypedDict):
    data: list[ListedSession]
    """The rows, newest first."""
    next_cursor: str | None
    """Continues after the last row; null where there are no more."""


class TenantReceipts(TypedDict):
    data: list[ListedReceipt]
    """The rows, newest first."""
    next_cursor: str | None
    """Continues after the last row; null where there are no more."""


class WebhookDelivery(TypedDict):
    """A message to a webhook, and what became of it."""

    id: str
    """The id of the message, sent as ``webhook-id``."""
    type: str
    """The event, or ``webhook.test``."""
    at: str
    """When the message was made."""
    state: Literal["waiting", "delivered", "failed"]
    """What became of it."""
    attempts: int
    """How often it was sent."""
    next_attempt_at: str | None
    """When it is sent again; null if it is not."""
    last_attempt_at: str | None
    """When it was sent last; null before."""
    status: int | None
    """HTTP status of the last answer; null without one."""
    problem: str | None
    """Why the last attempt failed."""
    took_ms: int | None
    """Milliseconds that the last attempt took."""
    message: JsonObject
    """What is sent: ``type``, ``timestamp`` and ``data``."""


class WebhookDeliveries(TypedDict):
    data: list[WebhookDelivery]
    """The rows, newest first."""
    next_cursor: str | None
    """Continues after the last row; null where there are no more."""


class Webhook(TypedDict):
    """A webhook, without its secret."""

    id: str
    """Its id."""
    url: str
    """Where messages are sent: an https URL without user name and fragment, at most 2048
    characters.
    """
    events: list[
        Literal["balance.low", "budget.reached", "key.revoked", "anchor.final", "status.changed"]
    ]
    """What it is told of (docs/webhooks.md)."""
    enabled: bool
    """Whether messages are sent to it."""
    disabled_because: Literal["owner", "failing", "gone"] | None
    """``owner``: you disabled it. ``failing``: it accepted nothing for three days. ``gone``: it
    answered 410. Null while it is enabled.
    """
    disabled_at: str | None
    """When it was disabled; null while it is enabled."""
    failing_since: str | None
    """Since when every attempt has failed; null after one that was accepted."""
    previous_secret_until: str | None
    """Until when messages carry a signature by the secret before as well; null if none was
    rotated away, or it no longer signs.
    """
    created_at: str
    """When it was made."""


class Webhooks(TypedDict):
    data: list[Webhook]
    """The rows, newest first."""
    next_cursor: str | None
    """Continues after the last row; null where there are no more."""


class Withdrawal(TypedDict):
    """A withdrawal, and what became of it."""

    id: str
    """The id of the withdrawal."""
    state: Literal["waiting", "paying", "paid", "declined"]
    """What became of it."""
    network: str
    """CAIP-2."""
    address: str
    """Where it is paid to."""
    amount: Money
    """What is paid."""
    requested_at: str
    """When it was asked for."""
    tx_hash: str | None
    """The transaction that pays it; null until then."""
    note: str | None
    """What the operator says of it."""


class Withdrawals(TypedDict):
    data: list[Withdrawal]
    """The rows, newest first."""
    next_cursor: str | None
    """Continues after the last row; null where there are no more."""
    withdrawals: list[Withdrawal]
    """The rows of ``data``, oldest first."""


class RosettaAnswerCrosswalk(TypedDict):
    """The table that the policy was compared with."""

    version: str
    """The version of the table."""
    digest: str
    """The hash of its JCS."""
    as_of: str
    """The day of the table."""
    entries: int
    """Number of its entries."""
    checked_by_person: int
    """Of them, how many a person has checked."""


class RosettaAnswerPolicyItem(TypedDict):
    """A concept, and what the policy states about it in the terms of GET /v1/rosetta/crosswalk."""

    concept: str
    """The concept."""


class RosettaAnswerUnknownItem(TypedDict):
    concept: str
    """The concept."""
    term: str | None
    """The term, if the concept is known."""
    reason: Literal["unknown_concept", "unknown_term", "unknown_value"]
    """What of it is not known."""
    expected: str
    """What would be."""
    did_you_mean: str | None
    """What is near it."""


class RosettaAnswerTargetPolicyItem(TypedDict):
    """A concept, and what the policy states about it in the terms of GET /v1/rosetta/crosswalk."""

    concept: str
    """The concept."""


class Citation(TypedDict):
    """A place in a law or a standard."""

    label: str
    """The citation as one writes it."""
    instrument: str
    """The id of the instrument in the crosswalk."""
    title: str
    """The title of the instrument."""
    article: str
    """The article."""
    section: str | None
    """The section of the article."""
    year: int
    """The year of the instrument."""
    force: Literal["binding", "voluntary"]
    """Whether it binds."""


class RosettaTermRequire(TypedDict):
    """What the law requires; null where that is no single value."""

    op: Literal["at_most", "at_least", "equals", "at_least_level", "one_of"]
    """How the value is compared."""
    value: float | bool | str | list[str]
    """What it is compared with."""


class RosettaTerm(TypedDict):
    """A term, what the policy says of it and what the law does."""

    term: str
    """The term of the concept."""
    value: float | bool | str | None
    """What the policy says; null where it says nothing."""
    require: RosettaTermRequire | None
    """What the law requires; null where that is no single value."""
    unit: Literal["day", "hour", "month", "year"] | None
    """The unit of the values."""
    says: str
    """What the law says, in words."""
    when: str | None
    """The condition under which the rule holds."""
    applies_from: str | None
    """The day from which it holds."""
    citation: Citation


class RosettaConceptDecideItem(TypedDict):
    reason: Literal[
        "standard", "unstated", "voluntary", "condition", "choice", "question", "unchecked"
    ]
    """Why a person must decide."""
    term: str | None
    """The term that it is of, if it is of one."""
    question: str
    """What is to be decided."""
    citation: Citation | None
    """Where the law says so, if it does."""


class RosettaConceptChecked(TypedDict):
    """Who has checked the entry."""

    by_person: bool
    """Whether a person has checked it."""


RosettaConcept = TypedDict(
    "RosettaConcept",
    {
        # The concept.
        "concept": "str",
        # What the comparison comes to.
        "outcome": "Literal['same', 'stricter', 'no_equivalent', 'decide', 'maps']",
        # Whether the concept is there too.
        "equivalent": "Literal['full', 'partial', 'none']",
        # How the target treats the concept, in words.
        "summary": "str",
        # Where the policy's own jurisdiction says so.
        "from": "list[Citation]",
        # Where the target says so.
        "to": "list[Citation]",
        # Terms that the policy meets there.
        "maps": "list[RosettaTerm]",
        # Terms that the target is stricter on.
        "stricter": "list[RosettaTerm]",
        # Terms that the target does not know.
        "no_equivalent": "list[str]",
        # What a person must decide.
        "decide": "list[RosettaConceptDecideItem]",
        # How sure the entry of the table is.
        "confidence": "Literal['settled', 'in_motion', 'needs_person']",
        # What else there is to know.
        "note": "str | None",
        # The day of the entry.
        "as_of": "str",
        # Who has checked the entry.
        "checked": "RosettaConceptChecked",
    },
)


class RosettaAnswerTarget(TypedDict):
    jurisdiction: str
    """The id of the target."""
    name: str
    """Its name."""
    policy: list[RosettaAnswerTargetPolicyItem]
    """The policy that would do there."""
    concepts: list[RosettaConcept]
    """Each concept, compared."""
    unstated: list[str]
    """Concepts that the target has rules for and the policy does not state."""


class RosettaAnswerSvc(TypedDict):
    """The receipt of the answer."""

    receipt: EnvelopeReceipt


class RosettaAnswer(TypedDict):
    """A policy, expressed for other jurisdictions."""

    type: Literal["svc-rosetta-v1"]
    """Always this."""
    notice: str
    """That this is not legal advice."""
    jurisdiction: str
    """For which the policy was made."""
    crosswalk: RosettaAnswerCrosswalk
    """The table that the policy was compared with."""
    policy: list[RosettaAnswerPolicyItem]
    """The policy as it was understood."""
    unknown: list[RosettaAnswerUnknownItem]
    """What is not known; it is never guessed."""
    targets: list[RosettaAnswerTarget]
    """The targets."""
    svc: RosettaAnswerSvc
    """The receipt of the answer."""


class ReadinessArea(TypedDict):
    area: str
    """The name of the area."""
    weight: int
    """Its weight in the score; all together have 100."""
    state: Literal["passed", "found", "not_checked"]
    """``found``: there are findings."""
    score: int | None
    """0 to 100; null if the area was not checked."""
    notes: list[str]
    """The checks that passed."""


class ReadinessEvidence(TypedDict):
    """A request that was made, and what came of it."""

    method: str
    """The method of the request."""
    url: str
    """Its URL."""
    status: int | None
    """Null if no answer came."""
    excerpt: str
    """At most 200 bytes of the body, secrets taken out."""


class ReadinessFinding(TypedDict):
    code: str
    """Stable."""
    area: str
    """The area that it is of."""
    severity: Literal["critical", "major", "minor"]
    """How grave it is."""
    title: str
    """The same text whenever the code is the same."""
    detail: str
    """What was found here."""
    fix: str
    """What to do about it."""
    evidence: list[ReadinessEvidence]
    """The requests that show it."""


class Readiness(TypedDict):
    """How ready a surface is (docs/prospector.md)."""

    type: Literal["svc-readiness-v1"]
    """Always this."""
    origin: str
    """What was looked at."""
    checked_at: str
    """When it was looked at."""
    verdict: Literal["ready", "gaps", "not_ready"]
    """``ready``: 80 or more, nothing critical; ``gaps``: nothing critical."""
    score: int
    """0 to 100, over the areas that were checked."""
    coverage: int
    """The total weight of the areas that were checked, out of 100."""
    complete: bool
    """Whether there was enough time for every check."""
    areas: list[ReadinessArea]
    """The areas, each with its score."""
    findings: list[ReadinessFinding]
    """The findings, most serious first."""
    trust_note: str
    """What the report does not say."""


class PaymentInstructions(TypedDict):
    """How an order is paid."""

    order_id: str
    """The id of the order, which its state is asked by."""
    network: str
    """CAIP-2."""
    asset: str
    """The USDC contract on that network."""
    pay_to: str
    """The treasury."""
    amount: str
    """The exact amount in base units (millionths)."""
    amount_usdc: str
    """The same in USDC."""
    expires_at: str
    """The transfer must be in a block by then; a later one is refunded."""
    confirmations: int
    """The number of blocks after which the transfer counts."""


class KeyQuoteDeliveredTo(TypedDict):
    """Where the key will go, null for a renewal. It is issuer_did where the contact is an e-mail
    address and this service sends no e-mail.
    """

    kind: Literal["email", "domain", "did"]
    """The kind of place."""
    to: str
    """The address, the domain or the DID."""


class KeyQuote(PaymentInstructions):
    tier: Literal["pro", "scale"]
    """The tier of the key."""
    months: int
    """For how many months it is good."""
    delivered_to: KeyQuoteDeliveredTo | None
    """Where the key will go, null for a renewal. It is issuer_did where the contact is an e-mail
    address and this service sends no e-mail.
    """


class Feedback(TypedDict):
    """How a caller rates an answer."""

    receipt_id: str
    """Id of the receipt of the rated call."""
    model: str
    """Id of the model that answered."""
    score: int
    """From 0 for a useless answer to 100 for one as good as can be."""
    label: Literal["good", "bad"] | None
    """``good`` is a score of 100, ``bad`` one of 0."""
    comment: str | None
    """As it was given."""
    rated_at: str
    """When the call was rated."""


class NewApiKeySpent(TypedDict):
    """What its calls were charged."""

    day_usdc: str
    """What its calls of this UTC day were charged, in USDC."""
    month_usdc: str
    """What its calls of this calendar month (UTC) were charged, in USDC."""


class NewApiKey(TypedDict):
    """An API key that was just made, with the key itself."""

    id: str
    """The id of an API key, which is no secret."""
    name: str | None
    """Its name; null where it has none."""
    created_at: str
    """When it was made."""
    last_used_at: str | None
    """When a request last came with it, to within some seconds; null where none did."""
    expires_at: str | None
    """When it stops working; null for never."""
    revoked_at: str | None
    """When it was revoked; null where it was not."""
    manages: bool
    """Whether it may make and change keys of the account."""
    keep: bool
    """Whether prompt and answer of its calls are kept where the operator allows it and the call
    does not say ``svc.keep`` itself.
    """
    limits: Limits
    spent: NewApiKeySpent
    """What its calls were charged."""
    key: str
    """The key itself. It is shown here and never again."""


class RecommendationAlternative(TypedDict):
    profile: Literal["nano", "standard", "pq"]
    """The profile."""
    price_usd: str
    """What a receipt of it costs."""
    when: str
    """When it is the better choice."""


class Recommendation(TypedDict):
    """Which profile to take, and why."""

    recommended_profile: Literal["nano", "standard", "pq"]
    """The profile to take."""
    rule: Literal["regulated", "retention", "verify", "sub_cent", "commerce"]
    """The rule that decided."""
    reason: str
    """Why, in words."""
    price_usd: str
    """What a receipt of it costs."""
    alternatives: list[RecommendationAlternative]
    """The other profiles."""


class WebhookTest(TypedDict):
    id: str
    """The id of the message."""


class TopUp(TypedDict):
    account: str
    """The ledger account that was credited."""
    credited: Money
    """What it was credited."""
    balance: Money | None
    """What is in it now; null where ``account`` named it, which proves nothing."""
    settlement: Settlement


class MembershipOther(TypedDict):
    did: str
    """The DID."""
    registered: Literal[False]
    """It is no member."""
    tier: Literal["unregistered"]
    """Of whoever is no member."""
    spread_pct: int
    """Its share of what compression saves, in percent."""


Membership: TypeAlias = "Member | MembershipOther"
