import type { Signer } from '../../ed25519/signer.ts';
import type { JsonObject } from '../../json/types.ts';
import type { AnchoredResult } from '../../log/anchored.ts';
import type { PqSignature } from '../../ml-dsa/pq-signature.ts';
import type { SealReference } from '../../seal.ts';
import type { Claims } from '../family.ts';
import type { NamedSettlement } from '../named-settlement.ts';
import { nonEmptyText, object, type Rule, receiptIdOf, signature } from '../shape.ts';

/** Issuer and time of a receipt. */
export interface Issuance {
  readonly receiptId: string;
  /** Unix milliseconds. */
  readonly issuedAt: number;
  readonly issuerDid: string;
  readonly issuerVerified: boolean;
}

/** Subject of a profile receipt (specification 2.8). */
export interface Subject {
  /** SHA-256 of the payload: 32 bytes. */
  readonly sha256: Uint8Array;
  readonly contentType: string;
  readonly ok: boolean;
}

/** Where a payment for the subject is settled, and how far that is known. */
export type SettlementReference = {
  readonly rail: string;
  readonly chain_id: number;
  readonly asset: string;
  /** `none`: nothing was stated; `declared`: the caller states it; `confirmed`: the transaction was checked. */
  readonly status: 'none' | 'declared' | 'confirmed';
  readonly tx: string | null;
  /** Amount that the transaction moved: decimal text, in the asset. Only with `confirmed`. */
  readonly amount?: string;
};

/** Everything that a profile receipt can state. Each profile takes from it the members that it has room for. */
export interface ProfileFacts {
  readonly agentDid: string;
  /** True only when the agent proved the DID with a signature of its key. */
  readonly agentProved: boolean;
  readonly subject: Subject;
  readonly verifyUri: string;
  readonly purpose: string | null;
  readonly settlement: SettlementReference;
  readonly seal: SealReference | null;
  readonly reputationTier: string;
  readonly sealedEvidenceRef: string | null;
  readonly auditorVerifier: boolean;
}

/** The member `receipt` of every profile receipt. */
export type ReceiptReference = {
  readonly id: string;
  readonly sig_b64u: string;
  /** Address at which anyone can verify the receipt. */
  readonly verify_uri: string;
};

/** The rule for the member `receipt` of a profile. */
export const reference = (name: string): Rule<ReceiptReference> =>
  object({
    id: receiptIdOf(name),
    sig_b64u: signature,
    verify_uri: nonEmptyText,
  });

/** A document that holds its id and signature in `receipt`. */
export type Referenced = JsonObject & { readonly receipt: Pick<ReceiptReference, 'id' | 'sig_b64u'> };

/** The part of a profile that the verifier needs. The page that verifies contains all of it, so it holds nothing else. */
export interface ProfileForm<Name extends string = string, T extends Referenced = Referenced> {
  readonly name: Name;
  /** Most bytes of a valid receipt, in JCS without the unsigned members; null: no limit. */
  readonly maxBytes: number | null;
  /** Returns whether a document says that it is of this profile. */
  recognises(document: JsonObject): boolean;
  readonly shape: Rule<T>;
  /** The claims about signer and time. The other claims are in `receipt`, the same in every profile. */
  signer(document: T): Omit<Claims, 'receiptId' | 'profile' | 'signature' | 'maxBytes'>;
  /** The transaction that the receipt names as its payment; absent if the profile names none. */
  settlement?(document: T): NamedSettlement | null;
  /** The second signature, as in `Family`; absent if the profile has none. */
  pqSignature?(document: T): PqSignature | null | undefined;
}

/** Members of an emit request that not every profile has room for. */
export const CARRIED_MEMBERS = [
  'purpose',
  'settlement_reference',
  'seal',
  'sealed_evidence_ref',
  'auditor_verifier',
] as const;
export type CarriedMember = (typeof CARRIED_MEMBERS)[number];

/** The rules by which a profile is recommended (specification 4.1), in the order in which they are tried. */
export const RECOMMENDATION_RULES = ['regulated', 'retention', 'verify', 'sub_cent', 'commerce'] as const;
export type RecommendationRule = (typeof RECOMMENDATION_RULES)[number];

/** How the service keeps and prices one kind of receipt. */
export interface ReceiptTerms<Name extends string = string> {
  readonly name: Name;
  /** How long the service keeps a receipt, in days. */
  readonly retentionDays: number;
  /** US dollars for one receipt, as decimal text. */
  readonly priceUsd: string;
  /** Whether receipts are stored and returned without the unsigned members. */
  readonly bare: boolean;
}

/**
 * All that the service needs to know of a profile. The verifier, `emitReceipt`, prices, retention, the recommender, the
 * OpenAPI document, the tools of MCP, the pages, and the types of the SDK read it: nothing else names a profile. Its
 * receipts have the ids `r_<name>_<seconds>_<12 hex>`.
 */
export interface ReceiptProfile<Name extends string = string, Body extends JsonObject = JsonObject>
  extends ReceiptTerms<Name> {
  readonly form: ProfileForm<Name>;
  /** Builds the receipt without its member `receipt`. `pqSigned`: whether it gets the second signature. */
  body(facts: ProfileFacts, issuance: Issuance, signer: Signer, pqSigned: boolean): Body;
  /** Whether its receipts get a second signature by ML-DSA if the issuer has a key for it. */
  readonly pqSigned?: boolean;
  /** Most bytes that an emitted receipt may have. */
  readonly maxEmitted: number;
  /** Advice to the caller when a receipt is too large. */
  readonly remedy: string;
  /** x402 schemes that may pay for it where no key and no balance does; the preferred one comes first. */
  readonly schemes: readonly ('exact' | 'batch-settlement' | 'upto')[];
  /** Members of an emit request that the profile has room for; the others are refused. */
  readonly carries: readonly CarriedMember[];
  /** Whether it states the agent's reputation tier. */
  readonly reputation: boolean;
  /** The rules that recommend it. Each rule recommends one profile. */
  readonly recommendedBy: readonly RecommendationRule[];
  /** When to choose it, as the recommender describes the alternatives. */
  readonly when: string;
  /** Its limits, in words that continue a sentence that begins with its name. */
  readonly limits: string;
  /** Retention, in words. */
  readonly kept: string;
  /** Texts of the verify page about such a receipt. */
  readonly page: {
    readonly title: string;
    readonly proves: readonly string[];
    /** Sentences about what the receipt does not prove. */
    readonly not: readonly string[];
    /** Explanations of members, by path. */
    readonly glosses?: Readonly<Record<string, string>>;
  };
}

/** Members that no signature covers (spec/receipts.md): hints, never authority. */
export interface UnsignedMembers {
  readonly anchor_ref?: string;
  readonly tier?: string;
  readonly anchor?: AnchoredResult;
}

/** The type of the receipts that the service emits for a profile. */
export type ReceiptOf<P> = P extends { body(...facts: never): infer Body; readonly bare: infer Bare }
  ? Body & { readonly receipt: ReceiptReference } & (Bare extends true ? unknown : UnsignedMembers)
  : never;
